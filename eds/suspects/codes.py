"""Text ids as small integers: the arrays that everything in this stage is computed on.

A *code* is the place of an id among the distinct ids in ascending order (Unicode code points, as
Arrow's UTF-8 bytes sort too). A *pair key* is one int64 for a (query, candidate): query code times
the number of candidates plus candidate code, so pairs sort as their ids do, whatever the row order.
"""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from eds.errors import InputError
from eds.schema import Column, Table, to_arrow
from eds.tables import CANDIDATE, QUERY

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]

PAIRS = Table("pairs", "a pair", ("query_id", "candidate_id"), (QUERY, CANDIDATE), further=True)
JUDGED = Table(
    "judged pairs",
    "a pair with its decided label",
    ("query_id", "candidate_id", "value"),
    (QUERY, CANDIDATE, Column("value", "integer", "1 similar, 0 not", allowed=(0, 1))),
)


def text(column: Any) -> pa.Array:
    """A text column (Arrow or pandas) as one Arrow array of strings."""
    array = column if isinstance(column, (pa.Array, pa.ChunkedArray)) else pa.array(column, from_pandas=True)
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    return array if array.type == pa.string() else array.cast(pa.string())


def distinct(*columns: Any) -> pa.Array:
    """The distinct ids of all the columns, ascending."""
    found = pa.chunked_array([pc.unique(text(column)) for column in columns], pa.string())
    names = pc.unique(found)
    return names.take(pc.sort_indices(names))


def encode(column: Any, names: pa.Array) -> Integers:
    """Each id's place among `names`, -1 where it is not one of them; int64, one per row."""
    coded = text(column).dictionary_encode()
    places = pc.fill_null(pc.index_in(coded.dictionary, value_set=names), -1).to_numpy(zero_copy_only=False)
    indices = coded.indices.to_numpy(zero_copy_only=False)
    return places.astype(np.int64)[indices] if len(places) else np.zeros(len(indices), np.int64)


def decode(codes: Integers, names: pa.Array) -> "pd.Series[str]":
    """The ids of these codes, as a text column."""
    found: pd.Series[str] = pa.chunked_array([names.take(pa.array(codes))]).to_pandas()
    return found


def pair_keys(frame: pd.DataFrame, queries: pa.Array, candidates: pa.Array) -> Integers:
    """The pair key of every row; -1 where an id is none of the named ones."""
    query, candidate = encode(frame["query_id"], queries), encode(frame["candidate_id"], candidates)
    return np.where((query < 0) | (candidate < 0), -1, query * max(len(candidates), 1) + candidate)


def judged(labels: pd.DataFrame, queries: pa.Array, candidates: pa.Array) -> tuple[Integers, Integers]:
    """Ascending keys of labelled pairs among the named ids, and their labels (0 or 1), both int64.

    Equal duplicates collapse; two different labels for one pair are refused.
    """
    wanted = [name for name in ("query_id", "candidate_id", "value") if name in labels.columns]
    told = to_arrow(labels[wanted].drop_duplicates(), JUDGED, "labels").to_pandas()
    twice = told.duplicated(["query_id", "candidate_id"])
    if twice.any():
        shown = [f"{query} {candidate} is both 1 and 0" for query, candidate, _ in told[twice].head(3).to_numpy()]
        raise InputError(
            f"{int(twice.sum())} pairs have contradictory labels",
            where="labels",
            do="Decide one label for each pair: eds truth decide.",
            faults=shown,
        )
    keys = pair_keys(told, queries, candidates)
    order = np.argsort(keys, kind="stable")
    order = order[keys[order] >= 0]
    return keys[order], told["value"].to_numpy(np.int64)[order]


def contains(sorted_keys: Integers, keys: Integers) -> Flags:
    """For each key whether it stands among the sorted ones."""
    if not len(sorted_keys):
        return np.zeros(len(keys), dtype=np.bool_)
    places = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return np.asarray(sorted_keys[places] == keys)


def ascending(*parts: Integers) -> Integers:
    """The distinct keys of all parts, ascending (by sorting: numpy's own hash is slow on so many)."""
    keys = np.sort(np.concatenate(parts))
    return keys[np.diff(keys, prepend=keys[:1] - 1) > 0]


def whole(value: object, name: str, low: int) -> int:
    """The value as a whole number of at least `low`, or InputError."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < low:
        raise InputError(f"{name} is {value!r}", do=f"Give a whole number from {low} up.")
    return int(value)


def generator(seed: int, purpose: str, step: int = 0) -> np.random.Generator:
    """Random numbers for one purpose: other purposes and steps of the same seed are independent of it."""
    return np.random.Generator(np.random.PCG64([whole(seed, "seed", 0), step, *purpose.encode()]))
