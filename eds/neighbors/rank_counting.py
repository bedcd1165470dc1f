"""Ranks of given pairs, counted while the gallery passes by: for many queries at once, without sorting rows."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from eds.neighbors.blocking import Blocking, threads_beside_products
from eds.neighbors.query_gallery import QueryGallery
from eds.neighbors.rules import Rules
from eds.neighbors.similarity import Similarity
from eds.vectors import Vectors

Array = np.ndarray[Any, np.dtype[Any]]
Progress = Callable[[int, int], None]
BELOW = np.float32(-np.inf)
QUERY_CELLS = 1 << 24  # numbers of all queries of one pass
TILE = 1 << 23  # scores in a tile: its memory is used again and again, and stays near the processor
SEARCHED = 1 << 18  # scores that one thread looks through at once
NEAR = 1 << 18  # undecided scores resolved at once


@dataclass(frozen=True)
class Bounds:
    """For each given pair, the scores between which exact arithmetic must decide.

    Above `high` a score surely beats the pair's, below `low` it surely does not.
    """

    low: Array  # (pairs,) float32
    high: Array  # (pairs,) float32

    @classmethod
    def around(cls, score: Array, slack: float) -> "Bounds":
        """Bounds `slack` away from exact scores, (pairs,) float64; 0: the scores themselves."""
        if slack == 0:
            return cls(score.astype(np.float32), score.astype(np.float32))
        low, high = (score - slack).astype(np.float32), (score + slack).astype(np.float32)
        return cls(np.nextafter(low, BELOW), np.nextafter(high, np.float32(np.inf)))


class Ladder:
    """The bounds of all pairs, sorted: a score is placed among its query's rungs by one search.

    Pairs are sorted by (query, exact score). The rungs of a query are its low bounds (a little lower, so
    that a score beats the rungs strictly below it) and its high bounds. Since both follow the order of
    the pairs, the pairs that a score may or may not beat stand in one run.
    """

    def __init__(self, query: Array, bounds: Bounds, first: Array) -> None:
        """query, (pairs,) int64, ascending; first, (queries + 1,) int64: each query's first pair, all have one."""
        self.bounds, self.first = bounds, first
        pairs = len(query)
        below = np.nextafter(bounds.low, BELOW)
        keys = np.concatenate([in_order(query, below), in_order(query, bounds.high)])
        order = np.argsort(keys, kind="stable")
        self._keys = keys[order]
        is_high = order >= pairs
        self._rung_of_high = np.flatnonzero(is_high)  # (pairs,): highs are sorted as the pairs are
        self._highs = np.concatenate([[0], np.cumsum(is_high)])  # by number of rungs that a score beats
        self._lows = np.arange(2 * pairs + 1) - self._highs
        self._undecided = self._lows > self._highs
        self._last = 2 * first[1:][query]  # (pairs,): number of rungs when all of the query are beaten
        self.floor = below[first[:-1]]  # (queries,) float32: scores not above it beat no rung

    def beaten(self, query: Array, score: Array, low: int, high: int) -> Array:
        """Number of rungs below each score, (n,) of queries low..high-1, among those of all queries."""
        start, stop = 2 * self.first[low], 2 * self.first[high]
        return np.asarray(np.searchsorted(self._keys[start:stop], in_order(query, score)) + start)

    def tally(self, beaten: Array, low: int, high: int) -> Array:
        """How many scores of queries low..high-1 beat so many rungs; (2 * pairs of these queries + 1,) int64."""
        start, stop = 2 * self.first[low], 2 * self.first[high]
        return np.bincount(beaten - start, minlength=stop - start + 1)

    def above(self, tally: Array, low: int, high: int) -> Array:
        """Scores surely above each pair of queries low..high-1, (pairs of these,) int64."""
        start, pairs = 2 * self.first[low], slice(self.first[low], self.first[high])
        upto = np.cumsum(tally)
        return np.asarray(upto[self._last[pairs] - start] - upto[self._rung_of_high[pairs] - start])

    def undecided(self, beaten: Array) -> Array:
        """Places of the scores that lie within some pair's bounds."""
        return np.flatnonzero(self._undecided[beaten])

    def pairs_around(self, beaten: Array) -> tuple[Array, Array]:
        """The run of pairs, start..stop-1, within whose bounds each score lies; (n,) int64 each."""
        return self._highs[beaten], self._lows[beaten]


