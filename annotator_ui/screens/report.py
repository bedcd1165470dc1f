"""The project's report, once it is written."""

import streamlit as st

from annotator_ui import language
from annotator_ui.app_state import Viewer, site, url
from annotator_ui.screen import empty, link_to, screen
from annotator_ui.texts import MENU
from annotator_ui.texts import REPORT as SAYS
from annotator_ui.texts_campaign import HEAD as CAMPAIGN


@screen(title=SAYS.title, about=SAYS.about, role="lead", section=MENU.project, position=220)
def show(who: Viewer) -> None:
    """Show the screen."""
    if (site().project.root / "report.html").is_file():
        if language.current() != language.SOURCE:
            st.caption(SAYS.english)
        st.link_button(SAYS.open, url("/report/page"))
        st.iframe(url("/report/page"), height=900)
    else:
        empty(SAYS.none_title, f"{SAYS.none} {SAYS.begin}")
        link_to("campaign", CAMPAIGN.decide, icon=":material/gavel:")
