"""Lead's page: every judgement as a file."""

from urllib.parse import urlencode

import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer, site, url
from annotator_ui.lead.campaign import CHOSEN, campaigns
from annotator_ui.screen import link_to, put, screen
from annotator_ui.texts import MENU
from annotator_ui.texts_leads import COMMON
from annotator_ui.texts_leads import EXPORT as SAYS

EVERYTHING = ""


@screen(title=SAYS.title, about=SAYS.about, role="lead", section=MENU.labels, position=170)
def show(who: Viewer) -> None:
    """Show the screen."""
    names = campaigns()["name"].tolist()
    if not names:
        put(html.empty(COMMON.none_title, COMMON.none_body))
        link_to("campaigns", COMMON.none_link)
        return
    before = st.session_state.get(CHOSEN)
    index = names.index(before) + 1 if before in names else 0
    left, right = st.columns(2)
    name = left.selectbox(COMMON.campaign, [EVERYTHING, *names], index=index, format_func=lambda item: item or SAYS.all)
    kind = right.selectbox(SAYS.format, list(SAYS.formats), format_func=SAYS.formats.__getitem__)
    acts = sum(site().project.labels.count(item) for item in ([name] if name else names))
    put(html.figures((SAYS.acts, acts, SAYS.abouts[kind])))
    if not acts:
        put(html.empty(SAYS.empty_title, SAYS.empty_body))
    target = f"{url('/export/')}{kind}"
    requested = f"{target}?{urlencode({'campaign': name})}" if name else target
    file = SAYS.formats[kind].partition(" (")[0]
    put(html.button(requested, SAYS.download.format(file=file)))
    put(html.note(SAYS.who_is_in_it))
