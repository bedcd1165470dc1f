"""Points with limits, and points around a mark: one row for each model."""

from collections.abc import Sequence
from typing import Any

from eds.reports.document import Kind
from eds.reports.figures.axes import ROW, WIDTH, Scale, axis, canvas, fitting, is_number, name_width, room
from eds.reports.markup import Markup, tag
from eds.reports.numbers import shown

TOP = 6.0


def intervals(
    labels: Sequence[str],
    values: Sequence[Any],
    low: Sequence[Any],
    high: Sequence[Any],
    kind: Kind = "value",
    lowest: float | None = None,
    highest: float | None = None,
    marks: Sequence[bool] = (),
    label: str = "",
) -> Markup:
    """A point for each label with a line from its lower to its upper limit; marked ones are hollow."""
    left = name_width(labels)
    bottom = TOP + ROW * len(labels)
    scale = Scale(*room([*values, *low, *high], lowest, highest), left, WIDTH - 22)
    rows = []
    for at, (name, value, under, over) in enumerate(zip(labels, values, low, high, strict=True)):
        y = TOP + ROW * (at + 0.5)
        told = f"{name}: {shown(value, kind)}"
        parts: list[Markup] = [_name(name, left, y)]
        if is_number(under) and is_number(over):
            told += f" [{shown(under, kind)}, {shown(over, kind)}]"
            parts.append(tag("line", x1=scale(under), x2=scale(over), y1=y, y2=y, class_="limits"))
        if is_number(value):
            hollow = at < len(marks) and marks[at]
            parts.append(tag("circle", cx=scale(value), cy=y, r=4.5, class_="point hollow" if hollow else "point"))
        rows.append(tag("g", tag("title", told), *parts, _target(y), class_="hit", data_tip=told))
    return canvas(bottom + 22, label, *axis(scale, kind, TOP, bottom), *rows)


def spread(
    labels: Sequence[str],
    values: Sequence[Any],
    points: Sequence[Sequence[Any]],
    point_names: Sequence[str] = (),
    kind: Kind = "value",
    label: str = "",
) -> Markup:
    """A stroke for each label's value, and a point for each of its others, named by `point_names`."""
    left = name_width(labels)
    bottom = TOP + ROW * len(labels)
    scale = Scale(*room([*values, *(one for row in points for one in row)], None, None), left, WIDTH - 22)
    rows = []
    for at, (name, value, others) in enumerate(zip(labels, values, points, strict=True)):
        y = TOP + ROW * (at + 0.5)
        parts: list[Markup] = [_name(name, left, y)]
        told = [f"{name}: {shown(value, kind)}"]
        for place, other in enumerate(others):
            if is_number(other):
                own = place < len(point_names) and point_names[place] == name
                parts.append(tag("circle", cx=scale(other), cy=y, r=4, class_="ghost own" if own else "ghost"))
                who = point_names[place] if place < len(point_names) else str(place + 1)
                told.append(f"without {who}: {shown(other, kind)}")
        if is_number(value):
            parts.append(tag("line", x1=scale(value), x2=scale(value), y1=y - 8, y2=y + 8, class_="mark"))
        text = "; ".join(told)
        rows.append(tag("g", tag("title", text), *parts, _target(y), class_="hit", data_tip=text))
    return canvas(bottom + 22, label, *axis(scale, kind, TOP, bottom), *rows)


def _name(name: str, left: float, y: float) -> Markup:
    return tag("text", fitting(name, left), x=left - 8, y=y + 4, text_anchor="end", class_="name")


def _target(y: float) -> Markup:
    return tag("rect", x=0, y=y - ROW / 2, width=WIDTH, height=ROW, class_="target")
