"""Inviting to a campaign: several names at once; links are shown once and kept nowhere."""

import re
from urllib.parse import urlsplit

import streamlit as st

from annotator_ui.app_state import Viewer, acting, site, url
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.lead.campaign import Campaign
from annotator_ui.screen import shown_errors
from annotator_ui.texts_campaign import INVITE as SAYS
from eds.project.experts import Invitation

LINKS = "links"  # in the session's state


def invite_dialog(who: Viewer, campaign: Campaign) -> None:
    """Open the dialog."""
    title = SAYS.title.format(campaign=escape_markdown(campaign.name))
    st.dialog(title, width="medium")(_invite)(who, campaign.name)


def link_dialog(who: Viewer, name: str) -> None:
    """Make a new link for an account, and show it in a dialog."""
    with shown_errors():
        made = acting(who).experts.invite(name)
        st.dialog(escape_markdown(name), width="medium")(show_links)([made])


def names_in(text: str) -> list[str]:
    r"""Return the names of a text, one a line or with commas.

    >>> names_in("ann, bob\n\nann;cid")
    ['ann', 'bob', 'cid']
    """
    return list(dict.fromkeys(name.strip() for name in re.split(r"[,;\n]", text) if name.strip()))


def keep_link(made: Invitation) -> None:
    """Keep a link that another page will show, once."""
    st.session_state.setdefault(LINKS, []).append(made)


def show_kept_links() -> None:
    """Open a dialog with the links that were kept, if there are any."""
    made = st.session_state.pop(LINKS, None)
    if made:
        st.dialog(SAYS.links, width="medium")(show_links)(made)


def _invite(who: Viewer, campaign: str) -> None:
    text = st.text_area(SAYS.names, help=SAYS.names_help, height=100)
    hours = st.number_input(SAYS.hours, 1, 24 * 90, 72)
    if not st.button(SAYS.send, type="primary"):
        return
    names = names_in(text)
    if not names:
        st.warning(SAYS.nobody)
        return
    people = set(site().project.experts.list()["name"])
    made: list[Invitation] = []
    with shown_errors():
        known = [name for name in names if name in people]
        if known:
            acting(who).campaigns.add_experts(campaign, known)
        for name in names:
            if name not in people:
                made.append(acting(who).experts.add(name, hours=hours, campaigns=[campaign]))
        if known:
            st.success(escape_markdown(SAYS.joined.format(names=", ".join(known))))
    if made:
        show_links(made)


def show_links(made: list[Invitation]) -> None:
    """The links with a button to copy each; in this run only: the next one does not know them."""
    index = urlsplit(st.context.url or "")
    st.success(f"{SAYS.made.format(hours=made[0].hours)}  \n{SAYS.gone}")
    for item in made:
        st.markdown(f"**{escape_markdown(item.expert)}**")
        link = f"{index.scheme}://{index.netloc}{url(f'/invitation/{item.invitation}')}"
        st.code(link, language=None, wrap_lines=True)
