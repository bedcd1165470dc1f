"""Confidence intervals: the only module that builds them.

What was sampled decides how. Uniform random draws of pairs are counted (`wilson_interval`,
`clopper_pearson_interval`). Everything that averages over judged pairs was sampled by query, because a query's pairs
are alike: `rate_interval` for shares of pairs, `mean_interval` for means of values between 0 and 1, and
`bootstrap_interval` for every other number (differences, micro AUC, coefficients of agreement).

An `Interval` over queries either has limits or says why it has none.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from eds.errors import InputError

Floats = npt.NDArray[np.float64]
Multiplicity = npt.NDArray[np.int16]  # (resamples, queries): how often each query is drawn
Statistic = Callable[[Multiplicity], Floats]  # its value in each resample

RESAMPLES: Final = 2000
MIN_QUERIES: Final = 8  # fewer say next to nothing about their spread
LARGE: Final = 50  # queries from which on percentiles of a bootstrap cover as promised
FEW: Final = f"fewer than {MIN_QUERIES} queries"
EQUAL: Final = "every query has the same value"
UNDEFINED: Final = "the value is undefined"
CENSUS: Final = "a census: nothing is estimated"
NOT_REQUESTED: Final = "not requested"


@dataclass(frozen=True)
class Interval:
    """The limits of a confidence interval, or the reason why there is none (then both limits are NaN)."""

    low: float
    high: float
    no_interval: str | None = None

    @classmethod
    def none(cls, reason: str) -> "Interval":
        """No interval, for this reason.

        >>> Interval.none(CENSUS)
        Interval(low=nan, high=nan, no_interval='a census: nothing is estimated')
        """
        return cls(float("nan"), float("nan"), reason)

    def to_dict(self) -> dict[str, float | str | None]:
        """The limits (None where there are none) and the reason: columns low, high, no_interval.

        >>> Interval(0.25, 0.5).to_dict()
        {'low': 0.25, 'high': 0.5, 'no_interval': None}
        """
        known = self.no_interval is None
        return {
            "low": self.low if known else None,
            "high": self.high if known else None,
            "no_interval": self.no_interval,
        }


def wilson_interval(a: Any, n: Any, level: float = 0.95, *, weighted: bool = False) -> tuple[Any, Any]:
    """Wilson's score limits of a proportion, a of n independent draws.

    Formula: centre (p + z^2/2n) / (1 + z^2/n), half-width z / (1 + z^2/n) sqrt(p(1-p)/n + z^2/4n^2), p = a/n.
    Source: Wilson 1927; specification 13.1.
    Conventions: `a` and `n` are counts, numbers or arrays of one shape; the lower limit is exactly 0 at a = 0, the
    upper exactly 1 at a = n; nothing counted (n = 0) gives [0, 1]. Pairs of the same queries are not independent:
    `rate_interval`. `weighted` allows counts that are not integers: those of an effective sample size.
    Example, run by doctest:
    >>> [round(limit, 12) for limit in wilson_interval(2, 2000)]
    [0.000274278918, 0.003638934269]
    """
    count, total = _counts(a, n, level, weighted)
    z = NormalDist().inv_cdf((1 + level) / 2)
    size = np.maximum(total, 1)
    low, high = _wilson(count / size, size, z)
    return _shaped(np.where(total == 0, 0.0, low), a, n), _shaped(np.where(total == 0, 1.0, high), a, n)


def clopper_pearson_interval(a: Any, n: Any, level: float = 0.95, *, weighted: bool = False) -> tuple[Any, Any]:
    """Exact limits of a proportion, a of n independent draws: the default for p and for bounds.

    Formula: with t = (1 - level)/2, quantile t of Beta(a, n-a+1) and quantile 1-t of Beta(a+1, n-a).
    Source: Clopper and Pearson 1934; specification 13.1.
    Conventions: as `wilson_interval`; it covers at least `level`, whatever the true rate.
    Example, run by doctest:
    >>> [round(float(limit), 12) for limit in clopper_pearson_interval(2, 2000)]
    [0.000121127591, 0.00360762857]
    """
    from scipy.special import betaincinv

    count, total = _counts(a, n, level, weighted)
    tail = (1 - level) / 2
    rest = total - count
    low = np.where(count == 0, 0.0, betaincinv(np.where(count == 0, 1, count), rest + 1, tail))
    high = np.where(rest == 0, 1.0, betaincinv(count + 1, np.where(rest == 0, 1, rest), 1 - tail))
    return _shaped(low, a, n), _shaped(high, a, n)


def rate_interval(positive: Any, labelled: Any, level: float = 0.95) -> Interval:
    """Interval of a share of pairs, from the counts of each query: p_k, rates by model and by rank.

    Formula: rate r = sum a / sum w. Wilson's limits at r for n_eff queries instead of n, with t instead of z:
    n_eff = (sum w)^2 / sum w^2 / d; d = (sum (a - r w)^2 + m) / ((n + 1) m), m = r (1-r) mean w^2, is the spread of
    the queries over that of queries whose pairs all agree (one such query is added, so that a few queries that happen
    to be alike do not promise too much); t has 2 / v degrees of freedom, v the jackknife variance of ln d. Where fewer
    than 3 of the n_eff queries differ from the others, the limit at their end is Poisson's if that is wider.
    Source: Wilson 1927 with Kish's effective size (Dean and Pagano 2015, J. Surv. Stat. Methodol. 3); the end as in
    Brown, Cai and DasGupta 2001, 4.1.1; specification 18.4.
    Conventions: queries without a labelled pair are left out; fewer than 8 queries, or one rate for all: no interval.
    Pairs that are 0 or 1 with one pair a query: Wilson over queries. No random numbers. The bootstrap covers less:
    tests/speed/intervals.py has the table.
    Example, run by doctest:
    >>> rate_interval([6, 3, 5, 0, 4, 6, 2, 5, 6, 1], [6] * 10)  # doctest: +ELLIPSIS
    Interval(low=0.39..., high=0.81..., no_interval=None)
    >>> rate_interval([1, 2], [3, 3]).no_interval
    'fewer than 8 queries'
    """
    return _over_queries(np.asarray(positive, np.float64), np.asarray(labelled, np.float64), level)


def mean_interval(values: Any, weight: Any = None, level: float = 0.95) -> Interval:
    """Interval of the (weighted) mean of one value between 0 and 1 for each query.

    Formula: `rate_interval` with a = value x weight and w = weight.
    Source: specification 18.4.
    Conventions: NaN values are left out; values outside 0 to 1 are refused (`bootstrap_interval` takes them); values
    that are 0 or 1 with equal weights have Wilson's limits over queries.
    Example, run by doctest:
    >>> interval = mean_interval([1, 1, 1, 0, 1, 0, 1, 0, 0, 1])
    >>> [round(limit, 6) for limit in (interval.low, interval.high)] == [round(x, 6) for x in wilson_interval(6, 10)]
    True
    """
    result = np.asarray(values, np.float64)
    share = np.ones(len(result)) if weight is None else np.asarray(weight, np.float64)
    defined = ~np.isnan(result)
    result, share = result[defined], share[defined]
    if len(result) and not (result.min() >= -1e-12 and result.max() <= 1 + 1e-12):
        raise InputError("a value lies outside 0 to 1", where="mean_interval", hint="Use bootstrap_interval.")
    return _over_queries(result * share, share, level)


def bootstrap_interval(
    statistic: Statistic, n: int, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """Interval of any number computed from n queries, from its values when queries are drawn again.

    Formula: percentiles of the resamples; with fewer than 50 queries bias-corrected and accelerated (BCa), at the
    tail Phi(t sqrt(n / (n-1))) instead of (1 - level)/2, with t the quantile of n - 1 degrees of freedom.
    Source: Efron 1987; the wider tails are those of Hesterberg 2015 (Am. Stat. 69, 3.2); specification 13.3, 18.4.
    Conventions: `statistic` takes how often each query is drawn, (resamples, n), and returns (resamples,) values; it
    is called with all queries once, with the draws, and (fewer than 50) with each query left out. Undefined resamples
    are left out. Fewer than 8 queries, or the same value in all resamples: no interval.
    Example, run by doctest:
    >>> difference = np.array([0.1, 0.3, -0.1, 0.2, 0.0, 0.4, 0.1, 0.2, 0.3])
    >>> bootstrap_interval(lambda times: times @ difference / times.sum(axis=1), 9)  # doctest: +ELLIPSIS
    Interval(low=0.0..., high=0.2..., no_interval=None)
    """
    _check_level(level)
    value = float(statistic(np.ones((1, n), np.int16))[0]) if n else float("nan")
    if np.isnan(value):
        return Interval.none(UNDEFINED)
    if n < MIN_QUERIES:
        return Interval.none(FEW)
    drawn = statistic(draw_queries(n, resamples, seed))
    drawn = drawn[~np.isnan(drawn)]
    if not len(drawn) or np.ptp(drawn.round(12)) == 0:
        return Interval.none(EQUAL)
    if n >= LARGE:
        return Interval(*percentile_interval(drawn, level))
    without = statistic((1 - np.eye(n)).astype(np.int16))
    return Interval(*_bca(value, drawn, without[~np.isnan(without)], level))


def percentile_interval(values: Floats, level: float = 0.95) -> tuple[float, float]:
    """The equal-tailed limits of resampled values (float64, any number of them).

    Formula: quantiles (1-level)/2 and (1+level)/2.
    Source: specification 13.3, `bootstrap_percentile`.
    Conventions: order statistics are interpolated linearly; undefined resamples (NaN) are left out; none left: NaN.
    Example, run by doctest:
    >>> percentile_interval(np.arange(101.0), 0.5)
    (25.0, 75.0)
    """
    _check_level(level)
    defined = values[~np.isnan(values)]
    if not len(defined):
        return float("nan"), float("nan")
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


@lru_cache(maxsize=4)  # the same draws serve every model and measure
def draw_queries(n: int, resamples: int = RESAMPLES, seed: int = 0) -> Multiplicity:
    """How often each of n queries is drawn in each resample: resamples x n, int16, every row adds to n.

    The same seed and n give the same draws, so that models are compared on the same resamples.

    >>> draw_queries(3, 2).sum(axis=1).tolist()
    [3, 3]
    """
    if n < 1 or resamples < 1:
        raise InputError(f"{resamples} resamples of {n} queries", hint="Give at least one of each.")
    rng = np.random.Generator(np.random.PCG64([seed, n]))
    result = np.empty((resamples, n), np.int16)
    for row in range(resamples):
        result[row] = np.bincount(rng.integers(0, n, n), minlength=n)
    result.flags.writeable = False
    return result


def resampled_means(values: Floats, times: Multiplicity, weight: Floats | None = None) -> Floats:
    """(resamples,) float64: the (weighted) mean of the values of the drawn queries, NaN left out.

    >>> resampled_means(np.array([1.0, np.nan, 0.0]), np.array([[3, 1, 1], [0, 3, 0]], np.int16)).tolist()
    [0.75, nan]
    """
    defined = ~np.isnan(values)
    share = np.where(defined, 1.0 if weight is None else weight, 0.0)
    sides = np.stack([np.where(defined, values, 0.0) * share, share], axis=1)
    above, below = (times.astype(np.float64) @ sides).T
    return np.where(below > 0, above / np.where(below > 0, below, 1), np.nan)


def _over_queries(a: Floats, w: Floats, level: float) -> Interval:
    """The interval of sum a / sum w; formula in `rate_interval`."""
    from scipy.special import chdtri, stdtrit

    _check_level(level)
    if a.shape != w.shape or not (np.isfinite(a).all() and np.isfinite(w).all() and (w >= 0).all()):
        raise InputError("invalid counts by query", where="interval", hint="Give one finite count for each query.")
    a, w = a[w > 0], w[w > 0]
    n = len(w)
    if not n:
        return Interval.none(UNDEFINED)
    if n < MIN_QUERIES:
        return Interval.none(FEW)
    if np.ptp((a / w).round(12)) == 0:
        return Interval.none(EQUAL)
    sums = np.array([a.sum(), w.sum(), (a * a).sum(), (a * w).sum(), (w * w).sum()])
    effect = float(_design_effect(sums, n))
    left_out = _design_effect(sums[:, None] - np.stack([a, w, a * a, a * w, w * w]), n - 1)
    logarithm = np.log(left_out[np.isfinite(left_out) & (left_out > 0)])
    spread = (n - 1) * float(logarithm.var()) if len(logarithm) else 0.0
    tail = (1 + level) / 2
    t = float(stdtrit(max(2 / spread, 2.5), tail)) if spread > 1e-9 else NormalDist().inv_cdf(tail)
    rate, size = sums[0] / sums[1], sums[1] ** 2 / sums[4] / effect
    low, high = (float(limit) for limit in _wilson(rate, size, t))
    few = [size * rate, size * (1 - rate)]  # positive and negative queries
    low, high = (
        min(low, chdtri(2 * few[0], level) / 2 / size) if few[0] < 3 - 1e-9 else low,
        max(high, 1 - chdtri(2 * few[1], level) / 2 / size) if few[1] < 3 - 1e-9 else high,
    )
    return Interval(max(float(low), 0.0), min(float(high), 1.0))


def _design_effect(sums: Floats, n: int) -> Floats:
    """The spread of n queries over that of queries whose pairs all agree; NaN where the rate is 0 or 1."""
    a, w, aa, aw, ww = sums
    rate = a / w
    most = rate * (1 - rate) * ww / n
    spread = np.maximum(aa - 2 * rate * aw + rate**2 * ww, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(most > 1e-15, (spread + most) / ((n + 1) * most), np.nan))


def _bca(value: float, drawn: Floats, without: Floats, level: float) -> tuple[float, float]:
    from scipy.special import ndtr, ndtri, stdtrit

    n = max(len(without), 2)
    below = ((drawn < value).mean() + (drawn <= value).mean()) / 2
    bias = ndtri(np.clip(below, 1 / len(drawn), 1 - 1 / len(drawn)))
    part = without.mean() - without if len(without) else np.zeros(1)
    square = (part**2).sum()
    skew = (part**3).sum() / (6 * square**1.5) if square > 0 else 0.0
    z = stdtrit(n - 1, (1 + level) / 2) * np.sqrt(n / (n - 1))
    ends = [bias + side * z for side in (-1, 1)]
    low, high = np.quantile(drawn, [float(ndtr(bias + end / max(1 - skew * end, 1e-9))) for end in ends])
    return float(low), float(high)


def _wilson(rate: Any, size: Any, z: float) -> tuple[Any, Any]:
    centre = (rate + z**2 / (2 * size)) / (1 + z**2 / size)
    half = z / (1 + z**2 / size) * np.sqrt(rate * (1 - rate) / size + z**2 / (4 * size**2))
    low = np.where(rate <= 0, 0.0, np.maximum(centre - half, 0.0))
    return low, np.where(rate >= 1, 1.0, np.minimum(centre + half, 1.0))


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise InputError(
            f"the confidence level is {level}", where="interval", hint="Give a number between 0 and 1, as 0.95."
        )


def _counts(a: Any, n: Any, level: float, weighted: bool) -> tuple[Floats, Floats]:
    _check_level(level)
    count, total = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(n, dtype=np.float64))
    whole = np.isfinite(count) & np.isfinite(total)
    if not weighted:
        whole &= (count == np.floor(count)) & (total == np.floor(total))
    wrong = ~(whole & (count >= 0) & (count <= total))
    if wrong.any():
        shown = f"{count[wrong].flat[0]:g} of {total[wrong].flat[0]:g}"
        raise InputError(f"invalid proportion {shown}", where="interval", hint="Give counts with 0 <= a <= n.")
    return count, total


def _shaped(limit: Any, a: Any, n: Any) -> Any:
    return float(limit) if np.ndim(a) == 0 and np.ndim(n) == 0 else np.asarray(limit, dtype=np.float64)
