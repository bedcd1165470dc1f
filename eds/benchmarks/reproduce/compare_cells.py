"""A printed cell against ours: the difference, and what may be said of it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

VERDICTS = ("agrees", "close", "differs", "doubtful", "not computed")
TOLERANCE = 1.0  # percentage points within which a number is called close
SLACK = 1e-9
COLUMNS = ["table", "task", "label", "model", "column", "printed", "ours", "difference", "verdict", "why", "n", "note"]

Cell = tuple[int, str, str]  # table, label of the row, column


@dataclass(frozen=True)
class Found:
    """What became of a cell: its number in the paper's unit, or why there is none."""

    value: float | None = None
    n: int = 0  # queries or pairs behind it
    note: str = ""
    why: str = ""


NOTHING = Found(why="nothing was computed for this table")


def compared(cells: pd.DataFrame, found: Mapping[Cell, Found], tolerance: float = TOLERANCE) -> pd.DataFrame:
    """The printed cells (see eds.benchmarks.reproduce.paper) with ours, difference = ours - printed, and a verdict.

    agrees: ours rounds to what is printed; close: within `tolerance` percentage points (a hundredth of it where the
    unit is one; a count is never close); differs: neither. doubtful: the printed number cannot be trusted, so that a
    difference says nothing; not computed: `why` says what is missing.

    >>> from eds.benchmarks.reproduce.paper import cells
    >>> one = cells().query("table == 5 and label == 'DINO' and column == 'HR@5'")
    >>> compared(one, {(5, "DINO", "HR@5"): Found(91.94)})["verdict"].tolist()
    ['agrees']
    """
    keys = zip(cells["table"].tolist(), cells["label"].tolist(), cells["column"].tolist(), strict=True)
    told = [found.get(key, NOTHING) for key in keys]
    ours = np.array([np.nan if one.value is None else one.value for one in told], np.float64)
    difference = ours - cells["printed"].to_numpy(np.float64)
    half = 0.5 * 10.0 ** -cells["decimals"].to_numpy(np.float64)
    half[(cells["unit"] == "count").to_numpy(bool)] = 0.0
    allowed = cells["unit"].map({"percent": tolerance, "one": tolerance / 100, "count": 0.0}).to_numpy(np.float64)
    away, missing = np.abs(difference), np.isnan(ours)
    cases = [missing, (cells["doubt"] == "value").to_numpy(bool), away <= half + SLACK, away <= allowed + SLACK]
    verdict = np.select(cases, ["not computed", "doubtful", "agrees", "close"], "differs")
    why = [
        (one.why or "undefined") if gone else doubted
        for one, gone, doubted in zip(told, missing.tolist(), cells["why"].tolist(), strict=True)
    ]
    ns, notes = [one.n for one in told], [one.note for one in told]
    done = cells.assign(ours=ours, difference=difference, verdict=verdict, why=why, n=ns, note=notes)
    ordered: pd.DataFrame = done[COLUMNS].reset_index(drop=True)
    return ordered


def counted(compared_cells: pd.DataFrame) -> pd.DataFrame:
    """By table how many cells have each verdict."""
    table = pd.crosstab(compared_cells["table"], compared_cells["verdict"])
    done: pd.DataFrame = table.reindex(columns=list(VERDICTS), fill_value=0).rename_axis(columns=None).reset_index()
    return done


def missing_cells(compared_cells: pd.DataFrame) -> pd.DataFrame:
    """The cells that could not be computed, by the reason: why, cells (how many), tables, rows."""
    gone = compared_cells[compared_cells["verdict"] == "not computed"]
    rows = [
        (why, len(part), ", ".join(map(str, sorted(part["table"].unique()))), ", ".join(part["label"].unique()))
        for why, part in gone.groupby("why", sort=False)
    ]
    return pd.DataFrame(rows, columns=["why", "cells", "tables", "rows"])
