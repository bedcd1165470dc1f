"""A trained model as one file: it gives the codes and vectors of the run, without the run."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from eds.backbones import load
from eds.backbones.trainable import trainable
from eds.errors import InputError
from eds.project import Project
from eds.training.deep_hash import fit_deep_hash
from eds.training.export import export_run
from eds.training.finetune import finetune
from eds.training.hash_head import fit_hash_head
from eds.training.hash_objective import Design
from eds.training.plan import Plan
from eds.training.supervision import supervise

SIDE, IMAGES = 32, 24
PLAN = Plan(epochs=1, batch=8, keep="last", validation_share=0.25, test_share=0.25)
RESNET = "timm:test_resnet?size=32&crop=32&resize=squash&mean=0.1,0.2,0.3&random_init=true"


@pytest.fixture
def pixels() -> np.ndarray:
    coarse = np.random.default_rng(0).integers(0, 256, (IMAGES, 4, 4, 3), dtype=np.uint8)
    return coarse.repeat(SIDE // 4, axis=1).repeat(SIDE // 4, axis=2)


def labels() -> Any:
    ids = [f"{row:02d}" for row in range(IMAGES)]
    products = [f"p{row // 2}" for row in range(IMAGES)]
    return supervise("product", pd.DataFrame({"image_id": ids, "product_id": products, "category": "c"}))


def encoded(text: str, pixels: np.ndarray) -> np.ndarray:
    return load(text, device="cpu", runtime="torch").encode(pixels)


def moved(run: Path, pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The codes by the run, and by its one file after the run is gone."""
    file = run.parent / "alone.safetensors"
    first = encoded(f"hash:{run}", pixels)
    done = export_run(run, file)
    assert (done.text, done.missing) == (f"hash:{file}", "")
    shutil.rmtree(run)
    return first, encoded(done.text, pixels)


@pytest.mark.parametrize("text", ["cnn:dsh?size=32&random_init=true", RESNET])
def test_a_network_that_was_trained_with_its_head_is_one_file(text: str, tmp_path: Path, pixels: np.ndarray) -> None:
    fit_deep_hash(trainable(text), pixels, labels(), Design(12), PLAN, tmp_path / "run")
    first, again = moved(tmp_path / "run", pixels)
    assert len(np.unique(first, axis=0)) > (text == RESNET)  # one code: cnn:dsh is hardly trained
    np.testing.assert_array_equal(first, again)


def test_a_head_takes_the_network_under_it_along(tmp_path: Path, pixels: np.ndarray) -> None:
    base = load(RESNET, device="cpu", runtime="torch")
    described = {"model": "base", "weights_digest": base.spec.weights_sha256}
    fit_hash_head(base.encode(pixels), labels(), Design(12), PLAN, tmp_path / "run", described, base_text=RESNET)
    first, again = moved(tmp_path / "run", pixels)
    assert len(np.unique(first, axis=0)) > 1
    np.testing.assert_array_equal(first, again)


def test_a_base_that_is_no_network_of_ours_is_named(tmp_path: Path, pixels: np.ndarray) -> None:
    pixels = pixels.repeat(4, axis=1).repeat(4, axis=2)
    base = load("descriptor:hsv", device="cpu")
    described = {"model": "hsv", "weights_digest": base.spec.weights_sha256}
    fit_hash_head(base.encode(pixels), labels(), Design(4), PLAN, tmp_path / "run", described, base_text=base.spec.text)
    done = export_run(tmp_path / "run", tmp_path / "alone.safetensors")
    assert done.missing == base.spec.text
    alone, run = (load(text, device="cpu").encode(pixels) for text in (done.text, f"hash:{tmp_path / 'run'}"))
    np.testing.assert_array_equal(alone, run)


def test_a_fine_tuned_network_is_one_file(tmp_path: Path, pixels: np.ndarray) -> None:
    trained = finetune(trainable(RESNET), pixels, labels(), PLAN, tmp_path / "run")
    done = export_run(tmp_path / "run", tmp_path / "alone.safetensors")
    first = encoded(trained.text, pixels)
    shutil.rmtree(tmp_path / "run")
    np.testing.assert_array_equal(first, encoded(done.text, pixels))


def test_what_cannot_be_exported_is_refused(tmp_path: Path) -> None:
    project = Project.create(tmp_path / "p", {})
    with pytest.raises(InputError, match="there is no run 'none'"):
        project.export_run("none")
    (project.root / "training" / "begun").mkdir(parents=True)
    with pytest.raises(InputError, match="no weights yet"):
        project.export_run("begun", tmp_path / "begun.safetensors")
    with pytest.raises(InputError, match="the file has no name in"):
        project.export_run("begun", tmp_path / "begun.pt")
    there = tmp_path / "there.safetensors"
    there.write_bytes(b"kept")
    with pytest.raises(InputError, match="exists"):
        project.export_run("begun", there)
    assert there.read_bytes() == b"kept"
