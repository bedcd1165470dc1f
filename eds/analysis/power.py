"""What so many queries and judged pairs can show: the differences, rates and bounds that come out of them."""

import math
from statistics import NormalDist

from eds.errors import InputError
from eds.intervals import wilson_interval


def certainty(
    n_queries: int,
    n_pairs: int,
    rate: float = 0.5,
    *,
    level: float = 0.95,
    power: float = 0.8,
    sd: float = 0.15,
) -> dict[str, float]:
    """The smallest difference between models that is detected, the width of a rate, the p below which none is seen.

    Formula: smallest_difference = (z_level + z_power) sd / sqrt(n_queries), the inverse of paired_queries in
    sample_size; half_width = half of Wilson's interval at `rate` of n_pairs; p_below = 1 - (1 - level)^(1 / n_pairs),
    the inverse of zero_events: what p is below if n_pairs random pairs hold no positive.
    Source: specification 13.1.
    Conventions: two-sided z of `level`; `sd` is the spread of the queries' differences between two models.
    Example, run by doctest:
    >>> {name: round(value, 6) for name, value in certainty(442, 2000, 0.1).items()}
    {'smallest_difference': 0.019989, 'half_width': 0.013158, 'p_below': 0.001497}
    """
    faults = [
        f"{name} is {value}; give 1 or more"
        for name, value in (("n_queries", n_queries), ("n_pairs", n_pairs))
        if value < 1
    ]
    faults += [] if 0 <= rate <= 1 else [f"rate is {rate}; give a share"]
    faults += [] if 0 < level < 1 and 0 < power < 1 else ["level and power lie between 0 and 1"]
    faults += [] if sd > 0 else [f"sd is {sd}; give more than 0"]
    if faults:
        raise InputError("invalid counts", where="power", hint="Correct:", faults=faults)
    z = NormalDist().inv_cdf
    low, high = wilson_interval(round(rate * n_pairs), n_pairs, level)
    return {
        "smallest_difference": (z((1 + level) / 2) + z(power)) * sd / math.sqrt(n_queries),
        "half_width": float(high - low) / 2,
        "p_below": -math.expm1(math.log1p(-level) / n_pairs),
    }
