"""A screen: one file in screens/ that carries its title, who may see it, its place in the menu and its code.

    @screen(title="Coverage", about="How far each expert is.", role="lead", section="Labels", position=120)
    def show(who: Viewer) -> None: ...

app.py finds the files; they are listed nowhere else. Screens link to each other by file name: `go_to("campaigns")`.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import NoReturn

import streamlit as st
from markupsafe import Markup

from annotator_ui import html
from annotator_ui.app_state import Viewer, may, viewer
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.texts_leads import COMMON
from eds.errors import EdsError

MESSAGE = "message"  # in the session's state: what the screen reports after its next rerun


@dataclass(frozen=True)
class Screen:
    """A page of the application; calling it shows it to the viewer."""

    name: str  # of its file; its address is the same with hyphens
    title: str
    about: str
    role: str  # the least role that may see it
    section: str  # its heading in the menu, "" for none
    position: int  # in the menu, the smallest first
    in_menu: bool  # False: reached from another screen only
    has_heading: bool  # False: the screen writes its own
    body: Callable[[Viewer], None]

    def __call__(self) -> None:
        """Show the screen; a viewer without the role sees a refusal."""
        who = viewer()
        if not may(who, self.role):
            st.header(COMMON.refused_title, anchor=False)
            st.write(COMMON.refused)
            return
        st.html(html.style() + (html.title(self.title, self.about) if self.has_heading else ""))
        message = st.session_state.pop(MESSAGE, None)
        if message is not None:
            st.success(escape_markdown(message))
        with shown_errors():
            self.body(who)

    def page(self, *, visible: bool = False) -> "st.Page":
        """Return the screen as a page of Streamlit."""
        return st.Page(
            self,
            title=self.title,
            url_path=self.name.replace("_", "-"),
            default=self.name == "home",
            visibility="visible" if visible and self.in_menu else "hidden",
        )


def screen(
    *,
    title: str,
    about: str = "",
    role: str = "expert",
    section: str = "",
    position: int = 1000,
    in_menu: bool = True,
    has_heading: bool = True,
) -> Callable[[Callable[[Viewer], None]], Screen]:
    """Make the function `show(who)` of a file in screens/ a screen."""

    def make(body: Callable[[Viewer], None]) -> Screen:
        name = body.__module__.rpartition(".")[2]
        return Screen(name, title, about, role, section, position, in_menu, has_heading, body)

    return make


@cache
def screens() -> dict[str, Screen]:
    """Return every screen by its name, in the order of the menu."""
    from annotator_ui import screens as folder

    names = [module.name for module in pkgutil.iter_modules(folder.__path__)]
    result: list[Screen] = [importlib.import_module(f"{folder.__name__}.{name}").show for name in names]
    return {item.name: item for item in sorted(result, key=lambda item: (item.position, item.name))}


def menu(who: Viewer) -> "dict[str, list[st.Page]]":
    """Return the pages by section; those that the viewer may not see are hidden, and refuse if their link is opened."""
    sections: dict[str, list[st.Page]] = {}
    for item in screens().values():
        sections.setdefault(item.section, []).append(item.page(visible=may(who, item.role)))
    return sections


@contextmanager
def shown_errors() -> Iterator[None]:
    """Show an error of the library as its sentence with all its faults, and go on behind the block."""
    try:
        yield
    except EdsError as error:
        lines = [escape_markdown(line.removeprefix("  - ")) for line in str(error).split("\n")]
        st.error("\n- ".join([lines[0] + ("\n" if lines[1:] else ""), *lines[1:]]))


def go_to(name: str, **query: str) -> NoReturn:
    """Leave this screen for another one."""
    st.switch_page(screens()[name].page(), query_params=query)
    raise AssertionError("st.switch_page does not return")


def link_to(name: str, label: str) -> None:
    """Show a link to another screen."""
    st.page_link(screens()[name].page(), label=label)


def put(*pieces: Markup) -> None:
    """Show finished pieces of HTML, one below the other."""
    st.html(pieces[0] if len(pieces) == 1 else html.stack(*pieces))


def is_dark() -> bool:
    """Return whether the browser shows the dark theme."""
    return getattr(st.context.theme, "type", None) == "dark"


def report_after_rerun(message: str) -> NoReturn:
    """Rerun the screen; it then says that something was done."""
    st.session_state[MESSAGE] = message
    st.rerun()
