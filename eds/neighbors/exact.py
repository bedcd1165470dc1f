"""The exact engine: the whole gallery in blocks, looking only at scores above each query's floor."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from eds.neighbors.pace import Pace
from eds.neighbors.rules import Rules
from eds.neighbors.shortlist import Shortlist
from eds.neighbors.sides import Sides
from eds.neighbors.similarity import Similarity
from eds.vectors import Vectors

Array = np.ndarray[Any, np.dtype[Any]]
Advance = Callable[[int], None]  # told how many vectors have been dealt with since the last call
BLOCK = 4096  # vectors in a block: a tile of scores stays near the processor
TILE_QUERIES = 2048
SAMPLE = 1024  # candidates that give the first floors
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

    def search(self, first: int, last: int, advance: Advance) -> Shortlist:
        """The candidates of the queries first..last that may stand in their lists."""
        self.similarity.ask(self.sides.queries.rows[first:last])
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
        floor = shortlist.floor()[low : low + len(scores), None]

        def above(part: slice) -> tuple[Array, Array, Array]:
            tile = scores[part]
            place = np.flatnonzero(tile >= floor[part])
            query = place // max(tile.shape[1], 1)
            return query + (low + part.start), candidate[place - query * tile.shape[1]], tile.ravel()[place]

        step = -(-len(scores) // self.pace.threads)
        parts = [slice(start, min(start + step, len(scores))) for start in range(0, len(scores), step)]
        for query, number, score in pool.map(above, parts):
            shortlist.offer(query, number, score)

    def _first_floors(self, shortlist: Shortlist, tile: Array) -> None:
        """Raise the floors by a sample spread over the gallery, whatever its order; it is not kept."""
        candidates, k = self.sides.candidates, self.rules.k
        size = max(SAMPLE, 4 * k)
        if len(candidates) < 4 * size:
            return
        rows = np.sort(candidates.rows)[:: len(candidates) // size]
        candidate = self.sides.number_of_row[rows]
        columns = self.similarity.load(self.vectors.take(rows), rows)
        probe = Shortlist(
            self.sides, shortlist.first, shortlist.first + len(shortlist.kth), self.rules, self.similarity
        )
        depth = len(rows) - (4 * k + 16)
        step = max(1, len(tile) // len(rows))
        for low in range(0, len(probe.kth), step):
            high = min(low + step, len(probe.kth))
            scores = np.empty((high - low, len(rows)), dtype=np.float32)
            self.similarity.scores(low, high, columns, scores)
            bound = np.partition(scores, depth, axis=1)[:, depth, None] if depth > 0 else np.float32(-np.inf)
            query, column = np.nonzero(scores >= bound)
            probe.offer(query + low, candidate[column], scores[query, column])
        probe.tighten()
        shortlist.kth[:] = probe.kth


def _tiles(queries: int) -> Iterator[tuple[int, int]]:
    for low in range(0, queries, TILE_QUERIES):
        yield low, min(low + TILE_QUERIES, queries)
