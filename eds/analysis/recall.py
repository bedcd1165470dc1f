"""How many positives there are in all, from strata that were judged in part; and what share the pool holds."""

import math
from collections.abc import Mapping, Sequence

from eds import choices
from eds.analysis.totals import Estimate, Sampled, outside_total, share_of
from eds.errors import InputError

Stratum = Mapping[str, int]  # N pairs, n drawn and judged, a of them positive


def stratified_estimate(strata: Sequence[Stratum]) -> dict[str, float]:
    """Positives among all pairs, from uniform draws without replacement in each stratum.

    Formula: T = sum of N_h a_h / n_h; p = T / N; Var T = sum of N_h^2 (1 - n_h/N_h) p_h (1-p_h) / (n_h - 1).
    Source: specification 13.2; Cochran 1977.
    Conventions: a census (n = N) adds no variance; empty strata are passed over; a stratum that is not empty but not
    sampled, and a single draw from a larger one, make everything NaN; no pairs at all: NaN.
    Example, run by doctest:
    >>> stratified_estimate([{"N": 10, "n": 10, "a": 2}, {"N": 100, "n": 5, "a": 1}])["total"]
    22.0
    """
    known = [checked(stratum, place) for place, stratum in enumerate(strata)]
    pairs = sum(size for size, _, _ in known)
    total = variance = 0.0
    for size, drawn, positive in known:
        if not size:
            continue
        if not drawn or (drawn == 1 and size > 1):
            total = variance = float("nan")
            continue
        total += size * positive / drawn
        if drawn < size:
            rate = positive / drawn
            variance += size**2 * (1 - drawn / size) * rate * (1 - rate) / (drawn - 1)
    return {
        "total": total,
        "p": total / pairs if pairs else float("nan"),
        "variance_total": variance,
        "standard_error_p": math.sqrt(variance) / pairs if pairs else float("nan"),
    }


def horvitz_thompson(y: Sequence[float], pi: Sequence[float]) -> dict[str, float]:
    """A total from draws of unequal probability.

    Formula: total = sum of y / pi; variance of Poisson sampling = sum of (1 - pi) y^2 / pi^2.
    Source: specification 13.2; Horvitz and Thompson 1952.
    Conventions: pi is the probability with which a row came into the sample, above 0 and up to 1.
    Example, run by doctest:
    >>> horvitz_thompson([1, 0, 1, 1], [0.5, 0.2, 0.25, 1])
    {'total': 7.0, 'variance_poisson': 14.0}
    """
    if len(y) != len(pi):
        raise InputError(f"{len(y)} values but {len(pi)} probabilities", hint="Give one probability for each value.")
    if any(not 0 < chance <= 1 for chance in pi) or any(not math.isfinite(value) for value in y):
        raise InputError(
            "a probability is not above 0 and up to 1, or a value is not a number", hint="Correct the sample."
        )
    pairs = list(zip(y, pi, strict=True))
    return {
        "total": math.fsum(value / chance for value, chance in pairs),
        "variance_poisson": math.fsum((1 - chance) * value**2 / chance**2 for value, chance in pairs),
    }


def pool_recall(
    pool_positives: int, outside: Sequence[Stratum], level: float = 0.95, limits: str = "simultaneous"
) -> dict[str, float]:
    """The share of all positives that the pool holds, with limits.

    Formula: T_pool / (T_pool + T_out), T_out = sum of T_h = N_h a_h / n_h. Limits `simultaneous`: in each of H strata
    that are sampled, Clopper-Pearson at level 1 - (1 - level)/H, times N_h, clipped to [a_h, N_h - (n_h - a_h)]; added;
    transformed. Limits `squared`: the same of each stratum at `level` itself; their distances from T_h added as
    squares, as errors of independent draws add.
    Source: specification 13.2 (`simultaneous`); Zou and Donner 2008 (`squared`). Wald limits are not offered: a_h is
    often 0 or 1.
    Conventions: with one sampled stratum both are the same; with more, `simultaneous` covers at least `level`, in
    practice nearly always, and `squared` about `level`. A census adds its count without error; a stratum that is not
    sampled makes the recall NaN and the lower limit what it is if all of it were positive; no positive anywhere: NaN.
    Example, run by doctest:
    >>> round(pool_recall(100, [{"N": 10000, "n": 300, "a": 0}])["lower"], 6)
    0.450025
    """
    if pool_positives < 0:
        raise InputError(f"pool_positives is {pool_positives}", hint="Give a count.")
    if not 0 < level < 1:
        raise InputError(f"level is {level}", hint="Give a number between 0 and 1, as 0.95.")
    choices.check(choices.RecallLimits, limits, "limits")
    known = [checked(stratum, place) for place, stratum in enumerate(outside)]
    parts = [Sampled("", size, drawn, drawn, positive) for size, drawn, positive in known]
    pool = Estimate(pool_positives, pool_positives, pool_positives)
    held = share_of(pool, outside_total(parts, level, limits))
    return {"recall": held.value, "lower": held.low, "upper": held.high}


def checked(stratum: Stratum, place: int) -> tuple[int, int, int]:
    """(N, n, a) of a stratum, refused if they cannot be counts of one sample."""
    result = [stratum.get(name) for name in ("N", "n", "a")]
    size, drawn, positive = (
        value if isinstance(value, int) and not isinstance(value, bool) else -1 for value in map(_whole, result)
    )
    if not 0 <= positive <= drawn <= size:
        raise InputError(
            f"N, n, a are {', '.join(map(str, result))}",
            where=f"stratum {place}",
            hint="Give counts with 0 <= a <= n <= N.",
        )
    return size, drawn, positive


def _whole(value: object) -> object:
    return int(value) if hasattr(value, "__index__") and not isinstance(value, bool) else value
