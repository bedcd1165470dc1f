"""The project's report, once it is written."""

import streamlit as st

from annotator_ui.site import site, url, viewer
from annotator_ui.texts import REPORT as SAYS

viewer()
st.header(SAYS.title, anchor=False)
if (site().project.root / "report.html").is_file():
    st.link_button(SAYS.open, url("/report/page"))
    st.iframe(url("/report/page"), height=900)
else:
    st.subheader(SAYS.none_title, anchor=False)
    st.write(SAYS.none)
