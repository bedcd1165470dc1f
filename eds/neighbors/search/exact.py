"""Every candidate, in blocks.

The whole gallery passes by in blocks; only scores above each query's floor are looked at.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from eds.neighbors import code_search
from eds.neighbors.blocking import Blocking, one_thread_each, shares
from eds.neighbors.query_gallery import QueryGallery
from eds.neighbors.rules import Rules
from eds.neighbors.shortlist import Shortlist, Shortlists
from eds.neighbors.similarity import Bits, Similarity
from eds.vectors import Vectors

Array = np.ndarray[Any, np.dtype[Any]]
Advance = Callable[[int], None]  # gets how many vectors have been processed since the last call
TILE_QUERIES = 512
SAMPLE = 512  # candidates that give the first floors
CROWD = 4096  # candidates of one tile that it is worth to thin out before they are offered
CROWDED = 32  # so many times k candidates of one query in a tile are a crowd
WAITING = 1 << 22  # offered candidates after which the floors are raised in any case


@dataclass(frozen=True)
class Search:
    """Passes the gallery by the queries."""

    vectors: Vectors
    sides: QueryGallery
    rules: Rules
    similarity: Similarity
    blocking: Blocking
    approximate = False

    def search(self, first: int, last: int, advance: Advance) -> "Shortlists | code_search.Lists":
        """The candidates of the queries first..last that may stand in their lists."""
        if isinstance(self.similarity, Bits):
            self.similarity.ask(self.sides.queries.rows[first:last])
            queries = self.similarity.queries
            if code_search.compiled_search_pays(
                self.vectors.model.dimension, queries.size * len(self.sides.candidates)
            ):
                given = (self.vectors, self.sides, self.rules, self.blocking, queries, first)
                return code_search.CodeSearch(*given).search(advance)
        parts = shares(first, last, self.blocking.threads)
        if len(parts) == 1:
            found = [self._share(first, last, self.similarity, advance)]
        else:
            with one_thread_each(), ThreadPoolExecutor(len(parts)) as pool:
                fellows = [self.similarity.fellow() for _ in parts]
                reports = [advance, *[_silent] * (len(parts) - 1)]  # all go through the gallery side by side
                found = list(pool.map(self._share, *zip(*parts, strict=True), fellows, reports))
        self.similarity.refuse_bad()
        return Shortlists(found)

    def _share(self, first: int, last: int, similarity: Similarity, advance: Advance) -> Shortlist:
        """The same, by the thread that asks; bad vectors are not refused yet."""
        similarity.ask(self.sides.queries.rows[first:last])
        shortlist = Shortlist(self.sides, first, last, self.rules, similarity)
        tile = np.empty(min(TILE_QUERIES, last - first) * max(self.blocking.block, SAMPLE), dtype=np.float32)
        self._first_floors(shortlist, tile)
        seen, due = 0, 1
        for start, stored in self.vectors.blocks(self.blocking.block):
            rows, candidate, ours = self._candidates(start, stored)
            columns = similarity.load(ours, rows)
            for low, high in _tiles(last - first):
                scores = tile[: (high - low) * len(rows)].reshape(high - low, len(rows))
                similarity.scores(low, high, columns, scores)
                self._offer(shortlist, low, candidate, scores)
                if shortlist.waiting > WAITING:
                    shortlist.tighten()
            seen += len(rows)
            if seen >= due:
                shortlist.tighten()
                due = 2 * seen
            advance(len(stored))
        return shortlist

    def _candidates(self, start: int, stored: Array) -> tuple[Array, Array, Array]:
        """Of a block: rows that hold candidates, the candidates' numbers, and their vectors."""
        candidate = self.sides.number_of_row[start : start + len(stored)]
        ours = np.flatnonzero(candidate >= 0)
        if len(ours) < len(stored):
            stored, candidate = stored[ours], candidate[ours]
        return ours + start, candidate, stored

    def _offer(self, shortlist: Shortlist, low: int, candidate: Array, scores: Array) -> None:
        """Offer whatever of a tile of scores, (queries, n), lies on or above the floors."""
        if not len(candidate):
            return
        floor = shortlist.floor()[low : low + len(scores)]
        some = np.flatnonzero(scores.max(axis=1) >= floor)  # few queries find anybody
        scores, query = scores[some], some + low
        above = scores >= floor[some, None]
        many = np.count_nonzero(above, axis=1)
        crowded = np.flatnonzero(many > CROWDED * self.rules.k)
        if len(crowded) and many.sum() > CROWD:
            there, theirs = query[crowded], scores[crowded]
            floors = self._floors(there + shortlist.first, candidate, theirs)
            shortlist.kth[there] = np.maximum(shortlist.kth[there], floors)
            above[crowded] = theirs >= shortlist.floor()[there, None]
        row, column = np.divmod(np.flatnonzero(above), len(candidate))
        shortlist.offer(query[row], candidate[column], scores[row, column])

    def _first_floors(self, shortlist: Shortlist, tile: Array) -> None:
        """Raise the floors by a sample spread over the gallery, whatever its order; it is not kept.

        It shows every product once: more would tell little more.
        """
        candidates, k = self.sides.candidates, self.rules.k
        size = max(SAMPLE, 4 * k)
        if len(candidates) < 4 * size:
            return
        rows = np.sort(candidates.rows)[:: len(candidates) // size]
        sample = self.sides.number_of_row[rows]
        shown = np.unique(candidates.product[sample], return_index=True)[1]
        rows, sample = rows[shown], sample[shown]
        if len(sample) <= k:
            return
        columns = shortlist.similarity.load(self.vectors.take(rows), rows)
        step = max(1, len(tile) // len(rows))
        for low in range(0, len(shortlist.kth), step):
            high = min(low + step, len(shortlist.kth))
            scores = tile[: (high - low) * len(rows)].reshape(high - low, len(rows))
            shortlist.similarity.scores(low, high, columns, scores)
            shortlist.kth[low:high] = self._floors(np.arange(low, high) + shortlist.first, sample, scores)

    def _floors(self, query: Array, candidate: Array, scores: Array) -> Array:
        """Scores, (q,), that k allowed candidates surely reach, estimated from some, (q, n).

        The best of each product counts. At most one of these is of a query's own product, or the query: of the best
        k + 1 of the right category, the rules let k into a list.
        """
        product, k = self.sides.candidates.product[candidate], self.rules.k
        if self.rules.category != "any":
            scores = np.where(self.sides.allowed(query[:, None], candidate, self.rules), scores, -np.inf)
        if (np.diff(product) < 0).any():
            order = np.argsort(product, kind="stable")
            product, scores = product[order], scores.take(order, axis=1)
        starts = np.flatnonzero(np.diff(product, prepend=-2))
        if len(starts) <= k:
            return np.full(len(query), -np.inf, dtype=np.float32)
        best = scores if len(starts) == len(product) else np.maximum.reduceat(scores, starts, axis=1)
        place = len(starts) - k - 1
        return np.asarray(np.partition(best, place, axis=1)[:, place])


def _silent(rows: int) -> None:
    """Whom to tell how far the other shares are."""


def _tiles(queries: int) -> Iterator[tuple[int, int]]:
    for low in range(0, queries, TILE_QUERIES):
        yield low, min(low + TILE_QUERIES, queries)
