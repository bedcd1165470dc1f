"""Lead's page of one campaign: its state and actions, and the tabs of annotator_ui/tabs/."""

import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer, acting, site
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.lead.campaign import Campaign, choose_campaign
from annotator_ui.lead.conclude import conclude_dialog, show_conclusion
from annotator_ui.lead.export_menu import export_menu
from annotator_ui.lead.invite import invite_dialog, show_kept_links
from annotator_ui.screen import go_to, only_of, put, screen
from annotator_ui.tab import show_tabs
from annotator_ui.texts import MENU
from annotator_ui.texts_campaign import HEAD as SAYS
from annotator_ui.texts_leads import COMMON

LONGEST = 18  # characters of a guideline's version in the head


@screen(title=SAYS.title, role="lead", section=MENU.labels, position=105, has_heading=False)
def show(who: Viewer) -> None:
    """Show the screen."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        campaign = choose_campaign()
        _badges(campaign)
        st.space("stretch")
        if st.button(SAYS.invite, icon=":material/person_add:", disabled=campaign.closed):
            invite_dialog(who, campaign)
        export_menu(campaign)
        if st.button(SAYS.adjudicate, icon=":material/balance:"):
            handle = acting(who).campaigns.of_expert(campaign.name, who.name).handle
            go_to("adjudicate", campaign=handle)
        if st.button(SAYS.decide, icon=":material/gavel:", type="primary", disabled=site().jobs.running is not None):
            conclude_dialog(who, campaign.name)
    put(html.hidden_title(campaign.name))
    show_conclusion(who)
    show_kept_links()
    with only_of(campaign.name):
        show_tabs(who, campaign)


def _badges(campaign: Campaign) -> None:
    """The state, mode, panel and guideline of the campaign."""
    state, colour, icon = ("closed", "gray", "lock") if campaign.closed else ("open", "green", "play_circle")
    st.badge(SAYS.states[state], color=colour, icon=f":material/{icon}:")  # type: ignore[arg-type]
    mode = SAYS.pair
    if campaign.mode == "grid":
        mode = SAYS.grid.format(polarity=COMMON.similar if campaign.polarity == "similar" else COMMON.different)
    st.badge(mode, color="blue")
    if campaign.experts_per_pair is not None:
        st.badge(SAYS.some_experts.format(per_pair=campaign.experts_per_pair), color="blue")
    name = campaign.guideline
    short = name if len(name) <= LONGEST else f"{name[:LONGEST].rstrip()}…"
    version = SAYS.guideline.format(version=short) if name else SAYS.no_guideline
    st.badge(escape_markdown(version), color="gray", help=escape_markdown(name) if short != name else None)
