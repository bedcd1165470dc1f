"""Charts: functions from plain numbers to Altair charts, the same in a notebook, on a page and in the report.

A chart carries its marks, its series' colours and a tooltip for each mark. Fonts and the colours of text and grid are
left to what shows it: Altair's theme in a notebook, Streamlit's on a page, `eds.reports.svg` in the report.

The file is longer than others because every chart shares the axes, scales and tooltips at its end.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import altair as alt

from eds.reports.document import Kind
from eds.reports.numbers import shown
from eds.reports.short_names import shorten

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 440  # pixels, of every chart: letters are equally large in all of them
ROW = 24  # height of a row
LETTER = 6.2  # mean width of a letter at 11 px
MANY = 20  # rows above which they are lower
MOST_LABEL = 220  # room for the names of rows where there are few columns
LABEL = 130  # room for the name of a row; longer names are cut, and complete in the tooltip
LEGEND = 26  # letters of a name in a legend
SERIES = ("#0b6aa8", "#b8500b", "#007f62", "#a03a76", "#7a6400", "#2b8cbf", "#4b4f55")
MAIN, SECOND = SERIES[:2]
HEAT, ON_HEAT, CARD = "#0b5c94", "#fefefe", "#ffffff"
SOLID, DASHED = [1, 0], [5, 3]
TICKS = {"share": "replace(datum.label, '%', ' %')", "hours": "datum.label + ' h'"}
FORMATS = {"share": "%", "count": ",~f", "hours": ",~f"}
TIP = alt.Tooltip("tip:N"), alt.Description("tip:N")
FITTED = alt.AutoSizeParams(type="fit-x", contains="padding")
Chart: TypeAlias = alt.LayerChart


def bar_chart(labels: Sequence[str], values: Sequence[Any], kind: Kind = "count") -> Chart:
    """A bar for each label, followed by its number."""
    text = [shown(value, kind) for value in values]
    tips = [f"{label}: {number}" for label, number in zip(labels, text, strict=True)]
    rows = _rows(label=labels, value=values, start=[0.0] * len(text), text=text, tip=tips)
    base, scale = _by_row(rows), _scale([*values, 1] if kind == "count" else values, 0.0)
    bars = base.mark_bar(color=MAIN, height=13).encode(x=_x("value", kind, scale), x2=alt.X2("start:Q"))
    captions = base.mark_text(align="left", dx=6).encode(x=_x("value", kind, scale), text=alt.Text("text:N"))
    return _framed(bars, captions, _hits(base), right=50)


def log_chart(labels: Sequence[str], values: Sequence[Any], kind: Kind = "count") -> Chart:
    """A point for each label on a logarithmic axis, followed by its number; values that are not positive have none.

    Points and no bars: on a logarithmic axis a bar would have no start, and its length no meaning.
    """
    numbers = [number if number is not None and number > 0 else None for number in map(_number, values)]
    known = _defined(numbers) or [1.0]
    first, last = math.floor(math.log10(min(known))), math.ceil(math.log10(max(known)))
    powers = [10.0**power for power in range(first, max(last, first + 1) + 1)]
    text = [shown(value, kind) for value in values]
    tips = [f"{label}: {number}" for label, number in zip(labels, text, strict=True)]
    base = _by_row(_rows(label=labels, value=numbers, text=text, tip=tips))
    scale = alt.Scale(type="log", domain=[powers[0], powers[-1]], nice=False)
    x = alt.X("value:Q", title=None, scale=scale, axis=_axis(kind, powers[:: math.ceil(len(powers) / 5)]))
    points = base.mark_point(size=64, stroke=MAIN, fill=MAIN, opacity=1).encode(x=x)
    captions = base.mark_text(align="left", dx=8).encode(x=x, text=alt.Text("text:N"))
    return _framed(points, captions, _hits(base), right=50)


def forest_chart(
    labels: Sequence[str],
    values: Sequence[Any],
    low: Sequence[Any],
    high: Sequence[Any],
    marks: Sequence[bool] = (),
    groups: Sequence[Sequence[str]] = (),
    kind: Kind = "value",
) -> Chart:
    """A forest plot: a row for each label with its point, interval and number; marked ones are hollow.

    Each of `groups` is a bracket on the right, with a tick at the rows of its members.
    """
    tips = _tips(labels, values, low, high, kind)
    text = [
        shown(value, kind) + (f" [{shown(under, kind)}, {shown(over, kind)}]" if _number(under) is not None else "")
        for value, under, over in zip(values, low, high, strict=True)
    ]
    step = _row_height(labels)
    rows = _rows(label=labels, value=values, low=low, high=high, marked=_flags(marks, labels), text=text, tip=tips)
    order = [*dict.fromkeys(labels)]
    axis = alt.Axis(labelLimit=LABEL, grid=False, labelFontSize=_letter_size(step))
    y = alt.Y("label:N", sort=None, title=None, scale=alt.Scale(domain=order), axis=axis)
    base, scale = _chart(rows).encode(y=y), _scale([*values, *low, *high])
    room = LETTER * max(map(len, text), default=0) + 14
    layers = [
        base.mark_rule(color=MAIN, strokeWidth=2.5, strokeCap="round", opacity=0.5).encode(
            x=_x("low", kind, scale), x2=alt.X2("high:Q")
        ),
        base.mark_point(size=64 if step == ROW else 30, stroke=MAIN, strokeWidth=2, opacity=1, filled=True).encode(
            x=_x("value", kind, scale), fill=_flagged(alt.Fill, "marked", MAIN, CARD)
        ),
        base.mark_text(align="left", dx=8, fontSize=_letter_size(step)).encode(x=_beyond(0), text=alt.Text("text:N")),
    ]
    place = {label: index for index, label in enumerate(order)}
    ends: list[int] = []  # of each column of brackets: its last row
    for group in sorted(sorted(place[name] for name in group) for group in groups if len(group) > 1):
        column = next((index for index, end in enumerate(ends) if end < group[0]), len(ends))
        ends[column : column + 1] = [group[-1]]
        line = _chart([{"label": order[group[0]], "last": order[group[-1]]}])
        ticks = _chart([{"label": order[index]} for index in group])
        layers += [
            line.mark_rule(color=SECOND, strokeWidth=1.6).encode(
                x=_beyond(room + 9 * column), y=y, y2=alt.Y2("last:N")
            ),
            ticks.mark_rule(color=SECOND, strokeWidth=1.6).encode(
                x=_beyond(room + 9 * column - 4), x2=_beyond(room + 9 * column, alt.X2Value), y=y
            ),
        ]
    return _framed(*layers, _hits(base), height=alt.Step(step))


def _row_height(labels: Sequence[Any]) -> int:
    """The height of a row: lower where there are many."""
    return ROW if len(labels) <= MANY else 13


def _letter_size(step: int) -> int:
    """The size of letters in rows of this height."""
    return 11 if step == ROW else 9


def _beyond(pixels: float, channel: type[Any] = alt.XValue) -> Any:
    """A position to the right of the axis."""
    return channel(alt.expr(f"width + {pixels:g}"))


def bound_chart(
    labels: Sequence[str],
    values: Sequence[Any],
    ceilings: Sequence[Any],
    marks: Sequence[bool] = (),
    kind: Kind = "share",
) -> Chart:
    """A bar for each value, pale from there to a tick at its ceiling; marked ones are hollow."""
    tips = [
        f"{label}: {shown(value, kind)}" + (f", ceiling {shown(top, kind)}" if _number(top) is not None else "")
        for label, value, top in zip(labels, values, ceilings, strict=True)
    ]
    text = [shown(value, kind) for value in values]
    start = [0.0] * len(tips)
    rows = _rows(
        label=labels, start=start, value=values, top=ceilings, marked=_flags(marks, labels), text=text, tip=tips
    )
    base, scale, step = _by_row(rows), alt.Scale(domain=[0, 1]), _row_height(labels)
    fill, thick = _flagged(alt.Fill, "marked", MAIN, CARD), 13 if step == ROW else 8
    return _framed(
        base.mark_bar(height=thick, opacity=0.2, color=MAIN).encode(x=_x("value", kind, scale), x2=alt.X2("top:Q")),
        base.mark_bar(height=thick, stroke=MAIN, strokeWidth=1.5).encode(
            x=_x("value", kind, scale), x2=alt.X2("start:Q"), fill=fill
        ),
        base.mark_tick(thickness=2.2, size=thick + 5).encode(x=_x("top", kind, scale)),
        base.mark_text(align="left", dx=8, fontSize=_letter_size(step)).encode(x=_beyond(0), text=alt.Text("text:N")),
        _hits(base),
        height=alt.Step(step),
    )


def interval_chart(
    labels: Sequence[str],
    values: Sequence[Any],
    low: Sequence[Any],
    high: Sequence[Any],
    kind: Kind = "value",
    lowest: float | None = None,
    highest: float | None = None,
    marks: Sequence[bool] = (),
) -> Chart:
    """A point for each label with a line from its lower to its upper limit; marked ones are hollow."""
    tips = _tips(labels, values, low, high, kind)
    rows = _rows(label=labels, value=values, low=low, high=high, marked=_flags(marks, labels), tip=tips)
    base, scale = _by_row(rows), _scale([*values, *low, *high], lowest, highest)
    fill = _flagged(alt.Fill, "marked", MAIN, CARD)
    return _framed(
        base.mark_rule(color=MAIN, strokeWidth=2.5, strokeCap="round", opacity=0.5).encode(
            x=_x("low", kind, scale), x2=alt.X2("high:Q")
        ),
        base.mark_point(size=64, stroke=MAIN, strokeWidth=2, opacity=1, filled=True).encode(
            x=_x("value", kind, scale), fill=fill
        ),
        _hits(base),
    )


def dot_chart(
    labels: Sequence[str],
    values: Sequence[Any],
    points: Sequence[Sequence[Any]],
    point_names: Sequence[str] = (),
    kind: Kind = "value",
    words: str = "without ",
    legend: bool = False,
) -> Chart:
    """A tick for each label's value, and a dot for each of its other values, named by `words` and `point_names`.

    With `legend` the dots of each name share a colour; without it those named as the row are orange, the others pale.
    """
    rows, dots = [], []
    names = [*point_names]
    for label, value, others in zip(labels, values, points, strict=True):
        tips = [f"{label}: {shown(value, kind)}"]
        for index, other in enumerate(others):
            name = names[index] if index < len(names) else str(index + 1)
            if _number(other) is not None:
                tips.append(f"{words}{name}: {shown(other, kind)}")
                dots.append({"label": label, "other": _number(other), "name": name, "own": name == label})
        rows.append({"label": label, "value": _number(value), "tip": "; ".join(tips)})
    base, scale = _by_row(rows), _scale([*values, *(other for row in points for other in row)])
    colour = (
        alt.Color("name:N", scale=alt.Scale(domain=names, range=[*SERIES]), legend=_legend(names, symbolType="circle"))
        if legend and names
        else _flagged(alt.Color, "own", MAIN, SECOND)
    )
    pale = alt.OpacityValue(0.9) if legend else _flagged(alt.Opacity, "own", 0.4, 0.95)
    others = (
        _chart(dots).mark_circle(size=50).encode(x=_x("other", kind, scale), y=_y_rows(), color=colour, opacity=pale)
    )
    ticks = base.mark_tick(thickness=2.2, size=16).encode(x=_x("value", kind, scale))
    return _framed(others, ticks, _hits(base))


def curve_chart(
    names: Sequence[str],
    x: Sequence[Sequence[float]],
    y: Sequence[Sequence[float]],
    x_label: str = "",
    y_label: str = "",
    chance: str | float = "diagonal",
    marks: Sequence[bool] = (),
) -> Chart:
    """A line for each name over the unit square, dashed for marked ones; chance (the diagonal or a share) is dotted."""
    names = [*names]
    rows = [
        {"name": name, "x": _number(one), "y": _number(two), "order": order, "tip": name}
        for name, along, over in zip(names, x, y, strict=True)
        for order, (one, two) in enumerate(zip(along, over, strict=True))
    ]
    colours, dashes, widths = zip(*_strokes(_flags(marks, names)), strict=True) if names else ((), (), ())
    ends = (0.0, 1.0) if chance == "diagonal" else (float(chance), float(chance))
    across = alt.X("x:Q", title=x_label, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=5))
    up = alt.Y("y:Q", title=y_label, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=5))
    legend = _legend(names, symbolType="stroke")

    def by_name(values: Sequence[Any], channel: type[Any]) -> Any:
        return channel("name:N", title=None, scale=alt.Scale(domain=names, range=[*values]), legend=legend)

    lines = (
        _chart(rows)
        .mark_line()
        .encode(
            *TIP,
            x=across,
            y=up,
            order=alt.Order("order:Q"),
            color=by_name(colours, alt.Color),
            strokeDash=by_name(dashes, alt.StrokeDash),
            strokeWidth=by_name(widths, alt.StrokeWidth),
        )
    )
    level = [{"x": place, "y": value} for place, value in zip((0.0, 1.0), ends, strict=True)]
    dotted = (
        _chart(level)
        .mark_line(strokeWidth=1.6, strokeDash=[0.1, 5], strokeCap="round", color="gray")
        .encode(x=across, y=up)
    )
    return _framed(dotted, lines, height=190)


def line_chart(
    x: Sequence[float],
    values: Sequence[Any],
    low: Sequence[Any] = (),
    high: Sequence[Any] = (),
    x_label: str = "",
    kind: Kind = "share",
) -> Chart:
    """Points with limits along an axis, joined by a line."""
    nothing = [None] * len(x)
    low, high = list(low) or nothing, list(high) or nothing
    tips = _tips([f"{x_label} {shown(at, 'count')}" for at in x], values, low, high, kind)
    rows = _rows(x=x, value=values, low=low, high=high, tip=tips)
    base = _chart(rows)
    ends = [min(x, default=0) - 0.5, max(x, default=1) + 0.5]
    across = alt.X(
        "x:Q", title=x_label, scale=alt.Scale(domain=ends, nice=False), axis=alt.Axis(tickMinStep=1, grid=False)
    )
    scale = _scale([*values, *high], 0.0)
    up = _y("value", kind, scale)
    return _framed(
        base.mark_rule(color=MAIN, strokeWidth=2.5, strokeCap="round", opacity=0.5).encode(
            x=across, y=_y("low", kind, scale), y2=alt.Y2("high:Q")
        ),
        base.mark_line(color=MAIN, strokeWidth=1.8).encode(x=across, y=up),
        base.mark_circle(color=MAIN, size=64, opacity=1).encode(*TIP, x=across, y=up),
        height=150,
    )


def growth_chart(growth: "pd.DataFrame", x_label: str = "pairs judged") -> Chart:
    """A positive rate and its confidence band as judging goes on; the frame is that of `eds.truth.rate_growth`.

    The first tenth does not stretch the axis: the interval of a few pairs spans nearly everything.
    """
    x, values, low, high = (growth[name].tolist() for name in ("labelled", "rate", "low", "high"))
    tips = _tips([f"{shown(at, 'count')} {x_label}" for at in x], values, low, high, "share")
    rows = _rows(x=x, value=values, low=low, high=high, tip=tips)
    scale = _scale(high[len(high) // 10 :], 0.0)
    scale.clamp = True
    across = alt.X(
        "x:Q",
        title=x_label,
        scale=alt.Scale(zero=True, nice=False),
        axis=alt.Axis(format=FORMATS["count"], tickMinStep=1, grid=False),
    )
    base, up = _chart(rows), _y("value", "share", scale)
    return _framed(
        base.mark_area(color=MAIN, opacity=0.2).encode(x=across, y=_y("low", "share", scale), y2=alt.Y2("high:Q")),
        base.mark_line(color=MAIN, strokeWidth=2).encode(x=across, y=up),
        base.mark_circle(color=MAIN, size=50, opacity=0).encode(*TIP, x=across, y=up),
        height=170,
    )


def band_chart(
    x: Sequence[float], values: Sequence[Any], low: Sequence[Any], high: Sequence[Any], x_label: str, mark: float | None
) -> Chart:
    """A share along a number, with its confidence band; a dotted line at `mark`."""
    tips = _tips([f"{x_label} {shown(at, 'value')}" for at in x], values, low, high, "share")
    rows = _rows(x=x, value=values, low=low, high=high, tip=tips)
    across = alt.X("x:Q", title=x_label, scale=_scale(x), axis=alt.Axis(tickCount=5, grid=False))
    base, up = _chart(rows), alt.Scale(domain=[0, 1])
    layers = [
        base.mark_area(color=MAIN, opacity=0.2).encode(x=across, y=_y("low", "share", up), y2=alt.Y2("high:Q")),
        base.mark_line(color=MAIN, strokeWidth=2).encode(x=across, y=_y("value", "share", up)),
        base.mark_circle(color=MAIN, size=50, opacity=0).encode(*TIP, x=across, y=_y("value", "share", up)),
    ]
    if mark is not None:
        ends = [{"x": float(mark), "y": 0.0}, {"x": float(mark), "y": 1.0}]
        dotted = _chart(ends).mark_line(strokeWidth=1.6, strokeDash=[0.1, 5], strokeCap="round", color="gray")
        layers.insert(0, dotted.encode(x=across, y=_y("y", "share", up)))
    return _framed(*layers, height=220)


def scatter_chart(
    labels: Sequence[str],
    x: Sequence[Any],
    y: Sequence[Any],
    low: Sequence[Any] = (),
    high: Sequence[Any] = (),
    x_label: str = "",
    y_label: str = "",
    kind: Kind = "value",
) -> Chart:
    """A point for each label, by two numbers, with a line from `low` to `high` of the second."""
    nothing = [None] * len(labels)
    low, high = list(low) or nothing, list(high) or nothing
    texts = [f"{label}: {x_label} {shown(at, kind)}, {y_label}" for label, at in zip(labels, x, strict=True)]
    tips = _tips(texts, y, low, high, kind)
    rows = _rows(label=labels, x=x, y=y, low=low, high=high, tip=tips)
    names = [*labels]
    scale = _scale([*y, *low, *high], 0.0)
    base = _chart(rows).encode(
        x=_x("x", kind, _scale(x, 0.0), x_label),
        color=alt.Color("label:N", scale=alt.Scale(domain=names, range=[*SERIES]), legend=_legend(names)),
    )
    return _framed(
        base.mark_rule(strokeWidth=2.5, strokeCap="round", opacity=0.5).encode(
            y=_y("low", kind, scale, y_label), y2=alt.Y2("high:Q")
        ),
        base.mark_circle(size=64, opacity=1).encode(*TIP, y=_y("y", kind, scale, y_label)),
        height=240,
    )


def heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[Any]],
    kind: Kind = "value",
    diagonal: bool = True,
    lowest: float | None = None,
) -> Chart:
    """A cell for each row and column, a deeper blue where the number is larger; without `diagonal` that is empty."""
    names, others = [*rows], [*columns]
    cells = [(i, j, value) for i, line in enumerate(values) for j, value in enumerate(line) if diagonal or i != j]
    numbers = _defined([value for _, _, value in cells]) or [0.0, 1.0]
    low, high = min(numbers) if lowest is None else lowest, max(numbers)
    width = min((WIDTH - LABEL - 20) / max(len(others), 1), 64.0)
    room = min(max(LABEL, WIDTH - 20 - int(width) * len(others)), MOST_LABEL)  # few columns leave room for names
    # letters of a page may be wider than those that the room is measured by
    short = dict(zip(names, shorten(names, int(0.88 * room / LETTER)), strict=True))
    data = [
        {
            "row": names[i],
            "column": others[j],
            "value": _number(value),
            "text": _short(value, kind, width),
            "depth": _depth(value, low, high),
            "tip": f"{names[i]}, {others[j]}: {shown(value, kind)}",
        }
        for i, j, value in cells
    ]
    level = max((len(name) for name in others), default=0) * LETTER < width
    base = _chart(data).encode(
        x=alt.X(
            "column:N",
            sort=None,
            title=None,
            scale=alt.Scale(domain=others),
            axis=alt.Axis(orient="top", labelAngle=0 if level else -40, labelLimit=LABEL, grid=False),
        ),
        y=alt.Y(
            "row:N",
            sort=None,
            title=None,
            scale=alt.Scale(domain=names),
            axis=alt.Axis(labelLimit=room, labelExpr=f"{json.dumps(short)}[datum.value]"),
        ),
    )
    inside = alt.when("datum.depth > 0.75").then(alt.value(ON_HEAT))
    return _framed(
        base.mark_rect(color=HEAT, stroke=CARD, strokeWidth=2).encode(
            *TIP,
            fillOpacity=alt.FillOpacity("depth:Q", scale=alt.Scale(domain=[0, 1], range=[0.06, 0.96]), legend=None),
        ),
        base.mark_text(fontSize=10).encode(text=alt.Text("text:N"), color=inside),
        height=alt.Step(26 if width >= 24 else 22),
        width=alt.Step(width),
        right=16 if level else 60,
    )


def _chart(rows: Sequence[Mapping[str, Any]]) -> alt.Chart:
    return alt.Chart({"values": rows})


def _rows(**columns: Sequence[Any]) -> list[dict[str, Any]]:
    """A row for each place of the columns; numbers become those of JSON, missing ones None."""
    kept = {name: [_value(value) for value in values] for name, values in columns.items()}
    return [dict(zip(kept, values, strict=True)) for values in zip(*kept.values(), strict=True)]


def _value(value: Any) -> str | bool | float | None:
    return value if isinstance(value, (str, bool)) else _number(value)


def _flagged(channel: type[Any], field: str, no: Any, yes: Any) -> Any:
    """One of two values, by a field that is true or false."""
    return channel(f"{field}:N", scale=alt.Scale(domain=[False, True], range=[no, yes]), legend=None)


def _by_row(rows: Sequence[Mapping[str, Any]]) -> alt.Chart:
    return _chart(rows).encode(y=_y_rows(_row_height(rows)))


def _y_rows(step: int = ROW) -> alt.Y:
    axis = alt.Axis(labelLimit=LABEL, grid=False, labelFontSize=_letter_size(step))
    return alt.Y("label:N", sort=None, title=None, axis=axis)


def _hits(base: alt.Chart) -> alt.Chart:
    """An invisible band over each row that carries the tooltip, so that pointing at the row is enough."""
    band: alt.Chart = base.mark_rect(opacity=0).encode(*TIP)
    return band


def _framed(*layers: alt.Chart, height: Any = None, width: Any = WIDTH, right: float = 16) -> Chart:
    """The layers as one chart of the report's width; only marks with a tooltip are described to screen readers."""
    for layer in layers:
        if layer.encoding.description is alt.Undefined:
            layer.mark.aria = False
    return alt.LayerChart(
        layer=[*layers],
        width=width,
        height=alt.Step(ROW) if height is None else height,
        padding={"left": 4, "right": right, "top": 6, "bottom": 4},
        autosize=FITTED if width == WIDTH else alt.Undefined,
    )


