"""Classification on top of codes or features: one linear head for each kind of class, their losses added."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from eds.errors import InputError


class Classifiers(nn.Module):
    """A linear head for each label source: features (items, dimension) to logits of its classes."""

    def __init__(self, dimension: int, classes: Mapping[str, int]) -> None:
        super().__init__()
        if faults := [f"{name}: {count}" for name, count in classes.items() if count < 2]:
            raise InputError("a classifier needs two classes", where="cross-entropy", hint="Found:", faults=faults)
        self.heads = nn.ModuleDict({name: nn.Linear(dimension, count) for name, count in classes.items()})

    def forward(self, features: Tensor) -> dict[str, Tensor]:
        """The logits, by label source."""
        return {name: head(features) for name, head in self.heads.items()}


def cross_entropy(logits: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> Tensor:
    """The mean categorical cross-entropy of each source, added up: logits (items, classes), wanted (items,) int64.

    Formula: sum over sources of the mean over items of -log softmax(z)_y.
    Source: supplementary of the publication: a linear head for each information source (ID, CAT, or both).
    Conventions: sources have equal weight.
    Example, run by doctest:
    >>> round(cross_entropy({"product": torch.zeros(1, 4)}, {"product": torch.tensor([2])}).item(), 6)
    1.386294
    """
    if logits.keys() != wanted.keys():
        raise InputError(f"logits of {', '.join(logits)} for labels of {', '.join(wanted)}", where="cross-entropy")
    parts = [nn.functional.cross_entropy(found, wanted[name]) for name, found in logits.items()]
    return torch.stack(parts).sum()
