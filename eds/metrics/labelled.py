"""Labelled pairs as arrays, and the scores that models give them: what every measure is computed on.

Contradictory labels, scores that are no numbers and pairs that are scored twice are refused here;
labelled pairs without a score are kept as NaN, so that whoever uses them counts them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from eds.errors import InputError
from eds.pairs import Flags, Integers, Reals, decode, encode, numbered, places_of
from eds.schema import Column, Table, to_codes
from eds.tables import CANDIDATE, MODEL, QUERY

LABELS = Table(
    "labelled pairs",
    "a pair with its decided label",
    ("query_id", "candidate_id", "value"),  # with `value`: equal duplicates collapse below
    (QUERY, CANDIDATE, Column("value", "integer", "1 similar, 0 not", allowed=(0, 1))),
)
SCORED = Table(
    "scores of pairs",
    "a model's similarity of a pair",
    ("model", "query_id", "candidate_id"),
    (MODEL, QUERY, CANDIDATE, Column("score", "real", "the model's similarity; larger is nearer")),
)


@dataclass(frozen=True, eq=False)
class Labelled:
    """Labelled pairs, ascending by (query, candidate); each array is (pairs,) int64."""

    queries: pa.Array  # distinct ids, ascending
    candidates: pa.Array
    query: Integers
    candidate: Integers
    value: Integers  # 1 or 0

    @property
    def keys(self) -> Integers:
        """One number for each pair, ascending."""
        return self.query * max(len(self.candidates), 1) + self.candidate

    @property
    def positives(self) -> Integers:
        """(queries,) int64: labelled positives of each query."""
        return np.bincount(self.query[self.value == 1], minlength=len(self.queries))

    @property
    def negatives(self) -> Integers:
        """(queries,) int64: labelled negatives of each query."""
        return np.bincount(self.query[self.value == 0], minlength=len(self.queries))

    def at(self, query: Any, candidate: Any) -> Integers:
        """The place of each (query id, candidate id) among these pairs, -1 where it has no label."""
        first, second = encode(query, self.queries), encode(candidate, self.candidates)
        known = (first >= 0) & (second >= 0)
        return places_of(np.where(known, first * max(len(self.candidates), 1) + second, -1), self.keys)

    def where(self, kept: Flags) -> "Labelled":
        """Only the flagged pairs; the ids stay, so that arrays over queries still fit."""
        return replace(self, query=self.query[kept], candidate=self.candidate[kept], value=self.value[kept])


def read_labels(frame: pd.DataFrame, where: str = "labels", *, queries: pa.Array | None = None) -> Labelled:
    """Labels (columns query_id, candidate_id, value) as arrays.

    `queries` (distinct ids, ascending) holds every query of the frame; default: those that stand in it.
    Equal duplicates collapse; a pair that is both 1 and 0, or any other value, is refused.
    """
    told = to_codes(frame[[name for name in LABELS.names if name in frame.columns]], LABELS, where)
    queries, query = numbered(told["query_id"]) if queries is None else (queries, encode(told["query_id"], queries))
    candidates, candidate = numbered(told["candidate_id"])
    value = told["value"].to_numpy().astype(np.int64)
    key = query * max(len(candidates), 1) + candidate
    order = np.argsort(2 * key + value)
    again = np.diff(key[order], prepend=-1) == 0
    torn = order[again & (np.diff(value[order], prepend=-1) != 0)]
    if len(torn):
        faults = [f"{queries[query[row]]} {candidates[candidate[row]]} is both 1 and 0" for row in torn[:3].tolist()]
        raise InputError(
            f"{len(torn):,} pairs have contradictory labels",
            where=where,
            do="Decide one label for each pair: eds truth decide.",
            faults=faults,
        )
    rows = order[~again]
    return Labelled(queries, candidates, query[rows], candidate[rows], value[rows])


def frame_of(labelled: Labelled) -> pd.DataFrame:
    """The pairs as a frame query_id, candidate_id, value: what `read_labels` reads."""
    return pd.DataFrame(
        {
            "query_id": decode(labelled.query, labelled.queries),
            "candidate_id": decode(labelled.candidate, labelled.candidates),
            "value": labelled.value,
        }
    )


def scores_of(labelled: Labelled, scores: pd.DataFrame) -> dict[str, Reals]:
    """By model, ascending: the score of every labelled pair, (pairs,) float64, NaN where there is none.

    `scores` has columns model, query_id, candidate_id, score; pairs without a label are passed over.
    """
    told = to_codes(scores[[name for name in SCORED.names if name in scores.columns]], SCORED, "scores of pairs")
    models, model = numbered(told["model"])
    place = labelled.at(told["query_id"], told["candidate_id"])
    table = np.full((len(models), len(labelled.value)), np.nan)
    known = place >= 0
    table[model[known], place[known]] = told["score"].to_numpy()[known]
    return dict(zip(models.to_pylist(), table, strict=True))


def scores_frame(scores: dict[str, Iterable[tuple[str, str, float]]]) -> pd.DataFrame:
    """Plain scores {model: [[query, candidate, score], ...]} as a frame model, query_id, candidate_id, score.

    >>> scores_frame({"m": [("q", "c", 0.5)]}).to_numpy().tolist()
    [['m', 'q', 'c', 0.5]]
    """
    rows = [(model, *row) for model, told in scores.items() for row in told]
    columns = {name: [row[number] for row in rows] for number, name in enumerate(SCORED.names)}
    return pd.DataFrame(columns).astype({**dict.fromkeys(SCORED.names[:3], "str"), "score": "float64"})
