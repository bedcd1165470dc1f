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

from eds.backbones.families.hash import HEAD
from eds.backbones.hash_head import Head, restore_head
from eds.backbones.tensor_file import read_tensors, write_tensors
from eds.errors import InputError
from eds.io.files import digest
from eds.pairs import Integers
from eds.registry import BASELINES
from eds.training.batches import epoch_batches, split
from eds.training.code_score import CodeScore, measure_codes, score_codes
from eds.training.hash_losses import ON_PAIRS, check_objective
from eds.training.hash_objective import Design, HashObjective
from eds.training.heads import check_bits, create_head
from eds.training.loop import LOG, STATE, Fitted, fit
from eds.training.plan import Plan
from eds.training.splits import Split
from eds.training.supervision import Supervision

Progress = Callable[[int, int], None]
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class HashRun:
    """A fitted head, with the scores and the log of its training."""

    head: Head
    file: Path
    sha256: str
    test: CodeScore | None  # of queries that influenced no choice; None: every image was trained on
    seen: CodeScore  # the same of training images
    validation_score: float  # on the validation split of early stopping: optimistic; NaN if there is none
    parts: Split
    best_epoch: int
    rows: list[dict[str, Any]]  # the log, one row per epoch; empty if nothing is trained
    resumed_at: int
    codes: NDArray[np.int8] = field(repr=False)  # of all items, (items, bits); of networks zeros for those in no part


class _HashTask:
    """A head (and what its objective has of its own) on vectors, for `loop.fit`."""

    def __init__(self, design: Design, plan: Plan, vectors: Vectors, labels: Supervision) -> None:
        self.design, self.plan, self.labels = design, plan, labels
        self.parts = split(labels, plan.validation_share, plan.test_share, plan.seed)
        self.train = self.parts.train
        self.vectors, self._tensor = vectors, torch.from_numpy(vectors)
        self.partners = partners_of(labels, self.train, design.objective)
        head = create_head(vectors.shape[1], design.bits, design.head, plan.seed, design.hidden)
        head.centre(vectors[self.train])
        self.objective = HashObjective(design, plan, labels)
        self.head, self.module = head, torch.nn.ModuleDict({"head": head, **self.objective.modules})

    def batches(self, epoch: int) -> list[Integers]:
        return epoch_batches(self.train, self.partners, self.plan.batch, self.plan.group, self.plan.seed, epoch)

    def loss(self, rows: Integers, epoch: int) -> Tensor:
        return self.objective.loss(self.head(self._tensor[torch.from_numpy(rows)]), rows, epoch)

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
    base_text: str = "",
    restart: bool = False,
    progress: Progress | None = None,
) -> HashRun:
    """Fit a head to vectors, (items, dimension) float32 in the order of `labels.ids`; `base` describes their model.

    State, log and the finished head are kept in `folder`; an interrupted run resumes there, and `restart` ignores
    the state of an earlier run. With the base model's text the folder is a hash function of images: `hash:FOLDER`.
    """
    check_objective(design.objective, labels.source, design.pairing)
    check_bits(design.bits)
    if len(vectors) != len(labels):
        raise InputError(f"{len(vectors):,} vectors for {len(labels):,} images", where="training")
    if not np.isfinite(vectors).all():
        raise InputError("a vector holds NaN or infinity", where="training", hint="Compute the vectors again.")
    folder.mkdir(parents=True, exist_ok=True)
    identity = {
        "base": dict(base),
        "design": design.identity(),
        "plan": plan.identity(),
        "labels": labels.source,
        "items": _fingerprint(vectors, labels),
    }
    with _one_thread():
        if design.objective in BASELINES:
            parts = split(labels, plan.validation_share, plan.test_share, plan.seed)
            check_classes(labels, parts)
            classes = None if labels.source == "truth" else next(iter(labels.classes().values()))
            classes = None if classes is None else np.unique(classes[parts.train], return_inverse=True)[1]
            head = BASELINES.load(design.objective)(vectors[parts.train], design.bits, plan.seed, classes)
            found = Fitted({}, 0, float("nan"), [], 0)
            if restart:  # what another run tells of its epochs is not of this one
                for rest in (STATE, LOG):
                    (folder / rest).unlink(missing_ok=True)
        else:
            task = _HashTask(design, plan, vectors, labels)
            parts = task.parts
            check_scores(task.head.codes(vectors), labels, parts)
            found = fit(task, plan, folder, identity, restart=restart, progress=progress)
            head = task.head.eval()
        metadata = {
            "identity": identity,
            "dimension": vectors.shape[1],
            **{name: value for name, value in asdict(design).items() if value is not None},
            "scale": str(design.growing),
            "head": head.kind,
            "hidden": head.hidden,
            "base_text": base_text,
            "base_sha256": base.get("weights_digest"),
        }
        write_tensors(folder / HEAD, head.state_dict(), metadata)
        learned = design.objective not in BASELINES  # the others have codes whatever the labels say of their worth
        return measure_run(head, folder, head.codes(vectors), labels, parts, found, defined=learned)


