"""Discounted gain of a soft histogram: simplified (training), linear (exact on whole numbers), li (published)."""

import math

import torch
from scipy.special import expi
from torch import Tensor

from eds.errors import InputError

KINDS = ("simplified", "linear", "li")


def dcg_relaxed(counts: Tensor, levels: Tensor, kind: str = "simplified") -> Tensor:
    """DCG of each query from its histogram by level, (queries, bins, levels); (queries,).

    Formula: g = sum over levels of (2^v - 1) c_v; simplified g/log2(C + (c + 1)/2 + 1); linear (g/c)(S(C + c) - S(C)),
    S the discount summed over places, linear between whole ones; li (g/c) ln2 (li(C + c + 1) - li(C + 1)).
    Source: specification 9.2.
    Conventions: bins without items contribute 0; `li` is infinite at C = 0, S replaces it there.
    Example, run by doctest:
    >>> round(dcg_relaxed(torch.tensor([[[0.0, 1.0]]]).double(), torch.tensor([0.0, 1.0]).double(), "linear").item(), 6)
    1.0
    """
    if kind not in KINDS:
        raise InputError(f"unknown form of relaxed DCG {kind!r}", hint=f"Choose one of {', '.join(KINDS)}.")
    gain = counts @ (2.0 ** levels.to(counts.dtype) - 1)
    items = counts.sum(dim=-1)
    used = items > 0
    c = torch.where(used, items, torch.ones_like(items))
    before = torch.cumsum(items, dim=-1) - items
    if kind == "simplified":
        value = gain / torch.log2(before + (c + 1) / 2 + 1)
    else:
        step = _summed(before + c) - _summed(before)
        if kind == "li":
            published = math.log(2) * (_li(before + c + 1) - _li(before + 1))
            step = torch.where(before > 0, published, step)
        value = gain / c * step
    return torch.where(used, value, torch.zeros_like(value)).sum(dim=-1)


def ideal_dcg(relevance: Tensor) -> Tensor:
    """The DCG of the best order of each row of relevances, (queries, items); (queries,)."""
    best = torch.sort(relevance, dim=-1, descending=True).values
    places = torch.arange(2, best.shape[-1] + 2, dtype=best.dtype, device=best.device)
    return ((2.0**best - 1) / torch.log2(places)).sum(dim=-1)


def _summed(x: Tensor) -> Tensor:
    """The discounts 1/log2(t + 1) of the first x places, linear between whole x."""
    longest = int(x.detach().max().item()) + 2
    discount = 1 / torch.log2(torch.arange(2, longest + 2, dtype=x.dtype, device=x.device))
    sums = torch.cat([discount.new_zeros(1), torch.cumsum(discount, 0)])
    whole = x.detach().floor().long()
    return sums[whole] + (x - whole) * discount[whole]


def _li(x: Tensor) -> Tensor:
    """The logarithmic integral, for evaluation only: nothing flows back through it. At 1 it is minus infinity."""
    above = torch.where(x > 1, x, torch.full_like(x, 2)).detach()
    return torch.as_tensor(expi(torch.log(above).cpu().numpy()), dtype=x.dtype, device=x.device)
