"""Charts of hash functions: how codes are filled, accuracy against code usage, measures by code length."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from eds.reports.charts import (
    FORMATS,
    LETTER,
    MAIN,
    SERIES,
    TIP,
    WIDTH,
    Chart,
    _axis,
    _chart,
    _framed,
    _legend,
    _number,
    _rows,
    _scale,
    _strokes,
    _tips,
)
from eds.reports.document import Kind
from eds.reports.numbers import shown

PANELS = 3  # histograms in a row
BINS = 256  # columns of a histogram; each shows the fullest of the codes that it stands for
HIGH = 64  # pixels of a histogram
LINE, DOT = 10, 5  # pixels between two labels beside points, and from the middle of a point to its label
MOST_CODES = 1 << 16  # that are numbered; longer codes stand in the order of their numbers


def fill_of(codes: Any, bits: int) -> list[int]:
    """Images by code in at most 256 columns, each the fullest of neighbouring codes, with codes in order of number.

    >>> fill_of(np.uint64([0, 0, 3]), 2)
    [2, 0, 0, 1]
    """
    distinct, sizes = np.unique(np.asarray(codes, np.uint64), return_counts=True)
    space = 2**bits if 2**bits <= MOST_CODES else len(distinct)
    place = distinct.astype(np.int64) if 2**bits <= MOST_CODES else np.arange(len(distinct))
    bins = min(BINS, space)
    found = np.zeros(bins, np.int64)
    np.maximum.at(found, place * bins // space, sizes)
    return [int(size) for size in found]


def code_histograms(labels: Sequence[str], fills: Sequence[Sequence[int]], texts: Sequence[str]) -> alt.TopLevelMixin:
    """A histogram for each label: the codes from left to right, how many images each holds; equal scales."""
    top = max((max(fill, default=0) for fill in fills), default=1) or 1
    wide = (WIDTH - (PANELS - 1) * 18 - 40) / PANELS
    panels = []
    for number, (label, fill, text) in enumerate(zip(labels, fills, texts, strict=True)):
        rows = [{"x": at, "x2": at + 1, "y": size, "zero": 0} for at, size in enumerate(fill) if size]
        axis = alt.Axis(tickCount=2, format=FORMATS["count"], grid=False, labels=number % PANELS == 0)
        base = alt.Chart({"values": rows}).mark_rect(color=MAIN, aria=False)
        drawn = base.encode(
            x=alt.X("x:Q", title=None, axis=None, scale=alt.Scale(domain=[0, max(len(fill), 1)], nice=False)),
            x2="x2:Q",
            y=alt.Y("y:Q", title=None, axis=axis, scale=alt.Scale(domain=[0, top], nice=False)),
            y2="zero:Q",
        )
        title = alt.TitleParams(
            text=label, subtitle=text, anchor="start", fontSize=11, subtitleFontSize=10, fontWeight="normal", offset=2
        )
        panels.append(drawn.properties(width=wide, height=HIGH, title=title))
    return alt.concat(*panels, columns=PANELS, spacing=18)


def place_labels(x: Sequence[float], y: Sequence[float], labels: Sequence[str], letter: float) -> list[float]:
    """The heights in pixels of labels to the right of points at (x, y) in pixels: none covers a label or a point.

    Each stands at its point, or else at the nearest height below the upper edge, 0, at which there is room.

    >>> place_labels([5, 5, 90], [40, 42, 41], ["one", "two", "three"], 5)
    [40, 50, 41]
    """
    taken = [(at - DOT, at + DOT, high) for at, high in zip(x, y, strict=True)]

    def covered(left: float, right: float, at: float) -> bool:
        return at < 0 or any(abs(at - high) < LINE and left < to and start < right for start, to, high in taken)

    found = []
    for point, at, label in zip(x, y, labels, strict=True):
        left, right = point + DOT, point + DOT + letter * len(label)
        near = sorted(
            (at, *(high + sign * LINE for _, _, high in taken for sign in (1, -1))), key=lambda one: abs(one - at)
        )
        high = next((one for one in near if not covered(left, right, one)), at)
        taken.append((left, right, high))
        found.append(high)
    return found


def _beside(
    across: Sequence[Any], up: Sequence[Any], labels: Sequence[str], most: float, wide: float, high: float, top: float
) -> list[float]:
    """The values at which labels stand, of points on scales from 0 to `most` and `top` that many pixels long."""
    x = [wide * (_number(value) or 0.0) / most for value in across]
    y = [high * (1 - (_number(value) or 0.0) / top) for value in up]
    return [top * (1 - at / high) for at in place_labels(x, y, labels, LETTER)]


def usage_chart(
    labels: Sequence[str],
    x: Sequence[Any],
    y: Sequence[Any],
    low: Sequence[Any],
    high: Sequence[Any],
    marks: Sequence[bool],
    x_label: str = "codes in use, of the reachable",
    y_label: str = "mAP",
) -> Chart:
    """A named point for each label, by code usage and accuracy, with a line over all orders of ties; marked: filled."""
    tips = _tips(
        [f"{name}: {x_label} {shown(at, 'share')}, {y_label}" for name, at in zip(labels, x, strict=True)],
        y,
        low,
        high,
        "value",
    )
    room = LETTER * max((len(label) for label in labels), default=0) / WIDTH
    most = _most(x) * (1 + 1.3 * room)
    top = 1.06 * _most([*y, *high])
    beside = _beside(x, y, labels, most, WIDTH, 280, top)
    rows = _rows(label=labels, x=x, y=y, low=low, high=high, beside=beside, marked=[*marks], tip=tips)
    across = alt.Scale(domain=[0, most], nice=False)
    base = _chart(rows).encode(x=alt.X("x:Q", title=x_label, scale=across, axis=_axis("share")))
    scale = alt.Scale(domain=[0, top], nice=False)
    up = alt.Y("y:Q", title=y_label, scale=scale, axis=_axis("value"))
    colour = alt.Color("marked:N", scale=alt.Scale(domain=[False, True], range=[*SERIES[:2]]), legend=None)
    return _framed(
        base.mark_rule(strokeWidth=2, opacity=0.4).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q", color=colour),
        base.mark_circle(size=50, opacity=1).encode(*TIP, y=up, color=colour),
        base.mark_text(align="left", dx=7, fontSize=10).encode(y=alt.Y("beside:Q", scale=scale), text="label:N"),
        height=280,
    )


def trade_chart(
    titles: Sequence[str],
    names: Sequence[Sequence[str]],
    x: Sequence[Sequence[Any]],
    y: Sequence[Sequence[Any]],
    marks: Sequence[Sequence[bool]],
    x_label: str = "mAP",
    y_label: str = "mLGAP",
) -> alt.TopLevelMixin:
    """A panel for each title (a code length): a named point for each method, by two measures; marked ones orange."""
    panels = []
    for title, methods, across, up, marked in zip(titles, names, x, y, marks, strict=True):
        tips = [
            f"{name}: {x_label} {shown(one, 'value')}, {y_label} {shown(other, 'value')}"
            for name, one, other in zip(methods, across, up, strict=True)
        ]
        room = 1 + 1.4 * LETTER * max((len(name) for name in methods), default=0) / WIDTH
        most, top = _most(across) * room, 1.1 * _most(up)
        beside = _beside(across, up, methods, most, WIDTH - 40, 200, top)
        base = _chart(_rows(label=[*methods], x=across, y=up, beside=beside, marked=[*marked], tip=tips)).encode(
            x=alt.X("x:Q", title=x_label, scale=alt.Scale(domain=[0, most], nice=False), axis=_axis("value")),
        )
        heights = alt.Scale(domain=[0, top], nice=False)
        colour = alt.Color("marked:N", scale=alt.Scale(domain=[False, True], range=[*SERIES[:2]]), legend=None)
        dots = base.mark_circle(size=40, opacity=1).encode(
            *TIP, y=alt.Y("y:Q", title=y_label, scale=heights, axis=_axis("value")), color=colour
        )
        words = base.mark_text(align="left", dx=6, fontSize=9).encode(
            y=alt.Y("beside:Q", scale=heights), text="label:N"
        )
        panels.append(alt.layer(dots, words).properties(width=WIDTH - 40, height=200, title=title))
    return alt.concat(*panels, columns=1, spacing=16)


def _most(values: Sequence[Any]) -> float:
    """The largest of the values that are defined; 1 where it is nothing."""
    return max((number for number in map(_number, values) if number is not None), default=0.0) or 1.0


def length_chart(
    names: Sequence[str],
    bits: Sequence[Sequence[int]],
    values: Sequence[Sequence[Any]],
    spreads: Sequence[Sequence[Any]],
    label: str = "mAP",
    kind: Kind = "value",
    marks: Sequence[bool] = (),
) -> Chart:
    """A line for each name over code lengths, with a bar of the spread over seeds; marked ones are dashed."""
    names = [*names]
    rows: list[dict[str, Any]] = []
    for name, along, over, wide in zip(names, bits, values, spreads, strict=True):
        for at, value, spread in zip(along, over, wide, strict=True):
            here, half = _number(value), _number(spread) or 0.0
            if here is not None:
                tip = f"{name}, {at} bits: {label} {shown(here, kind)} ± {shown(half, kind)}"
                rows.append({"name": name, "x": at, "y": here, "low": here - half, "high": here + half, "tip": tip})
    lengths = sorted({row["x"] for row in rows}) or [0]
    colours, dashes, _ = zip(*_strokes([*marks] or [False] * len(names)), strict=True) if names else ((), (), ())
    legend = _legend(names, symbolType="stroke")
    scale = _scale([row["low"] for row in rows] + [row["high"] for row in rows], 0.0)
    ends = alt.Scale(domain=[lengths[0] - 1, lengths[-1] + 1], nice=False)
    base = _chart(rows).encode(
        x=alt.X("x:Q", title="bits", scale=ends, axis=alt.Axis(values=lengths, grid=False)),
        color=alt.Color("name:N", title=None, scale=alt.Scale(domain=names, range=[*colours]), legend=legend),
    )
    dash = alt.StrokeDash("name:N", title=None, scale=alt.Scale(domain=names, range=[*dashes]), legend=legend)
    up = alt.Y("y:Q", title=label, scale=scale, axis=_axis(kind))
    return _framed(
        base.mark_rule(strokeWidth=1.5, opacity=0.5).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q"),
        base.mark_line(strokeWidth=1.8).encode(y=up, strokeDash=dash),
        base.mark_circle(size=40, opacity=1).encode(*TIP, y=up),
        height=240,
    )
