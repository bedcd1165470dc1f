"""What every lead's screen begins with: who looks, whether they may, the style, the campaign that is looked at."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pandas as pd
import streamlit as st
from markupsafe import Markup

from annotator_ui import html
from annotator_ui.app_state import Viewer, may, site, viewer
from annotator_ui.escape_markdown import as_typed
from annotator_ui.texts_leads import COMMON
from eds.errors import EdsError, InputError
from eds.labels.lead_queries import asked_campaigns

CHOSEN = "lead_campaign"  # of the session: the same campaign on all of the lead's pages


@dataclass(frozen=True)
class Campaign:
    """The campaign that a screen is about."""

    name: str
    mode: str
    guideline: str
    early_stop: bool
    closed: bool
    items: int
    experts: int


def begin(title: str, about: str) -> Viewer:
    """Head of a screen for leads; whoever is none is told so, and the script stops."""
    who = viewer()
    if not may(who, "lead"):
        st.header(COMMON.refused_title, anchor=False)
        st.write(COMMON.refused)
        st.stop()
    head(title, about)
    told = st.session_state.pop("lead_told", None)
    if told is not None:
        st.success(as_typed(told))
    return who


def head(title: str, about: str = "") -> None:
    """The style, the title, and a line about the page."""
    st.html(html.style() + html.title(title, about))


def put(*pieces: Markup) -> None:
    """Show finished pieces of HTML, one below the other."""
    st.html(pieces[0] if len(pieces) == 1 else html.stack(*pieces))


@contextmanager
def telling() -> Iterator[None]:
    """Show an error of the library as its sentence, and go on behind the block."""
    try:
        yield
    except EdsError as error:
        lines = [as_typed(line.removeprefix("  - ")) for line in str(error).split("\n")]
        st.error("\n- ".join([lines[0] + ("\n" if lines[1:] else ""), *lines[1:]]))


@contextmanager
def needing() -> Iterator[None]:
    """As `telling`, for what the rest of the screen needs: the script stops there."""
    failed = True
    with telling():
        yield
        failed = False
    if failed:
        st.stop()


def done(words: str) -> None:
    """Say after the next rerun that something was done, and rerun."""
    st.session_state["lead_told"] = words
    st.rerun()


def campaigns() -> pd.DataFrame:
    """The campaigns of experts, newest first."""
    found = asked_campaigns(site().store)
    return found.iloc[::-1].reset_index(drop=True)


def choose_campaign() -> Campaign:
    """Let the lead choose a campaign, the same on all pages; without any the script stops with an empty state."""
    found = campaigns()
    if found.empty:
        put(html.empty(COMMON.none_title, COMMON.none_body))
        st.page_link("screens/campaigns.py", label=COMMON.none_link)
        st.stop()
    names = found["name"].tolist()
    before = st.session_state.get(CHOSEN)
    place = names.index(before) if before in names else 0
    name = st.selectbox(COMMON.campaign, names, index=place, width=460)
    st.session_state[CHOSEN] = name
    row = found.loc[found["name"] == name].iloc[0]
    return Campaign(
        name,
        str(row["mode"]),
        str(row["guideline"]),
        bool(row["early_stop"]),
        bool(pd.notna(row["closed_at"])),
        int(row["items"]),
        int(row["experts"]),
    )


def check_images(names: Iterable[str], where: str) -> None:
    """InputError with the ids that are not in the catalogue; nobody could be shown them."""
    unknown = sorted(name for name in set(names) if name and site().pictures.source(name) is None)
    if unknown:
        raise InputError(
            f"{len(unknown):,} images are not in the catalogue",
            where=where,
            do="Give their ids as the catalogue has them.",
            faults=unknown[:20],
        )


def is_dark() -> bool:
    """Whether the browser shows the dark theme."""
    return getattr(st.context.theme, "type", None) == "dark"
