"""How far experts agree: observed, Krippendorff's alpha, Gwet's AC1, Fleiss' and Cohen's kappa.

All but Cohen's depend on an item only through how many said yes and how many no: so items are counted
by that pattern, and both estimates and resamples work on the few patterns. Not here: from labels to
ratings, and intervals (panel.py).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from eds.errors import InputError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Ratings = npt.NDArray[np.int8]  # items x experts: 1, 0, -1 where missing


def agreement(ratings: Sequence[Sequence[int | None]]) -> dict[str, Any]:
    """All agreement coefficients of ratings, items x experts, None where missing.

    Formula, source, conventions: `observed_agreement`, `krippendorff_alpha`, `gwet_ac1`, `fleiss_kappa`,
    `cohen_tables`; Cohen's by pair of columns, "0-1"; undefined is NaN.
    Example, run by doctest:
    >>> round(agreement([[1, 1], [0, 0], [1, 0]])["krippendorff_alpha"], 12)
    0.444444444444
    """
    experts = {len(row) for row in ratings}
    values = [-1 if value is None else value for row in ratings for value in row]
    if len(experts) > 1 or any(isinstance(value, bool) or value not in (-1, 0, 1) for value in values) or not experts:
        raise InputError("ratings are no matrix of 1, 0 and None", where="agreement", hint="Give a row for every item.")
    matrix = np.array(values, dtype=np.int8).reshape(len(ratings), experts.pop())
    positive, negative, weight = patterns((matrix == 1).sum(axis=1), (matrix == 0).sum(axis=1))
    yes, no = cohen_tables(matrix)
    kappa = cohen_kappa(yes, no)
    size = matrix.shape[1]
    return {
        "percent_agreement": float(observed_agreement(positive, negative, weight)),
        "krippendorff_alpha": float(krippendorff_alpha(positive, negative, weight)),
        "gwet_ac1": float(gwet_ac1(positive, negative, weight)),
        "fleiss_kappa": float(fleiss_kappa(positive, negative, weight)),
        "cohen_kappa": {f"{a}-{b}": float(kappa[a, b]) for a in range(size) for b in range(a + 1, size)},
    }


def patterns(positive: Ints, negative: Ints) -> tuple[Ints, Ints, Ints]:
    """The distinct (yes, no) counts of items, sorted, and how many items have each: three int64 arrays."""
    base = int(negative.max(initial=0)) + 1
    keys, weight = np.unique(positive.astype(np.int64) * base + negative, return_counts=True)
    return keys // base, keys % base, weight.astype(np.int64)


def observed_agreement(positive: Ints, negative: Ints, weight: npt.NDArray[Any]) -> Floats:
    """The share of agreeing pairs of experts, averaged over items.

    Formula: mean over items with m >= 2 ratings of (C(p,2) + C(n,2)) / C(m,2).
    Source: specification 13.6.
    Conventions: `weight` is items by pattern, or resamples x patterns; the answer has a number for each resample;
    no item with two ratings: NaN.
    Example, run by doctest:
    >>> float(observed_agreement(np.array([2, 1]), np.array([0, 1]), np.array([9, 1])))
    0.9
    """
    rated, pairable = _pairable(positive, negative)
    agreeing = 1 - 2 * positive * negative / np.where(pairable, rated * (rated - 1), 1)
    return _ratio(weight @ np.where(pairable, agreeing, 0), weight @ pairable)


def krippendorff_alpha(positive: Ints, negative: Ints, weight: npt.NDArray[Any]) -> Floats:
    """Krippendorff's alpha for nominal ratings, missing ones allowed.

    Formula: 1 - D_o / D_e; D_o = (1/N) sum over items of 2pn/(m-1), D_e = 2 P (N-P) / (N(N-1)), N the ratings, P the
    positive ones, of items with m >= 2 ratings.
    Source: Krippendorff 2004; specification 13.6.
    Conventions: as `observed_agreement`; one category only: undefined, NaN. It collapses at high prevalence: show
    it beside agreement and AC1.
    Example, run by doctest:
    >>> round(float(krippendorff_alpha(np.array([0, 1, 2]), np.array([2, 1, 0]), np.array([5, 10, 85]))), 12)
    0.447222222222
    """
    rated, pairable = _pairable(positive, negative)
    observed = weight @ np.where(pairable, 2 * positive * negative / np.maximum(rated - 1, 1), 0)
    total, yes = weight @ np.where(pairable, rated, 0), weight @ np.where(pairable, positive, 0)
    expected = 2 * yes * (total - yes)
    return 1 - _ratio(observed * (total - 1), expected)


def gwet_ac1(positive: Ints, negative: Ints, weight: npt.NDArray[Any]) -> Floats:
    """Gwet's AC1: chance agreement that does not grow with prevalence.

    Formula: (P_o - P_e) / (1 - P_e), P_e = 2 pi (1-pi), P_o the observed agreement.
    Source: Gwet 2008; specification 13.6.
    Conventions: pi is the mean share of positives over items with at least one rating; P_o over those with two.
    Example, run by doctest:
    >>> round(float(gwet_ac1(np.array([0, 1, 2]), np.array([2, 1, 0]), np.array([5, 10, 85]))), 12)
    0.878048780488
    """
    rated = positive + negative
    share = _ratio(weight @ (positive / np.maximum(rated, 1)), weight @ (rated > 0))
    chance = 2 * share * (1 - share)
    return np.asarray((observed_agreement(positive, negative, weight) - chance) / (1 - chance))


def fleiss_kappa(positive: Ints, negative: Ints, weight: npt.NDArray[Any]) -> Floats:
    """Fleiss' kappa, of complete data only: every item has the same number of ratings, by any raters.

    Formula: 1 - (1 - P_o) / (2 pi (1-pi)), pi the share of positives among all ratings.
    Source: Fleiss 1971; specification 13.6.
    Conventions: items with different numbers of ratings, or one category only: undefined, NaN.
    Example, run by doctest:
    >>> round(float(fleiss_kappa(np.array([0, 1, 2]), np.array([2, 1, 0]), np.array([5, 10, 85]))), 12)
    0.444444444444
    """
    observed = observed_agreement(positive, negative, weight)
    rated = positive + negative
    if not len(rated) or rated[0] < 2 or (rated != rated[0]).any():
        return np.full_like(observed, np.nan)
    yes, no = weight @ positive, weight @ negative
    return 1 - _ratio((1 - observed) * (yes + no) ** 2, 2 * yes * no)


def cohen_tables(ratings: Ratings) -> tuple[Ints, Ints]:
    """For ratings (int8, items x experts): `yes[a, b]` and `no[a, b]`, two int64 arrays experts x experts x 2.

    `yes[a, b]` counts items where a said yes and b yes or no; `no[a, b]` those where a said no.
    """
    said = [(ratings == value).astype(np.float64) for value in (1, 0)]
    tables = [np.stack([own.T @ other for other in said], axis=-1).astype(np.int64) for own in said]
    return tables[0], tables[1]


def cohen_kappa(yes: Ints, no: Ints) -> Floats:
    """Cohen's kappa of every two experts, a float64 matrix, from `cohen_tables`.

    Formula: (p_o - p_e) / (1 - p_e), p_e = a b + (1-a)(1-b) with a and b the experts' shares of positives.
    Source: Cohen 1960; specification 13.6.
    Conventions: over items both judged; none, or no disagreement to be expected: NaN.
    Example, run by doctest:
    >>> yes, no = cohen_tables(np.array([[1, 1], [0, 0], [1, 0], [1, 1]], dtype=np.int8))
    >>> cohen_kappa(yes, no)[0, 1]
    np.float64(0.5)
    """
    both = (yes + no).sum(axis=-1)
    disagreed = yes[..., 1] + no[..., 0]
    first, second = yes.sum(axis=-1), yes[..., 0] + no[..., 0]
    expected = first * (both - second) + (both - first) * second  # disagreements by chance, times both
    return 1 - _ratio(disagreed * both, expected)


def _pairable(positive: Ints, negative: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
    rated = positive + negative
    return rated, rated >= 2


def _ratio(above: Any, below: Any) -> Floats:
    """The ratio, NaN where nothing stands below."""
    top, bottom = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    return np.asarray(np.where(bottom == 0, np.nan, top / np.where(bottom == 0, 1, bottom)))
