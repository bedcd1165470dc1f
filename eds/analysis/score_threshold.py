"""From which score on pairs may be shown as similar: P(similar | score) of a model, and a threshold's precision."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eds.intervals import FEW, MIN_QUERIES, Interval, draw_queries, rate_interval
from eds.pairs import Flags, Integers, Reals

CELLS = 64  # groups of pairs with neighbouring scores, by quantiles of the labelled pairs
EACH = 10  # labelled pairs of a group at least
FOLDS = 5  # of the queries
LEAST = 30  # labelled pairs at or above a threshold, below which none is given
FEW_DRAWS = 3  # random draws above a threshold, below which its limits allow for pairs that no draw showed
UNSEEN = 3.0  # draws that may have been missed where none was seen, with 95 % certainty (the rule of three)
Cells = npt.NDArray[np.float64]  # (queries, cells)


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """The labelled pairs of a model; arrays have one entry for each pair.

    `weight` is how many pairs of the population each stands for; `outside` are random draws from outside the pool.
    """

    query: Integers  # places from 0
    score: Reals
    value: Integers
    weight: Reals
    outside: Flags

    def only(self, rows: Flags) -> "ScoredPairs":
        """These rows, with queries renumbered."""
        query = np.unique(self.query[rows], return_inverse=True)[1].astype(np.int64)
        return ScoredPairs(query, self.score[rows], self.value[rows], self.weight[rows], self.outside[rows])


@dataclass(frozen=True, eq=False)
class Curve:
    """P(similar | score) with a band: one entry for each group of scores, ascending."""

    score: Reals  # the mean of the group
    probability: Reals
    low: Reals  # NaN where there is no band
    high: Reals


@dataclass(frozen=True)
class Threshold:
    """The lowest score from which on pairs are similar with the wanted precision, or the reason why there is none."""

    score: float
    precision: float  # over queries that had no part in choosing the threshold
    low: float
    high: float
    recall: float  # the share of the population's similar pairs that is shown
    pairs: int  # labelled pairs at or above it
    shown: float  # pairs of the population that they stand for
    draws_above: int  # random draws from outside the pool among them
    reason: str | None = None  # why there is no threshold, or no interval


def fit_curve(pairs: ScoredPairs, level: float = 0.95, resamples: int = 400, seed: int = 0) -> Curve:
    """P(similar | score), rising with the score, with a band over queries.

    Formula: isotonic regression of the labels on the score, each pair with its weight, over 64 groups (fewer of few
    pairs) of equally many labelled pairs; equal scores stay together. The band: percentiles over resampled queries.
    Source: Zadrozny and Elkan 2002 for isotonic calibration; Field and Welsh 2007 for resampling clusters.
    Conventions: fewer than 8 queries: no band. The band is of each score by itself, not of the whole curve.
    Example, run by doctest:
    >>> half = np.repeat([0, 1], 50)
    >>> pairs = ScoredPairs(np.arange(100) % 20, np.arange(100.0), half, np.ones(100), np.zeros(100, bool))
    >>> curve = fit_curve(pairs, resamples=20)
    >>> float(curve.probability[0]), float(curve.probability[-1])
    (0.0, 1.0)
    """
    edges, positive, every = _cells(pairs)
    probability = _isotonic(positive.sum(axis=0), every.sum(axis=0))
    low = high = np.full(len(edges), np.nan)
    if len(positive) >= MIN_QUERIES and resamples:
        times = draw_queries(len(positive), resamples, seed).astype(np.float64)
        drawn = [_isotonic(a, w) for a, w in zip(times @ positive, times @ every, strict=True)]
        low, high = np.quantile(np.array(drawn), [(1 - level) / 2, (1 + level) / 2], axis=0)
    cell = np.searchsorted(edges, pairs.score, side="right") - 1
    middle = np.bincount(cell, pairs.score) / np.bincount(cell)
    return Curve(middle, probability, np.minimum(low, probability), np.maximum(high, probability))


def find_threshold(pairs: ScoredPairs, precision: float = 0.9, level: float = 0.95, seed: int = 0) -> Threshold:
    """The lowest score from which on the pairs are similar with this precision.

    Formula: precision(t) = sum over pairs with score >= t of weight x P(similar | score) / sum of weight. The stated
    precision is the share of similar pairs, by weight, above thresholds found on the other folds of the queries; its
    interval is `rate_interval` over queries. With fewer than 3 random draws above the threshold, the limits allow for
    3 of them, all different and all similar.
    Source: specification 18.4; Hanley and Lippman-Hand 1983 for the rule of three.
    Conventions: folds are drawn by `seed`. Fewer than 30 labelled pairs above, or a precision that no score reaches:
    no threshold (NaN), and the reason.
    Example: see tests/analysis/test_score_threshold.py, against worlds whose P(similar | score) is known.
    """
    nothing = float("nan")
    edges, positive, every = _cells(pairs)
    count = _labelled(pairs, edges)
    chosen = _choose(positive.sum(axis=0), every.sum(axis=0), count, precision)
    if chosen is None:
        return Threshold(
            nothing, nothing, nothing, nothing, nothing, 0, nothing, 0, _why_none(positive, every, count, precision)
        )
    above = pairs.score >= edges[chosen]
    shown, found = every[:, chosen:].sum(), positive[:, chosen:].sum()
    total = positive.sum()
    fold = np.random.default_rng(seed).permutation(len(positive)) % FOLDS
    a, w = np.zeros(len(positive)), np.zeros(len(positive))
    for held in range(FOLDS):
        mine = fold == held
        own = _choose(positive[~mine].sum(axis=0), every[~mine].sum(axis=0), count, precision)
        if own is not None:
            a[mine], w[mine] = positive[mine, own:].sum(axis=1), every[mine, own:].sum(axis=1)
    stated = float(a.sum() / w.sum()) if w.sum() else float(found / shown)
    limits = rate_interval(a, w, level) if w.sum() else Interval.none(FEW)
    draws = int(above[pairs.outside].sum())
    low, high = _allow_unseen(stated, limits, float(shown), draws, pairs)
    return Threshold(
        float(edges[chosen]),
        stated,
        low,
        high,
        float(found / total) if total else nothing,
        int(above.sum()),
        float(shown),
        draws,
        limits.no_interval,
    )


def _cells(pairs: ScoredPairs) -> tuple[Reals, Cells, Cells]:
    """The lowest score of each group of scores, and of each query and group the weight of similar and of all pairs."""
    cells = max(2, min(CELLS, len(pairs.score) // EACH))
    cuts = np.quantile(pairs.score, np.linspace(0, 1, cells + 1)[:-1], method="inverted_cdf")
    edges = np.unique(cuts)
    cell = np.searchsorted(edges, pairs.score, side="right") - 1
    shape = int(pairs.query.max(initial=-1)) + 1, len(edges)
    place = pairs.query * shape[1] + cell
    every = np.bincount(place, pairs.weight, shape[0] * shape[1]).reshape(shape)
    positive = np.bincount(place, pairs.weight * pairs.value, shape[0] * shape[1]).reshape(shape)
    return edges, np.asarray(positive, np.float64), np.asarray(every, np.float64)


def _labelled(pairs: ScoredPairs, edges: Reals) -> Integers:
    """How many labelled pairs have at least each group's lowest score."""
    return len(pairs.score) - np.searchsorted(np.sort(pairs.score), edges, side="left")


