"""Training of whole networks: images by row, frozen layers, the score, the weights file.

Not here: what is optimised (finetune.py by labels, dino.py without them).
"""

import contextlib
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eds.backbones.tensor_file import write_tensors
from eds.backbones.trainable import Trainable
from eds.errors import InputError
from eds.hashing.single_ranking import ap_at_p
from eds.io.files import digest
from eds.pairs import Integers
from eds.training.batches import epoch_batches, split
from eds.training.devices import devices_of, spread
from eds.training.loop import fit
from eds.training.plan import Plan
from eds.training.splits import Split
from eds.training.supervision import Supervision

WEIGHTS = "backbone.safetensors"
BLOCK = 256  # images compared with all others at once
MOST = 2000  # training images whose recognition is measured
Progress = Callable[[int, int], None]
Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Trained:
    """The weights file, with the scores and the log of its training."""

    file: Path
    sha256: str
    text: str  # of the backbone, for `eds embeddings compute -m`
    recognised: str  # what images of find each other in the scores: product, or category
    before: float  # recognition among the test queries before training; NaN if there are none
    test_score: float  # the same after training
    seen_score: float  # recognition among training images after training
    validation_score: float  # on the validation split of early stopping: optimistic; NaN if there is none
    parts: Split
    best_epoch: int
    rows: list[dict[str, Any]]
    trained_on: int
    validated_on: int
    tested_on: int
    resumed_at: int


class NetworkTask(ABC):
    """A network on the images of `labels.ids`, uint8 (n, side, side, 3); subclasses add the loss."""

    module: torch.nn.Module
    kept: str  # the part of `module` whose weights are the result

    def __init__(
        self, base: Trainable, pixels: Pixels, labels: Supervision, plan: Plan, frozen: int, device: str
    ) -> None:
        if len(pixels) != len(labels):
            raise InputError(f"{len(pixels):,} prepared images for {len(labels):,} ids", where="training")
        self.base, self.pixels, self.labels, self.plan = base, pixels, labels, plan
        self.devices, self.frozen = devices_of(device), frozen
        self.device = self.devices[0]  # of the head and the loss
        self.parts = split(labels, plan.validation_share, plan.test_share, plan.seed)
        self.recognised, self._kind = recognisable(labels, self.parts)
        self.singly = [np.array([row]) for row in self.parts.train]
        self.still = freeze(base.network, frozen)
        steps = base.preprocessing
        self._mean, self._std = (
            torch.tensor(part, device=self.device).view(1, 3, 1, 1) for part in (steps.mean, steps.std)
        )

    def batches(self, epoch: int) -> list[Integers]:
        """Rows drawn independently: no loss here needs a product twice in a batch."""
        return epoch_batches(self.parts.train, self.singly, self.plan.batch, 2, self.plan.seed, epoch)

    @abstractmethod
    def loss(self, rows: Integers, epoch: int) -> Tensor:
        """The loss of a batch; smaller is better."""

    @abstractmethod
    def after_step(self, done: float) -> None:
        """Called after each step of Adam; `done` is the completed share of all steps."""

    def score(self) -> float:
        """Recognition on the validation split; NaN if there is none."""
        return self.score_rows(self.parts.validation) if len(self.parts.validation) else float("nan")

    def score_rows(self, rows: Integers) -> float:
        """Recognition among these rows: how well images of a product, or of a category, find each other."""
        return recognition(self.features(rows), self._kind[rows], self.recognised)

    def features(self, rows: Integers) -> NDArray[np.float32]:
        """The features of these rows by the kept network, (rows, dimension)."""
        network = self.module.get_submodule(self.kept)
        starts = range(0, len(rows), self.plan.batch)
        parts = [self.run(network, self.pictures(rows[at : at + self.plan.batch])) for at in starts]
        return np.concatenate([part.float().cpu().numpy() for part in parts])

    def run(self, network: torch.nn.Module, pictures: Tensor) -> Tensor:
        """The network's output for a batch, on all devices of the run."""
        return spread(network, pictures, self.devices)

    def pictures(self, rows: Integers) -> Tensor:
        """The network's input for these rows, float32 (rows, 3, side, side)."""
        values = torch.from_numpy(self.pixels[rows]).to(self.device).permute(0, 3, 1, 2).float() / 255
        return (values - self._mean) / self._std

    def keep_frozen_statistics(self) -> None:
        """Keep the running means of frozen layers, which training mode would change."""
        for layer in self.still:
            layer.eval()


def train(
    task: NetworkTask,
    folder: Path,
    details: Mapping[str, Any],
    progress: Progress | None = None,
    *,
    restart: bool = False,
) -> Trained:
    """Train the task's network; state and weights go to `folder`. `details` are added to the run's identity.

    On a GPU the forward pass runs in mixed precision (bfloat16, which needs no scaling of the loss).
    """
    folder.mkdir(parents=True, exist_ok=True)
    base, labels, parts = task.base, task.labels, task.parts
    identity = identity_of(task, details)
    before = _score(task, parts.test)
    autocast = mixed_precision(task.device)
    found = fit(task, task.plan, folder, identity, progress=progress, restart=restart, autocast=autocast)
    file, start = folder / WEIGHTS, f"{task.kept}."
    state = {name.removeprefix(start): tensor for name, tensor in found.best.items() if name.startswith(start)}
    write_tensors(file, state, {"identity": identity, "options": base.checkpoint_options()})
    return Trained(
        file,
        digest(file),
        f"checkpoint:{file}",
        task.recognised,
        before,
        _score(task, parts.test),
        _score(task, _draw_products(labels, parts.train)),
        found.best_score,
        parts,
        found.best_epoch,
        found.rows,
        len(parts.train),
        len(parts.validation),
        len(parts.test),
        found.resumed_at,
    )


