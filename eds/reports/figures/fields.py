"""Fields of colour with their numbers: the overlap of models, and numbers by kind."""

import math
from collections.abc import Sequence
from typing import Any

from eds.reports.document import Kind
from eds.reports.figures.axes import LETTER, WIDTH, canvas, defined, fitting, is_number, name_width
from eds.reports.markup import Markup, clean, tag
from eds.reports.numbers import shown


def heat_map(names: Sequence[str], values: Sequence[Sequence[Any]], label: str = "") -> Markup:
    """A square of shares, as the overlap of every two models; the diagonal is left empty."""
    others = [value for at, row in enumerate(values) for to, value in enumerate(row) if at != to]
    return _fields(names, names, values, "share", (0.0, max([*defined(others), 0.01])), label, diagonal=False)


def grid(
    rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[Any]], kind: Kind = "value", label: str = ""
) -> Markup:
    """A field for each row and column, darker where the number is larger."""
    told = defined([value for row in values for value in row]) or [0.0, 1.0]
    return _fields(rows, columns, values, kind, (min(told), max(told)), label, diagonal=True)


def _fields(
    rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[Any]], kind: Kind,
    ends: tuple[float, float], label: str, *, diagonal: bool,
) -> Markup:  # fmt: skip
    left = name_width(rows, 120)
    cell = min((WIDTH - left - 26) / max(len(columns), 1), 64.0)
    high = min(cell, 34.0) if cell >= 24 else 22.0
    longest = LETTER * max((len(clean(name)) for name in columns), default=0)
    flat = longest < cell  # names that fit above their column stand upright
    head = 20.0 if flat else min(8 + 0.72 * longest, 80.0)
    marks: list[Markup] = []
    for at, name in enumerate(columns):
        x = left + cell * (at + 0.5)
        turn = None if flat else f"rotate(-40 {x:g} {head - 6:g})"
        marks.append(tag("text", fitting(name, 116), x=round(x if flat else x - 2, 2), y=round(head - 6, 2),
                         transform=turn, class_="name", text_anchor="middle" if flat else None))  # fmt: skip
    for at, name in enumerate(rows):
        y = head + high * at
        words = fitting(name, left)
        marks.append(tag("text", words, x=left - 8, y=round(y + high / 2 + 4, 2), text_anchor="end", class_="name"))
        for to, other in enumerate(columns):
            if diagonal or at != to:
                marks.append(_field(values[at][to], kind, ends, (left + cell * to, y, cell, high), f"{name}, {other}"))
    return canvas(head + high * len(rows) + 6, label, *marks)


def _field(
    value: Any, kind: Kind, ends: tuple[float, float], place: tuple[float, float, float, float], who: str
) -> Markup:
    x, y, width, height = place
    text = f"{who}: {shown(value, kind)}"
    depth = 0.0
    if is_number(value) and ends[1] > ends[0]:
        depth = min(max((float(value) - ends[0]) / (ends[1] - ends[0]), 0.0), 1.0)
    box = tag("rect", x=round(x + 1, 2), y=y + 1, width=round(width - 2, 2), height=height - 2, rx=3,
              class_="field", style=f"fill-opacity:{0.06 + 0.9 * depth:.3f}")  # fmt: skip
    look = "inside strong" if depth > 0.5 else "inside"
    number = tag("text", _short(value, kind, width), x=round(x + width / 2, 2), y=round(y + height / 2 + 4, 2),
                 class_=look, text_anchor="middle")  # fmt: skip
    return tag("g", tag("title", text), box, number, class_="hit", data_tip=text)


def _short(value: Any, kind: Kind, width: float) -> str:
    if not is_number(value) or width < 19:
        return "" if width < 19 else "–"
    if kind == "share":
        digits = 0 if width < 42 else 1
        return f"{100 * float(value):.{digits}f}"
    text = f"{float(value):.{2 if width < 34 else 3}f}"
    return text[1:] if math.fabs(float(value)) < 1 and width < 26 else text
