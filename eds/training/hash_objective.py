"""The objective of a run that learns codes: the loss of a batch's activations, whatever network or head made them."""

from dataclasses import asdict, dataclass, field

import numpy as np
import torch
from torch import Tensor, nn

from eds.errors import InputError
from eds.pairs import Integers
from eds.training.hash_losses import (
    ALPHA,
    CROSS_ENTROPY,
    DISPERSED,
    HASHNET,
    MARGIN,
    ON_CLASSES,
    ON_TANH,
    ORTHOHASH,
    TALR,
    Pairing,
    Scale,
    loss_of,
)
from eds.training.objectives.cross_entropy import Classifiers, cross_entropy
from eds.training.objectives.orthohash import class_codes, orthohash_loss
from eds.training.plan import Plan
from eds.training.supervision import Supervision

GROWING = Scale(1, 10)  # of tanh: HashNet's continuation


@dataclass(frozen=True)
class Design:
    """The codes to learn: length, objective and head."""

    bits: int = 32
    objective: str = "talr-ap"
    head: str = "linear"
    hidden: int = 256
    scale: Scale = field(default_factory=Scale)
    pairing: Pairing = field(default_factory=Pairing)
    bins: int | None = None  # of TALR's histogram of distances; None: one for each distance

    def __post_init__(self) -> None:
        if self.bins is not None and self.objective not in TALR:
            raise InputError(f"{self.objective} has no bins", where="objective", hint=f"Only {', '.join(TALR)}.")
        if self.bins is not None and not 1 <= self.bins <= self.bits:
            raise InputError(
                f"{self.bins} bins for codes of {self.bits} bits", where="bins", hint="Give from 1 to the bits."
            )

    def identity(self) -> dict[str, object]:
        """What of it decides the weights; the defaults of dispersal, which changed, are written out."""
        values: dict[str, object] = {**asdict(self), "scale": str(self.growing)}
        if self.bins is None:
            del values["bins"]
        if self.objective in DISPERSED:
            values["defaults"] = [MARGIN, ALPHA]
        return values

    @property
    def growing(self) -> Scale:
        """The scale of tanh; HashNet's grows where none was given."""
        return GROWING if self.objective == HASHNET and self.scale == Scale() else self.scale


class HashObjective:
    """A loss with what it has of its own: classifiers, or the codes of classes."""

    def __init__(self, design: Design, plan: Plan, labels: Supervision) -> None:
        self.design, self.epochs, self.labels = design, plan.epochs, labels
        self.classes: dict[str, Tensor] = {}
        self.modules: dict[str, nn.Module] = {}  # to be trained with the head
        self.centres = torch.zeros(0)
        if design.objective not in ON_CLASSES:
            return
        found = {name: np.unique(values, return_inverse=True)[1] for name, values in labels.classes().items()}
        self.classes = {name: torch.from_numpy(values) for name, values in found.items()}
        counts = {name: int(values.max()) + 1 for name, values in found.items()}
        if design.objective == ORTHOHASH:
            self.centres = class_codes(next(iter(counts.values())), design.bits, plan.seed)
            return
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(plan.seed)
            self.modules = {"classifiers": Classifiers(design.bits, counts)}

    def loss(self, activations: Tensor, rows: Integers, epoch: int) -> Tensor:
        """The loss of the activations (items, bits) of these rows; smaller is better."""
        design, device = self.design, activations.device
        found = activations
        if design.objective in ON_TANH:
            found = torch.tanh(design.growing.at(epoch, self.epochs) * activations)
        place = torch.from_numpy(rows)
        wanted = {name: values[place].to(device) for name, values in self.classes.items()}
        if design.objective == CROSS_ENTROPY:
            return cross_entropy(self.modules["classifiers"](found), wanted)
        if design.objective == ORTHOHASH:
            return orthohash_loss(found, next(iter(wanted.values())), self.centres.to(device))
        affinity = torch.from_numpy(self.labels.affinity(rows, rows)).to(device)
        return loss_of(design.objective, design.pairing, design.bins)(found, affinity)
