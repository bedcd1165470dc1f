"""The project's report, once it is written."""

import streamlit as st

from annotator_ui.app_state import site, url
from annotator_ui.lead.page import begin
from annotator_ui.texts import REPORT as SAYS

begin(SAYS.title, SAYS.about)
if (site().project.root / "report.html").is_file():
    st.link_button(SAYS.open, url("/report/page"))
    st.iframe(url("/report/page"), height=900)
else:
    st.subheader(SAYS.none_title, anchor=False)
    st.write(SAYS.none)
