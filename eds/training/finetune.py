"""Fine-tuning: a backbone with a linear head for each label source, trained by cross-entropy.

X-ID, X-CAT and X-ID+C of the paper. The result is a weights file for the backbone family `checkpoint`. No head knows
the products of the validation and test split, so their score is recognition: images of a product find each other.
"""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from eds.backbones.trainable import Trainable
from eds.pairs import Integers
from eds.training.networks import NetworkTask, Pixels, Progress, Trained, augmented, train
from eds.training.objectives.cross_entropy import Classifiers, cross_entropy
from eds.training.plan import Plan
from eds.training.supervision import Supervision


class _LabelTask(NetworkTask):
    """A network with classifiers."""

    kept = "backbone"
    module: torch.nn.ModuleDict

    def __init__(
        self, base: Trainable, pixels: Pixels, labels: Supervision, plan: Plan, frozen: int, device: str, crop: int
    ) -> None:
        super().__init__(base, pixels, labels, plan, frozen, device)
        self.crop = crop
        rows = self.parts.train
        seen = {name: np.unique(found[rows], return_inverse=True)[1] for name, found in labels.classes().items()}
        self.place = np.full(len(labels), -1)
        self.place[rows] = np.arange(len(rows))
        self.wanted = {name: torch.from_numpy(found) for name, found in seen.items()}
        counts = {name: int(found.max()) + 1 for name, found in seen.items()}
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(plan.seed)
            classifiers = Classifiers(base.dimension, counts)
        self.module = torch.nn.ModuleDict({"backbone": base.network, "classifiers": classifiers}).to(self.device)

    def loss(self, rows: Integers, epoch: int) -> Tensor:
        """The cross-entropy of a batch of images, each flipped and moved at random."""
        self.keep_frozen_statistics()
        pictures = augmented(self.pictures(rows), self.crop)
        logits = self.module["classifiers"](self.run(self.module["backbone"], pictures))
        place = torch.from_numpy(self.place[rows])
        return cross_entropy(logits, {name: found[place].to(self.device) for name, found in self.wanted.items()})

    def after_step(self, done: float) -> None:
        """Nothing to do."""


def finetune(
    base: Trainable,
    pixels: Pixels,
    labels: Supervision,
    plan: Plan,
    folder: Path,
    *,
    frozen: int = 0,
    crop: int = 0,
    device: str = "cpu",
    restart: bool = False,
    progress: Progress | None = None,
) -> Trained:
    """Train the network on the images of `labels.ids`, uint8 (n, side, side, 3); state and weights go to `folder`.

    The first `frozen` parameter tensors, counted from the input, do not change; images are moved by up to `crop`
    pixels. `restart` ignores the state of an earlier run in the folder.
    """
    task = _LabelTask(base, pixels, labels, plan, frozen, device, crop)
    return train(task, folder, {"crop": crop} if crop else {}, progress, restart=restart)
