"""How rare positives are among all pairs: bounds, an estimate from random draws, and what the pool gains over them."""

import math

from eds.errors import InputError

CEILING = 1 - 1e-12  # whole numbers of draws: rounding of the division must not add one


def p_lower_bound(positives: int, n_pairs: int) -> float:
    """The least that p can be: the positives that are known, over all pairs.

    Formula: positives / |A|.
    Source: specification 3.
    Conventions: positives of the pool are counted once, in whatever way they were found.
    Example, run by doctest:
    >>> round(p_lower_bound(45920, 105_422_000), 15)
    0.000435582705697
    """
    if not 0 <= positives <= n_pairs or n_pairs < 1:
        raise InputError(
            f"{positives} positives among {n_pairs} pairs", hint="Give at most as many as there are pairs."
        )
    return positives / n_pairs


def p_map(a: float, b: float, p_lb: float) -> float:
    """The most likely p after a positives in b uniformly drawn pairs (weighted draws: an effective number of them).

    Formula: max(p_lb, a/b), for the prior U(p_lb, 1).
    Source: specification 3.
    Conventions: nothing drawn (b = 0): NaN.
    Example, run by doctest:
    >>> p_map(2, 2000, 0.000435582705697103)
    0.001
    """
    _check_draws(a, b)
    _check_share(p_lb, "p_lb")
    return max(p_lb, a / b) if b else float("nan")


def p_posterior(a: float, b: float, p_lb: float, level: float = 0.95) -> dict[str, float]:
    """What is known of p after a positives in b uniformly drawn pairs: mean and equal-tailed limits.

    Formula: Beta(a+1, b-a+1) truncated to [p_lb, 1]; with its cdf F and F0 = F(p_lb) the quantile t is
    F^-1(F0 + t (1 - F0)).
    Source: specification 3.
    Conventions: upper tails are used throughout, so that limits hold where p_lb lies far out; p_lb = 1: 1.
    Example, run by doctest:
    >>> {name: round(value, 9) for name, value in p_posterior(2, 2000, 0.000435582705697103).items()}
    {'mean': 0.001571889, 'lower': 0.000503844, 'upper': 0.003645074}
    """
    from scipy.special import betaincc, betainccinv, betaln, log1p

    _check_draws(a, b)
    _check_share(p_lb, "p_lb")
    if not 0 < level < 1:
        raise InputError(f"level is {level}", hint="Give a number between 0 and 1, as 0.95.")
    first, second = a + 1, b - a + 1
    beyond = float(betaincc(first, second, p_lb))  # 1 - F0
    if p_lb == 1 or not beyond:
        return {"mean": p_lb, "lower": p_lb, "upper": p_lb}
    edge = math.exp(first * math.log(p_lb) + second * float(log1p(-p_lb)) - float(betaln(first, second))) if p_lb else 0
    mean = first / (first + second) + edge / ((first + second) * beyond)
    low, high = (float(betainccinv(first, second, beyond * (1 - t))) for t in ((1 - level) / 2, (1 + level) / 2))
    return {"mean": mean, "lower": low, "upper": high}


def chebyshev_bound(p: float, b: int, eps: float) -> dict[str, float]:
    """How likely an estimate from b draws is off by eps or more, at most.

    Formula: tight p (1 - p) / (b eps^2), loose p / (b eps^2).
    Source: specification 3.
    Conventions: capped at 1; it bounds the error of a/b and of `p_map` too.
    Example, run by doctest:
    >>> round(chebyshev_bound(0.008, 2000, 0.007)["tight"], 12)
    0.080979591837
    """
    _check_share(p, "p")
    if b < 1 or not eps > 0:
        raise InputError(f"b is {b}, eps is {eps}", hint="Give at least one draw and an error above 0.")
    below = b * eps**2
    return {"tight": min(1.0, p * (1 - p) / below), "loose": min(1.0, p / below)}


def chebyshev_sample_size(eps: float, q: float, p: float | None = None) -> int:
    """Draws after which an error of eps or more has a chance of at most q.

    Formula: 1 / (eps q) without p, valid while p < eps; p (1 - p) / (q eps^2) with p; rounded up.
    Source: specification 3.
    Conventions: rounded up after a factor 1 - 1e-12.
    Example, run by doctest:
    >>> chebyshev_sample_size(0.001, 0.05)
    20000
    """
    if not eps > 0 or not 0 < q <= 1:
        raise InputError(f"eps is {eps}, q is {q}", hint="Give an error above 0 and a chance above 0 and up to 1.")
    if p is not None:
        _check_share(p, "p")
    return math.ceil((1 / (eps * q) if p is None else p * (1 - p) / (q * eps**2)) * CEILING)


def discovery_gain(p_k: float, p_hat: float) -> float:
    """How many times more positives a judgement of the pool finds than one of a random pair.

    Formula: p_k / p_hat.
    Source: specification 3.
    Conventions: p_hat = 0: NaN.
    Example, run by doctest:
    >>> discovery_gain(0.848, 0.001)
    848.0
    """
    _check_share(p_k, "p_k")
    _check_share(p_hat, "p_hat")
    return p_k / p_hat if p_hat else float("nan")


def _check_draws(a: float, b: float) -> None:
    if not 0 <= a <= b:
        raise InputError(f"{a} positives in {b} draws", hint="Give counts with 0 <= a <= b.")


def _check_share(value: float, name: str) -> None:
    if not 0 <= value <= 1:
        raise InputError(f"{name} is {value}", hint="Give a share from 0 to 1.")
