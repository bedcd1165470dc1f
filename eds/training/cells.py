"""The cells of a benchmark: their numbers, the codes that they keep, means over seeds."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eds.errors import InputError
from eds.hashing.code_usage import packed_code_usage
from eds.hashing.codes import Packed, distances
from eds.hashing.collisions import Balls
from eds.hashing.ties import TiedLists, ap, ap_best, ap_worst
from eds.pairs import Integers
from eds.training.code_score import RADIUS
from eds.training.splits import Split
from eds.training.supervision import Supervision


@dataclass(frozen=True)
class Cell:
    """One method at one length with one seed; numbers are of queries against the database."""

    method: str
    bits: int
    seed: int
    trained: bool
    key: str = ""  # of its files
    map: float = float("nan")  # expected over all orders of ties
    map_best: float = float("nan")
    map_worst: float = float("nan")
    mlgap: float = float("nan")
    precision: float = float("nan")  # of the ball of radius 2; 0 where it is empty
    empty: float = float("nan")  # share of queries whose ball of radius 2 is empty
    distinct: int = 0
    reachable: float = float("nan")  # distinct / min(items, 2^bits)
    entropy: float = float("nan")  # bits
    largest: int = 0
    queries: int = 0
    items: int = 0
    seconds: float = 0.0
    failed: str = ""  # why there are no numbers


def summarise(cells: list[Cell]) -> pd.DataFrame:
    """A row for each method and length: means over seeds, and `_sd`, the standard deviation, of the main numbers."""
    frame = pd.DataFrame([asdict(cell) for cell in cells])
    frame = frame[frame["failed"] == ""]
    if frame.empty:
        return pd.DataFrame()
    grouped = frame.groupby(["method", "bits"], sort=False)
    mean = grouped.mean(numeric_only=True).drop(columns=["seed"])
    for name in ("map", "mlgap", "distinct", "reachable"):
        mean[f"{name}_sd"] = grouped[name].std()
    mean["seeds"] = grouped.size()
    found = mean.reset_index()
    return found.assign(trained=found["trained"] > 0)


def score_against(
    queries: Packed,
    items: Packed,
    bits: int,
    similar: Callable[[slice], NDArray[np.bool_]],
    own: Integers,
    k: int | None,
) -> tuple[TiedLists, Balls]:
    """Histograms by distance, and balls of radius 2, of packed codes; `own` is each query's row among items, or -1."""
    radius = min(RADIUS, bits)
    counts = np.zeros((len(queries), bits + 1, 2), np.int64)
    for rows, apart in distances(queries, items):
        cell = apart.astype(np.int64) * 2 + similar(rows)
        cell += (np.arange(len(cell)) * 2 * (bits + 1))[:, None]
        counts[rows] = np.bincount(cell.ravel(), minlength=counts[rows].size).reshape(counts[rows].shape)
    counts[np.flatnonzero(own >= 0), 0, 1] -= 1  # a query is its own nearest item, and similar to itself
    distinct, bucket, size = np.unique(items, return_inverse=True, return_counts=True)
    largest = np.zeros((len(queries), radius + 1), np.int64)
    for rows, apart in distances(queries, distinct):
        for number, row in enumerate(apart, rows.start):
            near = np.flatnonzero(row <= radius)
            filled = size[near] - (near == bucket[own[number]]) if own[number] >= 0 else size[near]
            np.maximum.at(largest[number], row[near], filled)
    within = counts[:, : radius + 1].cumsum(axis=1)
    return (
        TiedLists(counts, (0, 1), k),
        Balls(bits, within.sum(axis=2), within[:, :, 1], np.maximum.accumulate(largest, axis=1)),
    )


def measure_cell(packed: Packed, bits: int, labels: Supervision, parts: Split, k: int | None) -> dict[str, Any]:
    """The numbers of a cell: packed codes (n,) of all images, every query of the split against its database."""
    kind = labels.category
    if kind is None:
        raise InputError("the images have no classes", where="benchmark")
    place = np.full(len(packed), -1)
    place[parts.database] = np.arange(len(parts.database))
    items, wanted = kind[parts.database], kind[parts.test]
    lists, balls = score_against(
        packed[parts.test],
        packed[parts.database],
        bits,
        lambda rows: wanted[rows, None] == items[None, :],
        place[parts.test],
        k,
    )
    asked = lists.relevant > 0
    if not asked.any():
        raise InputError(
            "no query has an image of its class in the database", where="benchmark", hint="Choose another one: --split."
        )
    usage = packed_code_usage(packed[parts.database], bits)
    near = balls.items[:, -1]
    return {
        "map": float(ap(lists)[asked].mean()),
        "map_best": float(ap_best(lists)[asked].mean()),
        "map_worst": float(ap_worst(lists)[asked].mean()),
        "mlgap": float(balls.lgap(RADIUS)[asked].mean()),
        "precision": float(balls.precision[asked, -1].mean()),
        "empty": float((near[asked] == 0).mean()),
        "distinct": int(usage["distinct"]),
        "reachable": float(usage["utilisation_of_reachable"]),
        "entropy": float(usage["entropy_bits"]),
        "largest": int(usage["max_bucket"]),
        "queries": int(asked.sum()),
        "items": len(parts.database),
    }


def codes_of(folder: Path, cell: Cell) -> Packed:
    """The packed codes of all images of a finished cell, (n,); 0 for images in no part."""
    found: Packed = np.load(folder / "cells" / f"{cell.key}.npy", allow_pickle=False)
    return found


def chosen_by(cells: list[Cell], bits: int | None = None) -> Iterator[Cell]:
    """One cell of each method, at the shortest length (or `bits`) with the first seed."""
    shortest = min(cell.bits for cell in cells if not cell.failed) if bits is None else bits
    seen: set[str] = set()
    for cell in cells:
        if not cell.failed and cell.bits == shortest and cell.method not in seen:
            seen.add(cell.method)
            yield cell