def _x(field: str, kind: Kind, scale: alt.Scale, title: str | None = None) -> alt.X:
    return alt.X(f"{field}:Q", title=title, scale=scale, axis=_axis(kind))


def _y(field: str, kind: Kind, scale: alt.Scale, title: str | None = None) -> alt.Y:
    return alt.Y(f"{field}:Q", title=title, scale=scale, axis=_axis(kind))


def _axis(kind: Kind, values: Sequence[float] = ()) -> alt.Axis:
    optional: dict[str, Any] = {"labelExpr": TICKS[kind]} if kind in TICKS else {}
    if kind == "count":
        optional["tickMinStep"] = 1
    if values:
        optional["values"] = values
    # labels that would touch are left out
    return alt.Axis(format=FORMATS.get(kind, ""), tickCount=5, labelOverlap="parity", labelSeparation=4, **optional)


def _scale(values: Sequence[Any], lowest: float | None = None, highest: float | None = None) -> alt.Scale:
    """A scale over the values and a margin, or between these ends; never empty, however close the values are."""
    numbers = _defined(values) or [0.0, 1.0]
    low = min(numbers) if lowest is None else lowest
    high = max(numbers) if highest is None else highest
    if high - low <= 1e-9 * max(abs(low), abs(high), 1.0):
        low, high = low - 0.05, high + 0.05
        low = max(low, 0.0) if min(numbers) >= 0 else low
    margin = 0.04 * (high - low)  # so that no mark touches the names of rows
    if lowest is None and low > 0:
        low = max(low - margin, 0.0)
    if highest is None and high < 1:
        high = min(high + margin, 1.0)
    return alt.Scale(domain=[low, high], nice=True)


