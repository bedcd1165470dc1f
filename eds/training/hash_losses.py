"""The objectives of hash heads by name: each gives the loss of a batch's activations and labels.

TALR works on relaxed codes tanh(s x), with a fixed or growing scale s; the DSH family on the activations themselves,
like its authors, with a penalty alpha that draws them to -1 and 1. What learns from classes is in hash_objective.py.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

import torch
from torch import Tensor

from eds.choices import HashObjective
from eds.errors import InputError
from eds.registry import BASELINES, unknown_name
from eds.training.objectives.dsh import dispersed_dsh_loss, dsh_loss, hierarchical_dsh_loss
from eds.training.objectives.hashnet import hashnet_loss
from eds.training.objectives.talr import talr


@dataclass(frozen=True)
class Scale:
    """The scale of tanh: from `first` to `last`, growing by the same factor each epoch."""

    first: float = 1.0
    last: float = 1.0

    def __post_init__(self) -> None:
        if not (0 < self.first < math.inf and 0 < self.last < math.inf):
            raise InputError(f"the scale of tanh is {self}", hint="Use numbers above 0, e.g. 1 or 1:10.")

    @classmethod
    def parse(cls, text: str) -> "Scale":
        """Parse `2` or `1:10`.

        >>> Scale.parse("1:10").at(25, 51)
        3.1622776601683795
        """
        first, _, last = text.partition(":")
        try:
            return cls(float(first), float(last or first))
        except ValueError as error:
            raise InputError(f"the scale of tanh is {text!r}", hint="Use numbers above 0, e.g. 1 or 1:10.") from error

    def at(self, epoch: int, epochs: int) -> float:
        """The scale in an epoch, counted from 0."""
        part = epoch / (epochs - 1) if epochs > 1 else 0.0
        return float(self.first * (self.last / self.first) ** part)

    def __str__(self) -> str:
        return f"{self.first:g}" if self.first == self.last else f"{self.first:g}:{self.last:g}"


def talr_loss(objective: str, bins: int | None = None) -> Callable[[Tensor, Tensor], Tensor]:
    """Minus the relaxed measure of relaxed codes (items, bits) and affinities (items, items)."""
    return lambda codes, affinity: -talr(codes, affinity, objective, bins)


@dataclass(frozen=True)
class Pairing:
    """The parameters of the DSH family."""

    margin: float | None = None  # in code lengths K; default: 2, of the squared distance (dsh) or L1 (the others)
    alpha: float | None = None  # of the penalty that draws activations to -1 and 1; default: 0.01

    def __post_init__(self) -> None:
        if self.margin is not None and not 0 < self.margin < math.inf:
            raise InputError(f"the margin is {self.margin}", hint="Use a number of code lengths above 0.")
        if self.alpha is not None and not 0 <= self.alpha < math.inf:
            raise InputError(f"alpha is {self.alpha}", hint="Use a number of at least 0.")


def pair_loss(name: str, pairing: Pairing) -> Callable[[Tensor, Tensor], Tensor]:
    """A loss of the DSH family: the mean over all pairs of a batch."""
    margin = MARGIN if pairing.margin is None else pairing.margin
    alpha = ALPHA if pairing.alpha is None else pairing.alpha

    def loss(codes: Tensor, affinity: Tensor) -> Tensor:
        bits = codes.shape[1]
        left, right = torch.triu_indices(len(codes), len(codes), 1, device=codes.device)
        first, second, grade = codes[left], codes[right], affinity[left, right]
        strongest = 2 if name == TWO_LEVEL else 1
        different = (grade < strongest).long()
        if name == "dsh":
            total = dsh_loss(first, second, different, margin * bits, alpha)
        elif name == "dispersed-dsh":
            total = dispersed_dsh_loss(first, second, different, (bits / 6, bits / 3), margin * bits, alpha)
        else:
            bands = (bits / 12, bits / 6), (bits / 6, bits / 3)
            total = hierarchical_dsh_loss(first, second, different, (grade < 1).long(), *bands, margin * bits, alpha)
        return total / len(left)

    return loss


def loss_of(name: str, pairing: Pairing, bins: int | None = None) -> Callable[[Tensor, Tensor], Tensor]:
    """The loss of activations or relaxed codes (items, bits) and affinities (items, items), by the objective's name."""
    if name == HASHNET:
        return hashnet_loss
    return pair_loss(name, pairing) if name in DSH else talr_loss(TALR[name], bins)


CROSS_ENTROPY, ORTHOHASH, HASHNET, TWO_LEVEL = "cross-entropy", "orthohash", "hashnet", "two-level-dsh"
TALR = {"talr-ap": "ap_simplified", "talr-ndcg": "ndcg_simplified"}
DISPERSED = ("dispersed-dsh", TWO_LEVEL)
DSH = ("dsh", *DISPERSED)
MARGIN, ALPHA = 2.0, 0.01  # as printed: m = 2K; alpha of DSH's authors
ON_CLASSES = (CROSS_ENTROPY, ORTHOHASH)
ON_PAIRS = (*TALR, *DSH, HASHNET)  # a batch must hold similar images
ON_TANH = (*TALR, CROSS_ENTROPY, HASHNET)


def check_objective(name: str, source: str, pairing: Pairing) -> None:
    """Raise InputError for an unknown objective, unsuitable labels, or a margin or alpha that it does not have."""
    if name not in get_args(HashObjective) and name not in BASELINES:
        raise unknown_name("objective", name, [*get_args(HashObjective), *BASELINES])
    if name not in DSH and pairing != Pairing():
        raise InputError(
            f"{name} has neither margin nor alpha", where="objective", hint=f"Choose one of {', '.join(DSH)}."
        )
    if name == TWO_LEVEL and source != "both":
        raise InputError(f"{name} needs two levels of classes", where=f"labels {source}", hint="Use --labels both.")
    if name in (*ON_CLASSES, "sdh") and source == "truth":
        raise InputError(
            "decided pairs are not classes", where=f"objective {name}", hint="Use talr-ap, or other labels."
        )
