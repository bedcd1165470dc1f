"""Ranks of given pairs, counted while the gallery passes by."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from eds.neighbors.counting import Bounds, Ladder, ragged
from eds.neighbors.pace import beside_products
from eds.neighbors.rules import Rules
from eds.neighbors.sides import Array, Sides
from eds.neighbors.similarity import Similarity

TILE = 1 << 23  # scores in a tile: its memory is used again and again, and stays near the processor
SEARCHED = 1 << 18  # scores that one thread looks through at once
NEAR = 1 << 18  # undecided scores resolved at once


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

    def __init__(self, sides: Sides, rules: Rules, similarity: Similarity, queries: Array) -> None:
        self.sides, self.rules, self.similarity, self.queries = sides, rules, similarity, queries
        similarity.ask(sides.queries.rows[queries])
        self.out_query, self.out_candidate = left_out(sides, rules, queries)
        self.column = np.full(len(sides.candidates), -1, dtype=np.int64)  # of each candidate, in this block
        self._room: Array = np.empty(0, dtype=np.float32)  # of all tiles in turn: fresh memory is dear
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
        """The pairs' bounds; made anew when the slack has grown."""
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
        threads = beside_products(threads)
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


def left_out(sides: Sides, rules: Rules, queries: Array) -> tuple[Array, Array]:
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