def in_order(query: Array, score: Array) -> Array:
    """One int64 for each (query, float32 score) that sorts by query, then by score.

    >>> keys = in_order(np.array([0, 0, 1]), np.array([-1, 0.5, -2], dtype=np.float32))
    >>> bool((np.diff(keys) > 0).all())
    True
    """
    bits = (score + np.float32(0)).view(np.int32)  # adding 0 makes -0.0 equal to 0.0
    return np.asarray((query << 32) + (bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF))))


def ragged(start: Array, stop: Array) -> tuple[Array, Array]:
    """All integers of start[i]..stop[i]-1, one range after another, and the i of each.

    >>> ragged(np.array([5, 9]), np.array([7, 10]))
    (array([5, 6, 9]), array([0, 0, 1]))
    """
    size = stop - start
    owner = np.repeat(np.arange(len(start)), size)
    offset = np.arange(len(owner)) - np.repeat(np.cumsum(size) - size, size)
    return start[owner] + offset, owner


@dataclass(frozen=True)
class _Block:
    """Candidates that pass by, and their vectors."""

    candidate: Array  # (n,) int64 numbers
    stored: Array  # (n, width), as stored
    starts: Array  # (groups,) int64: first column of each group, a product or a single candidate


@dataclass(frozen=True)
class _Tile:
    """Scores of some queries with a block of candidates."""

    low: int  # number of the first query
    scores: Array  # (queries, n) float32; what the rules leave out is -inf
    tops: Array  # (queries, groups) float32: the best score of each group
    ladder: Ladder


