"""Lines: ROC and precision-recall curves, rates by place, orders that cross."""

from collections.abc import Mapping, Sequence
from typing import Any

from eds.reports.document import Kind
from eds.reports.figures.axes import (
    LETTER,
    ROW,
    WIDTH,
    Scale,
    canvas,
    colour,
    fitting,
    is_number,
    name_width,
    room,
    strokes,
    tick_text,
    ticks,
)
from eds.reports.markup import Markup, clean, tag
from eds.reports.numbers import shown

LEFT, TOP, HEIGHT = 46.0, 8.0, 340.0


def curves(
    names: Sequence[str],
    x: Sequence[Sequence[float]],
    y: Sequence[Sequence[float]],
    x_label: str = "",
    y_label: str = "",
    chance: str | float = "diagonal",
    marks: Sequence[bool] = (),
    label: str = "",
) -> Markup:
    """A line for each name over the unit square, dashed for marked ones; chance is the diagonal, or a share, dotted."""
    looks = strokes(marks, len(names))
    across, up = Scale(0, 1, LEFT, WIDTH - 12), Scale(0, 1, TOP + HEIGHT, TOP)
    drawn = _frame(across, up, x_label, y_label, "value", "value")
    ends = (0.0, 1.0) if chance == "diagonal" else (float(chance), float(chance))
    drawn.append(tag("line", x1=across(0), x2=across(1), y1=up(ends[0]), y2=up(ends[1]), class_="chance"))
    for name, along, over, look in zip(names, x, y, looks, strict=True):
        points = " ".join(f"{across(one):g},{up(two):g}" for one, two in zip(along, over, strict=True))
        line = tag("polyline", points=points, class_="curve", **look)
        drawn.append(tag("g", tag("title", name), line, class_="hit", data_tip=name))
    legend, height = _legend(names, looks, TOP + HEIGHT + 44)
    return canvas(height, label, *drawn, *legend)


