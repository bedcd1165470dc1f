"""Who is signed in, and the way out."""

import streamlit as st

from annotator_ui import html, language
from annotator_ui.app_state import Viewer, site, url
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.screen import put, screen
from annotator_ui.texts import ACCOUNT as SAYS
from annotator_ui.texts_programs import PROGRAMS
from eds.project.experts import INVITED


@screen(title=SAYS.title, position=40, has_heading=False)
def show(who: Viewer) -> None:
    """Show the screen."""
    st.header(escape_markdown(who.name), anchor=False)
    st.write(SAYS.roles[who.role])
    experts = site().project.experts
    found = experts.session_numbered(who.session)
    if found is not None and found.way == INVITED and not experts.can_return(who.name):
        st.info(SAYS.first_time)
        st.link_button(SAYS.choose_password, url("/password"), type="primary")
    else:
        st.caption(escape_markdown(SAYS.changes[who.role].format(name=who.name)))
    own = language.languages().get(who.language, SAYS.browser)
    links = (
        ("/language", SAYS.language.format(name=own)),
        ("/passkeys", SAYS.passkeys),
        ("/programs", PROGRAMS.title),
        ("/sign-out", SAYS.out),
    )
    with st.container(horizontal=True):
        for address, text in links:
            with st.container(width="content"):
                put(html.link(url(address), text))