class Counter:
    """Ranks of the pairs of some queries, while the gallery passes by."""

    def __init__(self, sides: QueryGallery, rules: Rules, similarity: Similarity, queries: Array) -> None:
        self.sides, self.rules, self.similarity, self.queries = sides, rules, similarity, queries
        similarity.ask(sides.queries.rows[queries])
        self.out_query, self.out_candidate = left_out(sides, rules, queries)
        self.column = np.full(len(sides.candidates), -1, dtype=np.int64)  # of each candidate, in this block
        self._room: Array = np.empty(0, dtype=np.float32)  # of all tiles in turn: fresh memory is expensive
        self._ladder: tuple[float, Ladder] | None = None  # with the slack it was made for

    def take(self, query: Array, candidate: Array) -> None:
        """Take the pairs, sorted by query; every query has at least one."""
        score = self.similarity.exact(query, self.sides.candidates.rows[candidate])
        self._order = np.lexsort((score, query))  # all arrays of pairs are in this order from here on
        self.query, self.candidate, self.score = query, candidate[self._order], score[self._order]
        key = self.query * len(self.sides.candidates) + self.candidate
        order = np.argsort(key)
        self._known_keys, self._known_scores = key[order], self.score[order]
        self.first = np.searchsorted(query, np.arange(len(self.queries) + 1))
        self.rank = np.zeros(len(query), dtype=np.int64)
        self.led = np.ones(len(query), dtype=bool)  # is the candidate the best of its product?

    def ranks(self) -> Array:
        """The rank of each pair, as they were taken, -1 where a better image shows the product; (pairs,) int64."""
        found = np.empty(len(self.rank), dtype=np.int64)
        found[self._order] = np.where(self.led, self.rank, -1)
        return found

    def count(self, candidate: Array, stored: Array, pool: ThreadPoolExecutor, threads: int) -> None:
        """Let a block pass: candidates' numbers, (n,), products together if one per product."""
        if not len(candidate):
            return
        columns = self.similarity.load(stored, self.sides.candidates.rows[candidate])
        starts = np.arange(len(candidate))
        if self.rules.one_per_product:
            starts = np.flatnonzero(np.diff(self.sides.candidates.product[candidate], prepend=-1))
        block = _Block(candidate, stored, starts)
        self.column[candidate] = np.arange(len(candidate))
        step = max(1, TILE // len(candidate))
        if self._room.size < min(step, len(self.queries)) * len(candidate):
            self._room = np.empty(min(step, len(self.queries)) * len(candidate), dtype=np.float32)
        for low in range(0, len(self.queries), step):
            high = min(low + step, len(self.queries))
            scores = self._room[: (high - low) * len(candidate)].reshape(high - low, len(candidate))
            self.similarity.scores(low, high, columns, scores)
            self._strike_out(scores, low, candidate)
            grouped = len(starts) < len(candidate)
            tops = np.empty((high - low, len(starts)), dtype=np.float32) if grouped else scores
            tile = _Tile(low, scores, tops, self._bounds())
            near = self._count_sure(tile, block, pool, threads)
            if self.rules.one_per_product:
                self._check_own(tile, block)
            for query, place, beaten in near:
                for start in range(0, len(place), NEAR):
                    part = slice(start, start + NEAR)
                    self._decide(tile, block, query[part], place[part], beaten[part])
        self.column[candidate] = -1

    def _bounds(self) -> Ladder:
        """The pairs' bounds; made again when the slack has grown."""
        slack = self.similarity.slack
        if self._ladder is None or self._ladder[0] != slack:
            bounds = Bounds.around(self.similarity.as_block(self.query, self.score), slack)
            self._ladder = slack, Ladder(self.query, bounds, self.first)
        return self._ladder[1]

    def _strike_out(self, scores: Array, low: int, candidate: Array) -> None:
        """Put what the rules leave out below everything."""
        first, last = np.searchsorted(self.out_query, [low, low + len(scores)])
        column = self.column[self.out_candidate[first:last]]
        here = column >= 0
        scores[self.out_query[first:last][here] - low, column[here]] = -np.inf
        if self.rules.category != "any":
            asked = self.sides.queries.category[self.queries[low : low + len(scores)], None]
            same = asked == self.sides.candidates.category[candidate]
            scores[~same if self.rules.category == "same" else same] = -np.inf

    def _count_sure(
        self, tile: _Tile, block: _Block, pool: ThreadPoolExecutor, threads: int
    ) -> list[tuple[Array, Array, Array]]:
        """Add what surely comes before; gives (query, group, rungs beaten) that exact arithmetic must decide."""
        threads = threads_beside_products(threads)
        step = max(1, min(SEARCHED // len(block.candidate), -(-len(tile.tops) // threads)))
        starts = range(0, len(tile.tops), step)

        def search(start: int) -> tuple[Array, Array, Array]:
            stop = min(start + step, len(tile.tops))
            tops, low, high = tile.tops[start:stop], start + tile.low, stop + tile.low
            if tile.tops is not tile.scores:
                np.maximum.reduceat(tile.scores[start:stop], block.starts, axis=1, out=tops)
            place = np.flatnonzero(tops > tile.ladder.floor[low:high, None])
            query = place // tops.shape[1]
            beaten = tile.ladder.beaten(query + low, tops.ravel()[place], low, high)
            self.rank[self.first[low] : self.first[high]] += tile.ladder.above(
                tile.ladder.tally(beaten, low, high), low, high
            )
            open_ = tile.ladder.undecided(beaten)
            return query[open_] + start, (place - query * tops.shape[1])[open_], beaten[open_]

        found = list((map if threads == 1 else pool.map)(search, starts))
        return [tuple(map(np.concatenate, zip(*found, strict=True)))]  # type: ignore[list-item]

    def _check_own(self, tile: _Tile, block: _Block) -> None:
        """A pair whose candidate is surely not the best image of its product has no rank."""
        pairs = np.arange(self.first[tile.low], self.first[tile.low + len(tile.tops)])
        column = self.column[self.candidate[pairs]]
        pairs, column = pairs[column >= 0], column[column >= 0]
        group = np.searchsorted(block.starts, column, side="right") - 1
        self.led[pairs] &= tile.tops[self.query[pairs] - tile.low, group] <= tile.ladder.bounds.high[pairs]

    def _decide(self, tile: _Tile, block: _Block, query: Array, place: Array, beaten: Array) -> None:
        """Exact arithmetic for groups, at (query, place), whose best score lies within some pair's bounds."""
        stops = np.append(block.starts[1:], len(block.candidate))
        column, owner = ragged(block.starts[place], stops[place])
        slack = np.float32(2 * self.similarity.slack)
        close = tile.scores[query[owner], column] >= tile.tops[query, place][owner] - slack
        column, owner = column[close], owner[close]
        number = block.candidate[column]
        exact = (
            self._exact(query[owner] + tile.low, column, block)
            if slack
            else tile.scores[query[owner], column].astype(np.float64)
        )
        order = np.lexsort((number, -exact, owner))
        best = order[np.flatnonzero(np.diff(owner[order], prepend=-1))]  # of each group, by the lists' order
        number, exact = number[best], exact[best]
        pair, near = ragged(*tile.ladder.pairs_around(beaten))
        mine, theirs = self.candidate[pair], number[near]
        before = (exact[near] > self.score[pair]) | ((exact[near] == self.score[pair]) & (theirs < mine))
        np.add.at(self.rank, pair[before], 1)
        if self.rules.one_per_product:
            product = self.sides.candidates.product
            self.led[pair[before & (product[mine] == product[theirs])]] = False

    def _exact(self, query: Array, column: Array, block: _Block) -> Array:
        """Exact scores of (query, column of the block), (n,) int64 each; those of the given pairs are known already."""
        number = block.candidate[column]
        key = query * len(self.sides.candidates) + number
        place = np.minimum(np.searchsorted(self._known_keys, key), len(self._known_keys) - 1)
        found = self._known_scores[place]
        fresh = np.flatnonzero(self._known_keys[place] != key)
        rows = self.sides.candidates.rows[block.candidate]
        found[fresh] = self.similarity.exact_with(query[fresh], block.stored, rows, column[fresh])
        return found


def left_out(sides: QueryGallery, rules: Rules, queries: Array) -> tuple[Array, Array]:
    """Pairs (place in queries, candidate) that the rules leave out, but for categories; sorted by query."""
    own = sides.own[queries]
    query, candidate = np.flatnonzero(own >= 0), own[own >= 0]
    if rules.exclude_product:
        order = np.argsort(sides.candidates.product, kind="stable")
        product, asked = sides.candidates.product[order], sides.queries.product[queries]
        place, owner = ragged(np.searchsorted(product, asked), np.searchsorted(product, asked, side="right"))
        query, candidate = np.concatenate([query, owner]), np.concatenate([candidate, order[place]])
    order = np.argsort(query, kind="stable")
    return query[order], candidate[order]


def count_ranks(
    vectors: Vectors,
    sides: QueryGallery,
    rules: Rules,
    similarity: Similarity,
    blocking: Blocking,
    query: Array,
    candidate: Array,
    passing: Array,
    *,
    progress: Progress | None = None,
) -> Array:
    """Rank of each pair of numbers, (n,) int64 sorted by query, among the candidates that pass, (candidates,) bool.

    -1 where one of them is a better image of the pair's product. Products must pass whole if one per product counts.
    """
    found = np.empty(len(query), dtype=np.int64)
    asked, serial = np.unique(query, return_inverse=True)
    step = max(1, QUERY_CELLS // vectors.model.dimension)
    passes, total = range(0, len(asked), step), int(passing.sum())
    with ThreadPoolExecutor(blocking.threads) as pool:
        for number, first in enumerate(passes):
            low, high = np.searchsorted(serial, [first, first + step])
            counter = Counter(sides, rules, similarity, asked[first : first + step])
            counter.take(serial[low:high] - first, candidate[low:high])
            done = 0
            for columns, stored in _blocks(vectors, sides, rules, blocking.block, passing):
                counter.count(columns, stored, pool, blocking.threads)
                done += len(columns)
                if progress:
                    progress(number * total + done, len(passes) * total)
            similarity.refuse_bad()
            found[low:high] = counter.ranks()
    return found


def _blocks(
    vectors: Vectors, sides: QueryGallery, rules: Rules, block: int, passing: Array
) -> Iterator[tuple[Array, Array]]:
    """The candidates that pass in blocks, (numbers, stored); whole products in one block if one per product."""
    if not rules.one_per_product:
        for start, stored in vectors.blocks(block):
            number = sides.number_of_row[start : start + len(stored)]
            ours = (number >= 0) & passing[number]
            yield (number, stored) if ours.all() else (number[ours], stored[ours])
        return
    order = np.argsort(sides.candidates.product, kind="stable")
    order = order[passing[order]]
    product = sides.candidates.product[order]
    start = 0
    while start < len(order):
        stop = int(np.searchsorted(product, product[min(start + block, len(order)) - 1], side="right"))
        yield order[start:stop], vectors.take(sides.candidates.rows[order[start:stop]])
        start = stop
