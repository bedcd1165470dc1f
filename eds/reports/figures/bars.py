"""Bars: plain ones, and HR with its ceiling."""

import math
from collections.abc import Sequence
from typing import Any

from eds.reports.document import Kind
from eds.reports.figures.axes import ROW, WIDTH, Scale, axis, canvas, defined, fitting, is_number, name_width, room
from eds.reports.markup import Markup, tag
from eds.reports.numbers import shown

TOP = 6.0
THICK = 13.0


def bars(
    labels: Sequence[str],
    values: Sequence[Any],
    kind: Kind = "count",
    logarithmic: bool = False,
    label: str = "",
) -> Markup:
    """A bar for each label, its number behind it."""
    left, right = name_width(labels, 150), 58.0
    bottom = TOP + ROW * len(labels)
    told = defined(values)
    if logarithmic and told and min(told) > 0:
        low, high = 10.0 ** math.floor(math.log10(min(told)) - 0.3), 10.0 ** math.ceil(math.log10(max(told)))
    else:
        logarithmic, (low, high) = False, room(values, 0.0, None)
    scale = Scale(low, high, left, WIDTH - right, logarithmic)
    rows = []
    for at, (name, value) in enumerate(zip(labels, values, strict=True)):
        y = TOP + ROW * (at + 0.5)
        text = f"{name}: {shown(value, kind)}"
        parts = [tag("text", fitting(name, left), x=left - 8, y=y + 4, text_anchor="end", class_="name")]
        if is_number(value):
            end = scale(value)
            parts.append(tag("rect", x=left, y=y - THICK / 2, width=max(end - left, 0.5), height=THICK, class_="bar"))
            parts.append(tag("text", shown(value, kind), x=max(end, left) + 6, y=y + 4, class_="number"))
        rows.append(tag("g", tag("title", text), *parts, class_="hit", data_tip=text))
    return canvas(bottom + 22, label, *axis(scale, kind, TOP, bottom), *rows)


def ceiling(
    labels: Sequence[str],
    values: Sequence[Any],
    highs: Sequence[Any],
    most: Sequence[Any],
    marks: Sequence[bool] = (),
    kind: Kind = "share",
    label: str = "",
) -> Markup:
    """A bar for each value, a stroke at its ceiling, and what could still be added, faint; marked labels in italics."""
    left = name_width(labels)
    bottom = TOP + ROW * len(labels)
    scale = Scale(0.0, 1.0, left, WIDTH - 22)
    rows = []
    for at, (name, value, high, top) in enumerate(zip(labels, values, highs, most, strict=True)):
        y = TOP + ROW * (at + 0.5)
        text = f"{name}: {shown(value, kind)}, ceiling {shown(high, kind)}, at most {shown(top, kind)}"
        style = "name later" if at < len(marks) and marks[at] else "name"
        parts = [tag("text", fitting(name, left), x=left - 8, y=y + 4, text_anchor="end", class_=style)]
        for number, look in ((top, "bar could"), (value, "bar")):
            if is_number(number):
                width = round(scale(number) - left, 2)
                parts.append(tag("rect", x=left, y=y - THICK / 2, width=width, height=THICK, class_=look))
        if is_number(high):
            parts.append(tag("line", x1=scale(high), x2=scale(high), y1=y - 9, y2=y + 9, class_="mark"))
        rows.append(tag("g", tag("title", text), *parts, class_="hit", data_tip=text))
    return canvas(bottom + 22, label, *axis(scale, kind, TOP, bottom), *rows)
