"""DINO's objective: a student predicts for one view what its teacher, its own moving average, outputs for another."""

import math
from itertools import pairwise

import torch
from torch import Tensor, nn

from eds.errors import InputError


class Prototypes(nn.Module):
    """DINO's head: a small network, a unit vector, and its cosines with unit prototypes, (items, prototypes)."""

    def __init__(self, dimension: int, prototypes: int, hidden: int = 512, bottleneck: int = 128) -> None:
        super().__init__()
        sizes = (dimension, hidden, hidden, bottleneck)
        layers: list[nn.Module] = []
        for first, second in pairwise(sizes):
            layers += [nn.Linear(first, second), nn.GELU()]
        self.layers = nn.Sequential(*layers[:-1])
        for layer in self.layers:
            if isinstance(layer, nn.Linear):
                nn.init.trunc_normal_(layer.weight, std=0.02)
                nn.init.zeros_(layer.bias)
        self.prototypes = nn.Parameter(nn.functional.normalize(torch.randn(prototypes, bottleneck), dim=1))

    def forward(self, features: Tensor) -> Tensor:
        """Cosines, -1 to 1."""
        unit = nn.functional.normalize(self.layers(features), dim=1)
        return unit @ nn.functional.normalize(self.prototypes, dim=1).T


def dino_loss(
    student: list[Tensor], teacher: list[Tensor], centre: Tensor, student_temperature: float, teacher_temperature: float
) -> Tensor:
    """Mean cross-entropy of views: both lists hold (items, prototypes), the teacher's views first among the student's.

    Formula: mean over teacher views t and student views s != t of the mean over items of
    -sum_k softmax((z_t - c) / tau_t)_k log softmax(z_s / tau_s)_k.
    Source: Caron et al. 2021, algorithm 1 and equation 3; the authors' code takes the same mean.
    Conventions: no gradient flows to the teacher; a view is never compared with itself; natural logarithm.
    Example, run by doctest:
    >>> flat = [torch.zeros(1, 4), torch.zeros(1, 4)]
    >>> round(dino_loss(flat, flat, torch.zeros(4), 0.1, 0.04).item(), 6)
    1.386294
    """
    if len(teacher) > len(student) or len(student) < 2:
        raise InputError(f"{len(student)} views of the student, {len(teacher)} of the teacher", where="dino")
    targets = [((view - centre) / teacher_temperature).softmax(dim=1).detach() for view in teacher]
    outputs = [(view / student_temperature).log_softmax(dim=1) for view in student]
    terms = [
        -(target * output).sum(dim=1).mean()
        for i, target in enumerate(targets)
        for j, output in enumerate(outputs)
        if i != j
    ]
    return torch.stack(terms).mean()


@torch.no_grad()
def update_teacher(teacher: nn.Module, student: nn.Module, momentum: float) -> None:
    """Move the teacher towards the student: weights become m t + (1 - m) s; running means and counts are copied.

    >>> teacher, student = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
    >>> _ = teacher.weight.data.fill_(1.0), student.weight.data.fill_(0.0)
    >>> update_teacher(teacher, student, 0.9); round(teacher.weight.item(), 6)
    0.9
    """
    for weight, goal in zip(teacher.parameters(), student.parameters(), strict=True):
        weight.lerp_(goal.detach(), 1 - momentum)  # equal weights stay equal to the bit
    for mine, other in zip(teacher.buffers(), student.buffers(), strict=True):
        mine.copy_(other)


def cosine_schedule(first: float, last: float, part: float) -> float:
    """From `first` to `last` along half a cosine, as `part` goes from 0 to 1.

    >>> [round(cosine_schedule(0.996, 1.0, part), 4) for part in (0, 0.5, 1)]
    [0.996, 0.998, 1.0]
    """
    return last - (last - first) * (math.cos(math.pi * part) + 1) / 2


def measure_separation(targets: Tensor) -> float:
    """The information of the targets, (items, prototypes) probabilities, about the item: 0 if all items have the same.

    Formula: H(mean over items of p) - mean over items of H(p), in nats.
    Source: the two ways of collapse that DINO's centring and sharpening avoid (Caron et al. 2021, 5.3): one prototype
    for all, or all prototypes alike; it is 0 in both.
    Conventions: 0 log 0 = 0; at most log(items).
    Example, run by doctest:
    >>> round(measure_separation(torch.eye(4)), 6), measure_separation(torch.full((4, 4), 0.25))
    (1.386294, 0.0)
    """
    entropies = torch.special.entr(targets).sum(dim=1).mean()
    return float(torch.special.entr(targets.mean(dim=0)).sum() - entropies)
