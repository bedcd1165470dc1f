"""The report as one HTML page that needs nothing else: style, script, charts and pictures are part of it.

A policy in its head forbids every request, and every script but ours, which it names by digest. The templates escape
all text. Every number carries its full value in `value` or `data-value`.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from eds.html import asset, render
from eds.intervals import CENSUS
from eds.reports.document import Block, Column, Figure, Gallery, Gap, Report, Section, Sentence, Table, Tile
from eds.reports.numbers import NUMERIC, shown, text_of, undefined
from eds.reports.svg import chart_svg

PACKAGE = "eds.reports"
NARROW = 70  # letters of a table that fits beside another block
# A table that is wider than the page becomes a list of cards; its class names the least of these widths that holds it.
WIDTHS = (40, 52, 64, 70, 80, 96, 112, 140)  # in letters
LETTER = 0.55  # width of a letter, in em
TEXT = 30  # letters of a column of text, which wraps
CHIPS = {
    "pool model": "",
    "new model": "out",
    "fair": "good",
    "small bias": "",
    "biased": "bad",
    "not known": "out",
    "not distinguishable": "",
    "the labels cannot say": "out",
}


def page(report: Report) -> str:
    """The page as text."""
    script = asset(PACKAGE, "script.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none';"
        f" script-src 'sha256-{digest}'"
    )
    made = {key: value for key, value in report.made.items() if key not in ("when", "eds", "provenance")}
    return render(
        f"{PACKAGE}/page.html.j2",
        report=report,
        options=", ".join(f"{key} {value}" for key, value in made.items()),
        policy=policy,
        style=asset(PACKAGE, "style.css"),
        script=script,
        incomplete=_incomplete,
        widths=[(least, round(LETTER * least)) for least in WIDTHS],
        caption=_caption,
        detail_tables=_detail_tables,
        paragraphs=_paragraphs,
        interval=_interval,
        shown=shown,
        kind=lambda block: type(block).__name__.lower(),
        text_of=text_of,
        raw=raw,
        table_class=_table_class,
        heading_class=_heading_class,
        cell=_cell,
        chart=_chart,
        data_uri=lambda jpeg: "data:image/jpeg;base64," + base64.b64encode(jpeg).decode(),
    )


def raw(value: Any) -> str:
    """A value exactly as JSON writes it."""
    if undefined(value):
        return "null"
    value = value.item() if hasattr(value, "item") else value
    return json.dumps(value, ensure_ascii=False)


def _incomplete(section: Section) -> bool:
    return any(isinstance(block, Gap) for block in section.blocks)


def _detail_tables(section: Section) -> list[Table]:
    """The tables that only the files hold."""
    return [block for block in section.blocks if isinstance(block, Table) and block.detail]


def _paragraphs(section: Section) -> list[tuple[list[Block], str]]:
    """What the page shows, block by block; sentences of one tone that follow each other are one paragraph.

    With each the class of a paragraph: its tone, and whether it is beside the last of an odd number of blocks that
    take half the width.
    """
    groups: list[list[Block]] = []
    for block in section.blocks:
        if isinstance(block, Table) and block.detail:
            continue
        last = groups[-1][-1] if groups else None
        if isinstance(block, Sentence) and isinstance(last, Sentence) and block.tone == last.tone != "warn":
            groups[-1].append(block)
        else:
            groups.append([block])
    said = [group for group in groups if isinstance(group[0], Sentence) and group[0].tone != "warn"]
    odd = sum(_is_half(group[0]) for group in groups) % 2 == 1
    beside = max(said, key=_length) if said and odd else None
    return [(group, _paragraph_class(group[0], group is beside)) for group in groups]


def _is_half(block: Block) -> bool:
    """Whether the block takes half the width of a wide page."""
    if isinstance(block, Table):
        return _table_class(block)["box"] != "table"
    return isinstance(block, (Figure, Gallery))


def _length(group: list[Block]) -> int:
    return sum(len(block.template) for block in group if isinstance(block, Sentence))


def _paragraph_class(block: Block, beside: bool) -> str:
    tone = block.tone if isinstance(block, Sentence) and block.tone != "plain" else ""
    return " ".join(filter(None, (tone, "half" if beside else "")))


def _interval(tile: Tile) -> str:
    kind = tile.number.kind
    return f"{shown(tile.low, kind)} – {shown(tile.high, kind)}".replace(" %", "", 1)


def _chart(figure: Figure) -> str:
    return chart_svg(figure.chart(**figure.data), figure.title)


def _table_class(table: Table) -> dict[str, str]:
    """The classes of a table and of its box: the width that it needs, and whether it fits beside another block.

    Limits stand beside their numbers where the table stays as narrow as it is, and below them elsewhere.
    """
    width, with_limits = (sum(_letters(column, table, beside) for column in table.columns) for beside in (False, True))
    beside = with_limits <= next(room for room in (NARROW, WIDTHS[-1], width) if width <= room)
    width = with_limits if beside else width
    needs = next((least for least in WIDTHS if width <= least), WIDTHS[-1])
    return {
        "table": f"w{needs} beside" if beside else f"w{needs}",
        "box": "table narrow" if width <= NARROW else "table",
    }


def _letters(column: Column, table: Table, beside: bool) -> int:
    """The column's width, roughly, in letters; `beside`: limits stand beside their numbers."""
    if column.kind == "names":
        cells = [min(sum(len(str(name)) + 3 for name in row[column.key]), TEXT) for row in table.rows]
    else:
        cells = [min(len(shown(row.get(column.key), column.kind_in(row))), TEXT) for row in table.rows]
    limits = [len(_limits(column, row)) for row in table.rows]
    cells = [a + b + (b > 0) for a, b in zip(cells, limits, strict=True)] if beside else [*cells, *limits]
    return 3 + max([*map(len, column.label.split()), *cells])


