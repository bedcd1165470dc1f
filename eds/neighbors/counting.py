"""How many scores lie above each of a few bounds, row by row, without sorting a row."""

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


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
        return cls(np.nextafter(low, np.float32(-np.inf)), np.nextafter(high, np.float32(np.inf)))


def count_above(scores: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """One row against its pairs: how many scores beat each, and where those stand that may.

    scores (n,) float32; low, high (pairs,) float32. Gives (pairs,) counts of scores > high, and the
    places of scores in low..high of any pair.

    >>> row = np.array([0.1, 0.5, 0.9, 0.7], dtype=np.float32)
    >>> count_above(row, np.array([0.4], np.float32), np.array([0.6], np.float32))
    (array([2]), array([1]))
    """
    bounds = np.concatenate([np.nextafter(low, np.float32(-np.inf)), high])  # "> bound" for both kinds
    order = np.argsort(bounds)
    bounds = bounds[order]
    steps = np.where(order < len(low), 1, -1)
    inside = np.concatenate([[0], np.cumsum(steps)]) > 0  # by number of bounds that a score beats
    places = np.flatnonzero(scores > bounds[0])
    beaten = np.searchsorted(bounds, scores[places])
    above = len(places) - np.cumsum(np.bincount(beaten, minlength=len(bounds) + 1))[:-1]
    by_bound = np.empty(len(bounds), dtype=np.int64)
    by_bound[order] = above
    return by_bound[len(low) :], places[inside[beaten]]


def ragged(start: Array, stop: Array) -> tuple[Array, Array]:
    """All integers of start[i]..stop[i]-1, one range after another, and the i of each.

    >>> ragged(np.array([5, 9]), np.array([7, 10]))
    (array([5, 6, 9]), array([0, 0, 1]))
    """
    size = stop - start
    owner = np.repeat(np.arange(len(start)), size)
    offset = np.arange(len(owner)) - np.repeat(np.cumsum(size) - size, size)
    return start[owner] + offset, owner
