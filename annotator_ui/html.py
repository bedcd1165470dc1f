"""Pieces of HTML for `st.html`, from Jinja2 templates: what Streamlit has no part for. All text is escaped.

Colours are mixed from the colour of the text around them, which Streamlit sets for the theme in use.
"""

import math
from collections.abc import Sequence

from markupsafe import Markup

from annotator_ui import formats
from annotator_ui.formats import percent as percent
from annotator_ui.texts import FORMATS
from eds.html import environment

_PIECES = environment().get_template("annotator_ui/pieces.html.j2").module


def style() -> Markup:
    """Return the style sheet of the pieces."""
    return _piece("style")


def hidden_title(text: str) -> Markup:
    """Return the title of a screen that only screen readers read."""
    return _piece("hidden_title", text)


def pair(query: str, candidate: str, captions: tuple[str, str], *, large: bool = False) -> Markup:
    """Return two pictures side by side, by their addresses; large ones fill the window."""
    return _piece("pair", list(zip((query, candidate), captions, strict=True)), large)


def grid_preview(query: str, candidates: Sequence[str], captions: tuple[str, str]) -> Markup:
    """Return a query beside its candidates, small, by their addresses."""
    return _piece("grid_preview", query, candidates, captions)


def example(images: Sequence[str], caption: str, note: str) -> Markup:
    """Return an example pair of a guideline, by the addresses of its pictures."""
    return _piece("example", images, caption, note)


def work(title: str, lines: Sequence[str], pictures: Sequence[str], share: float) -> Markup:
    """Return a campaign: some of its pictures by their addresses, its name, a few lines, and a ring of what is done."""
    return _piece("work", title, [line for line in lines if line], pictures, _percent_of(share, 0.0, 1.0))


def judgements(cards: Sequence[tuple[str, Sequence[str], str, str]]) -> Markup:
    """Return judged pairs as links: address, both pictures, the answer as a sign and as a word."""
    return _piece("judgements", cards)


def picture_links(cards: Sequence[tuple[str, Sequence[str], str, str]]) -> Markup:
    """Return pictures as links: address, the picture, what the link does, and what is below it."""
    return _piece("picture_links", cards)


def query_picture(picture: str, name: str, title: str) -> Markup:
    """Return the picture of a query, with its name."""
    return _piece("query_picture", picture, name, title)


def strip(title: str, about: str, cards: Sequence[tuple[str, str, str, Sequence[str], str, str]], why: str) -> Markup:
    """Return a row of found pictures: link, picture, name, lines, label, and the address that says why."""
    return _piece("strip", title, about, cards, why)


def button(address: str, text: str) -> Markup:
    """Return a link to a file that looks like a button."""
    return _piece("button", address, text)


def link(address: str, text: str) -> Markup:
    """Return a link that opens in this window and looks like a button."""
    return _piece("link", address, text)


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
