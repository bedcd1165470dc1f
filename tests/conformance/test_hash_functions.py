"""What holds for every baseline and every objective that learns codes: one line adds another."""

from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest
import torch

from eds.backbones.hash_head import Head
from eds.backbones.trainable import trainable
from eds.choices import HashObjective
from eds.errors import InputError
from eds.registry import BASELINES
from eds.training.deep_hash import fit_deep_hash
from eds.training.hash_head import fit_hash_head, load_head
from eds.training.hash_losses import loss_of
from eds.training.hash_objective import Design
from eds.training.plan import Plan
from eds.training.supervision import Supervision, supervise

CLASSES, EACH, DIMENSION, BITS = 5, 24, 12, 8
PLAN = Plan(epochs=2, batch=24, keep="last", warm_up=0, validation_share=0.2, test_share=0.2, learning_rate=0.01)


def labels(source: str = "category") -> Supervision:
    n = CLASSES * EACH
    ids = [f"{row:03d}" for row in range(n)]
    kinds = [f"c{row % CLASSES}" for row in range(n)]
    products = [f"{kind}-{row // (2 * CLASSES)}" for row, kind in enumerate(kinds)]
    return supervise(source, pd.DataFrame({"image_id": ids, "product_id": products, "category": kinds}))


def vectors() -> np.ndarray:
    rng = np.random.default_rng(0)
    middle = 2 * rng.normal(size=(CLASSES, DIMENSION))
    return (middle[np.arange(CLASSES * EACH) % CLASSES] + rng.normal(size=(CLASSES * EACH, DIMENSION))).astype(
        "float32"
    )


def chance() -> float:
    """The expected AP of a list without order: about the share of positives."""
    return 1 / CLASSES


@pytest.mark.parametrize("name", BASELINES.names())
def test_a_baseline_is_better_than_chance_the_same_each_time_and_reads_back(name: str, tmp_path: Path) -> None:
    first, again = (
        fit_hash_head(vectors(), labels(), Design(BITS, name), PLAN, tmp_path / part, {}) for part in ("a", "b")
    )
    assert first.sha256 == again.sha256
    assert first.test is not None
    assert first.test.expected > chance() + 0.15
    np.testing.assert_array_equal(load_head(first.file).codes(vectors()), first.head.codes(vectors(), block=7))
    assert first.test.codes_in_use >= CLASSES


@pytest.mark.parametrize("name", BASELINES.names())
def test_a_baseline_tells_vectors_that_are_all_the_same(name: str) -> None:
    with pytest.raises(InputError, match="all vectors are the same"):
        BASELINES.load(name)(np.ones((20, 4), np.float32), 2, 0, np.arange(20) % 2)


@pytest.mark.parametrize("name", get_args(HashObjective))
def test_a_network_learns_by_every_objective(name: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    colours = rng.integers(0, 256, (CLASSES, 2, 2, 3))
    coloured = np.kron(colours[np.arange(CLASSES * EACH) % CLASSES], np.ones((1, 8, 8, 1)))
    pixels = np.clip(coloured + rng.normal(0, 25, coloured.shape), 0, 255).astype(np.uint8)
    source = "both" if name == "two-level-dsh" else "category"
    plan = Plan(
        **{
            **vars(PLAN),
            "epochs": 60 if name == "dsh" else 25,
            "learning_rate": 1e-3,
            "optimizer": "adamw",
            "clip": 5.0,
            "batch": 40,
        }
    )
    network = trainable("cnn:dsh?size=16&random_init=true")
    found = fit_deep_hash(network, pixels, labels(source), Design(BITS, name), plan, tmp_path, crop=1)
    assert found.seen.expected > chance() + 0.15
    assert found.rows[-1]["validation_score"] > chance() + 0.15


def test_a_loss_makes_no_tensor_on_another_device() -> None:
    codes = torch.empty(6, BITS, device="meta")
    assert loss_of("hashnet", Design().pairing)(codes, torch.ones(6, 6, device="meta")).device.type == "meta"


def test_a_head_of_no_known_kind_is_refused() -> None:
    with pytest.raises(InputError, match="unknown kind of head"):
        Head(4, 2, "tree")
