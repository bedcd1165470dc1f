"""The project's report, once it is written."""

import streamlit as st

from annotator_ui import language
from annotator_ui.app_state import Viewer, site, url
from annotator_ui.screen import screen
from annotator_ui.texts import MENU
from annotator_ui.texts import REPORT as SAYS


@screen(title=SAYS.title, about=SAYS.about, role="lead", section=MENU.project, position=220)
def show(who: Viewer) -> None:
    """Show the screen."""
    if (site().project.root / "report.html").is_file():
        if language.current() != language.SOURCE:
            st.caption(SAYS.english)
        st.link_button(SAYS.open, url("/report/page"))
        st.iframe(url("/report/page"), height=900)
    else:
        st.subheader(SAYS.none_title, anchor=False)
        st.write(SAYS.none)
