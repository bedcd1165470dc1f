"""Totals of positives that are estimated, each with its limits, and shares of such totals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from eds.analysis.anytime import beta_binomial_sequence
from eds.intervals import clopper_pearson_interval, wilson_interval
from eds.suspects.partial_estimates import PoolTotal

NAN = float("nan")


@dataclass(frozen=True)
class Estimate:
    """A number with its limits; the value is NaN where only limits can be given."""

    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float | None]:
        """The three numbers, None where the value is unknown."""
        return {"value": None if math.isnan(self.value) else self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Sampled:
    """A part of the units outside the pool, and the labelled draws from it; counts of weighted draws are not integers.

    `missing` draws lack a label: they widen the limits, once as negative and once as positive.
    """

    stratum: str
    size: float  # N: units that the draws stand for
    drawn: int
    labelled: float  # n
    positive: float  # a
    missing: float = 0.0
    reach: float = 0.0  # the chance with which its similar units were drawn, as it counts for the variance

    def more(self, factor: float) -> "Sampled":
        """The sample that so many times the draws are expected to give, all of them labelled.

        Formula: counts times (1 - (1 - q)^f) / (q (1 - q)^(f - 1)), of units that were drawn with chance q; times f
        where q is small. So much the variance of a total falls, as less is left to draw.

        >>> Sampled("all", 1000, 10, 10, 1).more(2).labelled
        20.0
        >>> Sampled("weighted", 1000, 10, 10, 1, reach=0.5).more(2).labelled
        30.0
        """
        if self.census or factor == 1:
            return self
        q = self.reach
        times = (1 - (1 - q) ** factor) / (q * (1 - q) ** (factor - 1)) if 0 < q < 1 else factor
        every = min((self.labelled + self.missing) * times, self.size)
        rate = self.positive / self.labelled if self.labelled else 0.0
        return replace(self, labelled=every, positive=every * rate, missing=0.0)

    @property
    def total(self) -> float:
        """The estimated positives: N a / n; NaN where nothing is labelled."""
        if not self.size:
            return 0.0
        return self.size * self.positive / self.labelled if self.labelled else NAN

    @property
    def census(self) -> bool:
        """Whether every unit is known."""
        return self.labelled >= self.size - 1e-9

    def limits(self, level: float) -> tuple[float, float]:
        """Clopper and Pearson's, times N; between the positives that are known and what is not known to be negative."""
        if self.census:
            return self.positive, self.positive
        every = self.labelled + self.missing
        if not every:
            return 0.0, self.size
        low, _ = clopper_pearson_interval(self.positive, every, level, weighted=True)
        _, high = clopper_pearson_interval(self.positive + self.missing, every, level, weighted=True)
        return max(self.size * low, self.positive), min(self.size * high, self.size - (self.labelled - self.positive))


def outside_total(parts: Sequence[Sampled], level: float, limits: str) -> Estimate:
    """The positives outside the pool; `limits` as in `pool_recall`."""
    some = [part for part in parts if part.size]
    sampled = [part for part in some if not part.census]
    each = level if limits == "squared" else 1 - (1 - level) / max(len(sampled), 1)
    bounds = [part.limits(each) for part in sampled]
    sure = math.fsum(part.positive for part in some if part.census)
    totals = [part.total for part in sampled]
    low, high = (math.fsum(bound[side] for bound in bounds) for side in (0, 1))
    if limits == "squared" and len(sampled) > 1 and not any(map(math.isnan, totals)):
        below, above = (
            math.hypot(*(bound[side] - total for bound, total in zip(bounds, totals, strict=True))) for side in (0, 1)
        )
        low, high = max(low, math.fsum(totals) - below), min(high, math.fsum(totals) + above)
    return Estimate(sure + math.fsum(totals) if not any(map(math.isnan, totals)) else NAN, sure + low, sure + high)


