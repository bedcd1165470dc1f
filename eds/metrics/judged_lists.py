"""One model's lists with the label of every item: what every measure on rankings is computed on."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from eds.pairs import Flags, Integers, KnownRanks, LabelledPairs, RankedLists, Reals, encode


@dataclass(frozen=True, eq=False)
class JudgedLists:
    """Rows ascending by (query, place): whole lists, or (with `length`) only their labelled places."""

    query: Integers  # (rows,) code of the query
    place: Integers  # (rows,) from 1
    label: Integers  # (rows,) 1, 0 or UNLABELLED
    pooled: Flags  # (rows,) whether the pair was pooled, judged or not
    positives: Integers  # (queries,) labelled in all, in the list or not
    negatives: Integers
    length: Integers | None = None  # (queries,) of each list, where the rows are its labelled places only
    eligible: Integers | None = None  # (queries,) candidates that each list may hold, where that is known

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

    def places(self, k: int) -> Integers:
        """(queries,) int64: how many of the first k places there are, k where it is not known."""
        most = np.zeros(self.n_queries, np.int64) if self.eligible is None else np.minimum(self.eligible, k)
        return np.where(most > 0, most, k)

    def per_query(self, rows: Flags, weight: Reals | None = None) -> Reals:
        """(queries,) float64: sums over the flagged rows; without weights, counts."""
        chosen = None if weight is None else weight[rows]
        return np.bincount(self.query[rows], chosen, self.n_queries).astype(np.float64)

    def running(self, rows: Flags) -> Integers:
        """(rows,) int64: how many flagged rows the query's list has up to and including this place."""
        total = np.cumsum(rows)
        before = np.append(0, total)[np.searchsorted(self.query, np.arange(self.n_queries))]
        return np.asarray(total - before[self.query])

    def cut(self, k: int | None) -> "JudgedLists":
        """The lists down to place k; None: unchanged."""
        if k is None:
            return self
        kept = self.place <= k
        return replace(
            self,
            query=self.query[kept],
            place=self.place[kept],
            label=self.label[kept],
            pooled=self.pooled[kept],
            length=None if self.length is None else np.minimum(self.length, k),
        )


def read_rankings(frame: pd.DataFrame) -> RankedLists:
    """The complete lists of a frame (columns model, query_id, candidate_id, rank from 0), by model, query and rank."""
    lists = RankedLists.from_frame(frame).sort()
    lists.check_complete()
    return lists


def judge(
    lists: RankedLists | None,
    ranks: KnownRanks | None,
    labelled: LabelledPairs,
    pooled: LabelledPairs | None = None,
    *,
    exhausted: bool = False,
) -> dict[str, JudgedLists]:
    """By model: the lists of the labelled queries with their labels, and of other models the labelled ranks.

    `pooled` are the pairs that were asked, judged or not (default: the labelled ones). `exhausted`: a list that ends
    before a cut-off holds every candidate it may, as checked against the catalogue.
    """
    judged = {} if lists is None else _judge_lists(lists, labelled, pooled, exhausted=exhausted)
    return judged | ({} if ranks is None else _judge_ranks(ranks, labelled, pooled, exhausted=exhausted))


def _judge_lists(
    lists: RankedLists, labelled: LabelledPairs, pooled: LabelledPairs | None, *, exhausted: bool
) -> dict[str, JudgedLists]:
    query = encode(lists.queries, labelled.queries)[lists.query]
    label = labelled.labels_of(lists)
    requested = label >= 0 if pooled is None else (label >= 0) | (pooled.find(lists) >= 0)
    judged = {}
    for code, name in enumerate(lists.models):
        mine = (lists.model == code) & (query >= 0)
        rows = (query[mine], lists.rank[mine] + 1, label[mine], requested[mine])
        sizes = np.bincount(rows[0], minlength=len(labelled.queries)) if exhausted else None
        judged[name] = JudgedLists(*rows, labelled.positives, labelled.negatives, eligible=sizes)
    return judged


def _judge_ranks(
    ranks: KnownRanks, labelled: LabelledPairs, pooled: LabelledPairs | None, *, exhausted: bool
) -> dict[str, JudgedLists]:
    """The labelled places, and those of pooled pairs without a label."""
    own = encode(labelled.queries, ranks.queries)
    query, label = encode(ranks.queries, labelled.queries)[ranks.query], labelled.labels_of(ranks)
    counted = label >= 0 if pooled is None else (label >= 0) | (pooled.find(ranks) >= 0)
    counted &= ranks.rank >= 0
    judged = {}
    for code, name in enumerate(ranks.models):
        length = np.where(own >= 0, ranks.length[code][own] if len(ranks.queries) else 0, 0)
        rows = np.flatnonzero((ranks.model == code) & counted)
        rows = rows[np.lexsort((ranks.rank[rows], query[rows]))]
        places = (query[rows], ranks.rank[rows] + 1, label[rows], np.ones(len(rows), np.bool_))
        judged[name] = JudgedLists(
            *places, labelled.positives, labelled.negatives, length, length if exhausted else None
        )
    return judged


def judge_own_product(ranks: KnownRanks) -> dict[str, JudgedLists]:
    """By model, over all queries: lists whose known places are the other images of the query's own product."""
    judged = {}
    for code, name in enumerate(ranks.models):
        mine = ranks.model == code
        others = np.bincount(ranks.query[mine], minlength=len(ranks.queries))
        rows = np.flatnonzero(mine & (ranks.rank >= 0))
        rows = rows[np.lexsort((ranks.rank[rows], ranks.query[rows]))]
        ones = np.ones(len(rows), np.int64)
        places = (ranks.query[rows], ranks.rank[rows] + 1, ones, ones > 0)
        judged[name] = JudgedLists(*places, others, np.zeros_like(others), ranks.length[code])
    return judged


def count_unlabelled_lists(lists: RankedLists, labelled: LabelledPairs) -> dict[str, int]:
    """By model: how many of its lists belong to queries that have no label."""
    unlabelled = encode(lists.queries, labelled.queries) < 0
    slots = np.unique(lists.model * max(len(lists.queries), 1) + lists.query)
    model, query = np.divmod(slots, max(len(lists.queries), 1))
    return {name: int(unlabelled[query[model == code]].sum()) for code, name in enumerate(lists.models)}
