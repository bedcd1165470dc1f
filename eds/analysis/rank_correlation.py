"""How alike two orderings of models are. Values are rounded to 12 decimals first: last-bit noise breaks no ties."""

import itertools
import math
from collections.abc import Sequence

import numpy as np

from eds.errors import InputError
from eds.pairs import Reals

DECIMALS = 12
FEWEST = 8  # models of which a tau is reported: of 4 a swap of neighbours changes it by 0.33, of 8 by 0.07
EXACT_UP_TO = 8  # items whose pairings are all enumerated
SLACK = 1e-9


def spearman(x: Sequence[float], y: Sequence[float]) -> dict[str, float]:
    """Spearman's rho, its p by Student's t, and its exact permutation p.

    Formula: Pearson's correlation of average ranks; p_t two-sided from t = rho sqrt((n-2)/(1-rho^2)); p_exact the
    share of all n! pairings with |rho_perm| >= |rho| - 1e-9.
    Source: specification 6.2.
    Conventions: p_exact for n up to 8, else NaN; n < 3 or a constant side: all NaN; |rho| = 1: p_t = 0. At six
    models rho = 0.83 is not significant at 5 %: read p_exact.
    Example, run by doctest:
    >>> {name: round(value, 6) for name, value in spearman([1, 2, 3, 4, 5, 6], [2, 3, 1, 4, 5, 6]).items()}
    {'rho': 0.828571, 'p_t': 0.041563, 'p_exact': 0.058333}
    """
    from scipy.special import stdtr

    first, second = _sides(x, y)
    n = len(first)
    if n < 3 or not np.ptp(first) or not np.ptp(second):
        return {"rho": float("nan"), "p_t": float("nan"), "p_exact": float("nan")}
    # Ranks doubled are whole numbers, so sums are exact; centred by n + 1.
    a, b = (2 * average_ranks(side) - (n + 1) for side in (first, second))
    norm = math.sqrt(float((a * a).sum()) * float((b * b).sum()))
    rho = float((a * b).sum()) / norm
    item = abs(rho) >= 1 - 1e-15
    t = float("inf") if item else abs(rho) * math.sqrt((n - 2) / (1 - rho**2))
    exact = float("nan")
    if n <= EXACT_UP_TO:
        every = b[np.array(list(itertools.permutations(range(n))))] @ a / norm
        exact = float((np.abs(every) >= abs(rho) - SLACK).mean())
    return {"rho": rho, "p_t": 0.0 if item else 2 * float(stdtr(n - 2, -t)), "p_exact": exact}


def kendall_tau(x: Sequence[float], y: Sequence[float]) -> dict[str, float]:
    """Kendall's tau_b and the pairs it counts.

    Formula: (C - D) / sqrt((pairs not tied in x) (pairs not tied in y)).
    Source: specification 13.4.
    Conventions: a constant side: NaN; a pair tied on a side is neither concordant nor discordant.
    Example, run by doctest:
    >>> kendall_tau([1, 2, 2, 3], [1, 3, 2, 4])
    {'tau_b': 0.9128709291752769, 'concordant': 5, 'discordant': 0}
    """
    first, second = (np.sign(side[:, None] - side[None, :]) for side in _sides(x, y))
    upper = np.triu_indices(len(first), 1)
    a, b = first[upper], second[upper]
    concordant, discordant = int((a * b > 0).sum()), int((a * b < 0).sum())
    below = math.sqrt(int((a != 0).sum()) * int((b != 0).sum()))
    return {
        "tau_b": (concordant - discordant) / below if below else float("nan"),
        "concordant": concordant,
        "discordant": discordant,
    }


def tau_ap(reference: Sequence[float], estimated: Sequence[float]) -> float:
    """Rank correlation that weighs the top more, against a reference.

    Formula: 2/(n-1) sum over i = 2..n of C(i)/(i-1), - 1; positions in `estimated`, C(i) the items above i that
    also lie above it in `reference`.
    Source: specification 13.4; Yilmaz, Aslam and Robertson 2008.
    Conventions: values, larger is better; ties on either side or n < 2: NaN; not symmetric.
    Example, run by doctest:
    >>> round(tau_ap([4, 3, 2, 1], [3, 4, 2, 1]), 6), round(tau_ap([4, 3, 2, 1], [4, 3, 1, 2]), 6)
    (0.333333, 0.777778)
    """
    true, result = _sides(reference, estimated)
    n = len(true)
    if n < 2 or len(np.unique(true)) < n or len(np.unique(result)) < n:
        return float("nan")
    return _above(true, result, n - 1)


def tau_ap_b(a: Sequence[float], b: Sequence[float]) -> float:
    """Symmetric tau_AP that allows ties.

    Formula: mean of both directions of 2/#{i with something strictly above} sum over i of
    (#strictly above in both)/(#strictly above), - 1.
    Source: specification 13.4; Urbano and Marrero 2017.
    Conventions: values, larger is better; a constant side: NaN.
    Example, run by doctest:
    >>> round(tau_ap_b([3, 3, 2, 1], [3, 2, 2, 1]), 6)
    0.416667
    """
    first, second = _sides(a, b)
    return (_directed(first, second) + _directed(second, first)) / 2


def average_ranks(values: Reals) -> Reals:
    """(n,) float64: ranks from 1, ascending; equal values share the mean of their ranks.

    >>> average_ranks(np.array([7.0, 5.0, 7.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, group, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return np.asarray((last - (count - 1) / 2)[group])


def competition_ranks(values: Sequence[float]) -> list[int]:
    """1 plus the number of strictly larger values, after rounding; an undefined value makes its own rank 0.

    >>> competition_ranks([0.5, 0.7, 0.5, 0.1])
    [2, 1, 2, 4]
    """
    rounded = np.round(np.asarray(values, np.float64), DECIMALS)
    return [0 if np.isnan(value) else int((rounded > value).sum()) + 1 for value in rounded]


def _directed(reference: Reals, estimated: Reals) -> float:
    ranked = int((estimated < estimated.max(initial=-np.inf)).sum())
    return _above(reference, estimated, ranked) if ranked else float("nan")


def _above(reference: Reals, estimated: Reals, ranked: int) -> float:
    """2/ranked times the sum of shares, - 1; rows of the matrices are items, columns those above."""
    higher = estimated[None, :] > estimated[:, None]
    agreed = (higher & (reference[None, :] > reference[:, None])).sum(axis=1)
    return float(2 / ranked * (agreed / np.maximum(higher.sum(axis=1), 1)).sum() - 1)


def _sides(x: Sequence[float], y: Sequence[float]) -> tuple[Reals, Reals]:
    first, second = (np.asarray(side, np.float64).round(DECIMALS) for side in (x, y))
    if first.ndim != 1 or first.shape != second.shape:
        raise InputError(f"{len(x)} values against {len(y)}", hint="Give one value of each for every item.")
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise InputError("a value is not a finite number", hint="Leave out items that have no value.")
    return first, second
