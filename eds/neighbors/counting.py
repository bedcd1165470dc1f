"""How many scores lie above each of many bounds, for many queries at once, without sorting rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
BELOW = np.float32(-np.inf)


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
