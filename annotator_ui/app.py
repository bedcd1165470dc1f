"""Streamlit's part: which pages there are, and who sees which. Runs at every rerun, before the page itself."""

from pathlib import Path

import streamlit as st

from annotator_ui.app_state import Viewer, may, site, viewer
from annotator_ui.lead.page import is_dark
from annotator_ui.texts import MENU, PAGES, PRODUCT
from annotator_ui.theme import DARK, LIGHT

SCREENS = Path(__file__).with_name("screens")
HIDDEN = ("pair", "grid", "calibrate")  # reached from the first page, with a campaign
SECTIONS = {  # heading in the menu -> (pages, the least role that sees them)
    "": (("home", "my_progress", "guide", "account", *HIDDEN), "expert"),
    MENU.labels: (("campaigns", "coverage", "agreement", "pool_yield", "disputed", "adjudicate", "export"), "lead"),
    MENU.project: (("experts", "report"), "lead"),
}
# On phones Streamlit's menu, closed, only lies beyond the edge: the keyboard would go through all of its links.
CLOSED = "<style>[data-testid=stSidebar][data-collapsed=true] { visibility: hidden; }</style>"


def pages_for(who: Viewer) -> dict[str, list[st.Page]]:
    """The menu of this viewer: section -> pages. One they may not see is hidden, and tells so whoever has its link."""
    return {
        section: [_page(name, hidden=name in HIDDEN or not may(who, role)) for name in names]
        for section, (names, role) in SECTIONS.items()
    }


def _page(name: str, *, hidden: bool) -> st.Page:
    return st.Page(
        SCREENS / f"{name}.py",
        title=PAGES[name],
        url_path=name.replace("_", "-"),
        default=name == "home",
        visibility="hidden" if hidden else "visible",
    )


def main() -> None:
    """Ask who it is, then run the page that they asked for."""
    st.set_page_config(page_title=f"{PRODUCT} · {site().name}", layout="wide")
    who = viewer()
    text = (DARK if is_dark() else LIGHT)["text"]  # a chosen segment of Streamlit's is too pale to read in the dark
    st.html(f'{CLOSED}<style>button[data-selected="true"] p {{ color: {text} !important; }}</style>')
    st.navigation(pages_for(who), position="top").run()


main()
