"""One model's lists with the label of every place: what every measure on rankings is computed on."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from eds.errors import InputError
from eds.metrics.labelled import Labelled
from eds.pairs import Flags, Integers, Reals, encode, numbered, shown
from eds.schema import Table, to_codes
from eds.tables import NEIGHBORS

COLUMNS = ["model", "query_id", "candidate_id", "rank"]
RANKINGS = Table(
    "neighbors", NEIGHBORS.row, NEIGHBORS.key, tuple(item for item in NEIGHBORS.columns if item.name in COLUMNS)
)
UNLABELLED = -1


@dataclass(frozen=True, eq=False)
class JudgedLists:
    """Rows ascending by (query, place): whole lists, or (with `length`) only their labelled places.

    Arrays are rows or queries long, as told.
    """

    query: Integers  # (rows,) int64, number of the query
    place: Integers  # (rows,) int64, from 1
    label: Integers  # (rows,) int64: 1, 0, or UNLABELLED
    pooled: Flags  # (rows,) whether the pair was pooled, judged or not
    positives: Integers  # (queries,) int64, labelled in all, in the list or not
    negatives: Integers
    length: Integers | None = None  # (queries,) of each list, where the rows are its labelled places only

    @property
    def n_queries(self) -> int:
        """How many queries have a label."""
        return len(self.positives)

    @property
    def lengths(self) -> Integers:
        """(queries,) int64: length of each list, 0 where a query has none."""
        if self.length is not None:
            return self.length
        return np.bincount(self.query, minlength=self.n_queries)

    def per_query(self, rows: Flags, weight: Reals | None = None) -> Reals:
        """(queries,) float64: sums over the flagged rows; without weights, counts."""
        chosen = None if weight is None else weight[rows]
        return np.bincount(self.query[rows], chosen, self.n_queries).astype(np.float64)

    def running(self, rows: Flags) -> Integers:
        """(rows,) int64: how many flagged rows the query's list has down to and with this place."""
        total = np.cumsum(rows)
        before = np.append(0, total)[np.searchsorted(self.query, np.arange(self.n_queries))]
        return np.asarray(total - before[self.query])

    def cut(self, k: int | None) -> "JudgedLists":
        """The lists down to place k; None: as they are."""
        if k is None:
            return self
        kept = self.place <= k
        rows = (self.query[kept], self.place[kept], self.label[kept], self.pooled[kept])
        length = None if self.length is None else np.minimum(self.length, k)
        return JudgedLists(*rows, self.positives, self.negatives, length)


@dataclass(frozen=True, eq=False)
class Rankings:
    """All models' lists, checked: rows by (model, query, rank); codes are places among the distinct ids."""

    models: list[str]
    queries: pa.Array
    candidates: pa.Array
    model: Integers
    query: Integers
    candidate: Integers
    rank: Integers

    def judged(self, labelled: Labelled, pooled: Labelled | None = None) -> dict[str, JudgedLists]:
        """By model: the lists of labelled queries with their labels; `pooled` pairs were asked, judged or not."""
        query = encode(self.queries, labelled.queries)[self.query]
        names = (self.queries.take(pa.array(self.query)), self.candidates.take(pa.array(self.candidate)))
        place = labelled.at(*names)
        label = np.where(place >= 0, labelled.value[place] if len(labelled.value) else 0, UNLABELLED)
        asked = (label >= 0) if pooled is None else (label >= 0) | (pooled.at(*names) >= 0)
        found = {}
        for number, name in enumerate(self.models):
            mine = (self.model == number) & (query >= 0)
            rows = (query[mine], self.rank[mine] + 1, label[mine], asked[mine])
            found[name] = JudgedLists(*rows, labelled.positives, labelled.negatives)
        return found

    def without_labels(self, labelled: Labelled) -> dict[str, int]:
        """By model: how many of its lists belong to queries that have no label."""
        strange = encode(self.queries, labelled.queries) < 0
        lists = np.unique(self.model * max(len(self.queries), 1) + self.query)
        owner, query = np.divmod(lists, max(len(self.queries), 1))
        return {name: int(strange[query[owner == number]].sum()) for number, name in enumerate(self.models)}


def read_rankings(frame: pd.DataFrame) -> Rankings:
    """The lists of `frame` (columns model, query_id, candidate_id, rank from 0), checked.

    Refused: wrong columns or values, a candidate or a rank that stands twice in a list, a list with gaps, a query
    in its own list.
    """
    told = to_codes(frame[[name for name in COLUMNS if name in frame.columns]], RANKINGS)
    (models, model), (queries, query), (candidates, candidate) = (numbered(told[name]) for name in COLUMNS[:3])
    rank = told["rank"].to_numpy().astype(np.int64)
    order = np.lexsort((rank, query, model))
    found = Rankings(
        models.to_pylist(),
        queries,
        candidates,
        *(part[order] for part in (model, query, candidate, rank)),
    )
    _check(found)
    return found


def _check(lists: Rankings) -> None:
    number = lists.model * max(len(lists.queries), 1) + lists.query
    starts = np.flatnonzero(np.diff(number, prepend=-1) != 0)
    expected = np.arange(len(number)) - np.repeat(starts, np.diff(np.append(starts, len(number))))
    gaps = expected != lists.rank
    same = encode(lists.candidates, lists.queries)
    own = same[lists.candidate] == lists.query if len(number) else gaps
    told = (
        (gaps, "ranks do not count 0, 1, 2, ... without gap or repeat for queries"),
        (own, "the query stands in its own list for"),
    )
    faults = []
    for wrong, what in told:
        whose = [lists.models[place] for place in np.unique(lists.model[wrong]).tolist()]
        if whose:
            faults.append(f"{', '.join(whose)}: {what} {shown(lists.queries, np.unique(lists.query[wrong]))}")
    if faults:
        raise InputError(
            "the models' lists are not rankings", where="table neighbors", do="Mine them again.", faults=faults
        )
