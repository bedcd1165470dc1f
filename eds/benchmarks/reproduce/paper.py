"""The published tables, digitised once: `paper_tables.json` beside this file, read as one frame of cells.

Not here: how a cell is computed from files (the command line joins the stages), what a difference means (verdicts.py).
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import pandas as pd

FILE = "paper_tables.json"
ZERO_SHOT, WILD = "in_catalog_retrieval_zero_shot", "consumer-catalog_wild_zero_shot"
TASKS = (ZERO_SHOT, "in_catalog_open_catalog", "in_catalog_closed_catalog", WILD)
GENERATORS = ("argus", "dino", "beit", "clip", "argus_id", "argus_id_c")
CELL_COLUMNS = ["table", "task", "label", "model", "generator", "column", "printed", "decimals", "unit", "doubt", "why"]


@dataclass(frozen=True)
class Paper:
    """What the file holds, as it stands there."""

    source: dict[str, str]
    notes: tuple[str, ...]
    models: dict[str, str]  # a label of the paper -> our name of the model
    doubts: tuple[dict[str, Any], ...]
    errata: tuple[dict[str, Any], ...]
    text: dict[str, Any]
    tables: dict[int, dict[str, Any]]


@cache
def paper() -> Paper:
    """The digitised tables.

    >>> paper().tables[5]["rows"][0]["HR@5"]
    82.5
    """
    told = json.loads(files("eds.benchmarks.reproduce").joinpath(FILE).read_text(encoding="utf-8"))
    tables = {int(number): table for number, table in told["tables"].items()}
    return Paper(
        told["source"], tuple(told["notes"]), told["models"], tuple(told["doubts"]), tuple(told["errata"]),
        told["text"], tables,
    )  # fmt: skip


def cells() -> pd.DataFrame:
    """Every printed cell: table, task, label (the row as printed), model (our name), column, printed, what is doubted.

    `unit` is percent, one or count; `decimals` how many were printed. `doubt` is `value` where the number itself cannot
    be trusted (analyses leave it out, no verdict rests on it), `reading` where the number stands but something about it
    is not clear; `why` says what.
    """
    told = paper()
    rows = []
    for number, table in told.tables.items():
        for row in table["rows"]:
            for column in table["columns"]:
                if column not in row:
                    continue
                unit = "one" if column in table.get("ones", ()) else table["unit"]
                decimals = table.get("decimals", {}).get(column, _decimals(row[column]))
                rows.append((number, row.get("task", table["task"]), row["label"], told.models.get(row["label"], ""),
                             row.get("generator"), column, float(row[column]), decimals, unit,
                             *_doubt(told.doubts, number, row["label"], column)))  # fmt: skip
    return pd.DataFrame(rows, columns=CELL_COLUMNS)


def named(text: str) -> str:
    """Our name of a model that a file or a user calls as the paper does; any other name as it is.

    >>> named("Argus ID+C"), named("beit_cat"), named("mine")
    ('argus_id_c', 'beit_cat', 'mine')
    """
    known = {_plain(label): name for label, name in paper().models.items()}
    known |= {_plain(name): name for name in known.values()}
    return known.get(_plain(text), text)


def printed_table(numbers: "tuple[int, ...]") -> pd.DataFrame:
    """Rows of Tables 5 to 8 one below the other: label, generator, and the columns that all of these tables have.

    Cells whose value is doubted are missing. The columns of Tables 7 and 8 are those of labelled negatives.
    """
    every = cells()
    kept = every[every["table"].isin(numbers) & (every["doubt"] != "value")]
    wide = []
    for number in numbers:
        mine = kept[kept["table"] == number].assign(column=lambda frame: frame["column"].map(_annotated))
        table = mine.pivot_table(index="label", columns="column", values="printed", sort=False)
        flags = mine.drop_duplicates("label").set_index("label")["generator"].astype(bool)
        wide.append(table.assign(generator=flags))
    shared = [name for name in wide[0].columns if all(name in table.columns for table in wide)]
    joined: pd.DataFrame = pd.concat([table[shared] for table in wide]).rename_axis(columns=None).reset_index()
    return joined


def _annotated(column: str) -> str:
    return f"{column}_anno" if column.count("_") == 1 else column


def _decimals(value: float) -> int:
    return len(repr(value).partition(".")[2]) if isinstance(value, float) else 0


def _doubt(doubts: tuple[dict[str, Any], ...], table: int, label: str, column: str) -> tuple[str, str]:
    """The kind of doubt, a value's before a reading's, and all reasons."""
    mine = [one for one in doubts if one["table"] == table and column in one["columns"]
            and label in one.get("labels", [label])]  # fmt: skip
    kind = "value" if any(one["kind"] == "value" for one in mine) else "reading" if mine else ""
    return kind, "; ".join(one["why"] for one in mine)


def _plain(text: str) -> str:
    return text.casefold().replace("+", " ").replace("-", " ").replace("_", " ").replace("  ", " ").strip()
