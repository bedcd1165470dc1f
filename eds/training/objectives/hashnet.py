"""HashNet: a likelihood of pairs, weighted so that the few similar ones count as much as the many others."""

import torch
from torch import Tensor

from eds.errors import InputError

STEEPNESS = 10.0  # of the sigmoid, over the code's length: its authors' 10 / K


def hashnet_loss(codes: Tensor, affinity: Tensor) -> Tensor:
    """The weighted negative log-likelihood of a batch's pairs: codes (items, bits) in [-1, 1], affinity (items, items).

    Formula: mean over pairs of w (ln(1 + exp(a <u, v>)) - a s <u, v>), s = 1 if similar; w = pairs / similar pairs, or
    pairs / dissimilar pairs; a = 10 / K.
    Source: Cao et al. 2017, HashNet, equations 3 and 4; codes tanh(beta x) with growing beta.
    Conventions: an item is not a pair with itself; a batch without similar, or without dissimilar pairs has weight 1.
    Example, run by doctest:
    >>> codes = torch.tensor([[1.0, 1.0], [1.0, 1.0], [-1.0, -1.0]])
    >>> round(hashnet_loss(codes, torch.tensor([[1, 1, 0], [1, 1, 0], [0, 0, 1]])).item(), 6)
    9.1e-05
    """
    if len(codes) < 2:
        raise InputError(
            f"codes have shape {tuple(codes.shape)}", where="HashNet", hint="Use at least two items in a batch."
        )
    first, second = torch.triu_indices(len(codes), len(codes), 1, device=codes.device)
    product = STEEPNESS / codes.shape[1] * (codes[first] * codes[second]).sum(dim=1)
    similar = (affinity[first, second] > 0).to(codes.dtype)
    pairs, positive = len(similar), similar.sum()
    weight = torch.where(similar > 0, pairs / positive.clamp_min(1), pairs / (pairs - positive).clamp_min(1))
    return (weight * (torch.nn.functional.softplus(product) - similar * product)).mean()
