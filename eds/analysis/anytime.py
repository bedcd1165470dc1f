"""Limits that stay valid however often somebody looks, and whenever work stops: confidence sequences."""

import math

from eds.errors import InputError

BEST_AT = 0.25  # share of the work at which a mixture is narrowest


def beta_binomial_sequence(a: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Limits of a rate after a positives in n draws that hold at every n at once.

    Formula: the p with p^a (1-p)^(n-a) >= (1 - level) B(a + 1/2, n - a + 1/2) / B(1/2, 1/2): with Jeffreys' prior as
    the mixture, the likelihood ratio of the mixture to p is a martingale, and Ville's inequality bounds it for all n.
    Source: Robbins 1970; Howard et al. 2021 (Ann. Statist. 49, beta-binomial mixtures). The packages confseq (needs a
    compiler and Boost) and ville bring more than this formula.
    Conventions: counts may be effective ones; nothing drawn: 0 to 1. Draws without replacement are covered, too.
    Example, run by doctest:
    >>> [round(limit, 4) for limit in beta_binomial_sequence(20, 1000)]
    [0.0078, 0.0406]
    """
    from scipy.optimize import brentq
    from scipy.special import betaln

    if not 0 <= a <= n or not 0 < level < 1:
        raise InputError(f"{a} positives in {n} draws at level {level}", hint="Give 0 <= a <= n, and 0 < level < 1.")
    if not n:
        return 0.0, 1.0
    least = math.log(1 - level) + float(betaln(a + 0.5, n - a + 0.5)) - float(betaln(0.5, 0.5))

    def above(p: float) -> float:
        return (a * math.log(p) if a else 0.0) + ((n - a) * math.log1p(-p) if n > a else 0.0) - least

    rate, edge = min(max(a / n, 1e-15), 1 - 1e-15), 1e-15
    low = brentq(above, edge, rate, xtol=1e-15) if a and above(edge) < 0 < above(rate) else 0.0
    high = brentq(above, rate, 1 - edge, xtol=1e-15) if a < n and above(1 - edge) < 0 < above(rate) else 1.0
    return float(low), float(high)


def mixture_factor(n: float, best_at: float, level: float = 0.95) -> float:
    """How many standard errors wide a limit is that holds at every n at once; a fixed n has 1.96 at 95 %.

    Formula: sqrt((1 + 1/(n r)) (ln(n r + 1) - 2 ln a)), r = (-2 ln a + ln(1 - 2 ln a)) / best_at, a = 1 - level.
    Source: Robbins 1970; Waudby-Smith et al. 2024 (Ann. Statist. 52, asymptotic confidence sequences), 2.2 and B.2.
    Conventions: n counts independent observations, from about 50 on; it is smallest near `best_at` observations.
    Example, run by doctest:
    >>> round(mixture_factor(500, 500), 2), round(mixture_factor(5000, 500), 2)
    (3.04, 3.24)
    """
    if not n > 0 or not best_at > 0 or not 0 < level < 1:
        raise InputError(f"n is {n}, best_at {best_at}, level {level}", hint="Give numbers above 0, and a share.")
    double = -2 * math.log(1 - level)
    scaled = n * (double + math.log(1 + double)) / best_at
    return math.sqrt((1 + 1 / scaled) * (math.log(scaled + 1) + double))
