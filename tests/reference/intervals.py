"""Intervals over queries by loops: no arrays, no sums that are updated."""

import math
from collections.abc import Sequence

from scipy import stats

Counts = Sequence[tuple[float, float]]  # of each query: positive, labelled


def effect(counts: Counts) -> float | None:
    """Spread of the queries over that of queries whose pairs all agree, one such query added."""
    positive, labelled = math.fsum(a for a, _ in counts), math.fsum(w for _, w in counts)
    rate = positive / labelled
    most = rate * (1 - rate) * math.fsum(w * w for _, w in counts) / len(counts)
    if most < 1e-15:
        return None
    spread = math.fsum((a - rate * w) ** 2 for a, w in counts)
    return (spread + most) / ((len(counts) + 1) * most)


def rate_interval(counts: Counts, level: float) -> tuple[float, float] | None:
    """Wilson's limits for the effective number of queries; None where there is no interval."""
    counts = [(a, w) for a, w in counts if w]
    if len(counts) < 8 or len({round(a / w, 12) for a, w in counts}) == 1:
        return None
    rate = math.fsum(a for a, _ in counts) / math.fsum(w for _, w in counts)
    size = math.fsum(w for _, w in counts) ** 2 / math.fsum(w * w for _, w in counts) / (effect(counts) or 1)
    logs = [
        math.log(value)
        for value in (effect([*counts[:left], *counts[left + 1 :]]) for left in range(len(counts)))
        if value is not None
    ]
    mean = math.fsum(logs) / len(logs)
    spread = (len(counts) - 1) * math.fsum((value - mean) ** 2 for value in logs) / len(logs)
    tail = (1 + level) / 2
    t = stats.t.ppf(tail, max(2 / spread, 2.5)) if spread > 1e-9 else stats.norm.ppf(tail)
    root = t * math.sqrt(rate * (1 - rate) / size + t * t / (4 * size * size))
    low, high = ((rate + t * t / (2 * size) + side * root) / (1 + t * t / size) for side in (-1, 1))
    if size * rate < 3 - 1e-9:
        low = min(low, stats.chi2.ppf(1 - level, 2 * size * rate) / 2 / size)
    if size * (1 - rate) < 3 - 1e-9:
        high = max(high, 1 - stats.chi2.ppf(1 - level, 2 * size * (1 - rate)) / 2 / size)
    return max(low, 0.0), min(high, 1.0)
