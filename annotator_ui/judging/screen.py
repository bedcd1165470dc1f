"""What the screens Pair and Grid share: whose campaign it is, and where to go without one."""

import streamlit as st

from annotator_ui.app_state import Viewer, site
from annotator_ui.judging.component import show
from annotator_ui.screen import go_to, link_to
from annotator_ui.texts_judging import SCREEN

# The page covers the window and has a bar of its own; Streamlit's would lie above it.
HIDDEN = "[data-testid=stHeader], [data-testid=stSkipToContent]"
# While the server is away its dialog must not cover the pair: the bar says how saving stands.
LOST = "[role=dialog]:not(dialog)"
ROOM = f"<style>{HIDDEN}, {LOST} {{ display: none; }} [data-testid=stMain] {{ overflow: hidden; }}</style>"


def judge(who: Viewer, view: str) -> None:
    """Show the campaign of the address in this view."""
    project = site().project
    handle = st.query_params.get("campaign", "")
    name = project.campaigns.find(handle)
    result = project.campaigns.of_expert(name, who.name) if name is not None else None
    if name is None or result is None or not result.member:
        st.header(SCREEN["none"], anchor=False)
        link_to("home", SCREEN["home"])
    elif project.calibration.is_due(name, who.name):
        go_to("practice", campaign=handle)
    elif view == "grid" and result.mode == "pair":
        go_to("pair", campaign=handle)  # no polarity, so no grid
    else:
        st.html(ROOM)
        opened = st.query_params.get("open", "")
        show(result, who, view, int(opened) if opened.isdecimal() and len(opened) < 19 else None)
