"""Every candidate, by faiss.

The search is certified: a query whose list could be cut short is asked deeper.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from eds.neighbors.blocking import Blocking
from eds.neighbors.query_gallery import Array, QueryGallery
from eds.neighbors.rules import Rules
from eds.neighbors.search._faiss import DEEPER, FIRST_DEPTH, SLAB_CELLS, Advance, faiss
from eds.neighbors.shortlist import Shortlist
from eds.neighbors.similarity import Bits, Similarity
from eds.vectors import Vectors

EXTRA = "scale"


@dataclass(frozen=True)
class Search:
    """Flat search by faiss."""

    vectors: Vectors
    sides: QueryGallery
    rules: Rules
    similarity: Similarity
    blocking: Blocking
    approximate = False

    def search(self, first: int, last: int, advance: Advance) -> Shortlist:
        """The candidates of the queries first..last that may stand in their lists."""
        self.similarity.ask(self.sides.queries.rows[first:last])
        shortlist = Shortlist(self.sides, first, last, self.rules, self.similarity)
        for candidate, stored, passed in self._slabs():
            columns = self.similarity.load(stored, self.sides.candidates.rows[candidate])
            self._search_slab(shortlist, candidate, columns)
            advance(passed)
        self.similarity.refuse_bad()
        return shortlist

    def _slabs(self) -> Iterator[tuple[Array, Array, int]]:
        """Candidates in large portions: (numbers, stored vectors, rows of the folder passed)."""
        rows = np.sort(self.sides.candidates.rows)
        step = max(1, SLAB_CELLS // self.vectors.model.dimension)
        ends = [*rows[step::step].tolist(), self.sides.total_rows]
        for low, (start, stop) in zip(range(0, len(rows), step), zip([0, *ends], ends, strict=False), strict=False):
            part = rows[low : low + step]
            yield self.sides.number_of_row[part], self.vectors.take(part), stop - start

    def _search_slab(self, shortlist: Shortlist, candidate: Array, columns: Array) -> None:
        """Offer what of a slab may enter; queries that faiss may have cut short are asked deeper."""
        pending = np.arange(len(shortlist.kth))
        known = np.empty(0, dtype=np.int64)
        depth = 4 * self.rules.k + FIRST_DEPTH
        while len(pending) and len(candidate):
            depth = min(depth, len(candidate))
            score, place = self._ask(pending, columns, depth)
            key = pending[:, None] * len(candidate) + place
            fresh = (score >= shortlist.floor()[pending, None]) & ~np.isin(key, known)
            row, column = np.nonzero(fresh)
            shortlist.offer(pending[row], candidate[place[row, column]], score[row, column])
            shortlist.tighten()
            known = np.union1d(known, key)
            cut_short = (score[:, -1] >= shortlist.floor()[pending]) & (depth < len(candidate))
            pending = pending[cut_short]
            depth *= DEEPER

    def _ask(self, query: Array, columns: Array, depth: int) -> tuple[Array, Array]:
        """The `depth` nearest columns of each query: block scores and places, (queries, depth), best first."""
        if isinstance(self.similarity, Bits):
            codes = np.ascontiguousarray(columns.T).view(np.uint8)
            index = faiss.IndexBinaryFlat(codes.shape[1] * 8)
            index.add(codes)
            distance, place = index.search(self.similarity.queries[query].view(np.uint8), depth)
            return -distance.astype(np.float32), place
        found: tuple[Array, Array] = faiss.knn(
            self.similarity.queries[query], np.ascontiguousarray(columns), depth, metric=faiss.METRIC_INNER_PRODUCT
        )
        return found
