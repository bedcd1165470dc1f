"""Distances of relaxed codes, counted softly: how many items lie at each whole distance, differentiably."""

import torch
from torch import Tensor


def soft_counts(distances: Tensor, bits: int, bins: int | None = None) -> Tensor:
    """Each distance spread over the two bins beside it: (..., items) becomes (..., items, bins + 1).

    Formula: max(0, 1 - |z - d| / w) for d = 0, w, 2 w .. bits, w = bits / bins; by default w = 1.
    Source: specification 9.1: triangular kernel; TALR's code has bits / 2 bins from 32 bits on.
    Conventions: sums to 1 for z in [0, bits]; the slope at a kink is 0, as the closed-form gradient has it.
    Example, run by doctest:
    >>> soft_counts(torch.tensor([0.25]), 2).tolist()
    [[0.75, 0.25, 0.0]]
    """
    steps = distances if bins is None else distances * (bins / bits)
    centres = torch.arange((bins or bits) + 1, dtype=distances.dtype, device=distances.device)
    apart = (steps[..., None] - centres).abs()
    return torch.where(apart < 1, 1 - apart, torch.zeros_like(apart))


def soft_histogram(distances: Tensor, bits: int) -> Tensor:
    """The soft counts of all items together, (bits + 1,).

    >>> soft_histogram(torch.tensor([0.0, 1.5]), 2).tolist()
    [1.0, 0.5, 0.5]
    """
    return soft_counts(distances, bits).sum(dim=-2)


def relaxed_distances(codes: Tensor) -> Tensor:
    """All pairwise distances of relaxed codes (items, bits) in (-1, 1): (bits - <a, b>)/2, in [0, bits]."""
    bits = codes.shape[1]
    return ((bits - codes @ codes.T) / 2).clamp(0, bits)
