"""The comparison with the paper for reading: Markdown tables, each cell beside the printed one, with its verdict."""

from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pandas as pd

from eds.benchmarks.card import escaped
from eds.benchmarks.reproduce.compare_cells import counted, missing_cells
from eds.benchmarks.reproduce.paper import Paper

SIGNS = {"agrees": "=", "close": "~", "differs": "≠", "doubtful": "?", "not computed": "-"}


def rounded(value: float, decimals: int = 1) -> str:
    """A number as tables print it: half goes up, not to the nearest even digit nor to what binary makes of it.

    >>> rounded(86.55), rounded(67.35), rounded(-3.2249999)
    ('86.6', '67.4', '-3.2')
    """
    if value != value:
        return "n/a"
    kept = Decimal(repr(round(float(value), 9))).quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP)
    return str(kept if kept else abs(kept))


def markdown(compared: pd.DataFrame, told: Paper, tasks: Mapping[str, Sequence[str]]) -> str:
    """The whole comparison: `tasks` says of each task in sentences what was compared, or why it was not run."""
    lines = [f"# {escaped(told.source['title'])}: printed and computed", ""]
    lines += ["Each cell: ours (printed; difference) and a verdict. = agrees: ours rounds to the printed number."
              " ~ close: within the tolerance. ≠ differs. ? doubtful: the printed number cannot be trusted."
              " - not computed.", ""]  # fmt: skip
    for task, sentences in tasks.items():
        lines += [f"**{escaped(task)}**", "", *(f"- {escaped(one)}" for one in sentences), ""]
    lines += [*_rows(counted(compared)), ""]
    for number, part in compared.groupby("table"):
        table = told.tables[int(str(number))]
        lines += [f"## Table {number}. {table['caption']}", "", *_wide(part, table["columns"]), ""]
        doubts = part.loc[(part["why"] != "") & (part["verdict"] != "not computed")]
        lines += [f"- {', '.join(group['label'].unique())}: {why}" for why, group in doubts.groupby("why", sort=False)]
        lines += [""]
    lines += ["## What could not be computed", "", *_rows(missing_cells(compared)), "", "## How to read the tables", ""]
    return "\n".join([*lines, *(f"- {note}" for note in told.notes), ""])


def _wide(part: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    texts = [
        _cell(*one)
        for one in zip(part["printed"], part["ours"], part["difference"], part["verdict"], part["column"], strict=True)
    ]
    wide = part.assign(text=texts).pivot_table(
        index="label", columns="column", values="text", aggfunc="first", sort=False
    )
    wide = wide.reindex(columns=[name for name in columns if name in wide.columns]).fillna("")
    return _rows(wide.rename_axis(columns=None).rename_axis("model").reset_index())


def _cell(printed: float, ours: float, difference: float, verdict: str, column: str) -> str:
    places = 0 if column in ("queries", "annotated_pairs") else 3 if column.endswith(("_sc", "_p")) else 1
    shown = rounded(printed, places)
    if verdict == "not computed":
        return f"({shown}) -"
    away = rounded(difference, places)
    return f"{rounded(ours, places)} ({shown}; {away if away.startswith('-') else f'+{away}'}) {SIGNS[verdict]}"


def _rows(frame: pd.DataFrame) -> list[str]:
    def line(cells: Sequence[Any]) -> str:
        return f"| {' | '.join(escaped(cell) for cell in cells)} |"

    return [line(list(frame.columns)), f"|{'---|' * len(frame.columns)}", *map(line, frame.to_numpy(object).tolist())]
