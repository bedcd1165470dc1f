"""A screen: one file in screens/ that carries its title, who may see it, its place in the menu and its code.

    @screen(title="Coverage", about="How far each expert is.", role="lead", section="Labels", position=120)
    def show(who: Viewer) -> None: ...

app.py finds the files; they are listed nowhere else. `[annotator] screens = "my_screens"` in eds.toml adds the screens
of a module of one's own. Screens link to each other by file name: `go_to("campaigns")`.
"""

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NoReturn

import streamlit as st
from markupsafe import Markup

from annotator_ui import html, language
from annotator_ui import screens as screens_folder
from annotator_ui.app_state import Viewer, may, site, viewer
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.formats import number
from annotator_ui.texts_leads import COMMON
from annotator_ui.translation import say
from eds.errors import EdsError, ProjectError

if TYPE_CHECKING:
    import pandas as pd

DECIMALS = re.compile(r"%(\+?)\.(\d)f")  # a format of Streamlit's
ROWS = 14  # of a table; longer ones scroll
SHOWN = "shown"  # in the session's state: what the page is about
HIDDEN = "<style>[data-testid=stMain] [data-stale=true] { opacity: 0 !important; transition: none !important; }</style>"
MESSAGE = "message"  # in the session's state: what the screen reports after its next rerun


