"""Average precision of a soft histogram: exact (digamma), published (log, to evaluate only), simplified (to train)."""

from collections.abc import Callable

import torch
from torch import Tensor

from eds.errors import InputError

NEAR_POLE = 1e-6


def ap_relaxed(counts: Tensor, relevant: Tensor, kind: str = "digamma") -> Tensor:
    """AP of each query from its histogram, (queries, bins) each; (queries,).

    Formula: (1/N+) sum over bins of f(C, P, c, p); c items and p relevant in the bin, C and P before it:
    digamma (p/c)[m c + (P + 1 - m (C + 1)) L], m = (p - 1)/(c - 1), L = psi(C + c + 1) - psi(C + 1);
    log: L replaced by ln((C + c)/C); simplified: p (2P + p + 1)/(2C + c + 1).
    Source: specification 9.2.
    Conventions: N+ = sum of p; no relevant item: 0; bins without items contribute 0. `digamma` is the tie-aware AP
    on whole numbers. `log` has a pole at c = 1 and is infinite at C = 0: digamma L replaces it if C = 0 or c <= 1.
    Example, run by doctest:
    >>> round(ap_relaxed(torch.tensor([[10.0]]).double(), torch.tensor([[5.0]]).double()).item(), 12)
    0.607164902998
    """
    total = relevant.sum(dim=-1)
    return torch.where(total > 0, ap_sums(counts, relevant, kind) / total.clamp_min(1e-300), torch.zeros_like(total))


def ap_sums(counts: Tensor, relevant: Tensor, kind: str) -> Tensor:
    """The sum over bins without the division by N+, (queries,)."""
    if kind not in KINDS:
        raise InputError(f"unknown form of relaxed AP {kind!r}", hint=f"Choose one of {', '.join(KINDS)}.")
    dtype = counts.dtype
    if kind != "simplified":  # differences of digamma cancel: in float32 the gradient near c = 1 is off by up to 20 %
        counts, relevant = counts.double(), relevant.double()
    used = counts > 0
    c = torch.where(used, counts, torch.ones_like(counts))
    before = torch.cumsum(counts, dim=-1) - counts
    hits_before = torch.cumsum(relevant, dim=-1) - relevant
    value = KINDS[kind](c, relevant, before, hits_before)
    return torch.where(used, value, torch.zeros_like(value)).sum(dim=-1).to(dtype)


def _simplified(c: Tensor, p: Tensor, before: Tensor, hits: Tensor) -> Tensor:
    return p * (2 * hits + p + 1) / (2 * before + c + 1)


def _digamma(c: Tensor, p: Tensor, before: Tensor, hits: Tensor) -> Tensor:
    step = torch.digamma(before + c + 1) - torch.digamma(before + 1)
    near = (c - 1).abs() < NEAR_POLE
    safe = torch.where(near, torch.full_like(c, 2), c)
    mean = torch.where(
        near,
        (p - 1) * (1 - (before + 1) * torch.special.polygamma(1, before + 2)),  # the limit as c goes to 1
        (p - 1) / (safe - 1) * (c - (before + 1) * step),
    )
    return p / c * (mean + (hits + 1) * step)


def _log(c: Tensor, p: Tensor, before: Tensor, hits: Tensor) -> Tensor:
    plain = (before > 0) & (c > 1)
    start = torch.where(before > 0, before, torch.ones_like(before))
    published = torch.log((start + c) / start)
    exact = torch.digamma(before + c + 1) - torch.digamma(before + 1)
    step = torch.where(plain, published, exact)
    alone = c == 1
    slope = torch.where(alone, torch.zeros_like(c), (p - 1) / torch.where(alone, torch.full_like(c, 2), c - 1))
    return p / c * (slope * c + (hits + 1 - slope * (before + 1)) * step)


KINDS: dict[str, Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]] = {
    "digamma": _digamma,
    "log": _log,
    "simplified": _simplified,
}


def harmonic_log_error(n_prev: int, n: int) -> dict[str, float]:
    """How far the logarithm of the published form lies above the harmonic sum, and the bound on it.

    Formula: ln((a + n)/a) - (H(a + n) - H(a)) < n/(2 a (a + n)), a = n_prev.
    Source: specification 9.3.
    Conventions: n_prev >= 1, n >= 1.
    Example, run by doctest:
    >>> round(harmonic_log_error(10, 3)["error"], 12)
    0.011198763302
    """
    if n_prev < 1 or n < 1:
        raise InputError(f"n_prev is {n_prev} and n is {n}", where="harmonic error", hint="Use at least 1.")
    exact = float((1 / torch.arange(n_prev + 1, n_prev + n + 1, dtype=torch.float64)).sum())
    log = float(torch.log(torch.tensor((n_prev + n) / n_prev, dtype=torch.float64)))
    return {"exact": exact, "log": log, "error": log - exact, "bound": n / (2 * n_prev * (n_prev + n))}
