"""Confidence intervals of proportions, and percentile intervals of a bootstrap.

Plain numbers or arrays go in, limits of the same shape come out.
"""

from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from eds.errors import InputError

Floats = npt.NDArray[np.float64]


def wilson_interval(a: Any, n: Any, level: float = 0.95) -> tuple[Any, Any]:
    """Wilson's score limits of a proportion, a of n: the default for rates that are shown.

    Formula: centre (p + z^2/2n) / (1 + z^2/n), half-width z / (1 + z^2/n) sqrt(p(1-p)/n + z^2/4n^2), p = a/n.
    Source: Wilson 1927; specification 13.1.
    Conventions: `a` and `n` are counts, numbers or arrays of one shape; the lower limit is exactly 0 at a = 0, the
    upper exactly 1 at a = n; nothing counted (n = 0) gives [0, 1].
    Example, run by doctest:
    >>> [round(limit, 12) for limit in wilson_interval(2, 2000)]
    [0.000274278918, 0.003638934269]
    """
    count, total = _counts(a, n, level)
    z = NormalDist().inv_cdf((1 + level) / 2)
    size = np.maximum(total, 1)
    rate = count / size
    centre = (rate + z**2 / (2 * size)) / (1 + z**2 / size)
    half = z / (1 + z**2 / size) * np.sqrt(rate * (1 - rate) / size + z**2 / (4 * size**2))
    low = np.where(count == 0, 0.0, np.maximum(centre - half, 0.0))
    high = np.where(count == total, 1.0, np.minimum(centre + half, 1.0))
    return _shaped(low, a, n), _shaped(high, a, n)


def clopper_pearson_interval(a: Any, n: Any, level: float = 0.95) -> tuple[Any, Any]:
    """Exact limits of a proportion, a of n: the default for p and for bounds.

    Formula: with t = (1 - level)/2, quantile t of Beta(a, n-a+1) and quantile 1-t of Beta(a+1, n-a).
    Source: Clopper and Pearson 1934; specification 13.1.
    Conventions: as `wilson_interval`; it covers at least `level`, whatever the true rate.
    Example, run by doctest:
    >>> [round(float(limit), 12) for limit in clopper_pearson_interval(2, 2000)]
    [0.000121127591, 0.00360762857]
    """
    from scipy.special import betaincinv

    count, total = _counts(a, n, level)
    tail = (1 - level) / 2
    rest = total - count
    low = np.where(count == 0, 0.0, betaincinv(np.maximum(count, 1), rest + 1, tail))
    high = np.where(rest == 0, 1.0, betaincinv(count + 1, np.maximum(rest, 1), 1 - tail))
    return _shaped(low, a, n), _shaped(high, a, n)


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


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise InputError(
            f"the confidence level is {level}", where="interval", hint="Give a number between 0 and 1, as 0.95."
        )


def _counts(a: Any, n: Any, level: float) -> tuple[Floats, Floats]:
    _check_level(level)
    count, total = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(n, dtype=np.float64))
    whole = np.isfinite(count) & np.isfinite(total) & (count == np.floor(count)) & (total == np.floor(total))
    wrong = ~(whole & (count >= 0) & (count <= total))
    if wrong.any():
        shown = f"{count[wrong].flat[0]:g} of {total[wrong].flat[0]:g}"
        raise InputError(f"invalid proportion {shown}", where="interval", hint="Give counts with 0 <= a <= n.")
    return count, total


def _shaped(limit: Any, a: Any, n: Any) -> Any:
    return float(limit) if np.ndim(a) == 0 and np.ndim(n) == 0 else np.asarray(limit, dtype=np.float64)
