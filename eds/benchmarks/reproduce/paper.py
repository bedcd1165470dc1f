"""The published tables, digitised once: `paper_tables.json` beside this file, read as one frame of cells."""

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
    """The content of the file."""

    source: dict[str, str]
    notes: tuple[str, ...]
    models: dict[str, str]  # label of the paper -> our name of the model
    doubts: tuple[dict[str, Any], ...]
    errata: tuple[dict[str, Any], ...]
    text: dict[str, Any]
    tables: dict[int, dict[str, Any]]


@cache
def paper() -> Paper:
    """Return the digitised tables.

    >>> paper().tables[5]["rows"][0]["HR@5"]
    82.5
    """
    content = json.loads(files("eds.benchmarks.reproduce").joinpath(FILE).read_text(encoding="utf-8"))
    tables = {int(number): table for number, table in content.pop("tables").items()}
    listed: dict[str, Any] = {name: tuple(content.pop(name)) for name in ("notes", "doubts", "errata")}
    return Paper(**content, **listed, tables=tables)


def cells() -> pd.DataFrame:
    """Return every printed cell: table, task, label (as printed), model (our name), column, printed, doubts.

    `unit` is percent, one or count; `decimals` how many were printed. `doubt` is `value` where the number itself cannot
    be trusted (analyses leave it out, no verdict uses it), `reading` where the number holds but something about it is
    unclear; `why` says what.
    """
    source = paper()
    rows = []
    for number, table in source.tables.items():
        for row in table["rows"]:
            for column in table["columns"]:
                if column not in row:
                    continue
                unit = "one" if column in table.get("ones", ()) else table["unit"]
                decimals = table.get("decimals", {}).get(column, _decimals(row[column]))
                task, model = row.get("task", table["task"]), source.models.get(row["label"], "")
                values = (row.get("generator"), column, float(row[column]), decimals, unit)
                doubt = _doubt(source.doubts, number, row["label"], column)
                rows.append((number, task, row["label"], model, *values, *doubt))
    return pd.DataFrame(rows, columns=CELL_COLUMNS)


def known_model(text: str) -> str:
    """Return our name of a model named as in the paper; any other name as it is.

    >>> known_model("Argus ID+C"), known_model("beit_cat"), known_model("mine")
    ('argus_id_c', 'beit_cat', 'mine')
    """
    known = {_normalise(label): name for label, name in paper().models.items()}
    known |= {_normalise(name): name for name in known.values()}
    return known.get(_normalise(text), text)


def printed_table(numbers: "tuple[int, ...]") -> pd.DataFrame:
    """Return rows of Tables 5 to 8 together: label, generator, and the columns that all of these tables have.

    Cells whose value is doubted are missing. The columns of Tables 7 and 8 are those of labelled negatives.
    """
    every = cells()
    kept = every[every["table"].isin(numbers) & (every["doubt"] != "value")]
    wide = []
    for number in numbers:
        part = kept[kept["table"] == number].assign(column=lambda frame: frame["column"].map(_annotated))
        table = part.pivot_table(index="label", columns="column", values="printed", sort=False)
        flags = part.drop_duplicates("label").set_index("label")["generator"].astype(bool)
        wide.append(table.assign(generator=flags))
    shared = [name for name in wide[0].columns if all(name in table.columns for table in wide)]
    joined: pd.DataFrame = pd.concat([table[shared] for table in wide]).rename_axis(columns=None).reset_index()
    return joined


def _annotated(column: str) -> str:
    return f"{column}_anno" if column.count("_") == 1 else column


def _decimals(value: float) -> int:
    return len(repr(value).partition(".")[2]) if isinstance(value, float) else 0


def _doubt(doubts: tuple[dict[str, Any], ...], table: int, label: str, column: str) -> tuple[str, str]:
    """Return the kind of doubt, a value's before a reading's, and all reasons."""
    mine = [doubt for doubt in doubts if doubt["table"] == table and column in doubt["columns"]]
    mine = [doubt for doubt in mine if label in doubt.get("labels", [label])]
    kind = "value" if any(doubt["kind"] == "value" for doubt in mine) else "reading" if mine else ""
    return kind, "; ".join(doubt["why"] for doubt in mine)


def _normalise(text: str) -> str:
    return text.casefold().replace("+", " ").replace("-", " ").replace("_", " ").replace("  ", " ").strip()