def steps(
    x: Sequence[float],
    values: Sequence[Any],
    low: Sequence[Any],
    high: Sequence[Any],
    x_label: str = "",
    kind: Kind = "share",
    label: str = "",
) -> Markup:
    """Points with limits along an axis, joined by a line."""
    bottom = 190.0
    across = Scale(min(x, default=0) - 0.5, max(x, default=1) + 0.5, LEFT, WIDTH - 12)
    up = Scale(*room([*values, *high], 0.0, None), bottom, TOP)
    marks = [*_levels(up, kind)]
    told = [(one, value) for one, value in zip(x, values, strict=True) if is_number(value)]
    points = " ".join(f"{across(one):g},{up(value):g}" for one, value in told)
    marks.append(tag("polyline", points=points, class_="curve", style=f"stroke:{colour(0)}"))
    every = max(1, -(-len(x) // 14))
    for at, (one, value, under, over) in enumerate(zip(x, values, low, high, strict=True)):
        text = f"{x_label} {shown(one, 'count')}: {shown(value, kind)}"
        parts = []
        if is_number(value) and is_number(under) and is_number(over):
            text += f" [{shown(under, kind)}, {shown(over, kind)}]"
            parts.append(tag("line", x1=across(one), x2=across(one), y1=up(under), y2=up(over), class_="limits"))
        if is_number(value):
            parts.append(tag("circle", cx=across(one), cy=up(value), r=4.5, class_="point"))
        marks.append(tag("g", tag("title", text), *parts, class_="hit", data_tip=text))
        if at % every == 0:
            marks.append(tag("text", shown(one, "count"), x=across(one), y=bottom + 15, class_="tick",
                             text_anchor="middle"))  # fmt: skip
    middle = (LEFT + WIDTH - 12) / 2
    marks.append(tag("text", x_label, x=middle, y=bottom + 32, class_="tick", text_anchor="middle"))
    return canvas(bottom + 40, label, *marks)


def slopes(
    labels: Sequence[str],
    ranks: Sequence[Sequence[int]],
    sides: Sequence[str],
    marks: Sequence[bool] = (),
    label: str = "",
) -> Markup:
    """Each label's place on several sides, joined: lines that cross are orders that differ; 0 is no place."""
    side = name_width(labels, 92)
    columns = Scale(0, max(len(sides) - 1, 1), side + 14, WIDTH - side - 14)
    most = max((place for row in ranks for place in row), default=1)
    rows = Scale(1, max(most, 2), 40, 40 + ROW * max(most - 1, 1))
    shift = _apart(ranks)
    parts = []
    for at, name in enumerate(sides):
        x = columns(at)
        anchor = "start" if at == 0 else "end" if at == len(sides) - 1 else "middle"
        at_x = {"start": 2.0, "middle": x, "end": WIDTH - 2}[anchor]
        parts.append(tag("text", name, x=at_x, y=14, class_="tick", text_anchor=anchor))
        parts.append(tag("line", x1=x, x2=x, y1=30, y2=rows(most) + 12, class_="grid"))
    for at, (name, places) in enumerate(zip(labels, ranks, strict=True)):
        spots = [(columns(to), rows(place) + shift[at][to]) for to, place in enumerate(places) if place]
        told = f"{name}: " + ", ".join(f"{side} {place}" for side, place in zip(sides, places, strict=True))
        later = at < len(marks) and marks[at]
        points = " ".join(f"{one:g},{two:g}" for one, two in spots)
        line = tag("polyline", points=points, class_="curve", style=f"stroke:{colour(at)}",
                   stroke_dasharray="5 3" if later else None)  # fmt: skip
        dots = [tag("circle", cx=one, cy=two, r=4, style=f"fill:{colour(at)}") for one, two in spots]
        ends = []
        if places and places[0]:
            ends.append(tag("text", fitting(name, side), x=spots[0][0] - 9, y=spots[0][1] + 4, text_anchor="end",
                            class_="name"))  # fmt: skip
        if places and places[-1]:
            ends.append(tag("text", fitting(name, side), x=spots[-1][0] + 9, y=spots[-1][1] + 4, class_="name"))
        parts.append(tag("g", tag("title", told), line, *dots, *ends, class_="hit", data_tip=told))
    return canvas(rows(max(most, 1)) + 24, label, *parts)


def _apart(ranks: Sequence[Sequence[int]]) -> list[list[float]]:
    """Small shifts that keep labels of one place apart."""
    found = [[0.0] * len(row) for row in ranks]
    for to in range(len(ranks[0]) if ranks else 0):
        seen: dict[int, int] = {}
        for at, row in enumerate(ranks):
            found[at][to] = 11.0 * seen.get(row[to], 0)
            seen[row[to]] = seen.get(row[to], 0) + 1
    return found


def _frame(across: Scale, up: Scale, x_label: str, y_label: str, x_kind: Kind, y_kind: Kind) -> list[Markup]:
    marks = _levels(up, y_kind)
    places = ticks(across.low, across.high)
    for value in places:
        x = across(value)
        marks.append(tag("line", x1=x, x2=x, y1=up.end, y2=up.start, class_="grid"))
        marks.append(tag("text", tick_text(value, x_kind, places), x=x, y=up.start + 15, class_="tick",
                         text_anchor="middle"))  # fmt: skip
    middle, centre = (across.start + across.end) / 2, (up.start + up.end) / 2
    marks.append(tag("text", x_label, x=middle, y=up.start + 33, class_="tick", text_anchor="middle"))
    marks.append(tag("text", y_label, x=11, y=centre, class_="tick", text_anchor="middle",
                     transform=f"rotate(-90 11 {centre:g})"))  # fmt: skip
    return marks


def _levels(up: Scale, kind: Kind) -> list[Markup]:
    marks = []
    places = ticks(up.low, up.high)
    for value in places:
        y = up(value)
        marks.append(tag("line", x1=LEFT, x2=WIDTH - 12, y1=y, y2=y, class_="grid"))
        marks.append(tag("text", tick_text(value, kind, places), x=LEFT - 6, y=y + 4, class_="tick",
                         text_anchor="end"))  # fmt: skip
    return marks


def _legend(names: Sequence[str], looks: Sequence[Mapping[str, Any]], top: float) -> tuple[list[Markup], float]:
    """Names below the drawing, in as many lines as they need."""
    marks, x, y = [], LEFT, top + 12
    for name, look in zip(names, looks, strict=True):
        width = 34 + LETTER * min(len(clean(name)), 26)
        if x + width > WIDTH and x > LEFT:
            x, y = LEFT, y + 20
        line = tag("line", x1=x, x2=x + 18, y1=y - 4, y2=y - 4, class_="curve", **look)
        marks.append(tag("g", line, tag("text", fitting(name, 26 * LETTER + 6), x=x + 23, y=y, class_="name")))
        x += width
    return marks, y + 10
