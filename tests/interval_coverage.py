"""How often intervals over queries hold the true number, on worlds whose true number is known.

Each world draws what n queries show (`a` of `w` for each: pairs, or a value with weight 1); what is measured is the
share of intervals that hold the world's rate, among those that are printed at all.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm

from eds.analysis.bootstrap import resampled_micro
from eds.intervals import Interval, bootstrap_interval, rate_interval
from eds.pairs import LabelledPairs, Reals

RATES = (0.5, 0.9, 0.975)
SIZES = (20, 50, 200, 2000)
POSITIVE, NEGATIVE = 4, 6  # labelled pairs of a query, where scores are drawn
Rng = np.random.Generator
World = Callable[[int, float, Rng], tuple[Reals, Reals]]


def _clustered(alike: float) -> World:
    """Pairs of a query share a rate: `alike` is the correlation of two pairs of a query."""

    def draw(n: int, rate: float, rng: Rng) -> tuple[Reals, Reals]:
        pairs, spread = rng.integers(4, 20, n), (1 - alike) / alike
        own = rng.beta(rate * spread, (1 - rate) * spread, n)
        return rng.binomial(pairs, own).astype(float), pairs.astype(float)

    return draw


def _yes_or_no(n: int, rate: float, rng: Rng) -> tuple[Reals, Reals]:
    return (rng.random(n) < rate).astype(float), np.ones(n)


def _five_places(n: int, rate: float, rng: Rng) -> tuple[Reals, Reals]:
    own = rng.beta(4 * rate, 4 * (1 - rate), n)
    return rng.binomial(5, own) / 5, np.ones(n)


def _aucs(n: int, rate: float, rng: Rng) -> tuple[Reals, Reals]:
    """AUC of each query: normal scores, a shift of its own; the mean over all queries is the rate."""
    own = norm.ppf(rate) * np.sqrt(2 + 0.5) + rng.normal(0, np.sqrt(0.5), n)
    positive, negative = rng.normal(own[:, None], 1, (n, POSITIVE)), rng.normal(0, 1, (n, NEGATIVE))
    return (positive[:, :, None] > negative[:, None, :]).mean(axis=(1, 2)), np.ones(n)


WORLDS: dict[str, World] = {
    "p_k, design effect 4": _clustered(0.25),
    "p_k, design effect 2": _clustered(0.08),
    "0/1 values": _yes_or_no,
    "mean of 5 places": _five_places,
    "macro ROC-AUC": _aucs,
}


@dataclass(frozen=True)
class Coverage:
    """Printed intervals, and how many of them hold the rate."""

    printed: int
    held: int
    width: float  # mean

    @property
    def share(self) -> float:
        """Coverage of the printed intervals."""
        return self.held / self.printed


def coverage(world: World, n: int, rate: float, times: int, seed: int = 0) -> Coverage:
    """The coverage of `rate_interval` (and so of `mean_interval`) on drawn worlds."""
    rng = np.random.default_rng([seed, n, round(1000 * rate)])
    return _counted([rate_interval(*world(n, rate, rng)) for _ in range(times)], rate)


def micro_coverage(n: int, rate: float, times: int, resamples: int = 400) -> Coverage:
    """The coverage of `bootstrap_interval` for micro ROC-AUC; a query's scores share a level."""
    rng = np.random.default_rng([1, n, round(1000 * rate)])
    level, shift = 0.5, norm.ppf(rate) * np.sqrt(2 * (1 + 0.5**2))
    query = np.repeat(np.arange(n), POSITIVE + NEGATIVE)
    value = np.tile([1] * POSITIVE + [0] * NEGATIVE, n)
    names = [f"{number:05d}" for number in range(n * (POSITIVE + NEGATIVE))]
    frame = pd.DataFrame({"query_id": [f"q{code:05d}" for code in query], "candidate_id": names, "value": value})
    labelled = LabelledPairs.from_frame(frame)

    def interval() -> Interval:
        score = rng.normal(0, level, n)[query] + shift * value + rng.normal(0, 1, len(query))
        return bootstrap_interval(lambda drawn: resampled_micro(labelled, score, drawn)[0], n, resamples=resamples)

    return _counted([interval() for _ in range(times)], _micro_truth(level, shift, n))


def _micro_truth(level: float, shift: float, n: int) -> float:
    """Pairs of one query share its level, 1 of n pairs of pairs; the others differ by two levels."""
    within, across = norm.cdf(shift / np.sqrt(2)), norm.cdf(shift / np.sqrt(2 * (1 + level**2)))
    return float(within / n + across * (1 - 1 / n))


def difference_coverage(n: int, times: int, resamples: int = 400) -> Coverage:
    """The coverage of `bootstrap_interval` for the mean difference of two models' AUCs by query."""
    rng = np.random.default_rng([2, n])

    def interval() -> Interval:
        first, second = (_aucs(n, rate, rng)[0] for rate in (0.85, 0.8))
        difference = first - second
        return bootstrap_interval(lambda drawn: drawn @ difference / drawn.sum(axis=1), n, resamples=resamples)

    return _counted([interval() for _ in range(times)], 0.05)


def _counted(intervals: list[Interval], rate: float) -> Coverage:
    printed = [interval for interval in intervals if interval.no_interval is None]
    held = sum(interval.low <= rate <= interval.high for interval in printed)
    return Coverage(len(printed), held, float(np.mean([interval.high - interval.low for interval in printed])))
