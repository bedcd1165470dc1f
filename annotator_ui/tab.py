"""A tab of a campaign's page: one file in tabs/ that carries its title, its place among the tabs and its code.

    @tab(title="Agreement", position=30)
    def show(who: Viewer, campaign: Campaign) -> None: ...

screens/campaign.py finds the files; they are listed nowhere else. Only the open tab is computed. Another tab is opened
by a button's `on_click=open_tab, args=("experts",)`, or by a link with its name as `tab` in the address.
"""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import streamlit as st

from annotator_ui import language
from annotator_ui.app_state import Viewer
from annotator_ui.lead.campaign import Campaign
from annotator_ui.translation import say

TAB = "tab"  # in the address and the session's state: the title of the open tab
Body = Callable[[Viewer, Campaign], None]


@dataclass(frozen=True)
class Tab:
    """One tab; `name` is that of its file."""

    name: str
    title: str
    position: int
    body: Body


def tab(*, title: str, position: int = 1000) -> Callable[[Body], Tab]:
    """Make the function `show(who, campaign)` of a file in tabs/ a tab."""

    def make(body: Body) -> Tab:
        return Tab(body.__module__.rpartition(".")[2], title, position, body)

    return make


@cache
def tabs() -> dict[str, Tab]:
    """Return every tab by its name, in their order."""
    from annotator_ui import tabs as folder

    names = [module.name for module in pkgutil.iter_modules(folder.__path__)]
    found: list[Tab] = [importlib.import_module(f"{folder.__name__}.{name}").show for name in names]
    return {item.name: item for item in sorted(found, key=lambda item: (item.position, item.name))}


def open_tab(name: str, **state: object) -> None:
    """Open a tab at the next rerun, as a button's callback; `state` is put into the session's state."""
    st.session_state[TAB] = say(tabs()[name].title)
    for key, value in state.items():
        st.session_state[key] = value


def _asked(name: str) -> Tab | None:
    """The tab that an address names: by its file, or by its title in any language, as the browser's address has it."""
    if name in tabs():
        return tabs()[name]
    for of in language.languages():
        with language.speaking(of):
            if found := next((item for item in tabs().values() if say(item.title) == name), None):
                return found
    return None


def show_tabs(who: Viewer, campaign: Campaign) -> None:
    """Show the tabs, and compute the open one."""
    items = list(tabs().values())
    titles = [say(item.title) for item in items]
    asked = _asked(st.query_params.get(TAB, ""))
    if asked is not None and TAB not in st.session_state:
        st.session_state[TAB] = say(asked.title)
    places = st.tabs(titles, key=TAB, on_change="rerun", bind="query-params")
    for item, place in zip(items, places, strict=True):
        if place.open:
            with place:
                item.body(who, campaign)
