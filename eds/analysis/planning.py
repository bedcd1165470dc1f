"""How many draws or queries a question needs, and how draws are best spread over strata."""

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist

from eds.errors import InputError

CEILING = 1 - 1e-12  # specification 0: rounding must not add one


def sample_size(
    kind: str,
    level: float = 0.95,
    *,
    p: float | None = None,
    half_width: float | None = None,
    relative: float | None = None,
    power: float | None = None,
    sd: float | None = None,
    delta: float | None = None,
) -> int:
    """How many draws or queries are needed.

    Formula, by kind: absolute z^2 p(1-p) / half_width^2; relative z^2 (1-p) / (p relative^2); zero_events
    ln(1-level) / ln(1-p), so many draws without a positive put p below; hoeffding ln(2/(1-level)) / (2 half_width^2);
    paired_queries ((z_level + z_power) sd / delta)^2, queries to see a difference delta.
    Source: specification 13.1.
    Conventions: two-sided z of `level`; rounded up after a factor 1 - 1e-12.
    Example, run by doctest:
    >>> sample_size("paired_queries", 0.95, power=0.8, sd=0.15, delta=0.02)
    442
    """
    z = NormalDist().inv_cdf
    formulas: dict[str, tuple[dict[str, float | None], Callable[..., float]]] = {
        "absolute": (
            {"p": p, "half_width": half_width},
            lambda p, half_width: z((1 + level) / 2) ** 2 * p * (1 - p) / half_width**2,
        ),
        "relative": (
            {"p": p, "relative": relative},
            lambda p, relative: z((1 + level) / 2) ** 2 * (1 - p) / (p * relative**2),
        ),
        "zero_events": ({"p": p}, lambda p: math.log1p(-level) / math.log1p(-p)),
        "hoeffding": ({"half_width": half_width}, lambda half_width: math.log(2 / (1 - level)) / (2 * half_width**2)),
        "paired_queries": (
            {"power": power, "sd": sd, "delta": delta},
            lambda power, sd, delta: ((z((1 + level) / 2) + z(power)) * sd / delta) ** 2,
        ),
    }
    if kind not in formulas:
        raise InputError(f"kind {kind!r} is unknown", where="sample_size", hint=f"Known: {', '.join(formulas)}.")
    needs, formula = formulas[kind]
    needed = {"level": level, **needs}
    faults = [f"{name} is {value}" for name, value in needed.items() if not _fits(name, value)]
    if faults:
        hint = "Give level, p and power between 0 and 1, and the others above 0:"
        raise InputError(f"kind {kind} cannot be computed", where="sample_size", hint=hint, faults=faults)
    return math.ceil(formula(**needs) * CEILING)


def neyman_allocation(sizes: Sequence[int], p: Sequence[float], total: float) -> list[float]:
    """Draws for each stratum that make the estimate of the total most certain.

    Formula: n_h = total N_h sqrt(p_h (1 - p_h)) / sum of N_g sqrt(p_g (1 - p_g)).
    Source: specification 13.1; Cochran 1977.
    Conventions: not rounded (`whole_allocation` does); strata that are all 0 or all 1 get nothing; if all are: NaN.
    Example, run by doctest:
    >>> [round(share, 6) for share in neyman_allocation([1000, 9000], [0.3, 0.01], 100)]
    [33.851068, 66.148932]
    """
    if len(sizes) != len(p) or not sizes:
        raise InputError(f"{len(sizes)} sizes but {len(p)} rates", hint="Give a size and a rate for each stratum.")
    if any(size < 0 for size in sizes) or any(not 0 <= rate <= 1 for rate in p) or not total >= 0:
        raise InputError(
            "a size or the total is below 0, or a rate is not a share", hint="Give counts, and rates in [0, 1]."
        )
    spread = [size * math.sqrt(rate * (1 - rate)) for size, rate in zip(sizes, p, strict=True)]
    return [total * part / sum(spread) if sum(spread) else float("nan") for part in spread]


def whole_allocation(sizes: Sequence[int], p: Sequence[float], total: float, least: int = 30) -> list[int]:
    """`neyman_allocation` rounded up, at least `least` in each stratum, never more than it holds.

    >>> whole_allocation([1000, 9000, 5], [0.3, 0.01, 0.5], 100)
    [34, 67, 5]
    """
    shares = neyman_allocation(sizes, p, total)
    wanted = [least if math.isnan(share) else max(least, math.ceil(share * CEILING)) for share in shares]
    return [min(size, count) for size, count in zip(sizes, wanted, strict=True)]


def _fits(name: str, value: float | None) -> bool:
    if value is None or not math.isfinite(value) or value <= 0:
        return False
    return value < 1 if name in ("level", "p", "power") else True
