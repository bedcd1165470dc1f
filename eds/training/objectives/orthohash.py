"""OrthoHash: every class has a fixed random code; a cosine margin pulls images to the direction of their class."""

import torch
from torch import Tensor

from eds.errors import InputError

SCALE, MARGIN = 8.0, 0.2  # of the cosines, and by how much the own class's must be larger


def class_codes(classes: int, bits: int, seed: int) -> Tensor:
    """A code of -1 and 1 for each class, (classes, bits), drawn evenly; nearly orthogonal where there are many bits.

    Of 100 draws the one is taken whose nearest two codes are furthest apart.
    """
    rng = torch.Generator().manual_seed(seed)
    best, distance = torch.zeros(0), -1.0
    for _ in range(100):
        drawn = 2.0 * torch.randint(0, 2, (classes, bits), generator=rng) - 1
        apart = (bits - drawn @ drawn.T) / 2 + bits * torch.eye(classes)
        if float(apart.min()) > distance:
            best, distance = drawn, float(apart.min())
    return best


def orthohash_loss(outputs: Tensor, wanted: Tensor, centres: Tensor) -> Tensor:
    """The cross-entropy of cosines with the codes of the classes: outputs (items, bits), wanted (items,) classes.

    Formula: -ln softmax(S (cos(x, c) - M [c is x's class])) of the own class; S = 8, M = 0.2.
    Source: Hoe et al. 2021, One Loss for All, equation 8 (cosine margin); S and M of its code.
    Conventions: codes of classes are drawn as `class_codes`, and stay.
    Example, run by doctest:
    >>> centres = torch.tensor([[1.0, 1.0], [-1.0, 1.0]])
    >>> round(orthohash_loss(torch.tensor([[2.0, 2.0]]), torch.tensor([0]), centres).item(), 6)
    0.00166
    """
    if len(outputs) != len(wanted):
        raise InputError(f"{len(wanted)} classes for {len(outputs)} outputs", where="OrthoHash")
    cosine = torch.nn.functional.normalize(outputs, dim=1) @ torch.nn.functional.normalize(centres, dim=1).T
    own = torch.nn.functional.one_hot(wanted, len(centres)).to(cosine.dtype)
    return torch.nn.functional.cross_entropy(SCALE * (cosine - MARGIN * own), wanted)