def whole_pool(
    estimate: PoolTotal, units: int, known: tuple[int, int], judged: int, level: float, *, every_look: bool = False
) -> Estimate:
    """The positives of the whole pool, from what is judged of it.

    Formula: Wilson's limits of total / units for n_eff units, n_eff = r (1 - r) units^2 / Var (of 0 or all positive:
    the judged ones over the unjudged share), times units; widened by what no design speaks for, as all negative and as
    all positive. `every_look`: `beta_binomial_sequence` instead, with n_eff as the draws that were seen so far.
    Source: Dean and Pagano 2015 for Wilson's limits with an effective size; specification 18.3.
    Conventions: `known` are positive and negative units, which bound the limits; a census has no uncertainty.
    """
    least, most = float(known[0]), float(units - known[1])
    if not units:
        return Estimate(0.0, 0.0, 0.0)
    if math.isnan(estimate.total) or math.isinf(estimate.variance):
        return Estimate(NAN, least, most)
    total = min(max(estimate.total, least), most)
    low = high = total
    designed = total - estimate.assumed
    if judged < units and most - least > 1e-9:
        rate, spread = designed / units, estimate.variance
        if 0 < rate < 1 and spread > 0:
            effective = max(rate * (1 - rate) * units**2 / spread, 1.0)
        elif spread == 0 and 0 < rate < 1:
            effective = math.inf  # a census of what a design speaks for
        else:
            effective = judged / max(1 - judged / units, 1e-12)
        if math.isfinite(effective):
            limits = (
                beta_binomial_sequence(rate * effective, effective, level)
                if every_look
                else wilson_interval(rate * effective, effective, level, weighted=True)
            )
            low, high = (units * limit for limit in limits)
            low, high = low + estimate.assumed, high + estimate.assumed
    low, high = low - estimate.assumed, high + max(estimate.unknown - estimate.assumed, 0.0)
    return Estimate(total, min(max(low, least), total), max(min(high, most), total))


def sum_of(first: Estimate, second: Estimate) -> Estimate:
    """The sum of two independent estimates: the distances of their limits add as squares.

    Source: Zou and Donner, Statistics in Medicine 27 (2008).

    >>> sum_of(Estimate(10, 7, 14), Estimate(20, 16, 23))
    Estimate(value=30, low=25.0, high=35.0)
    """
    value = first.value + second.value
    if math.isnan(value):
        return Estimate(value, first.low + second.low, first.high + second.high)
    low = value - math.hypot(first.value - first.low, second.value - second.low)
    return Estimate(value, low, value + math.hypot(first.high - first.value, second.high - second.value))


def ratio_of(above: Estimate, below: Estimate) -> Estimate:
    """The ratio of two independent estimates: the distances of their limits' logarithms add as squares.

    Source: Donner and Zou, Statistical Methods in Medical Research 21 (2012), on the log scale.
    Conventions: where a value is 0 or unknown, the limits are those of the extremes; a limit may be infinite.

    >>> ratio_of(Estimate(8, 4, 16), Estimate(2, 2, 2))
    Estimate(value=4.0, low=2.0, high=8.0)
    """
    value = above.value / below.value if below.value else (math.inf if above.value else NAN)
    extremes = (_over(above.low, below.high), _over(above.high, below.low))
    if not (0 < value < math.inf):
        return Estimate(value, *extremes)

    def distance(limit: float, middle: float) -> float:
        return abs(math.log(limit / middle)) if limit > 0 else math.inf

    down = math.hypot(distance(above.low, above.value), distance(below.high, below.value))
    up = math.hypot(distance(above.high, above.value), distance(below.low, below.value))
    return Estimate(value, value * math.exp(-down), value * math.exp(up) if math.isfinite(up) else math.inf)


def share_of(part: Estimate, rest: Estimate) -> Estimate:
    """The share that a part has of the sum of it and the rest, two independent estimates.

    Formula: 1 / (1 + rest / part), and the same of the limits of `ratio_of`; 0 and 1 where these are undefined.

    >>> share_of(Estimate(30, 30, 30), Estimate(10, 0, 30))
    Estimate(value=0.75, low=0.5, high=1.0)
    """
    ratio = ratio_of(rest, part)
    value = NAN if math.isnan(ratio.value) else 1 / (1 + ratio.value)
    low = 0.0 if math.isnan(ratio.high) else 1 / (1 + ratio.high)
    high = 1.0 if math.isnan(ratio.low) else 1 / (1 + ratio.low)
    return Estimate(value, low, high)


def _over(above: float, below: float) -> float:
    return above / below if below else (math.inf if above else NAN)
