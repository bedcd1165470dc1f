"""Fit a hash head to existing embeddings: takes seconds on a CPU, and is the default way to codes."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eds.errors import InputError
from eds.io.files import digest
from eds.pairs import Integers
from eds.training import heads
from eds.training.batches import epoch_batches, split
from eds.training.checkpoint import read_tensors, write_tensors
from eds.training.code_score import CodeScore, measure_codes, score_codes
from eds.training.hash_losses import COMPUTED, CROSS_ENTROPY, ON_TANH, Pairing, Scale, check_objective, loss_of
from eds.training.loop import LOG, STATE, fit
from eds.training.objectives.cross_entropy import Classifiers, cross_entropy
from eds.training.plan import Plan
from eds.training.splits import Split
from eds.training.supervision import Supervision

Progress = Callable[[int, int], None]
Vectors = NDArray[np.float32]
HEAD = "head.safetensors"


@dataclass(frozen=True)
class Design:
    """The codes to learn: length, objective and head."""

    bits: int = 32
    objective: str = "talr-ap"
    head: str = "linear"
    hidden: int = heads.HIDDEN
    scale: Scale = field(default_factory=Scale)
    pairing: Pairing = field(default_factory=Pairing)


@dataclass(frozen=True)
class HashHead:
    """A fitted head, with the scores and the log of its training."""

    head: heads.Head
    file: Path
    sha256: str
    test: CodeScore | None  # of queries that influenced no choice; None: every image was trained on
    seen: CodeScore  # the same of training images
    validation_score: float  # on the validation split of early stopping: optimistic; NaN if there is none
    parts: Split
    best_epoch: int
    rows: list[dict[str, Any]]  # the log, one row per epoch; empty if nothing is trained
    trained_on: int
    validated_on: int
    resumed_at: int = 0


class _HashTask:
    """A head (and a classifier, for cross-entropy) on vectors, for `loop.fit`."""

    def __init__(self, design: Design, plan: Plan, vectors: Vectors, labels: Supervision) -> None:
        self.design, self.plan, self.labels = design, plan, labels
        self.parts = split(labels, plan.validation_share, plan.test_share, plan.seed)
        self.train = self.parts.train
        self.vectors, self._tensor = vectors, torch.from_numpy(vectors)
        self.partners = labels.partners(self.train)
        if not any(len(found) > 1 for found in self.partners) and design.objective != CROSS_ENTROPY:
            raise InputError(
                "no image has a similar one to learn from", where=f"labels {labels.source}", hint="Use other labels."
            )
        head = heads.create_head(vectors.shape[1], design.bits, design.head, plan.seed, design.hidden)
        head.centre(vectors[self.train])
        self.head, self.module = head, torch.nn.ModuleDict({"head": head})
        if design.objective == CROSS_ENTROPY:
            self.wanted = {name: torch.from_numpy(found) for name, found in labels.classes().items()}
            counts = {name: int(found.max()) + 1 for name, found in self.wanted.items()}
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(plan.seed)
                self.module["classifiers"] = Classifiers(design.bits, counts)

    def batches(self, epoch: int) -> list[Integers]:
        return epoch_batches(self.train, self.partners, self.plan.batch, self.plan.group, self.plan.seed, epoch)

    def loss(self, rows: Integers, epoch: int) -> Tensor:
        design = self.design
        found: Tensor = self.head(self._tensor[torch.from_numpy(rows)])
        if design.objective in ON_TANH:
            found = torch.tanh(design.scale.at(epoch, self.plan.epochs) * found)
        if design.objective == CROSS_ENTROPY:
            logits = self.module["classifiers"](found)
            return cross_entropy(logits, {name: every[torch.from_numpy(rows)] for name, every in self.wanted.items()})
        loss = loss_of(design.objective, design.pairing)
        return loss(found, torch.from_numpy(self.labels.affinity(rows, rows)))

    def after_step(self, done: float) -> None:
        """Nothing to do."""

    def score(self) -> float:
        return self.score_rows(self.parts.validation) if len(self.parts.validation) else float("nan")

    def score_rows(self, rows: Integers) -> float:
        """The score of the current head on these rows."""
        codes = np.zeros((len(self.vectors), self.head.bits), np.int8)
        codes[rows] = self.head.codes(self.vectors[rows])
        return score_codes(codes, self.labels, rows)


def fit_hash_head(
    vectors: Vectors,
    labels: Supervision,
    design: Design,
    plan: Plan,
    folder: Path,
    base: Mapping[str, Any],
    *,
    restart: bool = False,
    progress: Progress | None = None,
) -> HashHead:
    """Fit a head to vectors, (items, dimension) float32 in the order of `labels.ids`; `base` describes their model.

    State, log and the finished head are kept in `folder`; an interrupted run resumes there, and `restart` ignores
    the state of an earlier run.
    """
    check_objective(design.objective, labels.source, design.pairing)
    if len(vectors) != len(labels):
        raise InputError(f"{len(vectors):,} vectors for {len(labels):,} images", where="training")
    if not np.isfinite(vectors).all():
        raise InputError("a vector holds NaN or infinity", where="training", hint="Compute the vectors again.")
    folder.mkdir(parents=True, exist_ok=True)
    identity = {
        "base": dict(base),
        "design": {**asdict(design), "scale": str(design.scale)},
        "plan": asdict(plan),
        "labels": labels.source,
        "items": _fingerprint(vectors, labels),
    }
    with _one_thread():
        if design.objective in COMPUTED:
            parts = split(labels, plan.validation_share, plan.test_share, plan.seed)
            head = (
                heads.pca_head(vectors[parts.train], design.bits)
                if design.objective == "pca-sign"
                else heads.itq_head(vectors[parts.train], design.bits, plan.seed)
            )
            log: dict[str, Any] = {"best_epoch": 0, "rows": [], "resumed_at": 0}
        else:
            task = _HashTask(design, plan, vectors, labels)
            parts = task.parts
            for rows in (parts.validation, parts.train):  # raises before training if the labels allow no score
                if len(rows):
                    task.score_rows(rows)
            if len(parts.test):
                measure_codes(task.head.codes(vectors), labels, parts.test, parts.database)
            found = fit(task, plan, folder, identity, restart=restart, progress=progress)
            head = task.head.eval()
            log = {"best_epoch": found.best_epoch, "rows": found.rows, "resumed_at": found.resumed_at}
        codes = head.codes(vectors)
        validation_score = score_codes(codes, labels, parts.validation) if len(parts.validation) else float("nan")
        test = measure_codes(codes, labels, parts.test, parts.database) if len(parts.test) else None
        same = np.array_equal(parts.test, parts.database) or not len(parts.database)
        seen = measure_codes(codes, labels, parts.train, None if same else parts.database)
    file = folder / HEAD
    write_tensors(
        file,
        head.state_dict(),
        {"identity": identity, "dimension": vectors.shape[1], **asdict(design), "scale": str(design.scale)},
    )
    if (
        restart and design.objective in COMPUTED
    ):  # nothing was trained: what another run tells of its epochs is not of it
        for rest in (STATE, LOG):
            (folder / rest).unlink(missing_ok=True)
    return HashHead(
        head,
        file,
        digest(file),
        test,
        seen,
        validation_score,
        parts,
        trained_on=len(parts.train),
        validated_on=len(parts.validation),
        **log,
    )


def load_head(file: Path) -> heads.Head:
    """Load the head of a finished run."""
    tensors, metadata = read_tensors(file)
    if "dimension" not in metadata:
        raise InputError("the file does not hold a hash head", where=str(file), hint=f"Name a run's {HEAD}.")
    return heads.restore_head(metadata["dimension"], metadata["bits"], metadata["head"], metadata["hidden"], tensors)


def _fingerprint(vectors: Vectors, labels: Supervision) -> str:
    """A digest of the items and labels."""
    hashed = hashlib.sha256(np.ascontiguousarray(vectors).data)
    hashed.update("\n".join(labels.ids).encode())
    parts = () if labels.parts is None else astuple(labels.parts)
    for part in (labels.product, labels.category, labels.pairs, *parts):
        hashed.update(b"none" if part is None else np.ascontiguousarray(part).data)
    return hashed.hexdigest()


@contextmanager
def _one_thread() -> Iterator[None]:
    """Sum in one order on every machine; heads are too small to gain from more threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