@dataclass(frozen=True)
class Screen:
    """A page of the application; calling it shows it to the viewer."""

    name: str  # of its file, or of its function if that is not `show`; its address is the same with hyphens
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
        st.html(html.style())
        if self.has_heading:
            st.header(say(self.title), anchor=False)
            if self.about:
                st.caption(say(self.about))
        message = st.session_state.pop(MESSAGE, None)
        if message is not None:
            st.success(escape_markdown(message))
        with shown_errors():
            self.body(who)

    def page(self, *, visible: bool = False) -> "st.Page":
        """Return the screen as a page of Streamlit."""
        return st.Page(
            self,
            title=say(self.title),
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
        own = getattr(body, "__name__", "show")
        name = body.__module__.rpartition(".")[2] if own == "show" else own
        return Screen(name, title, about, role, section, position, in_menu, has_heading, body)

    return make


def screens() -> dict[str, Screen]:
    """Return every screen by its name, in the order of the menu: ours, and those of `annotator.screens` in eds.toml."""
    result = {item.name: item for item in (*_our_screens(), *own_screens())}
    return dict(sorted(result.items(), key=lambda item: (item[1].position, item[0])))


def own_screens() -> tuple[Screen, ...]:
    """Return the screens of `annotator.screens` in eds.toml; a module that cannot be loaded is a ProjectError."""
    return _screens_of(str(site().owner.root), site().project.config.annotator.screens)


@cache
def _our_screens() -> tuple[Screen, ...]:
    return tuple(importlib.import_module(f"{screens_folder.__name__}.{name}").show for name in _our_names())


def _our_names() -> list[str]:
    return [module.name for module in pkgutil.iter_modules(screens_folder.__path__)]


@cache
def _screens_of(root: str, module: str) -> tuple[Screen, ...]:
    """The screens of a project's own module, which lies in the project's folder or is installed."""
    if not module:
        return ()
    site().owner.find_modules()
    try:
        loaded = importlib.import_module(module)
    except Exception as error:
        raise ProjectError(
            f"the screens in {module!r} cannot be loaded ({type(error).__name__}: {error})",
            where=f"{root}: annotator.screens",
            hint="Name a module in the project's folder, or an installed one, in which functions have @screen.",
        ) from error
    found = tuple(value for value in vars(loaded).values() if isinstance(value, Screen))
    taken = {*_our_names()} & {item.name for item in found}
    if taken or not found:
        raise ProjectError(
            f"{module!r} names screens as ours: {', '.join(sorted(taken))}" if taken else f"{module!r} has no screen",
            where=f"{root}: annotator.screens",
            hint="Rename the functions." if taken else "Decorate a function show(who) with @screen(title=...).",
        )
    return found


def menu(who: Viewer) -> "dict[str, list[st.Page]]":
    """Return the pages by section; those that the viewer may not see are hidden, and refuse if their link is opened."""
    sections: dict[str, list[st.Page]] = {}
    for item in screens().values():
        sections.setdefault(say(item.section), []).append(item.page(visible=may(who, item.role)))
    return sections


def marked_section(who: Viewer, address: str) -> str:
    """Return the style that marks the menu's section of this page, as Streamlit marks a page that has none."""
    shown = [item for item in screens().values() if item.in_menu and may(who, item.role)]
    sections = list(dict.fromkeys(item.section for item in shown if item.section))
    here = next((item.section for item in shown if item.name.replace("_", "-") == address), "")
    if not here:
        return ""
    place = sum(not item.section for item in shown) + sections.index(here) + 1
    mark = "background: color-mix(in srgb, currentColor 10%, transparent); font-weight: 700;"
    return f"[data-testid=stTopNav] > div:nth-child({place}) [data-testid=stTopNavSection] {{ {mark} }}"


@contextmanager
def only_of(what: str) -> Iterator[None]:
    """Show the block without what the page said of something else: Streamlit leaves it there until it is replaced."""
    other = st.session_state.get(SHOWN, what) != what
    st.session_state[SHOWN] = what
    place = st.empty()
    if other:
        place.html(f"{HIDDEN}<span></span>")  # without an element Streamlit keeps a style after its place is empty
    yield
    if other:
        place.empty()


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


def link_to(name: str, label: str, *, icon: str | None = None, **query: str) -> None:
    """Show a link to another screen."""
    st.page_link(screens()[name].page(), label=label, icon=icon, query_params=query or None)


def empty(title: str, body: str) -> None:
    """Show the empty state of a screen: what is missing, and how to get it."""
    with st.container(border=True, width=640):
        st.markdown(f"**{title}**")
        st.caption(body)


def dataframe(
    frame: "pd.DataFrame", alt: str, columns: Mapping[str, Any], *, key: str | None = None, select: bool = False
) -> int | None:
    """Show a table of Streamlit's own, with the columns of `columns` only; the selected row, if rows are selected."""
    numbers = frame[list(columns)]
    shown, columns = _with_shares(numbers, _written(columns))
    height: Any = "content" if len(numbers) <= ROWS else 36 * (ROWS + 1)
    options: dict[str, Any] = {
        "hide_index": True,
        "column_config": dict(columns),
        "alt": alt,
        "height": height,
        "key": key,
        "placeholder": "–",
    }
    if not select:
        st.dataframe(shown, **options)
        return None
    state = st.dataframe(shown, **options, on_select="rerun", selection_mode="single-row")
    rows = state["selection"]["rows"]
    return int(rows[0]) if rows and rows[0] < len(numbers) else None


def _with_shares(frame: "pd.DataFrame", columns: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Shares and whole numbers as our other figures have them: Streamlit's have two digits, or no thousands apart.

    In other languages than English so are numbers with decimals, since Streamlit's %.1f always has a point.
    """
    kinds = {name: dict(column.get("type_config") or {}) for name, column in columns.items()}
    ways: dict[str, Callable[[Any], str]] = {}
    for name, kind in kinds.items():
        form = str(kind.get("format"))
        if form == "percent" and kind["type"] == "number":
            ways[name] = _share
        elif form == "%d":
            ways[name] = partial(_decimal, digits=0, sign=False)
        elif (found := DECIMALS.fullmatch(form)) and language.current() != language.SOURCE:
            ways[name] = partial(_decimal, digits=int(found[2]), sign=bool(found[1]))
    if not ways:
        return frame, dict(columns)
    plain = {name: {**columns[name], "type_config": {**kinds[name], "format": None}} for name in ways}
    return frame.style.format(dict(ways), na_rep="–"), {**columns, **plain}


def _decimal(value: Any, *, digits: int, sign: bool) -> str:
    return ("+" if sign and value > 0 else "") + number(float(value), digits)


def _share(value: Any) -> str:
    return html.percent(value)


def _written(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Columns with dates in other languages as the browser writes them: Streamlit knows their words in English only."""
    result = dict(columns)
    if language.current() == language.SOURCE:
        return result
    for name, column in columns.items():
        kind = dict(column.get("type_config") or {})
        if kind.get("format") in ("distance", "D MMM YYYY"):
            result[name] = {**column, "type_config": {**kind, "format": "localized"}}
    return result


def put(piece: Markup) -> None:
    """Show a finished piece of HTML."""
    st.html(piece)


def width_for(title: str) -> int:
    """Return the width in pixels of a narrow column whose title is to be read."""
    return max(64, 26 + 7 * len(title))


def is_dark() -> bool:
    """Return whether the browser shows the dark theme."""
    return getattr(st.context.theme, "type", None) == "dark"


def report_after_rerun(message: str) -> NoReturn:
    """Rerun the screen; it then says that something was done."""
    st.session_state[MESSAGE] = message
    st.rerun()
