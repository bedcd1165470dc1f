"""Drawings as SVG: small functions from plain numbers to markup, for the report and for notebooks alike.

`DRAWINGS` names them. Colours are variables (`--s0` to `--s6`, `--ink`, ...), so that a page sets them for light and
dark; `standalone` adds them for use outside of the report. Every mark carries its number as a title, so that hovering,
a screen reader and a test can read it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from eds.reports.figures.bars import bars, ceiling
from eds.reports.figures.curves import curves, slopes, steps
from eds.reports.figures.fields import grid, heat_map
from eds.reports.figures.points import intervals, scatter, spread
from eds.reports.markup import Markup, tag

__all__ = [
    "DRAWINGS", "bars", "ceiling", "curves", "grid", "heat_map", "intervals", "scatter", "slopes", "spread",
    "standalone", "steps",
]  # fmt: skip

DRAWINGS: Mapping[str, Callable[..., Markup]] = {
    "bars": bars,
    "ceiling": ceiling,
    "curves": curves,
    "grid": grid,
    "heat_map": heat_map,
    "intervals": intervals,
    "scatter": scatter,
    "slopes": slopes,
    "spread": spread,
    "steps": steps,
}
COLOURS = """
:root { --ink: #1f2429; --faint: #5d646d; --line: #dcd9d2; --card: #fff; --heat: 14 92 140;
  --s0: #0b6aa8; --s1: #b8500b; --s2: #007f62; --s3: #a03a76; --s4: #7a6400; --s5: #2b8cbf; --s6: #4b4f55; }
"""


def draw(drawing: str, data: Mapping[str, Any], label: str) -> Markup:
    """The drawing of that name; `label` says in words what it shows."""
    return DRAWINGS[drawing](**data, label=label)


class Drawing(Markup):
    """A drawing that stands alone, and that a notebook shows as a picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def standalone(svg: Markup) -> Drawing:
    """A drawing with its colours and letters, for a notebook or a file of its own."""
    from importlib.resources import files

    style = files("eds.reports").joinpath("templates/figures.css").read_text(encoding="utf-8")
    head, end, rest = svg.partition(">")
    return Drawing(f"{head}{end}{tag('style', Markup(COLOURS + style))}{rest}")