def partners_of(labels: Supervision, rows: Integers, objective: str) -> list[Integers]:
    """For each of the rows those it shares batches with; refuse labels by which nothing is similar."""
    partners = labels.partners(rows)
    if objective in ON_PAIRS and not any(len(found) > 1 for found in partners):
        kind = labels.source if labels.source in ("category", "product") else "product"
        what = "image has a similar one" if labels.source == "truth" else f"{kind} has two training images"
        raise InputError(f"no {what} to learn from", where=f"labels {labels.source}", hint="Use other labels.")
    return partners


def check_classes(labels: Supervision, parts: Split) -> None:
    """Raise InputError where all training images are of one class: codes would have nothing to tell apart."""
    kinds = {} if labels.source == "truth" else labels.classes()
    if kinds and all(len(np.unique(kind[parts.train])) == 1 for kind in kinds.values()):
        raise InputError(
            f"all {len(parts.train):,} training images are of one class",
            where=f"labels {labels.source}",
            hint="Use other labels, or another split.",
        )


def check_scores(codes: NDArray[np.int8], labels: Supervision, parts: Split) -> None:
    """Raise InputError, before training, where the labels allow no score of a part, or teach nothing."""
    check_classes(labels, parts)
    for rows in (parts.validation, parts.train):
        if len(rows):
            score_codes(codes, labels, rows)
    if len(parts.test):
        measure_codes(codes, labels, parts.test, parts.database)


def measure_run(
    head: Head,
    folder: Path,
    codes: NDArray[np.int8],
    labels: Supervision,
    parts: Split,
    found: Fitted,
    *,
    defined: bool = True,
) -> HashRun:
    """What a finished run is: its head's file, and the scores of the codes of all items; see `measure_codes`."""
    alone = not len(parts.database) or np.array_equal(parts.test, parts.database)  # queries among each other
    file = folder / HEAD
    return HashRun(
        head,
        file,
        digest(file),
        measure_codes(codes, labels, parts.test, parts.database, defined=defined) if len(parts.test) else None,
        measure_codes(codes, labels, parts.train, None if alone else parts.database, defined=defined),
        score_codes(codes, labels, parts.validation, defined=defined) if len(parts.validation) else float("nan"),
        parts,
        found.best_epoch,
        found.rows,
        found.resumed_at,
        codes,
    )


def load_head(file: Path) -> Head:
    """Load the head of a finished run."""
    tensors, metadata = read_tensors(file)
    if "dimension" not in metadata:
        raise InputError("the file does not hold a hash head", where=str(file), hint=f"Name a run's {HEAD}.")
    return restore_head(metadata["dimension"], metadata["bits"], metadata["head"], metadata["hidden"], tensors)


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
