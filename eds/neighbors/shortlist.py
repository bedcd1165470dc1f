"""The candidates that may still stand in a query's list, while the gallery passes by.

For every query a `floor` is kept: no candidate below it can enter, because k candidates that the rules
allow (of k products, if one per product) lie surely above. Scores come from float32 products, so
everything within their slack of the k-th is kept until exact scores decide (`settle`): the lists
do not depend on how the gallery was cut into blocks.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from eds.neighbors.query_gallery import QueryGallery
from eds.neighbors.rules import Rules
from eds.neighbors.similarity import Similarity

Array = np.ndarray[Any, np.dtype[Any]]
Found = tuple[Array, Array, Array, Array]  # query, candidate, rank and score of each row
SURPLUS = 64  # a query with more than 4 k + SURPLUS candidates near its k-th is decided at once


class Shortlist:
    """Candidates of the queries first..last of one side, in flat arrays sorted by query."""

    def __init__(self, sides: QueryGallery, first: int, last: int, rules: Rules, similarity: Similarity) -> None:
        self.sides, self.first, self.rules, self.similarity = sides, first, rules, similarity
        self.kth = np.full(last - first, -np.inf, dtype=np.float32)
        self._kept = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))
        self._offered: list[tuple[Array, Array, Array]] = []
        self.waiting = 0  # candidates offered since the last `tighten`

    def floor(self) -> Array:
        """(queries,) float32: block scores below cannot enter the lists."""
        floor: Array = np.nextafter(self.kth - np.float32(2 * self.similarity.slack), np.float32(-np.inf))
        return floor

    def offer(self, query: Array, candidate: Array, score: Array) -> None:
        """Add candidates, (n,) numbers and block scores, that lie on or above the floor; each once."""
        good = np.flatnonzero(self.sides.allowed(query + self.first, candidate, self.rules))
        self._offered.append((query[good], candidate[good], score[good]))
        self.waiting += len(good)

    def tighten(self) -> None:
        """Raise the floors by what has been offered, and let go of what is below."""
        query, candidate, score = self._all()
        slack = np.float32(2 * self.similarity.slack)
        order = _by_score(query, score)
        query, candidate, score = query[order], candidate[order], score[order]
        if self.rules.one_per_product:
            leader = _leaders(query, self.sides.candidates.product[candidate])
            leads = leader == np.arange(len(query))
            near = score >= score[leader] - slack
        else:
            leads = near = np.ones(len(query), dtype=bool)
        last = _kth_places(query, leads, self.rules.k)
        self.kth[query[last]] = np.maximum(self.kth[query[last]], score[last])
        keep = np.flatnonzero(near & (score >= self.floor()[query]))
        self._kept = query[keep], candidate[keep], score[keep]
        crowd = np.bincount(self._kept[0], minlength=len(self.kth)) > 4 * self.rules.k + SURPLUS
        if crowd.any() or slack == 0:
            self._decide_early(crowd if slack else np.ones_like(crowd))

    def settle(self) -> tuple[Array, Array, Array, Array]:
        """The lists: query, candidate, rank (int64) and exact score (float64), sorted by query and rank."""
        self.tighten()
        return self._cut(*self._all())

    def _all(self) -> tuple[Array, Array, Array]:
        parts = [self._kept, *self._offered]
        self._offered, self.waiting = [], 0
        query, candidate, score = (np.concatenate(column) for column in zip(*parts, strict=True))
        return query, candidate, score

    def _decide_early(self, crowd: Array) -> None:
        """Cut queries with many near-ties by exact scores now, so that memory stays bounded."""
        query, candidate, score = self._kept
        inside = crowd[query]
        sure_query, sure_candidate, _, exact = self._cut(query[inside], candidate[inside], score[inside])
        self._kept = (
            np.concatenate([query[~inside], sure_query]),
            np.concatenate([candidate[~inside], sure_candidate]),
            np.concatenate([score[~inside], exact.astype(np.float32)]),
        )

    def _cut(self, query: Array, candidate: Array, quick: Array) -> tuple[Array, Array, Array, Array]:
        """The lists as these candidates give them: query, candidate, rank and exact score."""
        candidates = self.sides.candidates
        score = (
            self.similarity.exact(query, candidates.rows[candidate])
            if self.similarity.slack
            else quick.astype(np.float64)
        )
        return cut(query, candidate, candidates.product[candidate], score, len(self.kth), self.rules)


@dataclass(frozen=True)
class Shortlists:
    """Those of queries one behind another, as one."""

    parts: list[Shortlist]

    def settle(self) -> tuple[Array, Array, Array, Array]:
        """See Shortlist.settle."""
        with ThreadPoolExecutor(len(self.parts)) as pool:
            found = list(pool.map(Shortlist.settle, self.parts))
        query = [part.first - self.parts[0].first + lists[0] for part, lists in zip(self.parts, found, strict=True)]
        candidate, rank, score = (np.concatenate(column) for column in list(zip(*found, strict=True))[1:])
        return np.concatenate(query), candidate, rank, score


def cut(
    query: Array, candidate: Array, product: Array, score: Array, queries: int, rules: Rules
) -> tuple[Array, Array, Array, Array]:
    """The lists of queries 0..queries-1: query, candidate, rank and score, sorted by query and rank.

    In: numbers of query, candidate and product, (n,) int64, and exact scores, (n,) float64, in any order.
    """
    order = np.lexsort((candidate, -score, query))
    query, candidate, product, score = query[order], candidate[order], product[order], score[order]
    if rules.one_per_product:
        best = np.flatnonzero(_leaders(query, product) == np.arange(len(query)))
        query, candidate, score = query[best], candidate[best], score[best]
    start = np.searchsorted(query, np.arange(queries))
    rank = np.arange(len(query)) - start[query]
    keep = rank < rules.k
    if rules.keep_ties:
        last = np.full(queries, -np.inf)
        at = rank == rules.k - 1
        last[query[at]] = score[at]
        keep = score >= last[query]
    return query[keep], candidate[keep], rank[keep], score[keep]


def _leaders(query: Array, product: Array) -> Array:
    """(n,) place of the first entry of the same query and product."""
    code, _ = pd.factorize(query * (int(product.max(initial=0)) + 1) + product)
    first = np.flatnonzero(np.diff(np.maximum.accumulate(code), prepend=-1) > 0)
    return np.asarray(first[code])


def _by_score(query: Array, score: Array) -> Array:
    """Places sorted by query, then by descending float32 score."""
    bits = (score + np.float32(0)).view(np.int32)  # adding 0 makes -0.0 equal to 0.0
    ascending = bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF))  # integers in the order of the numbers
    return np.argsort((query << 32) - ascending)


def _kth_places(query: Array, leads: Array, k: int) -> Array:
    """Place of each query's k-th leading entry, for queries that have so many; query is sorted."""
    places = np.flatnonzero(leads)
    leading = query[places]
    number = np.arange(len(places)) - np.searchsorted(leading, leading)
    return np.asarray(places[number == k - 1])
