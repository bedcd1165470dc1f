"""Fine-tuning: a backbone with a linear head for each label source, all of it trained by cross-entropy.

The publication's X-ID, X-CAT and X-ID+C. What comes out is a weights file that loader `checkpoint` reads. The split
holds products out, which no head can name: what is told of them is recognition, images of a product found by another.
"""

import contextlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eds.backbones.trainable import Trainable
from eds.errors import InputError
from eds.files import digest
from eds.identifiers import Integers
from eds.metrics.hashing import ap_at_p
from eds.training.batches import epoch_batches, split
from eds.training.checkpoint import write_tensors
from eds.training.loop import fit
from eds.training.objectives.cross_entropy import Classifiers, cross_entropy
from eds.training.plan import Plan
from eds.training.supervision import Supervision

WEIGHTS = "backbone.safetensors"
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Finetuned:
    """The file, and how it went."""

    file: Path
    sha256: str
    text: str  # of the backbone, for `eds embeddings compute -m`
    before: float  # held-out recognition of the weights it began with
    held_out: float
    best_epoch: int
    rows: list[dict[str, Any]]
    trained_on: int
    tested_on: int
    resumed_at: int


class _NetworkTask:
    """A network with classifiers on pictures; what `loop.fit` asks for."""

    def __init__(
        self, base: Trainable, pixels: NDArray[np.uint8], labels: Supervision, plan: Plan, frozen: int, device: str
    ) -> None:
        self.base, self.pixels, self.labels, self.plan = base, pixels, labels, plan
        self.device = torch.device(device)
        self.train, self.test = split(labels, plan.held_out, plan.seed)
        self.partners = [np.array([row]) for row in self.train]  # heads learn classes: batches are drawn singly
        seen = {name: np.unique(found[self.train], return_inverse=True)[1] for name, found in labels.classes().items()}
        place = np.full(len(labels), -1)
        place[self.train] = np.arange(len(self.train))
        self.place = place
        self.wanted = {name: torch.from_numpy(found) for name, found in seen.items()}
        counts = {name: int(found.max()) + 1 for name, found in seen.items()}
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(plan.seed)
            classifiers = Classifiers(base.dimension, counts)
        self.module = torch.nn.ModuleDict({"backbone": base.network, "classifiers": classifiers}).to(self.device)
        _freeze(base.network, frozen)

    def batches(self, epoch: int) -> list[Integers]:
        return epoch_batches(self.train, self.partners, self.plan.batch, 2, self.plan.seed, epoch)

    def loss(self, rows: Integers, epoch: int) -> Tensor:
        pictures = self._input(rows)
        turned = torch.rand(len(rows)) < 0.5
        pictures[turned] = pictures[turned].flip(-1)
        logits = self.module["classifiers"](self.module["backbone"](pictures))
        place = torch.from_numpy(self.place[rows])
        return cross_entropy(logits, {name: found[place].to(self.device) for name, found in self.wanted.items()})

    def worth(self) -> float:
        parts = [
            self.module["backbone"](self._input(self.test[start : start + self.plan.batch])).float().cpu().numpy()
            for start in range(0, len(self.test), self.plan.batch)
        ]
        return recognition(np.concatenate(parts), self.labels.product[self.test])

    def _input(self, rows: Integers) -> Tensor:
        steps = self.base.preprocessing
        values = torch.from_numpy(np.ascontiguousarray(self.pixels[rows])).permute(0, 3, 1, 2).float() / 255
        mean, std = (torch.tensor(part).view(1, 3, 1, 1) for part in (steps.mean, steps.std))
        return ((values - mean) / std).to(self.device)


def finetune(
    base: Trainable, pixels: NDArray[np.uint8], labels: Supervision, plan: Plan, folder: Path, *,
    frozen: int = 0, device: str = "cpu", progress: Progress | None = None,
) -> Finetuned:  # fmt: skip
    """Train the network on the pictures of `labels.ids`, uint8 (n, side, side, 3); state and weights go to `folder`.

    `frozen` of the network's parameter tensors, counted from the input, stay as they are. On a GPU the forward
    pass runs in mixed precision (bfloat16, which needs no scaling of the loss).
    """
    if len(pixels) != len(labels):
        raise InputError(f"{len(pixels):,} pictures of {len(labels):,} images", where="finetune")
    folder.mkdir(parents=True, exist_ok=True)
    task = _NetworkTask(base, pixels, labels, plan, frozen, device)
    identity: Mapping[str, Any] = {
        "base": base.text, "weights_sha256": base.weights_sha256, "preprocessing": base.preprocessing.digest,
        "labels": labels.source, "plan": asdict(plan), "frozen": frozen, "items": _fingerprint(labels),
    }  # fmt: skip
    task.module.eval()
    with torch.no_grad():
        before = task.worth()

    def mixed() -> AbstractContextManager[Any]:
        return torch.autocast("cuda", torch.bfloat16) if device.startswith("cuda") else contextlib.nullcontext()

    found = fit(task, plan, folder, identity, progress=progress, autocast=mixed)
    file = folder / WEIGHTS
    state = {
        name.removeprefix("backbone."): tensor for name, tensor in found.best.items() if name.startswith("backbone.")
    }
    write_tensors(file, state, {"identity": identity})
    return Finetuned(
        file, digest(file), base.checkpoint_text(str(file)), before, found.best_score, found.best_epoch, found.rows,
        len(task.train), len(task.test), found.resumed_at,
    )  # fmt: skip


def recognition(features: NDArray[np.float32], product: Integers) -> float:
    """Mean AP of finding the other images of a product by cosine: features (n, dimension), product (n,).

    Formula: mean over items with another image of their product of AP over all other items.
    Source: specification 7, `ap_at_p`, total, the whole list.
    Conventions: equal cosines are ranked by place; products of one image are left out.
    Example, run by doctest:
    >>> recognition(np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1]], np.float32), np.array([0, 0, 1, 1]))
    1.0
    """
    unit = features.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    values = []
    for row, score in enumerate(unit @ unit.T):
        order = np.argsort(-score, kind="stable")
        order = order[order != row]
        same = (product[order] == product[row]).astype(int)
        if same.any():
            values.append(ap_at_p(same.tolist(), len(same))["total"])
    if not values:
        raise InputError("no product that is held out has two images", where="finetune", do="Hold out more.")
    return float(np.mean(values))


def _freeze(network: torch.nn.Module, tensors: int) -> None:
    every = list(network.parameters())
    if not 0 <= tensors <= len(every):
        raise InputError(f"{tensors} tensors of {len(every)} are to be frozen", where="finetune", do="Give fewer.")
    for parameter in every[:tensors]:
        parameter.requires_grad_(False)


def _fingerprint(labels: Supervision) -> str:
    import hashlib

    hashed = hashlib.sha256("\n".join(labels.ids).encode())
    for found in labels.classes().values():
        hashed.update(np.ascontiguousarray(found).data)
    return hashed.hexdigest()
