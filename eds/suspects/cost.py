"""How many pairs there are, and what judging them costs: all of them, the pool, or random ones."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from eds.errors import InputError
from eds.pairs import Reals
from eds.suspects.codes import whole

YEAR = 365.25 * 86400  # seconds
LONGEST = 900.0  # seconds of a judgement that count as work; longer ones include a pause


@dataclass(frozen=True)
class Rate:
    """A number, and where it is from."""

    value: float
    measured: bool
    source: str = ""


def label_rate(seconds: Reals, assumed: float) -> Rate:
    """Seconds of a judgement: the mean of the timed ones (NaN: not timed), pauses cut; without any the assumed number.

    >>> label_rate(np.array([10.0, np.nan, 14.0]), 15).value, label_rate(np.array([]), 15).source
    (12.0, 'configured: 15 s a judgement (budget.seconds)')
    """
    timed = np.minimum(seconds[~np.isnan(seconds)], LONGEST)
    if not len(timed) or not timed.mean() > 0:
        return Rate(assumed, False, f"configured: {assumed:g} s a judgement (budget.seconds)")
    return Rate(float(timed.mean()), True, f"measured: {timed.mean():.1f} s a judgement, the mean of {len(timed):,}")


def n_pairs(queries: Collection[str], gallery: Collection[str]) -> int:
    """All ordered pairs that could be asked.

    Formula: |A| = |Q| |D| - |Q and D|.
    Source: specification 1.3.
    Conventions: a query is not its own candidate; queries outside the gallery lose nothing.
    Example, run by doctest:
    >>> n_pairs(["a", "b"], ["a", "b", "c", "d", "e"])
    8
    """
    for name, ids in (("queries", queries), ("gallery", gallery)):
        if len(set(ids)) < len(ids):
            raise InputError(f"{name} hold an id twice", hint="Give every id once.")
    return len(queries) * len(gallery) - len(set(queries) & set(gallery))


def labelling_cost(
    n_queries: int,
    n_gallery: int,
    n_queries_in_gallery: int,
    n_models: int,
    k: int,
    seconds_per_label: float,
    pool_size: int | None = None,
) -> dict[str, float]:
    """Labels per expert for all pairs and for the pool, and how many times fewer the pool needs.

    Formula: eds_upper_bound = |Q| |M| min(k, |D|); reduction_lower_bound = |A| / eds_upper_bound;
    reduction_actual = |A| / |S_k|; duplication_rate = 1 - |S_k| / (|Q| |M| k).
    Source: specification 1.3.
    Conventions: a year is 365.25 x 86,400 s of uninterrupted judging; the last two need `pool_size`.
    Example, run by doctest:
    >>> labelling_cost(1000, 10_000, 0, 6, 6, 15)["reduction_lower_bound"]
    277.77777777777777
    """
    for name, count in (("n_queries", n_queries), ("n_gallery", n_gallery), ("n_models", n_models), ("k", k)):
        whole(count, name, 1)
    most = min(n_queries, n_gallery)
    if whole(n_queries_in_gallery, "n_queries_in_gallery", 0) > most:
        raise InputError(f"{n_queries_in_gallery} queries in the gallery are too many", hint=f"Give at most {most}.")
    pairs = n_queries * n_gallery - n_queries_in_gallery
    bound = n_queries * n_models * min(k, n_gallery)
    cost: dict[str, float] = {
        "n_pairs": pairs,
        "eds_upper_bound": bound,
        "reduction_lower_bound": pairs / bound,
        "brute_force_years": pairs * seconds_per_label / YEAR,
    }
    if pool_size is not None:
        if not 0 < whole(pool_size, "pool_size", 0) <= bound:
            raise InputError(
                f"pool_size is {pool_size}", hint=f"Give a number from 1 to {bound} (queries x models x k)."
            )
        cost["reduction_actual"] = pairs / pool_size
        cost["duplication_rate"] = 1 - pool_size / (n_queries * n_models * k)
    return cost


def expected_draws_for_positives(n_pairs: int, n_positive: int, h: int) -> dict[str, float]:
    """Uniform random pairs to be judged until h positives are found.

    Formula: with replacement h N / R; without replacement h (N + 1) / (R + 1).
    Source: specification 1.4.
    Conventions: N pairs of which R are positive; without replacement NaN where h > R.
    Example, run by doctest:
    >>> expected_draws_for_positives(10**7, 10**4, 100)
    {'with_replacement': 100000.0, 'without_replacement': 99990.0109989001}
    """
    if not 0 <= whole(n_positive, "n_positive", 0) <= whole(n_pairs, "n_pairs", 1):
        raise InputError(
            f"{n_positive} positives among {n_pairs} pairs", hint="Give at most as many as there are pairs."
        )
    whole(h, "h", 1)
    return {
        "with_replacement": h * n_pairs / n_positive if n_positive else float("nan"),
        "without_replacement": h * (n_pairs + 1) / (n_positive + 1) if h <= n_positive else float("nan"),
    }
