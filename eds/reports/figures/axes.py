"""What all drawings share: a canvas, scales, ticks, labels that fit, colours by number."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eds.reports.document import Kind
from eds.reports.markup import Markup, clean, tag
from eds.reports.numbers import shown

WIDTH = 440.0  # of every drawing, so that letters are as large in all of them
LETTER = 7.2  # width of a letter at 11 px, in the widest of the usual fonts
ROW = 24.0


@dataclass(frozen=True)
class Scale:
    """From numbers to places along an axis."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """The place of the number."""
        low, high, at = (math.log10(x) if self.logarithmic else x for x in (self.low, self.high, value))
        share = (at - low) / (high - low) if high > low else 0.5
        return round(self.start + share * (self.end - self.start), 2)


def canvas(height: float, label: str, *inside: Any) -> Markup:
    """The drawing's element."""
    return tag("svg", *inside, viewbox=f"0 0 {WIDTH:g} {height:g}", role="img", aria_label=label,
               class_="figure", xmlns="http://www.w3.org/2000/svg")  # fmt: skip


def defined(values: Sequence[Any]) -> list[float]:
    """Those that are numbers."""
    return [float(value) for value in values if value is not None and math.isfinite(float(value))]


def is_number(value: Any) -> bool:
    """Whether there is something to draw."""
    return value is not None and math.isfinite(float(value))


def ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Round numbers from low to high.

    >>> ticks(0, 1)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    span = high - low
    if span <= 0:
        return [low]
    raw = span / wanted
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * one for one in (1, 2, 5, 10) if size * one >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(number * step, 12) for number in range(first, math.floor(high / step + 1e-9) + 1)]


def room(values: Sequence[Any], lowest: float | None, highest: float | None) -> tuple[float, float]:
    """The limits of an axis: those given, else round numbers around the values."""
    told = defined(values) or [0.0, 1.0]
    low = lowest if lowest is not None else min(told)
    high = highest if highest is not None else max(told)
    if high <= low:
        low, high = low - 0.05, high + 0.05
    steps = ticks(low, high)
    step = steps[1] - steps[0] if len(steps) > 1 else high - low
    if lowest is None:
        low = max(math.floor(low / step + 1e-9) * step, 0.0 if min(told) >= 0 else -1e300)
    if highest is None:
        high = math.ceil(high / step - 1e-9) * step
    return low, high


def name_width(names: Sequence[str], most: float = 130.0) -> float:
    """The room that names need."""
    return min(most, 12 + LETTER * max((len(clean(name)) for name in names), default=0))


def fitting(name: str, width: float) -> Markup:
    """A name that fits; all of it stands in its title."""
    name = clean(name)
    most = max(3, int((width - 6) / LETTER))
    if len(name) <= most:
        return Markup(tag("title", name) + tag("tspan", name))
    return Markup(tag("title", name) + tag("tspan", name[: most - 1] + "…"))


def colour(number: int) -> str:
    """A line's colour, as a variable of the page."""
    return f"var(--s{number % 7})"


def strokes(marks: Sequence[bool], n: int) -> list[dict[str, Any]]:
    """How each of n lines is drawn: marked ones dashed; within a side by colour, the second seven finer.

    >>> [one["stroke_dasharray"] for one in strokes([False, True], 3)]
    [None, '5 3', None]
    """
    seen = {False: 0, True: 0}
    found = []
    for at in range(n):
        marked = at < len(marks) and bool(marks[at])
        number = seen[marked]
        seen[marked] += 1
        finer = ";stroke-width:1" if number // 7 % 2 else ""
        dashes = "5 3" if marked else None
        found.append({"style": f"stroke:{colour(number)}{finer}", "stroke_dasharray": dashes})
    return found


def axis(scale: Scale, kind: Kind, top: float, bottom: float) -> list[Markup]:
    """Vertical grid lines with their numbers below."""
    marks: list[Markup] = []
    places = _powers(scale) if scale.logarithmic else ticks(scale.low, scale.high, 4)
    for value in places:
        x = scale(value)
        marks.append(tag("line", x1=x, x2=x, y1=top, y2=bottom, class_="grid"))
        marks.append(
            tag("text", tick_text(value, kind, places), x=x, y=bottom + 15, class_="tick", text_anchor="middle")
        )
    return marks


def tick_text(value: float, kind: Kind, places: Sequence[float]) -> str:
    """A tick's number, with as many digits as tell the ticks apart."""
    if kind == "share":
        step = 100 * (places[1] - places[0]) if len(places) > 1 else 10
        return f"{100 * value:.{max(0, math.ceil(-math.log10(step) - 1e-9)) if step < 1 else 0}f} %"
    if kind == "value":
        step = places[1] - places[0] if len(places) > 1 else 0.1
        return f"{value:.{max(1, math.ceil(-math.log10(step) - 1e-9))}f}"
    if kind == "hours":
        return f"{value:,.0f} h" if value >= 1 else f"{value:g} h"
    return shown(value, kind)


def _powers(scale: Scale) -> list[float]:
    first, last = math.ceil(math.log10(scale.low) - 1e-9), math.floor(math.log10(scale.high) + 1e-9)
    step = max(1, -(-(last - first) // 4))
    return [10.0**power for power in range(first, last + 1, step)]
