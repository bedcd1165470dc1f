"""Printed cells beside computed ones: the difference, a verdict, and the comparison as Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
import pandas as pd

from eds.benchmarks.card import escape
from eds.benchmarks.reproduce.paper import Paper

VERDICTS = {"agrees": "=", "close": "~", "differs": "≠", "doubtful": "?", "not computed": "-"}  # with their signs
TOLERANCE = 1.0  # percentage points within which a number is called close
SLACK = 1e-9
COLUMNS = ["table", "task", "label", "model", "column", "printed", "ours", "difference", "verdict", "why", "n", "note"]

Cell = tuple[int, str, str]  # table, label of the row, column


@dataclass(frozen=True)
class Computed:
    """The outcome for a cell: its number in the paper's unit, or why there is none."""

    value: float | None = None
    n: int = 0  # queries or pairs behind it
    note: str = ""
    why: str = ""


NOTHING = Computed(why="nothing was computed for this table")


def compare_cells(cells: pd.DataFrame, computed: Mapping[Cell, Computed], tolerance: float = TOLERANCE) -> pd.DataFrame:
    """Return the printed cells (eds.benchmarks.reproduce.paper) with ours, difference = ours - printed, and a verdict.

    agrees: ours rounds to what is printed; close: within `tolerance` percentage points (a hundredth of it where the
    unit is one; a count is never close); differs: neither. doubtful: the printed number cannot be trusted, so that a
    difference says nothing; not computed: `why` says what is missing.

    >>> from eds.benchmarks.reproduce.paper import cells
    >>> cell = cells().query("table == 5 and label == 'DINO' and column == 'HR@5'")
    >>> compare_cells(cell, {(5, "DINO", "HR@5"): Computed(91.94)})["verdict"].tolist()
    ['agrees']
    """
    keys = zip(cells["table"].tolist(), cells["label"].tolist(), cells["column"].tolist(), strict=True)
    outcomes = [computed.get(key, NOTHING) for key in keys]
    ours = np.array([np.nan if one.value is None else one.value for one in outcomes], np.float64)
    difference = ours - cells["printed"].to_numpy(np.float64)
    half = 0.5 * 10.0 ** -cells["decimals"].to_numpy(np.float64)
    half[(cells["unit"] == "count").to_numpy(bool)] = 0.0
    allowed = cells["unit"].map({"percent": tolerance, "one": tolerance / 100, "count": 0.0}).to_numpy(np.float64)
    distance, missing = np.abs(difference), np.isnan(ours)
    cases = [missing, (cells["doubt"] == "value").to_numpy(bool), distance <= half + SLACK, distance <= allowed + SLACK]
    verdict = np.select(cases, ["not computed", "doubtful", "agrees", "close"], "differs")
    why = [
        (one.why or "undefined") if gone else doubt
        for one, gone, doubt in zip(outcomes, missing.tolist(), cells["why"].tolist(), strict=True)
    ]
    ns, notes = [one.n for one in outcomes], [one.note for one in outcomes]
    compared = cells.assign(ours=ours, difference=difference, verdict=verdict, why=why, n=ns, note=notes)
    ordered: pd.DataFrame = compared[COLUMNS].reset_index(drop=True)
    return ordered


def count_verdicts(compared: pd.DataFrame) -> pd.DataFrame:
    """Count the cells of each table by verdict."""
    table = pd.crosstab(compared["table"], compared["verdict"])
    counts: pd.DataFrame = table.reindex(columns=list(VERDICTS), fill_value=0).rename_axis(columns=None).reset_index()
    return counts


def missing_cells(compared: pd.DataFrame) -> pd.DataFrame:
    """Return the cells that could not be computed, by reason: why, cells (how many), tables, rows."""
    missing = compared[compared["verdict"] == "not computed"]
    rows = [
        (why, len(part), ", ".join(map(str, sorted(part["table"].unique()))), ", ".join(part["label"].unique()))
        for why, part in missing.groupby("why", sort=False)
    ]
    return pd.DataFrame(rows, columns=["why", "cells", "tables", "rows"])


def format_number(value: float, decimals: int = 1) -> str:
    """Format a number as tables print it: half rounds up by the decimal digits, not by binary ones or to even.

    >>> format_number(86.55), format_number(67.35), format_number(-3.2249999)
    ('86.6', '67.4', '-3.2')
    """
    if value != value:
        return "n/a"
    kept = Decimal(repr(round(float(value), 9))).quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP)
    return str(kept if kept else abs(kept))


def render_markdown(compared: pd.DataFrame, paper: Paper, tasks: Mapping[str, Sequence[str]]) -> str:
    """Render the comparison; `tasks` has sentences on what was compared for each task, or why it was not run."""
    lines = [f"# {escape(paper.source['title'])}: printed and computed", ""]
    lines += [
        "Each cell: ours (printed; difference) and a verdict. = agrees: ours rounds to the printed number."
        " ~ close: within the tolerance. ≠ differs. ? doubtful: the printed number cannot be trusted."
        " - not computed.",
        "",
    ]
    for task, sentences in tasks.items():
        lines += [f"**{escape(task)}**", "", *(f"- {escape(sentence)}" for sentence in sentences), ""]
    lines += [markdown_table(count_verdicts(compared)), ""]
    for number, part in compared.groupby("table"):
        table = paper.tables[int(str(number))]
        lines += [f"## Table {number}. {table['caption']}", "", _wide_table(part, table["columns"]), ""]
        doubts = part.loc[(part["why"] != "") & (part["verdict"] != "not computed")]
        lines += [f"- {', '.join(group['label'].unique())}: {why}" for why, group in doubts.groupby("why", sort=False)]
        lines += [""]
    lines += ["## What could not be computed", "", markdown_table(missing_cells(compared)), ""]
    lines += ["## How to read the tables", ""]
    return "\n".join([*lines, *(f"- {note}" for note in paper.notes), ""])


def _wide_table(part: pd.DataFrame, columns: Sequence[str]) -> str:
    fields = (part[name] for name in ("printed", "ours", "difference", "verdict", "column"))
    texts = [_cell(*values) for values in zip(*fields, strict=True)]
    wide = part.assign(text=texts)
    wide = wide.pivot_table(index="label", columns="column", values="text", aggfunc="first", sort=False)
    wide = wide.reindex(columns=[name for name in columns if name in wide.columns]).fillna("")
    return markdown_table(wide.rename_axis(columns=None).rename_axis("model").reset_index())


def _cell(printed: float, ours: float, difference: float, verdict: str, column: str) -> str:
    decimals = 0 if column in ("queries", "annotated_pairs") else 3 if column.endswith(("_sc", "_p")) else 1
    shown = format_number(printed, decimals)
    if verdict == "not computed":
        return f"({shown}) -"
    away = format_number(difference, decimals)
    sign = "" if away.startswith("-") else "+"
    return f"{format_number(ours, decimals)} ({shown}; {sign}{away}) {VERDICTS[verdict]}"


def markdown_table(frame: pd.DataFrame) -> str:
    """Render a frame as a Markdown table."""

    def line(cells: Sequence[Any]) -> str:
        return f"| {' | '.join(escape(cell) for cell in cells)} |"

    rows = map(line, frame.to_numpy(object).tolist())
    return "\n".join([line(list(frame.columns)), f"|{'---|' * len(frame.columns)}", *rows])
