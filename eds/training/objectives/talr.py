"""Tie-aware ranking on a minibatch: every item is a query against all others, and the mean of AP or DCG is raised."""

import torch
from torch import Tensor

from eds.errors import InputError
from eds.training.objectives.soft_histogram import relaxed_distances, soft_counts
from eds.training.objectives.talr_ap import ap_sums
from eds.training.objectives.talr_ndcg import dcg_relaxed, ideal_dcg

OBJECTIVES = ("ap_simplified", "ap_digamma", "dcg_simplified", "dcg_linear", "ndcg_simplified", "ndcg_linear")


def talr(codes: Tensor, affinity: Tensor, objective: str = "ap_simplified", bins: int | None = None) -> Tensor:
    """The mean over queries of relaxed AP, DCG or nDCG: codes (items, bits), affinity (items, items) whole numbers.

    Formula: (1/M) sum of O_i, O_i from the soft histogram of distances (b - <a, b>)/2 of item i to all others.
    Source: specification 9.4.
    Conventions: the item itself is excluded, also from the ideal; N+ is the hard number of positives, a constant; a
    query without positives contributes 0 and is still divided by. Larger is better: minimise the negative.
    Example, run by doctest:
    >>> two = torch.tensor([[0.9, 0.9], [0.9, 0.8], [-0.9, 0.9]]).double()
    >>> round(talr(two, torch.tensor([[0, 1, 0], [1, 0, 0], [0, 0, 0]])).item(), 2)
    0.63
    """
    _check(codes, affinity, objective)
    kind, _, form = objective.partition("_")
    others = ~torch.eye(len(codes), dtype=torch.bool, device=codes.device)
    spread = soft_counts(relaxed_distances(codes), codes.shape[1], bins) * others[..., None]
    if kind == "ap":
        positive = ((affinity > 0) & others).to(codes.dtype)
        counts = spread.sum(dim=1)
        relevant = (spread * positive[..., None]).sum(dim=1)
        return (ap_sums(counts, relevant, form) / positive.sum(dim=1).clamp_min(1)).mean()
    levels = torch.unique(affinity)
    by_level = torch.stack([(spread * (affinity == level)[..., None]).sum(dim=1) for level in levels], dim=-1)
    value = dcg_relaxed(by_level, levels, form)
    if kind == "ndcg":
        ideal = ideal_dcg(torch.where(others, affinity, torch.zeros_like(affinity)).to(codes.dtype))
        value = torch.where(ideal > 0, value / ideal.clamp_min(1e-12), torch.zeros_like(value))
    return value.mean()


def talr_minibatch(phi: Tensor, affinity: Tensor, objective: str) -> tuple[Tensor, Tensor]:
    """The value of `talr` and its gradient by the codes, given and returned as (bits, items)."""
    codes = phi.detach().clone().requires_grad_(True)
    value = talr(codes.T, affinity, objective)
    (gradient,) = torch.autograd.grad(value, codes)
    return value.detach(), gradient


def _check(codes: Tensor, affinity: Tensor, objective: str) -> None:
    if objective not in OBJECTIVES:
        raise InputError(f"unknown objective {objective!r}", hint=f"Choose one of {', '.join(OBJECTIVES)}.")
    if codes.ndim != 2 or len(codes) < 2:
        raise InputError(
            f"codes have shape {tuple(codes.shape)}", where="TALR", hint="Use at least two items in a batch."
        )
    if affinity.shape != (len(codes), len(codes)):
        raise InputError(f"affinity has shape {tuple(affinity.shape)} for {len(codes)} items", where="TALR")
    if not torch.equal(affinity, affinity.T):
        raise InputError(
            "affinity is not symmetric", where="TALR", hint="Similarity of a and b must be that of b and a."
        )
    if affinity.min() < 0:
        raise InputError("an affinity is below 0", where="TALR")
