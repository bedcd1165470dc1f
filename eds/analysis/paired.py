"""Whether one model is better than another beyond the chance of the queries; and many such questions at once."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from eds.errors import InputError
from eds.intervals import NOT_REQUESTED, UNDEFINED, Interval, Multiplicity, bootstrap_interval
from eds.pairs import Reals

EXACT_UP_TO = 12  # differences whose sign patterns are all enumerated
SLACK = 1e-12
RESAMPLED = 200  # resamples of queries that are counted at once
BLOCK = 1 << 22  # signs drawn at once


def paired_p(differences: Reals, weight: Reals | None = None) -> float:
    """Two-sided p of paired differences by query, with a tail that reaches as far as many comparisons need.

    Formula: up to 12 differences the exact share of sign patterns (`sign_flip_test`) of the weighted differences; for
    more, Student's t with n - 1 degrees of freedom of t = d / se, d = sum(w x) / sum(w) and se = sqrt(n / (n - 1))
    sqrt(sum(w^2 (x - d)^2)) / sum(w), the standard error of the query bootstrap with n - 1 in place of n; at least the
    2^(1-n) of a pattern of signs and its mirror image.
    Source: specification 18.2 (an exact or normal tail: Holm over 1,770 pairs needs p < 0.00003, which 10,000 drawn
    patterns cannot show); 13.3.
    Conventions: differences are finite; all 0: 1; none: NaN; without weights a plain mean.
    Example, run by doctest:
    >>> paired_p(np.array([0.1, 0.2, 0.05, 0.3, 0.1])), paired_p(np.full(30, 0.1))
    (0.0625, 1.862645149230957e-09)
    """
    from scipy.special import stdtr

    n = len(differences)
    share = np.ones(n) if weight is None else weight
    if not n or not share.sum():
        return float("nan")
    if n <= EXACT_UP_TO:
        return sign_flip_test(differences * share)
    mean = float((differences * share).sum() / share.sum())
    error = math.sqrt(n / (n - 1) * float((share**2 * (differences - mean) ** 2).sum())) / float(share.sum())
    if abs(mean) <= SLACK * float(np.abs(differences).max()):
        return 1.0
    p = 2 * float(stdtr(n - 1, -abs(mean) / error)) if error else 0.0
    return max(p, 2.0 ** (1 - n))


def resampled_columns(columns: Reals, share: npt.NDArray[Any], times: Multiplicity) -> Reals:
    """(resamples, columns) float64: `resampled_means` of each column, weighted by `share`; both are (queries, columns).

    >>> resampled_columns(np.array([[1.0], [np.nan]]), np.array([[True], [False]]), np.array([[2, 0], [1, 1]])).tolist()
    [[1.0], [1.0]]
    """
    weight = share.astype(np.float64)
    known = np.where(weight > 0, columns, 0.0) * weight
    places: dict[bytes, int] = {}
    column_of = np.array([places.setdefault(column.tobytes(), len(places)) for column in weight.T], np.int64)
    masks = weight[:, np.unique(column_of, return_index=True)[1]]  # as a rule one for all columns
    result = np.empty((len(times), columns.shape[1]))
    for start in range(0, len(times), RESAMPLED):
        block = times[start : start + RESAMPLED].astype(np.float64)
        below = (block @ masks)[:, column_of]
        with np.errstate(invalid="ignore", divide="ignore"):
            result[start : start + RESAMPLED] = np.where(below > 0, (block @ known) / below, np.nan)
    return result


def column_interval(columns: Reals | None, level: float, resamples: int, seed: int) -> Interval:
    """The interval of the mean over columns of their means over queries, (queries, columns) with NaN where undefined.

    >>> column_interval(None, 0.95, 2000, 0).no_interval
    'the value is undefined'
    """
    if columns is None:
        return Interval.none(UNDEFINED)
    if not resamples:
        return Interval.none(NOT_REQUESTED)
    known = ~np.isnan(columns)
    return bootstrap_interval(
        lambda times: resampled_columns(columns, known, times).mean(axis=1), len(columns), level, resamples, seed
    )


def difference_interval(
    first: Reals, second: Reals, shares: tuple[Reals, Reals], level: float, resamples: int, seed: int
) -> Interval:
    """The interval of second - first, each a (weighted) mean over the queries that it is defined on.

    Formula: percentiles (fewer than 50 queries: BCa) of the difference when queries are drawn again, the same for both.
    Source: specification 18.2, 18.4.
    Conventions: `first` and `second` are (queries,) with NaN or weight 0 where undefined; without resamples none.
    Example, run by doctest:
    >>> values = np.linspace(0, 1, 9)
    >>> difference_interval(values, values + 0.1 * values, (np.ones(9), np.ones(9)), 0.95, 0, 0).no_interval
    'not requested'
    """
    if not resamples:
        return Interval.none(NOT_REQUESTED)
    columns = np.stack([first, second], axis=1)
    weights = np.where(np.isnan(columns), 0.0, np.stack(shares, axis=1))

    def difference(times: Multiplicity) -> Reals:
        means = resampled_columns(columns, weights, times)
        return np.asarray(means[:, 1] - means[:, 0])

    return bootstrap_interval(difference, len(columns), level, resamples, seed)


def sign_flip_test(differences: Sequence[float] | Reals, resamples: int = 10_000, seed: int = 0) -> float:
    """Two-sided p of paired differences, by turning their signs.

    Formula: the share of sign patterns with |sum| >= |observed sum|; for more than 12 differences Monte Carlo,
    (1 + count) / (1 + resamples), at least the 2^(1-n) of the pattern itself and its mirror image.
    Source: specification 13.3; Smucker, Allan and Carterette 2007.
    Conventions: zeros stay in; six queries are needed to reach 5 %; equal up to 1e-12 of the sum of sizes counts as
    equal; nothing to compare: NaN.
    Example, run by doctest:
    >>> sign_flip_test([0.1, 0.2, 0.05, 0.3, 0.1])
    0.0625
    """
    if resamples < 1:
        raise InputError(f"resamples is {resamples}", hint="Give 1 or more.")
    values = np.asarray(differences, np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise InputError("a difference is not a finite number", hint="Leave out queries that one model lacks.")
    if not len(values):
        return float("nan")
    return _exact(values) if len(values) <= EXACT_UP_TO else _drawn(values, resamples, seed)


def _exact(values: Reals) -> float:
    """The p over all sign patterns."""
    n = len(values)
    signs = 1 - 2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1)
    return float((np.abs(signs @ values) >= _least(values)).mean())


def _drawn(values: Reals, resamples: int, seed: int) -> float:
    """The p over drawn sign patterns.

    Flipping changes a sum by twice the flipped part. Sizes are sorted: neither row order nor which model comes first
    plays a part.
    """
    n = len(values)
    rng = np.random.Generator(np.random.PCG64([seed, n]))
    least, ordered = _least(values), np.sort(np.abs(values))
    total, count, done = ordered.sum(), 0, 0
    while done < resamples:
        rows = min(resamples - done, max(1, BLOCK // n))
        flipped = rng.integers(0, 2, (rows, n), dtype=np.int8).astype(np.float64) @ ordered
        count += int((np.abs(total - 2 * flipped) >= least).sum())
        done += rows
    # No enumeration could give less than the pattern itself and its mirror image.
    return max((1 + count) / (1 + resamples), 2.0 ** (1 - n))


def _least(values: Reals) -> float:
    """The size from which a sum counts as at least as large as the observed one."""
    return abs(math.fsum(values)) - SLACK * max(float(np.abs(values).sum()), 1e-300)


def holm(p: Sequence[float]) -> list[float]:
    """Adjusted p that keep the chance of any false finding at the level.

    Formula: ascending, the running maximum of (m - i + 1) p_i, at most 1.
    Source: specification 13.3; Holm 1979.
    Conventions: in the order given.
    Example, run by doctest:
    >>> holm([0.01, 0.04, 0.03, 0.005])
    [0.03, 0.06, 0.06, 0.02]
    """
    values = _checked(p)
    order = np.argsort(values, kind="stable")
    adjusted = np.maximum.accumulate(np.arange(len(values), 0, -1) * values[order])
    return _in_place(adjusted, order)


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Adjusted p that keep the share of false findings at the level.

    Formula: descending, the running minimum of m p_i / i, at most 1.
    Source: specification 13.3; Benjamini and Hochberg 1995.
    Conventions: in the order given.
    Example, run by doctest:
    >>> benjamini_hochberg([0.01, 0.04, 0.03, 0.005])
    [0.02, 0.04, 0.04, 0.02]
    """
    values = _checked(p)
    order = np.argsort(values, kind="stable")
    scaled = len(values) * values[order] / np.arange(1, len(values) + 1)
    return _in_place(np.minimum.accumulate(scaled[::-1])[::-1], order)


def _checked(p: Sequence[float]) -> Reals:
    values = np.asarray(p, np.float64)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise InputError("a p is not a number from 0 to 1", hint="Leave out comparisons that are undefined.")
    return values


def _in_place(adjusted: Reals, order: "np.ndarray[tuple[int], np.dtype[np.intp]]") -> list[float]:
    result = np.empty(len(order))
    result[order] = np.minimum(adjusted, 1.0)
    return [float(value) for value in result]
