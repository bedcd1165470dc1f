"""Points with limits, and points around a mark: one row for each model."""

from collections.abc import Sequence
from typing import Any

from eds.reports.document import Kind
from eds.reports.figures.axes import (
    LETTER,
    ROW,
    WIDTH,
    Scale,
    axis,
    canvas,
    colour,
    fitting,
    is_number,
    name_width,
    room,
    tick_text,
    ticks,
)
from eds.reports.markup import Markup, clean, tag
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
    words: str = "without ",
    legend: bool = False,
    label: str = "",
) -> Markup:
    """A stroke for each label's value, and a point for each of its others, told by `words` and `point_names`.

    With `legend` the points of each name have a colour, and the names stand below.
    """
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
                look = _filled(place) if legend else None
                parts.append(tag("circle", cx=scale(other), cy=y, r=4, class_="ghost own" if own else "ghost",
                                 style=look))  # fmt: skip
                who = point_names[place] if place < len(point_names) else str(place + 1)
                told.append(f"{words}{who}: {shown(other, kind)}")
        if is_number(value):
            parts.append(tag("line", x1=scale(value), x2=scale(value), y1=y - 8, y2=y + 8, class_="mark"))
        text = "; ".join(told)
        rows.append(tag("g", tag("title", text), *parts, _target(y), class_="hit", data_tip=text))
    names, height = _legend(point_names, left, bottom + 40) if legend and point_names else ([], bottom + 22)
    return canvas(height, label, *axis(scale, kind, TOP, bottom), *rows, *names)


def scatter(
    labels: Sequence[str],
    x: Sequence[Any],
    y: Sequence[Any],
    low: Sequence[Any] = (),
    high: Sequence[Any] = (),
    x_label: str = "",
    y_label: str = "",
    kind: Kind = "value",
    label: str = "",
) -> Markup:
    """A named point for each label, by two numbers; with a line from `low` to `high` of the second."""
    bottom, left, top = 250.0, 50.0, 14.0
    across = Scale(*room(x, 0.0, None), left, WIDTH - 22)
    up = Scale(*room([*y, *low, *high], 0.0, None), bottom, top)
    marks: list[Markup] = axis(across, kind, top, bottom)
    steps = ticks(up.low, up.high, 4)
    for value in steps:
        marks.append(tag("line", x1=left, x2=WIDTH - 22, y1=up(value), y2=up(value), class_="grid"))
        marks.append(tag("text", tick_text(value, kind, steps), x=left - 6, y=up(value) + 4, class_="tick",
                         text_anchor="end"))  # fmt: skip
    middle = round((left + WIDTH - 22) / 2, 1)
    marks.append(tag("text", x_label, x=middle, y=bottom + 32, class_="tick", text_anchor="middle"))
    marks.append(tag("text", y_label, x=12, y=round((top + bottom) / 2, 1), class_="tick", text_anchor="middle",
                     transform=f"rotate(-90 12 {(top + bottom) / 2:g})"))  # fmt: skip
    taken: list[tuple[float, float]] = []
    for at, (name, one, two) in enumerate(zip(labels, x, y, strict=True)):
        if not (is_number(one) and is_number(two)):
            continue
        told = f"{name}: {x_label} {shown(one, kind)}, {y_label} {shown(two, kind)}"
        parts: list[Markup] = []
        if at < len(low) and is_number(low[at]) and is_number(high[at]):
            parts.append(tag("line", x1=across(one), x2=across(one), y1=up(low[at]), y2=up(high[at]), class_="limits"))
            told += f" [{shown(low[at], kind)}, {shown(high[at], kind)}]"
        parts.append(tag("circle", cx=across(one), cy=up(two), r=4.5, class_="point"))
        right = across(one) < 0.7 * WIDTH
        line = _free(across(one), up(two) - 7, taken)
        parts.append(tag("text", fitting(name, 150), x=across(one) + (7 if right else -7), y=line, class_="name",
                         text_anchor="start" if right else "end"))  # fmt: skip
        marks.append(tag("g", tag("title", told), *parts, class_="hit", data_tip=told))
    return canvas(bottom + 42, label, *marks)


def _filled(place: int) -> str:
    return f"fill:{colour(place)};fill-opacity:.85;stroke:none"


def _legend(names: Sequence[str], left: float, y: float) -> tuple[list[Markup], float]:
    """Points and their names, in as many lines as they need; and the height that the drawing has with them."""
    marks, x = [], left
    most = int((WIDTH - left - 14) / LETTER)  # letters of a name that has a line to itself
    for place, name in enumerate(names):
        width = 14 + LETTER * min(len(clean(name)), most)
        if x + width > WIDTH and x > left:
            x, y = left, y + 20
        point = tag("circle", cx=x + 4, cy=y - 4, r=4, style=_filled(place))
        marks.append(tag("g", point, tag("text", fitting(name, WIDTH - left - 14 + 6), x=x + 14, y=y, class_="name")))
        x += width + 16
    return marks, y + 10


def _free(x: float, y: float, taken: list[tuple[float, float]]) -> float:
    """A line for a name near a point, below or above those of its neighbours."""
    for move in (0, 20, -12, 32, -24, 44):
        if all(abs(x - other) > 110 or abs(y + move - line) > 11 for other, line in taken):
            break
    taken.append((x, y + move))
    return round(y + move, 2)


def _name(name: str, left: float, y: float) -> Markup:
    return tag("text", fitting(name, left), x=left - 8, y=y + 4, text_anchor="end", class_="name")


def _target(y: float) -> Markup:
    return tag("rect", x=0, y=y - ROW / 2, width=WIDTH, height=ROW, class_="target")