def _heading_class(column: Column, first: bool) -> str:
    return "n" if column.kind in NUMERIC and not first else ""


def _cell(column: Column, row: Mapping[str, Any], first: bool) -> dict[str, Any]:
    """What the template needs for a cell."""
    value = row.get(column.key)
    limits = _limits(column, row)
    classes = [_heading_class(column, first)]
    if column.kind != "names" and undefined(value):
        classes.append("none")
    return {
        "class": " ".join(filter(None, classes)),
        "value": raw([*row[column.key]]) if column.kind == "names" else raw(value),
        "names": value if column.kind == "names" else None,
        "text": shown(value, column.kind_in(row)) + (" †" if column.key == "model" and row.get("trained_on") else ""),
        "chip": CHIPS.get(value) if column.kind == "text" and isinstance(value, str) else None,
        "limits": limits,
        "low": raw(row[column.low]) if column.low and limits else None,
        "high": raw(row[column.high]) if column.high and limits else None,
    }


def _no_interval(column: Column, row: Mapping[str, Any]) -> str:
    """Why a cell has no interval, empty where it has one or needs none: a census has none."""
    reason = row.get(column.low.removesuffix("low") + "no_interval") if column.low else None
    return "" if undefined(reason) or reason == CENSUS else str(reason)


def _caption(table: Table) -> str:
    """The caption, and why some of the numbers have no interval."""
    reasons = dict.fromkeys(_no_interval(column, row) for row in table.rows for column in table.columns)
    text = "; ".join(filter(None, reasons))
    return f"{table.caption} No interval: {text}.".strip() if text else table.caption


def _limits(column: Column, row: Mapping[str, Any]) -> str:
    """The limits of a cell, empty where there are none."""
    low, high = (row.get(end) if end else None for end in (column.low, column.high))
    ceiling = row.get(column.low.removesuffix("low") + "ceiling") if column.low else None
    if column.low.endswith(" low") and not undefined(ceiling):
        return f"to {shown(ceiling, column.kind_in(row))}"
    if undefined(low) or undefined(high):
        return "no interval" if _no_interval(column, row) else ""
    kind = column.kind_in(row)
    return f"{shown(low, kind)} – {shown(high, kind)}".replace(" %", "").replace(" pp", "")
