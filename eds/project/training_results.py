"""What training returns: the codes of a hash function, or a fine-tuned network, with their scores."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eds.project.results import Result

if TYPE_CHECKING:
    from eds.training.code_score import CodeScore


@dataclass(frozen=True)
class HashResult(Result):
    """A fitted head and its codes."""

    model: str
    base: str
    head: str
    bits: int
    objective: str
    labels: str
    scale: str
    margin: float | None
    alpha: float | None
    seed: int
    rows: int
    test: "CodeScore | None"  # of test queries, which influenced no choice; None: every image was trained on
    seen: "CodeScore"  # the same of images that were trained on
    validation_score: float  # the same measure, by which the epoch was chosen: optimistic; NaN: no such images
    split: str  # table splits, or drawn for this run
    trained_on: int
    validated_on: int
    epochs: int
    best_epoch: int
    keep: str
    learning_rate: float
    warm_up: float
    resumed_at: int
    checkpoint: str
    checkpoint_sha256: str
    images_without_vector: int
    log: list[dict[str, Any]]


@dataclass(frozen=True)
class FinetuneResult(Result):
    """A trained network; `spec` names it as a backbone."""

    name: str
    base: str
    objective: str
    labels: str | None
    spec: str
    checkpoint_sha256: str
    recognised: str  # what images of find each other in the scores: product, or category
    measure: str
    score_before: float
    test_score: float  # NaN: every image was trained on
    seen_score: float  # of images that were trained on
    validation_score: float
    split: str  # table splits, or drawn for this run
    trained_on: int
    validated_on: int
    tested_on: int
    epochs: int
    best_epoch: int
    keep: str
    learning_rate: float
    warm_up: float
    seed: int
    frozen: int
    resumed_at: int
    log: list[dict[str, Any]]
    next_command: str  # embeds the catalogue with it
