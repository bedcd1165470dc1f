"""The exact engine: the whole gallery in blocks, looking only at scores above each query's floor."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from eds.neighbors import code_search
from eds.neighbors.pace import Pace
from eds.neighbors.rules import Rules
from eds.neighbors.shortlist import Shortlist
from eds.neighbors.sides import Sides
from eds.neighbors.similarity import Bits, Similarity
from eds.vectors import Vectors

Array = np.ndarray[Any, np.dtype[Any]]
Advance = Callable[[int], None]  # told how many vectors have been dealt with since the last call
BLOCK = 4096  # vectors in a block: a tile of scores stays near the processor
TILE_QUERIES = 2048
SAMPLE = 1024  # candidates that give the first floors
CROWD = 4096  # candidates of one tile that it is worth to thin out before they are offered
WAITING = 1 << 22  # offered candidates after which the floors are raised in any case


@dataclass(frozen=True)
class Exact:
    """Passes the gallery by the queries."""

    vectors: Vectors
    sides: Sides
    rules: Rules
    similarity: Similarity
    pace: Pace
    approximate = False

    def search(self, first: int, last: int, advance: Advance) -> "Shortlist | code_search.Lists":
        """The candidates of the queries first..last that may stand in their lists."""
        self.similarity.ask(self.sides.queries.rows[first:last])
        if isinstance(self.similarity, Bits) and code_search.worth_compiling(
            self.vectors.model.dimension, self.similarity.queries.size * len(self.sides.candidates)
        ):
            queries = self.similarity.queries
            return code_search.CodeSearch(self.vectors, self.sides, self.rules, self.pace, queries, first).search(
                advance
            )
        shortlist = Shortlist(self.sides, first, last, self.rules, self.similarity)
        tile = np.empty(min(TILE_QUERIES, last - first) * max(self.pace.block, SAMPLE), dtype=np.float32)
        with ThreadPoolExecutor(self.pace.threads) as pool:
            self._first_floors(shortlist, tile)
            seen, due = 0, 1
            for start, stored in self.vectors.blocks(self.pace.block):
                rows, candidate, ours = self._candidates(start, stored)
                columns = self.similarity.load(ours, rows)
                for low, high in _tiles(last - first):
                    scores = tile[: (high - low) * len(rows)].reshape(high - low, len(rows))
                    self.similarity.scores(low, high, columns, scores)
                    self._offer(shortlist, low, candidate, scores, pool)
                    if shortlist.waiting > WAITING:
                        shortlist.tighten()
                seen += len(rows)
                if seen >= due:
                    shortlist.tighten()
                    due = 2 * seen
                advance(len(stored))
        self.similarity.refuse_bad()
        return shortlist

    def _candidates(self, start: int, stored: Array) -> tuple[Array, Array, Array]:
        """Of a block: rows that hold candidates, the candidates' numbers, and their vectors."""
        candidate = self.sides.number_of_row[start : start + len(stored)]
        ours = np.flatnonzero(candidate >= 0)
        if len(ours) < len(stored):
            stored, candidate = stored[ours], candidate[ours]
        return ours + start, candidate, stored

    def _offer(self, shortlist: Shortlist, low: int, candidate: Array, scores: Array, pool: ThreadPoolExecutor) -> None:
        """Offer whatever of a tile of scores, (queries, n), lies on or above the floors."""
        if not len(candidate):
            return
        floor = shortlist.floor()[low : low + len(scores)]

        def above(part: slice) -> tuple[Array, Array, Array]:
            some = np.flatnonzero(scores[part].max(axis=1) >= floor[part]) + part.start  # few queries find anybody
            place = np.flatnonzero(scores[some] >= floor[some, None])
            query = place // len(candidate)
            column = place - query * len(candidate)
            return some[query], column, scores[some[query], column]

        step = -(-len(scores) // self.pace.threads)
        parts = [slice(start, min(start + step, len(scores))) for start in range(0, len(scores), step)]
        query, column, score = map(np.concatenate, zip(*pool.map(above, parts), strict=True))
        crowded = np.flatnonzero(np.bincount(query, minlength=len(scores)) > 4 * self._top)
        if len(crowded) and len(query) > CROWD:
            self._raise(shortlist, crowded + low, candidate, scores[crowded])
            keep = np.flatnonzero(score >= shortlist.floor()[query + low])
            query, column, score = query[keep], column[keep], score[keep]
        shortlist.offer(query + low, candidate[column], score)

    def _first_floors(self, shortlist: Shortlist, tile: Array) -> None:
        """Raise the floors by a sample spread over the gallery, whatever its order; it is not kept."""
        candidates, queries = self.sides.candidates, len(shortlist.kth)
        size = max(SAMPLE, 4 * self.rules.k)
        if len(candidates) < 4 * size:
            return
        rows = np.sort(candidates.rows)[:: len(candidates) // size]
        candidate = self.sides.number_of_row[rows]
        columns = self.similarity.load(self.vectors.take(rows), rows)
        step = max(1, len(tile) // len(rows))
        for low in range(0, queries, step):
            high = min(low + step, queries)
            scores = np.empty((high - low, len(rows)), dtype=np.float32)
            self.similarity.scores(low, high, columns, scores)
            self._raise(shortlist, np.arange(low, high), candidate, scores)

    @property
    def _top(self) -> int:
        """Candidates among which k of different products are likely to be."""
        return 8 * self.rules.k + 16

    def _raise(self, shortlist: Shortlist, query: Array, candidate: Array, scores: Array) -> None:
        """Raise the floors of these queries, (q,), by the best of their scores, (q, n), which are not kept."""
        sides, last = self.sides, shortlist.first + len(shortlist.kth)
        probe = Shortlist(sides, shortlist.first, last, self.rules, self.similarity)
        top = min(self._top, len(candidate))
        column = np.argpartition(scores, len(candidate) - top, axis=1)[:, len(candidate) - top :]
        best = np.take_along_axis(scores, column, axis=1)
        probe.offer(np.repeat(query, top), candidate[column.ravel()], best.ravel())
        probe.tighten()
        np.maximum(shortlist.kth, probe.kth, out=shortlist.kth)


def _tiles(queries: int) -> Iterator[tuple[int, int]]:
    for low in range(0, queries, TILE_QUERIES):
        yield low, min(low + TILE_QUERIES, queries)
