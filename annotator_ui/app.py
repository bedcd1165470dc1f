"""Streamlit's script: the menu and the chosen screen. It runs at every rerun, before the screen itself."""

import streamlit as st

from annotator_ui import language
from annotator_ui.app_state import site, viewer
from annotator_ui.screen import is_dark, marked_section, menu
from annotator_ui.texts import PRODUCT
from annotator_ui.theme import DARK, LIGHT

# Metrics break their lines where other languages need more room than English.
ROOM = "<style>[data-testid=stMetric] * { white-space: normal !important; }</style>"
# On phones Streamlit's menu, closed, only lies beyond the edge: the keyboard would go through all of its links.
CLOSED = "<style>[data-testid=stSidebar][data-collapsed=true] { visibility: hidden; }</style>"


# Where tables' tools are always visible, they have a line of their own instead of lying over what is above.
TOOLS = """<style>@media (hover: none) {
  [data-testid=stFullScreenFrame]:has([data-testid=stDataFrame] [data-testid=stElementToolbar]) { padding-top: 2.4rem; }
}</style>"""


def main() -> None:
    """Ask who it is, then run the page that they asked for."""
    st.set_page_config(page_title=f"{PRODUCT} · {site().name}", layout="wide")
    accepted = st.context.headers.get("Accept-Language", "")
    language.use(language.chosen("", accepted))
    who = viewer()
    language.use(language.chosen(who.language, accepted))
    st.session_state[language.STATE] = language.current()
    text = (DARK if is_dark() else LIGHT)["text"]  # a chosen segment of Streamlit's is too pale to read in the dark
    st.html(f'{CLOSED}{ROOM}{TOOLS}<style>button[data-selected="true"] p {{ color: {text} !important; }}</style>')
    page = st.navigation(menu(who), position="top")
    if mark := marked_section(who, page.url_path):
        st.html(f"<style>{mark}</style>")
    page.run()


if __name__ == "__main__":  # as Streamlit calls it; child processes (decoders) load it, too, under another name
    main()
