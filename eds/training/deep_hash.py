"""Deep hashing: a network and its hash layer, trained together on images by any objective."""

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eds.backbones.families.hash import HEAD
from eds.backbones.hash_head import Head
from eds.backbones.tensor_file import write_tensors
from eds.backbones.trainable import Trainable
from eds.io.files import digest
from eds.pairs import Integers
from eds.training.batches import epoch_batches
from eds.training.code_score import score_codes
from eds.training.hash_head import HashRun, check_scores, measure_run, partners_of
from eds.training.hash_losses import ON_PAIRS, check_objective
from eds.training.hash_objective import Design, HashObjective
from eds.training.heads import create_head
from eds.training.loop import fit
from eds.training.networks import WEIGHTS, NetworkTask, Pixels, Progress, augmented, identity_of, mixed_precision
from eds.training.plan import Plan
from eds.training.supervision import Supervision


class _DeepHashTask(NetworkTask):
    """A network, a head on its features, and what the objective has of its own."""

    kept = "backbone"
    module: torch.nn.ModuleDict

    def __init__(
        self,
        base: Trainable,
        pixels: Pixels,
        labels: Supervision,
        design: Design,
        plan: Plan,
        frozen: int,
        device: str,
        crop: int,
    ) -> None:
        super().__init__(base, pixels, labels, plan, frozen, device)
        self.crop = crop
        head = create_head(base.dimension, design.bits, design.head, plan.seed, design.hidden)
        self.objective = HashObjective(design, plan, labels)
        parts = {"backbone": base.network, "head": head, **self.objective.modules}
        self.module = torch.nn.ModuleDict(parts).to(self.device)
        self.head: Head = head
        if design.objective in ON_PAIRS:
            self.partners = partners_of(labels, self.parts.train, design.objective)

    def batches(self, epoch: int) -> list[Integers]:
        """Groups of similar images where pairs are compared, else rows drawn independently."""
        plan, partners = self.plan, getattr(self, "partners", self.singly)
        return epoch_batches(self.parts.train, partners, plan.batch, plan.group, plan.seed, epoch)

    def loss(self, rows: Integers, epoch: int) -> Tensor:
        """The objective's loss of a batch of images, each flipped and moved at random."""
        self.keep_frozen_statistics()
        pictures = augmented(self.pictures(rows), self.crop)
        return self.objective.loss(self.head(self.run(self.module["backbone"], pictures)), rows, epoch)

    def after_step(self, done: float) -> None:
        """Nothing to do."""

    def score_rows(self, rows: Integers) -> float:
        """The score of the codes of these rows among each other."""
        return score_codes(self.codes(rows), self.labels, rows)

    def codes(self, *parts: Integers) -> NDArray[np.int8]:
        """The codes of all items, (items, bits); zeros for those that are in none of the parts."""
        rows = np.unique(np.concatenate(parts))
        found = np.zeros((len(self.labels), self.head.bits), np.int8)
        self.module.eval()
        with torch.no_grad():
            found[rows] = self.head.codes(self.features(rows))
        return found


def fit_deep_hash(
    base: Trainable,
    pixels: Pixels,
    labels: Supervision,
    design: Design,
    plan: Plan,
    folder: Path,
    *,
    frozen: int = 0,
    crop: int = 0,
    device: str = "cpu",
    restart: bool = False,
    progress: Progress | None = None,
) -> HashRun:
    """Train network and head on the images of `labels.ids`, uint8 (n, side, side, 3); state and weights go to `folder`.

    `frozen` parameter tensors from the input on do not change; images are moved by up to `crop` pixels. The folder is
    a hash function afterwards: `hash:FOLDER`.
    """
    check_objective(design.objective, labels.source, design.pairing)
    folder.mkdir(parents=True, exist_ok=True)
    task = _DeepHashTask(base, pixels, labels, design, plan, frozen, device, crop)
    identity = identity_of(task, {"design": design.identity(), "crop": crop})
    parts = task.parts
    check_scores(np.ones((len(labels), design.bits), np.int8), labels, parts)
    found = fit(task, plan, folder, identity, restart=restart, progress=progress, autocast=mixed_precision(task.device))
    start = "backbone."
    weights = {name.removeprefix(start): value for name, value in found.best.items() if name.startswith(start)}
    write_tensors(folder / WEIGHTS, weights, {"identity": identity, "options": base.checkpoint_options()})
    head = task.head.eval()
    metadata = {
        "identity": identity,
        "dimension": base.dimension,
        "bits": design.bits,
        "head": head.kind,
        "hidden": head.hidden,
        "base_text": f"checkpoint:{WEIGHTS}?normalise=false",
        "base_sha256": digest(folder / WEIGHTS),
    }
    write_tensors(folder / HEAD, head.state_dict(), metadata)
    every = task.codes(parts.train, parts.validation, parts.test, parts.database)
    return measure_run(head.cpu(), folder, every, labels, parts, found)
