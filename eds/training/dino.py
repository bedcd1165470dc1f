"""Self-supervised training: DINO's objective continued on the catalogue, without labels.

A student sees all crops of an image, its teacher the two large ones; the teacher is the moving average of the student,
and its weights are the result. Products define the split and the score; nothing is learned from them.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor

from eds.backbones.trainable import Trainable
from eds.errors import EdsError, InputError
from eds.pairs import Integers
from eds.training.crops import Crops
from eds.training.devices import spread
from eds.training.networks import NetworkTask, Pixels, Progress, Trained, train
from eds.training.objectives.dino import Prototypes, cosine_schedule, dino_loss, measure_separation, update_teacher
from eds.training.plan import Plan
from eds.training.supervision import Supervision

COLLAPSED = 0.01  # share of the separation of the first targets below which training has collapsed
CENTRE_MOMENTUM = 0.9


@dataclass(frozen=True)
class Dino:
    """The parameters of the objective, with the authors' defaults except for the prototypes (theirs: 65,536)."""

    crops: Crops
    prototypes: int = 4096
    momentum: float = 0.996  # of the teacher, rising to 1 along half a cosine
    student_temperature: float = 0.1
    teacher_temperature: float = 0.04
    first_temperature: float = 0.04  # the teacher's in epoch 1; it changes linearly to teacher_temperature
    temperature_epochs: int = 0  # epochs of that change
    held_prototypes: int = 1  # epochs in which the prototypes do not change

    def __post_init__(self) -> None:
        faults = [
            f"{name} is {value}; above 0"
            for name, value in asdict(self).items()
            if name.endswith("temperature") and not value > 0
        ]
        if self.teacher_temperature >= self.student_temperature:
            faults.append("teacher_temperature must be below student_temperature")
        if not 0 <= self.momentum < 1:
            faults.append(f"momentum is {self.momentum}; from 0 to below 1")
        if self.prototypes < 2:
            faults.append(f"prototypes is {self.prototypes}; at least 2")
        faults += [
            f"{name} is {getattr(self, name)}; at least 0"
            for name in ("temperature_epochs", "held_prototypes")
            if getattr(self, name) < 0
        ]
        if faults:
            raise InputError("invalid parameters", where="dino", hint="Change:", faults=faults)

    def temperature(self, epoch: int) -> float:
        """The teacher's temperature in an epoch, counted from 0."""
        part = min(1.0, epoch / self.temperature_epochs) if self.temperature_epochs else 1.0
        return self.first_temperature + (self.teacher_temperature - self.first_temperature) * part


class Pair(torch.nn.Module):
    """Student, teacher and the centre of the teacher's outputs: the state of a run."""

    centre: Tensor  # (prototypes,) float32
    apart: Tensor  # separation of the targets of the first batch; -1 before it

    def __init__(
        self, backbone: torch.nn.Module, dimension: int, prototypes: int, devices: Sequence[torch.device] = ()
    ) -> None:
        super().__init__()
        self.devices = devices
        self.student = torch.nn.ModuleDict({"backbone": backbone, "head": Prototypes(dimension, prototypes)})
        self.teacher = deepcopy(self.student).requires_grad_(False)
        self.register_buffer("centre", torch.zeros(prototypes))
        self.register_buffer("apart", torch.tensor(-1.0))

    def answers(self, view: Tensor, *, teacher: bool) -> Tensor:
        """Cosines with the prototypes, (items, prototypes), of images (items, 3, side, side)."""
        network = self.teacher if teacher else self.student
        found: Tensor = network["head"](spread(network["backbone"], view, self.devices))
        return found


class DinoTask(NetworkTask):
    """Student and teacher on crops of images."""

    kept = "teacher.backbone"
    module: Pair

    def __init__(
        self, base: Trainable, pixels: Pixels, labels: Supervision, plan: Plan, frozen: int, device: str, dino: Dino
    ) -> None:
        super().__init__(base, pixels, labels, plan, frozen, device)
        self.dino = dino
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(plan.seed)
            self.module = Pair(base.network, base.dimension, dino.prototypes, self.devices).to(self.device)
        self._answers = torch.zeros(0)
        self._apart: list[float] = []

    def loss(self, rows: Integers, epoch: int) -> Tensor:
        """The loss of a batch's crops; the teacher's outputs are kept for the centre."""
        both, temperature = self.module, self.dino.temperature(epoch)
        self.keep_frozen_statistics()
        both.teacher.eval()
        views = self.dino.crops.cut(self.pictures(rows))
        with torch.no_grad():
            answers = [both.answers(view, teacher=True) for view in views[:2]]
        held = epoch < self.dino.held_prototypes
        both.student["head"].get_parameter("prototypes").requires_grad_(not held)
        outputs = [both.answers(view, teacher=False) for view in views]
        self._answers = torch.cat(answers)
        self._apart.append(measure_separation(((self._answers - both.centre) / temperature).softmax(dim=1).float()))
        if both.apart < 0:
            both.apart.fill_(self._apart[0])
        return dino_loss(outputs, answers, both.centre, self.dino.student_temperature, temperature)

    def after_step(self, done: float) -> None:
        """Update the teacher, then the centre."""
        both = self.module
        update_teacher(both.teacher, both.student, cosine_schedule(self.dino.momentum, 1.0, done))
        both.centre.mul_(CENTRE_MOMENTUM).add_(self._answers.mean(dim=0), alpha=1 - CENTRE_MOMENTUM)

    def score(self) -> float:
        """The teacher's recognition of products; raises EdsError if all images have the same targets."""
        if not self._apart:  # the weights that the run begins with
            return super().score()
        apart, first = sum(self._apart) / len(self._apart), float(self.module.apart)
        self._apart = []
        if not apart > COLLAPSED * first:
            raise EdsError(
                f"the teacher has collapsed: its targets carry {apart:.2g} nats per image, {first:.2g} at first",
                where="dino",
                hint="Lower the learning rate or the teacher's temperature, and start again: --replace.",
            )
        return super().score()


def continue_dino(
    base: Trainable,
    pixels: Pixels,
    labels: Supervision,
    plan: Plan,
    folder: Path,
    dino: Dino,
    *,
    frozen: int = 0,
    device: str = "cpu",
    restart: bool = False,
    progress: Progress | None = None,
) -> Trained:
    """Train the network on the images of `labels.ids`, uint8 (n, side, side, 3), by their crops alone.

    `restart` ignores what another run left in the folder.
    """
    task = DinoTask(base, pixels, labels, plan, frozen, device, dino)
    _check_crop_sizes(task)
    identity: Mapping[str, object] = {"dino": asdict(dino)}
    return train(task, folder, identity, progress, restart=restart)


def _check_crop_sizes(task: DinoTask) -> None:
    """Raise InputError, before training, for crops of a size that the network does not accept."""
    crops, both = task.dino.crops, task.module.eval()
    for side in {crops.side, crops.local_side} if crops.local else {crops.side}:
        try:
            with torch.no_grad():
                both.answers(torch.zeros(1, 3, side, side, device=task.device), teacher=False)
        except (RuntimeError, AssertionError, ValueError) as error:
            raise InputError(
                f"the network does not accept crops of {side} pixels ({str(error).splitlines()[0][:120]})",
                where="dino",
                hint=f"Make the small crops as large as its images: --local-size {crops.side}.",
            ) from error
