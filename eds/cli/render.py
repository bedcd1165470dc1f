"""How results become text: tables, shares, intervals."""

import math
import shutil
import sys
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd

    from eds.project.prevalence import Estimate

GAP = 2  # spaces between columns
NARROWEST = 22  # characters of a column of sentences that is wrapped, with its gap


def format_table(headings: Sequence[str], rows: Sequence[Sequence[Any]], *, width: int | None = None) -> str:
    """Rows as aligned text: numbers to the right, nothing cut; headings are bold on a terminal.

    A table that is wider than the terminal (or than `width`) wraps its columns of sentences; columns that do not fit
    even so follow below, with the first column again. Where there is no terminal, lines are as long as they must be.
    """
    from rich.cells import cell_len

    cells = [[_format_cell(value) for value in row] for row in rows]
    right = [all(isinstance(row[index], (int, float, type(None))) for row in rows) for index in range(len(headings))]
    columns = list(zip(headings, *cells, strict=True))
    full = [max(map(cell_len, column)) + GAP for column in columns]
    sentences = [any(" " in cell for cell in column[1:]) for column in columns]
    room = GAP + (width or (shutil.get_terminal_size().columns if sys.stdout.isatty() else sum(full)))
    least = _wrapped(full, sentences, room)
    blocks: list[list[int]] = [[0]]
    for index in range(1, len(headings)):
        if len(blocks[-1]) > 1 and sum(least[at] for at in blocks[-1]) + least[index] > room:
            blocks.append([0])
        blocks[-1].append(index)
    shown = []
    for block in blocks:
        sizes = _wrapped([full[at] for at in block], [sentences[at] for at in block], room)
        heads = [(headings[at], right[at], size) for at, size in zip(block, sizes, strict=True)]
        shown.append(_aligned(heads, [[line[at] for at in block] for line in cells]))
    return "\n\n".join(shown)


def _wrapped(sizes: Sequence[int], sentences: Sequence[bool], room: int) -> list[int]:
    """The widths of columns: those of sentences are narrowed, the widest first, until the row fits in `room`."""
    narrowed = list(sizes)
    while sum(narrowed) > room:
        at = max(range(len(narrowed)), key=lambda index: (sentences[index], narrowed[index]))
        if not sentences[at] or narrowed[at] <= NARROWEST:
            return narrowed
        narrowed[at] -= 1
    return narrowed


def _aligned(columns: Sequence[tuple[str, bool, int]], lines: Sequence[Sequence[str]]) -> str:
    """One block of a table; a column is its heading, whether it is set to the right, and its width."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for heading, to_right, size in columns:
        justify: Literal["left", "right"] = "right" if to_right else "left"
        table.add_column(Text(heading), justify=justify, width=size - GAP, overflow="fold")
    for line in lines:
        table.add_row(*map(Text, line))
    out, width = StringIO(), sum(size for _, _, size in columns)
    Console(file=out, width=width, force_terminal=sys.stdout.isatty(), highlight=False).print(table)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def format_frame(frame: "pd.DataFrame") -> str:
    """A frame as aligned text; times without fractions of a second."""
    times = map(str, frame.select_dtypes("datetimetz"))
    shown = frame.assign(**{name: frame[name].dt.strftime("%Y-%m-%d %H:%M:%S") for name in times}).astype(object)
    shown = shown.where(shown.notna(), None)
    return format_table(list(map(str, shown.columns)), shown.to_numpy().tolist())


def count(number: int, noun: str, plural: str = "") -> str:
    """A number of things in words.

    >>> count(1, "image"), count(3822, "image"), count(2, "query", "queries")
    ('1 image', '3,822 images', '2 queries')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {plural or noun + 's'}"


def format_share(share: float, digits: int = 1) -> str:
    """A share in percent.

    >>> format_share(0.1234), format_share(float("nan"))
    ('12.3 %', 'n/a')
    """
    return "n/a" if math.isnan(share) else f"{100 * share:.{digits}f} %"


def format_rate(row: Mapping[Any, Any]) -> str:
    """A rate in percent with its interval, or the reason why it has none.

    >>> format_rate({"rate": 0.25, "low": 0.2, "high": 0.31, "no_interval": float("nan")})  # of a frame's row
    '25.0 % [20.0, 31.0]'
    >>> format_rate({"rate": 0.25, "low": None, "high": None, "no_interval": "fewer than 8 queries"})
    '25.0 % (no interval: fewer than 8 queries)'
    """
    rate = row["rate"]
    if rate is None or math.isnan(rate):
        return "n/a"
    if isinstance(row["no_interval"], str):
        return f"{format_share(rate)} (no interval: {row['no_interval']})"
    return f"{format_share(rate)} [{100 * row['low']:.1f}, {100 * row['high']:.1f}]"


def format_estimate(estimate: "Estimate", digits: int = 1) -> str:
    """Format an estimated share in percent with its limits; a census has none.

    >>> from eds.analysis.totals import Estimate
    >>> format_estimate(Estimate(0.385, 0.301, 0.472)), format_estimate(Estimate(float("nan"), 0.1, 1.0))
    ('38.5 % [30.1, 47.2]', 'unknown [10.0, 100.0]')
    """
    value = "unknown" if estimate.value != estimate.value else f"{100 * estimate.value:.{digits}f} %"
    if estimate.low == estimate.high or (value == "unknown" and (estimate.low, estimate.high) == (0, 1)):
        return value
    return f"{value} [{100 * estimate.low:.{digits}f}, {100 * estimate.high:.{digits}f}]"


def format_prevalence(estimate: "Estimate") -> str:
    """Format a share that may be small: with two digits after the point, or as many as show two of its own.

    >>> from eds.analysis.totals import Estimate
    >>> format_prevalence(Estimate(0.04, 0.0287, 0.0541)), format_prevalence(Estimate(0.00012, 0.00001, 0.0005))
    ('4.00 % [2.87, 5.41]', '0.012 % [0.001, 0.050]')
    """
    percent = 100 * (estimate.value if estimate.value > 0 else estimate.high)
    digits = 1 - math.floor(math.log10(percent)) if percent > 0 else 2
    return format_estimate(estimate, 1 if percent >= 10 else min(max(digits, 2), 6))


def format_interval(value: float, low: float, high: float, digits: int = 3) -> str:
    """A value with its confidence interval.

    >>> format_interval(0.875, 0.862, 0.887), format_interval(0.5, float("nan"), float("nan"))
    ('0.875 [0.862, 0.887]', '0.500')
    """
    if math.isnan(value):
        return "n/a"
    return f"{value:.{digits}f}" + ("" if math.isnan(low) else f" [{low:.{digits}f}, {high:.{digits}f}]")


def _format_cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return "n/a" if math.isnan(value) else f"{value:,.4g}"
    return str(value)
