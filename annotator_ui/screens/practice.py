"""An expert's practice: pairs with known answers, on the judging page, with feedback after each."""

import streamlit as st

from annotator_ui.app_state import Viewer, site
from annotator_ui.judging.component import show_practice
from annotator_ui.judging.screen import ROOM
from annotator_ui.screen import empty, link_to, screen
from annotator_ui.texts_judging import PRACTICE, SCREEN


@screen(title=SCREEN["practice"], position=70, in_menu=False, has_heading=False)
def show(who: Viewer) -> None:
    """Show the page for the campaign of the address."""
    project = site().project
    name = project.campaigns.find(st.query_params.get("campaign", ""))
    result = project.campaigns.of_expert(name, who.name) if name is not None else None
    asked = result is not None and result.member and not result.closed
    if result is None or not asked or not _has_practice(result.name, who.name):
        empty(PRACTICE["noneTitle"], PRACTICE["none"])
        link_to("home", SCREEN["home"])
        return
    st.html(ROOM)
    show_practice(result, who)


def _has_practice(campaign: str, expert: str) -> bool:
    calibration = site().project.calibration
    return calibration.is_due(campaign, expert) or bool(calibration.rounds(campaign, expert))