def _isotonic(positive: Reals, every: Reals) -> Reals:
    """P(similar) of each group, rising; groups without weight take their neighbours'."""
    from sklearn.isotonic import isotonic_regression

    some = every > 0
    if not some.any():
        return np.full(len(every), np.nan)
    fitted = isotonic_regression(positive[some] / every[some], sample_weight=every[some], y_min=0, y_max=1)
    places = np.flatnonzero(some)
    return np.asarray(np.interp(np.arange(len(every)), places, fitted), np.float64)


def _precision(positive: Reals, every: Reals) -> Reals:
    """The precision from each group on, which rises with the score."""
    result = _isotonic(positive, every)
    shown = np.cumsum(every[::-1])[::-1]
    return np.asarray(np.cumsum((result * every)[::-1])[::-1] / np.where(shown > 0, shown, np.nan))


def _choose(positive: Reals, every: Reals, count: Integers, precision: float) -> int | None:
    fits = np.flatnonzero((_precision(positive, every) >= precision - 1e-12) & (count >= LEAST))
    return int(fits[0]) if len(fits) else None


def _why_none(positive: Cells, every: Cells, count: Integers, precision: float) -> str:
    reached = _precision(positive.sum(axis=0), every.sum(axis=0))[count >= LEAST]
    if not len(reached):
        return f"fewer than {LEAST} labelled pairs"
    if not positive.sum():
        return "no labelled pair is similar"
    return f"no score reaches {precision:g}: the best precision is {np.nanmax(reached):.3f}"


def _allow_unseen(stated: float, limits: Interval, shown: float, draws: int, pairs: ScoredPairs) -> tuple[float, float]:
    if limits.no_interval is not None or not pairs.outside.any() or draws >= FEW_DRAWS:
        return limits.low, limits.high
    more = (UNSEEN - draws) * float(pairs.weight[pairs.outside].mean())
    return limits.low * shown / (shown + more), (limits.high * shown + more) / (shown + more)
