"""Who is signed in, and the way out."""

import streamlit as st

from annotator_ui.app_state import Viewer, url
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.screen import screen
from annotator_ui.texts import ACCOUNT as SAYS


@screen(title=SAYS.title, position=40, has_heading=False)
def show(who: Viewer) -> None:
    """Show the screen."""
    st.header(escape_markdown(who.name), anchor=False)
    st.write(SAYS.roles[who.role])
    st.caption(SAYS.change)
    st.link_button(SAYS.out, url("/sign-out"))
