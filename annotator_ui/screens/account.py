"""Who is signed in, and the way out."""

import streamlit as st

from annotator_ui.app_state import url, viewer
from annotator_ui.escape_markdown import as_typed
from annotator_ui.texts import ACCOUNT as SAYS

who = viewer()
st.header(as_typed(who.name), anchor=False)
st.write(SAYS.may(who.role))
st.caption(SAYS.change)
st.link_button(SAYS.out, url("/sign-out"))
