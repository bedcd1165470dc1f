"""Pairs and their labels as integers, and the numbers and randomness that draws are asked with.

A *pair key* is one int64 for a (query, candidate): the query's code times the number of candidates plus
the candidate's code (eds.pairs), so pairs sort as their ids do, whatever the row order.
"""

import numpy as np
import pandas as pd
import pyarrow as pa

from eds.errors import InputError
from eds.pairs import Integers, encode
from eds.schema import Column, Table, to_arrow
from eds.tables import CANDIDATE, QUERY

PAIRS = Table("pairs", "a pair", ("query_id", "candidate_id"), (QUERY, CANDIDATE), further=True)
JUDGED = Table(
    "judged pairs",
    "a pair with its decided label",
    ("query_id", "candidate_id", "value"),
    (QUERY, CANDIDATE, Column("value", "integer", "1 similar, 0 not", allowed=(0, 1))),
)


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
