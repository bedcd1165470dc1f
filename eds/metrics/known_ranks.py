"""Lists of which only some places are known: each pair's rank in a model's full list, without the list itself.

That is all that measures with labels need, and far cheaper than whole lists: what stands at a labelled place
is known, every other place is unlabelled.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from eds.errors import InputError
from eds.metrics.labelled import Labelled
from eds.metrics.lists import JudgedLists
from eds.pairs import Integers, distinct, encode, shown
from eds.schema import Column, Table, to_codes
from eds.tables import CANDIDATE, MODEL, QUERY

PLACES = Table(
    "ranks of pairs",
    "a pair's place in a model's full list",
    ("model", "query_id", "candidate_id"),
    (MODEL, QUERY, CANDIDATE, Column("rank", "integer", "from 0; -1 where the rules leave the candidate out", low=-1)),
)
LENGTHS = Table(
    "lengths of lists",
    "a model's list",
    ("model", "query_id"),
    (MODEL, QUERY, Column("length", "integer", "candidates in the full list", low=0)),
)


@dataclass(frozen=True, eq=False)
class Placed:
    """All models' known places, checked; codes are places among the distinct ids."""

    models: list[str]
    queries: pa.Array
    candidates: pa.Array
    model: Integers
    query: Integers
    candidate: Integers
    rank: Integers
    length: Integers  # models x queries

    def judged(self, labelled: Labelled) -> dict[str, JudgedLists]:
        """By model: the labelled places of the labelled queries."""
        own = encode(labelled.queries, self.queries)
        names = (self.queries.take(pa.array(self.query)), self.candidates.take(pa.array(self.candidate)))
        at = labelled.at(*names)
        query = encode(self.queries, labelled.queries)[self.query]
        found = {}
        for number, name in enumerate(self.models):
            length = np.where(own >= 0, self.length[number][own] if len(self.queries) else 0, 0)
            mine = np.flatnonzero((self.model == number) & (at >= 0) & (self.rank >= 0))
            mine = mine[np.lexsort((self.rank[mine], query[mine]))]
            rows = (query[mine], self.rank[mine] + 1, labelled.value[at[mine]], np.ones(len(mine), np.bool_))
            found[name] = JudgedLists(*rows, labelled.positives, labelled.negatives, length)
        return found

    def own_product(self) -> dict[str, JudgedLists]:
        """By model, over all queries: lists whose known places are the other images of the query's own product."""
        found = {}
        for number, name in enumerate(self.models):
            mine = self.model == number
            every = np.bincount(self.query[mine], minlength=len(self.queries))
            rows = np.flatnonzero(mine & (self.rank >= 0))
            rows = rows[np.lexsort((self.rank[rows], self.query[rows]))]
            ones = np.ones(len(rows), np.int64)
            told = (self.query[rows], self.rank[rows] + 1, ones, ones > 0)
            found[name] = JudgedLists(*told, every, np.zeros_like(every), self.length[number])
        return found


def read_places(places: pd.DataFrame, lengths: pd.DataFrame) -> Placed:
    """The places of `places` (model, query_id, candidate_id, rank) in lists of `lengths` (model, query_id, length).

    Refused: wrong columns or values, a pair or a rank that stands twice in a list, a rank behind the list's end.
    """
    told = to_codes(places[[name for name in PLACES.names if name in places.columns]], PLACES)
    sizes = to_codes(lengths[[name for name in LENGTHS.names if name in lengths.columns]], LENGTHS)
    models, queries = (distinct(told[name], sizes[name]) for name in ("model", "query_id"))
    candidates = distinct(told["candidate_id"])
    length = np.zeros((len(models), len(queries)), np.int64)
    length[encode(sizes["model"], models), encode(sizes["query_id"], queries)] = sizes["length"].to_numpy()
    found = Placed(
        models.to_pylist(),
        queries,
        candidates,
        encode(told["model"], models),
        encode(told["query_id"], queries),
        encode(told["candidate_id"], candidates),
        told["rank"].to_numpy().astype(np.int64),
        length,
    )
    _check(found)
    return found


def _check(placed: Placed) -> None:
    there = np.flatnonzero(placed.rank >= 0)
    model, query, rank = placed.model[there], placed.query[there], placed.rank[there]
    order = np.lexsort((rank, query, model))
    same = (np.diff(model[order]) == 0) & (np.diff(query[order]) == 0) & (np.diff(rank[order]) == 0)
    twice = np.unique(query[order][1:][same])
    behind = np.unique(query[rank >= placed.length[model, query]]) if len(there) else twice
    faults = []
    if len(twice):
        faults.append(f"two candidates at one rank for queries {shown(placed.queries, twice)}")
    if len(behind):
        faults.append(f"a rank behind the list's end for queries {shown(placed.queries, behind)}")
    if faults:
        raise InputError("these are no ranks in lists", where="ranks of pairs", do="Rank them again.", faults=faults)