def _legend(names: Sequence[str], **options: Any) -> alt.Legend:
    """Names below the chart, in as many columns as fit."""
    width = 34 + LETTER * min(max((len(name) for name in names), default=0), LEGEND)
    return alt.Legend(
        title=None, orient="bottom", columns=max(1, int(WIDTH // width)), labelLimit=int(LEGEND * LETTER), **options
    )


def _strokes(marks: Sequence[bool]) -> list[tuple[str, list[int], float]]:
    """Colour, dashes and width of each line: marked ones dashed, the second seven finer.

    >>> [dashes for _, dashes, _ in _strokes([False, True])]
    [[1, 0], [5, 3]]
    """
    return [
        (SERIES[number % 7], DASHED if marked else SOLID, 1.0 if number // 7 % 2 else 1.8)
        for number, marked in enumerate(marks)
    ]


def _flags(marks: Sequence[bool], labels: Sequence[Any]) -> list[bool]:
    return [bool(marks[index]) if index < len(marks) else False for index in range(len(labels))]


def _number(value: Any) -> float | None:
    """The value as JSON has it; None where there is none."""
    if value is None or not math.isfinite(float(value)):
        return None
    return float(value)


def _defined(values: Sequence[Any]) -> list[float]:
    return [number for number in map(_number, values) if number is not None]


def _tips(
    names: Sequence[str], values: Sequence[Any], low: Sequence[Any], high: Sequence[Any], kind: Kind
) -> list[str]:
    """The tooltip of each value: its name, the number and its limits, where it has any."""
    tips = []
    for name, value, under, over in zip(names, values, low, high, strict=True):
        known = all(_number(number) is not None for number in (value, under, over))
        limits = f" [{shown(under, kind)}, {shown(over, kind)}]" if known else ""
        tips.append(f"{name}: {shown(value, kind)}{limits}")
    return tips


def _depth(value: Any, low: float, high: float) -> float:
    number = _number(value)
    return min(max((number - low) / (high - low), 0.0), 1.0) if number is not None and high > low else 0.0


def _short(value: Any, kind: Kind, width: float) -> str:
    """A number that fits its cell; empty where none does."""
    number = _number(value)
    if width < 19:
        return ""
    if number is None:
        return "–"
    if kind == "share":
        return f"{100 * number:.{0 if width < 42 else 1}f}"
    text = f"{number:.{2 if width < 34 else 3}f}"
    return text[1:] if abs(number) < 1 and width < 26 else text
