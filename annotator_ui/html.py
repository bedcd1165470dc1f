"""Pieces of HTML for `st.html`, from Jinja2 templates: tables, figures, pairs of pictures. All text is escaped.

Colours are mixed from the colour of the text around them, which Streamlit sets for the theme in use.
"""

import math
from collections.abc import Iterable, Sequence

import pandas as pd
from markupsafe import Markup

from annotator_ui import formats
from annotator_ui.formats import percent as percent
from annotator_ui.texts import FORMATS
from eds.html import environment


def cell(value: object) -> Markup:
    """Return any value as HTML: a missing one as a dash, text apart from the writing direction around it."""
    if isinstance(value, Markup):
        return value
    if value is None or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return Markup("–")
    if isinstance(value, str):
        return Markup("<bdi>{}</bdi>").format(value)
    if isinstance(value, int):
        return Markup.escape(formats.number(value))
    return Markup.escape(formats.number(value, 2) if isinstance(value, float) else str(value))


environment().filters["cell"] = cell
_PIECES = environment().get_template("annotator_ui/pieces.html.j2").module


def style() -> Markup:
    """Return the style sheet of the pieces."""
    return _piece("style")


def title(text: str, about: str = "") -> Markup:
    """Return the title of a screen, with a line about it."""
    return _piece("title", text, about)


def hidden_title(text: str) -> Markup:
    """Return the title of a screen that only screen readers read."""
    return _piece("hidden_title", text)


def stack(*pieces: Markup) -> Markup:
    """Return finished pieces, one below the other."""
    return _piece("stack", pieces)


def table(
    name: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    numbers: Sequence[int] = (),
    narrow: bool = False,
) -> Markup:
    """Return a table that scrolls by itself in a narrow window; a `narrow` one is as wide as its content.

    Columns in `numbers` are right-aligned. A head that begins with a dot is for screen readers only.
    """
    return _piece("table", name, heads, rows, numbers, narrow)


def figures(*items: tuple[str, object, str]) -> Markup:
    """Return large figures in a row: name, value, a word about it."""
    return _piece("figures", items)


def empty(title: str, body: str) -> Markup:
    """Return the empty state of a screen: what is missing, and how to get it."""
    return _piece("empty", title, body)


def note(text: str) -> Markup:
    """Return a quiet line."""
    return _piece("note", text)


def tag(text: str) -> Markup:
    """Return a word in a frame."""
    return _piece("tag", text)


def bar(share: float, text: str) -> Markup:
    """Return a share as a bar, with its text beside it."""
    return _piece("bar", 0.0 if math.isnan(share) else _percent_of(share, 0.0, 1.0), text)


def whisker(value: float, low: float, high: float, ends: tuple[float, float] = (0.0, 1.0)) -> Markup:
    """Return a value with its confidence interval on a line between two ends; with a mark at 0 if that lies between."""
    if any(math.isnan(number) for number in (value, low, high)):
        return Markup("")
    left, right, middle = (_percent_of(number, *ends) for number in (low, high, value))
    zero = _percent_of(0.0, *ends) if ends[0] < 0 < ends[1] else None
    return _piece("interval", middle, left, right - left, zero)


def pair(query: str, candidate: str, captions: tuple[str, str], *, large: bool = False) -> Markup:
    """Return two pictures side by side, by their addresses; large ones fill the window."""
    return _piece("pair", list(zip((query, candidate), captions, strict=True)), large)


def grid_preview(query: str, candidates: Sequence[str], captions: tuple[str, str]) -> Markup:
    """Return a query beside its candidates, small, by their addresses."""
    return _piece("grid_preview", query, candidates, captions)


def case(images: Markup, about: Sequence[Markup]) -> Markup:
    """Return a pair with what there is to say about it beside it."""
    return _piece("case", images, about)


def example(images: Sequence[str], caption: str, note: str) -> Markup:
    """Return an example pair of a guideline, by the addresses of its pictures."""
    return _piece("example", images, caption, note)


def work(title: str, lines: Sequence[str], pictures: Sequence[str], share: float) -> Markup:
    """Return a campaign: some of its pictures by their addresses, its name, a few lines, and a ring of what is done."""
    return _piece("work", title, [line for line in lines if line], pictures, _percent_of(share, 0.0, 1.0))


def judgements(cards: Sequence[tuple[str, Sequence[str], str, str]]) -> Markup:
    """Return judged pairs as links: address, both pictures, the answer as a sign and as a word."""
    return _piece("judgements", cards)


def keys(rows: Sequence[tuple[str, str]]) -> Markup:
    """Return keys and what they do."""
    return _piece("keys", rows)


def button(address: str, text: str) -> Markup:
    """Return a link to a file that looks like a button."""
    return _piece("button", address, text)


def limits(low: float, high: float, digits: int = 1, reason: str | None = None) -> str:
    """Return the confidence limits of a share as text; or the reason why it has none."""
    if math.isnan(low) or math.isnan(high):
        return FORMATS.no_interval.format(reason=reason) if isinstance(reason, str) else formats.MISSING
    return formats.interval(low, high, digits)


def _piece(name: str, *values: object) -> Markup:
    piece: Markup = getattr(_PIECES, name)(*values)
    return piece


def _percent_of(value: float, low: float, high: float) -> float:
    return 100 * min(max((value - low) / (high - low), 0.0), 1.0)
