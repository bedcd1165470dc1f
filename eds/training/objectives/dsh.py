"""Deep supervised hashing on pairs of relaxed codes: the plain loss and the two that keep classes dispersed."""

from torch import Tensor

from eds.errors import InputError


def dsh_loss(first: Tensor, second: Tensor, different: Tensor, margin: float, alpha: float) -> Tensor:
    """Pull pairs of a class together, push others apart up to a margin: codes (pairs, bits), different (pairs,) 0 or 1.

    Formula: sum over pairs of (1 - y)/2 ||u - v||^2 + (y/2) max(m - ||u - v||^2, 0) + alpha R(u, v),
    R = || |u| - 1 ||_1 + || |v| - 1 ||_1.
    Source: specification 11, `dsh_loss`.
    Conventions: y = 0 is the same class; a sum, not a mean.
    Example, run by doctest:
    >>> import torch
    >>> dsh_loss(torch.ones(1, 2), -torch.ones(1, 2), torch.tensor([0]), 4.0, 0.01).item()
    4.0
    """
    y = _checked(first, second, different)
    apart = (first - second).square().sum(dim=1)
    pairs = 0.5 * (1 - y) * apart + 0.5 * y * (margin - apart).clamp_min(0)
    return (pairs + alpha * _to_corners(first, second)).sum()


def dispersed_dsh_loss(
    first: Tensor, second: Tensor, different: Tensor, band: tuple[float, float], margin: float, alpha: float
) -> Tensor:
    """Keep pairs of a class within a band of distances, neither apart nor on one code.

    Formula: sum of (1 - y)/2 [max(r1 - d, 0) + max(d - r2, 0)] + (y/2) max(m - d, 0) + alpha R, d = ||u - v||_1.
    Source: specification 11, `dispersed_dsh_loss`; the paper has r1 = K/6, r2 = K/3.
    Conventions: as `dsh_loss`; on corners d is twice the Hamming distance.
    Example, run by doctest:
    >>> import torch
    >>> dispersed_dsh_loss(torch.ones(1, 3), torch.ones(1, 3), torch.tensor([0]), (1.0, 3.0), 6.0, 0.0).item()
    0.5
    """
    y = _checked(first, second, different)
    apart = (first - second).abs().sum(dim=1)
    pairs = 0.5 * (1 - y) * _outside(apart, band) + 0.5 * y * (margin - apart).clamp_min(0)
    return (pairs + alpha * _to_corners(first, second)).sum()


def hierarchical_dsh_loss(
    first: Tensor,
    second: Tensor,
    different: Tensor,
    different_super: Tensor,
    band: tuple[float, float],
    super_band: tuple[float, float],
    margin: float,
    alpha: float,
    *,
    exclusive: bool = True,
) -> Tensor:
    """Two levels: a band for the class, a wider one for the super-class, a margin beyond it.

    Formula: sum of (1 - y)/2 band(d; r1, r2) + (w/2) band(d; r3, r4) + (Y/2) max(m - d, 0) + alpha R.
    Source: specification 11, `hierarchical_dsh_loss`.
    Conventions: w = (1 - Y) y: the outer band is for pairs of different class only. Not `exclusive`: w = 1 - Y,
    as printed, which pushes pairs of one class out of their own band.
    Example, run by doctest:
    >>> import torch
    >>> one, same = torch.ones(1, 4), torch.tensor([0])
    >>> other = torch.tensor([[1.0, 1.0, 1.0, 0.5]])
    >>> hierarchical_dsh_loss(one, other, same, same, (0.25, 1.0), (1.0, 2.0), 8.0, 0.0).item()
    0.0
    """
    y, above = _checked(first, second, different), _checked(first, second, different_super)
    apart = (first - second).abs().sum(dim=1)
    weight = (1 - above) * y if exclusive else 1 - above
    pairs = 0.5 * (1 - y) * _outside(apart, band) + 0.5 * weight * _outside(apart, super_band)
    pairs = pairs + 0.5 * above * (margin - apart).clamp_min(0)
    return (pairs + alpha * _to_corners(first, second)).sum()


def _outside(apart: Tensor, band: tuple[float, float]) -> Tensor:
    low, high = band
    return (low - apart).clamp_min(0) + (apart - high).clamp_min(0)


def _to_corners(first: Tensor, second: Tensor) -> Tensor:
    return (first.abs() - 1).abs().sum(dim=1) + (second.abs() - 1).abs().sum(dim=1)


def _checked(first: Tensor, second: Tensor, different: Tensor) -> Tensor:
    if first.shape != second.shape or first.ndim != 2:
        raise InputError(f"codes of shapes {tuple(first.shape)} and {tuple(second.shape)}", where="DSH")
    if different.shape != first.shape[:1] or not ((different == 0) | (different == 1)).all():
        raise InputError("`different` is not one 0 or 1 for each pair", where="DSH")
    return different.to(first.dtype)
