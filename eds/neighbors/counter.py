"""Ranks of given pairs, counted while the gallery passes by."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from eds.neighbors.counting import Bounds, count_above, ragged
from eds.neighbors.rules import Rules
from eds.neighbors.sides import Array, Sides
from eds.neighbors.similarity import Similarity

TILE = 1 << 25  # scores in a tile: large, so that vectors are gathered for exact scores once per block
NEAR = 1 << 18  # undecided scores resolved at once


@dataclass(frozen=True)
class _Tile:
    """Scores of some queries with a block of candidates."""

    low: int  # number of the first query
    scores: Array  # (queries, n) float32; what the rules leave out is -inf
    tops: Array  # (queries, groups) float32: the best score of each group
    candidate: Array  # (n,) int64 numbers
    starts: Array  # (groups,) int64: first column of each group, a product or a single candidate
    bounds: Bounds


class Counter:
    """Ranks of the pairs of some queries, while the gallery passes by."""

    def __init__(self, sides: Sides, rules: Rules, similarity: Similarity, queries: Array) -> None:
        self.sides, self.rules, self.similarity, self.queries = sides, rules, similarity, queries
        similarity.ask(sides.queries.rows[queries])
        self.out_query, self.out_candidate = left_out(sides, rules, queries)
        self.column = np.full(len(sides.candidates), -1, dtype=np.int64)  # of each candidate, in this block
        self._room: Array = np.empty(0, dtype=np.float32)  # of all tiles in turn: fresh memory is dear

    def take(self, query: Array, candidate: Array) -> None:
        """Take the pairs, sorted by query; every query has at least one."""
        self.query, self.candidate = query, candidate
        self.score = self.similarity.exact(query, self.sides.candidates.rows[candidate])
        key = query * len(self.sides.candidates) + candidate
        order = np.argsort(key, kind="stable")
        self._known_keys, self._known_scores = key[order], self.score[order]
        self.first = np.searchsorted(query, np.arange(len(self.queries) + 1))
        self.rank = np.zeros(len(query), dtype=np.int64)
        self.led = np.ones(len(query), dtype=bool)  # is the candidate the best of its product?

    def count(self, candidate: Array, stored: Array, pool: ThreadPoolExecutor, threads: int) -> None:
        """Let a block pass: candidates' numbers, (n,), products together if one per product."""
        columns = self.similarity.load(stored, self.sides.candidates.rows[candidate])
        product = self.sides.candidates.product[candidate]
        starts = np.arange(len(candidate))
        if self.rules.one_per_product:
            starts = np.flatnonzero(np.diff(product, prepend=-1))
        self.column[candidate] = np.arange(len(candidate))
        bounds = Bounds.around(self.similarity.as_block(self.query, self.score), self.similarity.slack)
        step = max(1, TILE // max(len(candidate), 1))
        if self._room.size < min(step, len(self.queries)) * len(candidate):
            self._room = np.empty(min(step, len(self.queries)) * len(candidate), dtype=np.float32)
        for low in range(0, len(self.queries), step):
            high = min(low + step, len(self.queries))
            scores = self._room[: (high - low) * len(candidate)].reshape(high - low, len(candidate))
            self.similarity.scores(low, high, columns, scores)
            self._strike_out(scores, low, candidate)
            tops = scores
            if len(starts) < len(candidate):
                tops = np.empty((high - low, len(starts)), dtype=np.float32)
            tile = _Tile(low, scores, tops, candidate, starts, bounds)
            near = self._count_sure(tile, pool, threads)
            if self.rules.one_per_product:
                self._check_own(tile)
            place = np.concatenate(near)
            query = np.repeat(np.arange(len(near)), [len(places) for places in near])
            for start in range(0, len(place), NEAR):
                self._decide(tile, query[start : start + NEAR], place[start : start + NEAR])
        self.column[candidate] = -1

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

    def _count_sure(self, tile: _Tile, pool: ThreadPoolExecutor, threads: int) -> list[Array]:
        """Add what surely comes before; gives for each query the groups that exact arithmetic must decide."""
        low, high = tile.bounds.low, tile.bounds.high

        def rows(part: range) -> list[Array]:
            near = []
            if tile.tops is not tile.scores:
                inside = slice(part.start, part.stop)
                np.maximum.reduceat(tile.scores[inside], tile.starts, axis=1, out=tile.tops[inside])
            for query in part:
                pairs = slice(self.first[query + tile.low], self.first[query + tile.low + 1])
                above, places = count_above(tile.tops[query], low[pairs], high[pairs])
                self.rank[pairs] += above
                near.append(places)
            return near

        step = -(-len(tile.tops) // threads)
        parts = [range(start, min(start + step, len(tile.tops))) for start in range(0, len(tile.tops), step)]
        return [places for part in pool.map(rows, parts) for places in part]

    def _check_own(self, tile: _Tile) -> None:
        """A pair whose candidate is surely not the best image of its product has no rank."""
        pairs = np.arange(self.first[tile.low], self.first[tile.low + len(tile.tops)])
        column = self.column[self.candidate[pairs]]
        pairs, column = pairs[column >= 0], column[column >= 0]
        group = np.searchsorted(tile.starts, column, side="right") - 1
        self.led[pairs] &= tile.tops[self.query[pairs] - tile.low, group] <= tile.bounds.high[pairs]

    def _decide(self, tile: _Tile, query: Array, place: Array) -> None:
        """Exact arithmetic for groups, at (query, place), whose best score lies within some pair's bounds."""
        top = tile.tops[query, place]
        stops = np.append(tile.starts[1:], len(tile.candidate))
        column, owner = ragged(tile.starts[place], stops[place])
        slack = np.float32(2 * self.similarity.slack)
        close = tile.scores[query[owner], column] >= top[owner] - slack
        column, owner = column[close], owner[close]
        number = tile.candidate[column]
        exact = (
            self._exact(query[owner] + tile.low, number)
            if slack
            else tile.scores[query[owner], column].astype(np.float64)
        )
        order = np.lexsort((number, -exact, owner))
        best = order[np.flatnonzero(np.diff(owner[order], prepend=-1))]  # of each group, by the lists' order
        number, exact = number[best], exact[best]
        pair, near = ragged(self.first[query + tile.low], self.first[query + tile.low + 1])
        inside = (top[near] >= tile.bounds.low[pair]) & (top[near] <= tile.bounds.high[pair])
        pair, near = pair[inside], near[inside]
        mine, theirs = self.candidate[pair], number[near]
        before = (exact[near] > self.score[pair]) | ((exact[near] == self.score[pair]) & (theirs < mine))
        np.add.at(self.rank, pair[before], 1)
        if self.rules.one_per_product:
            product = self.sides.candidates.product
            self.led[pair[before & (product[mine] == product[theirs])]] = False

    def _exact(self, query: Array, number: Array) -> Array:
        """Exact scores of (query, candidate number), (n,) int64 each; those of the given pairs are known already."""
        key = query * len(self.sides.candidates) + number
        place = np.minimum(np.searchsorted(self._known_keys, key), len(self._known_keys) - 1)
        found = self._known_scores[place]
        fresh = np.flatnonzero(self._known_keys[place] != key)
        found[fresh] = self.similarity.exact(query[fresh], self.sides.candidates.rows[number[fresh]])
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