def identity_of(task: NetworkTask, details: Mapping[str, Any]) -> dict[str, Any]:
    """What decides the weights of a run: it resumes only if all of it is the same."""
    base, labels = task.base, task.labels
    return {
        "base": base.text,
        "weights_sha256": base.weights_sha256,
        "preprocessing": base.preprocessing.digest,
        "labels": labels.source,
        "plan": task.plan.identity(),
        "frozen": task.frozen,
        "items": _fingerprint(labels),
        **({"devices": len(task.devices)} if len(task.devices) > 1 else {}),  # sums are rounded part by part
        **details,
    }


def augmented(pictures: Tensor, crop: int) -> Tensor:
    """Each image flipped at random and moved by up to `crop` pixels; the edge is repeated."""
    flipped = torch.rand(len(pictures)) < 0.5
    flipped = flipped.to(pictures.device)
    pictures = torch.where(flipped[:, None, None, None], pictures.flip(-1), pictures)
    if not crop:
        return pictures
    n, _, side, _ = pictures.shape
    padded = torch.nn.functional.pad(pictures, (crop,) * 4, mode="replicate")
    down, right = torch.randint(0, 2 * crop + 1, (2, n)).to(pictures.device)
    step = torch.arange(side, device=pictures.device)
    rows, columns = down[:, None, None] + step[:, None], right[:, None, None] + step
    return padded.permute(0, 2, 3, 1)[torch.arange(n)[:, None, None], rows, columns].permute(0, 3, 1, 2)


def mixed_precision(device: torch.device) -> Callable[[], AbstractContextManager[Any]]:
    """The context of a forward pass: bfloat16 on a GPU, which needs no scaling of the loss."""
    return lambda: torch.autocast("cuda", torch.bfloat16) if device.type == "cuda" else contextlib.nullcontext()


def recognisable(labels: Supervision, parts: Split) -> tuple[str, Integers]:
    """What the scores of a network look for: images of a product; of a category if a part has no product of two images.

    >>> single = Supervision("category", list("abcd"), np.arange(4), np.array([0, 0, 1, 1]))
    >>> recognisable(single, Split(np.arange(4), *[np.zeros(0, np.int64)] * 3))[0]
    'category'
    """
    rows = [part for part in (parts.train, parts.validation, parts.test) if len(part)]
    torn = any(len(np.unique(labels.product[part])) == len(part) for part in rows)
    return ("category", labels.category) if torn and labels.category is not None else ("product", labels.product)


def recognition(features: NDArray[np.float32], product: Integers, kind: str = "product") -> float:
    """Mean AP of finding the other images of a product by cosine: features (n, dimension), product (n,).

    Formula: mean over items with another image of their product of AP over all other items.
    Source: specification 7, `ap_at_p`, total, the whole list.
    Conventions: equal cosines are ranked by row; products of one image are left out.
    Example, run by doctest:
    >>> recognition(np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1]], np.float32), np.array([0, 0, 1, 1]))
    1.0
    """
    unit = features.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    values = []
    for start in range(0, len(unit), BLOCK):
        for row, score in enumerate(unit[start : start + BLOCK] @ unit.T, start):
            order = np.argsort(-score, kind="stable")
            order = order[order != row]
            same = (product[order] == product[row]).astype(int)
            if same.any():
                values.append(ap_at_p(same.tolist(), len(same))["total"])
    if not values:
        raise InputError(
            f"no {kind} of the split has two images",
            where="training",
            hint="Use larger splits" + (", or --labels category." if kind == "product" else "."),
        )
    return float(np.mean(values))


def freeze(network: torch.nn.Module, tensors: int) -> list[torch.nn.Module]:
    """Freeze that many parameter tensors, counted from the input; return the completely frozen layers."""
    every = list(network.parameters())
    if not 0 <= tensors < len(every):
        raise InputError(f"{tensors} tensors of {len(every)} are to be frozen", where="training", hint="Freeze fewer.")
    for parameter in every[:tensors]:
        parameter.requires_grad_(False)
    layers = [layer for layer in network.modules() if not list(layer.children()) and list(layer.parameters())]
    return [layer for layer in layers if not any(parameter.requires_grad for parameter in layer.parameters())]


def _score(task: NetworkTask, rows: Integers) -> float:
    if not len(rows):
        return float("nan")
    task.module.eval()
    with torch.no_grad():
        return task.score_rows(rows)


def _draw_products(labels: Supervision, rows: Integers) -> Integers:
    """Some 2,000 of the rows, all images of a product or none."""
    if len(rows) <= MOST:
        return rows
    products, counts = np.unique(labels.product[rows], return_counts=True)
    order = np.random.default_rng(0).permutation(len(products))
    kept = products[order[np.cumsum(counts[order]) <= MOST]]
    return rows[np.isin(labels.product[rows], kept)]


def _fingerprint(labels: Supervision) -> str:
    hashed = hashlib.sha256("\n".join(labels.ids).encode())
    parts = () if labels.parts is None else astuple(labels.parts)
    for found in (*labels.classes().values(), *parts):
        hashed.update(np.ascontiguousarray(found).data)
    return hashed.hexdigest()
