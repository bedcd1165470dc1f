"""Models of MTEB: the vectors of its own call, and no code of repositories."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mteb
import numpy as np
import pytest
import torch
from datasets import Dataset
from mteb.models.model_implementations import MODEL_REGISTRY

from eds.backbones import load
from eds.errors import InputError, UnknownNameError
from tests.backbones.pictures import pictures
from tests.backbones.repositories import mteb_model

NAME = "tiny/dinov2"


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A model that MTEB knows; its repository is a folder."""
    yield mteb_model(tmp_path, NAME)
    del MODEL_REGISTRY[NAME]


def of_mteb() -> Any:
    """The vectors of MTEB's own call on the whole pictures, of length 1."""
    dataset = Dataset.from_list([{"image": image} for image in pictures()])
    loader = torch.utils.data.DataLoader(
        dataset, batch_size=2, collate_fn=lambda rows: {"image": [row["image"] for row in rows]}
    )
    model: Any = mteb.get_model(NAME, device="cpu")
    task = mteb.get_task("CUB200I2IRetrieval").metadata
    vectors = np.asarray(model.encode(loader, task_metadata=task, hf_split="test", hf_subset="default"))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_vectors_are_those_of_mteb(tiny: Path) -> None:
    backbone = load(f"mteb:{NAME}")
    batch = np.stack([backbone.spec.preprocessing.pixels(image) for image in pictures()])
    assert np.abs(backbone.encode(batch) - of_mteb()).max() <= 1e-5
    assert (backbone.spec.dimension, backbone.spec.licence) == (32, "apache-2.0")
    assert backbone.spec.preprocessing.crop is not None  # the processor's own


def test_a_stated_square_is_what_the_model_gets(tiny: Path) -> None:
    backbone = load(f"mteb:{NAME}?size=48")
    steps = backbone.spec.preprocessing
    assert (steps.resize, steps.side) == ("squash", 48)
    assert backbone.encode(np.zeros((2, 48, 48, 3), np.uint8)).shape == (2, 32)


def test_code_of_a_repository_is_not_run(tiny: Path, tmp_path: Path) -> None:
    (tiny / "modeling_own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\nclass Own: pass\n")
    config = json.loads((tiny / "config.json").read_text())
    (tiny / "config.json").write_text(
        json.dumps({**config, "model_type": "own", "auto_map": {"AutoConfig": "modeling_own.Own"}})
    )
    loader: Any = MODEL_REGISTRY[NAME].loader
    loader.code = True
    with pytest.raises(InputError, match="brings code of its own"):
        load(f"mteb:{NAME}")
    assert not (tmp_path / "ran").exists()


def test_absent_weights_are_one_clear_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(InputError, match="the weights are not available"):
        load("mteb:facebook/dinov2-small")


def test_bad_input(tiny: Path) -> None:
    with pytest.raises(UnknownNameError, match="mteb has no such model"):
        load("mteb:tiny/none")
    with pytest.raises(InputError, match="the model takes text, no images"):
        load("mteb:sentence-transformers/all-MiniLM-L6-v2")
    with pytest.raises(InputError, match="has its own weights"):
        load(f"mteb:{NAME}?random_init=true")
    with pytest.raises(InputError, match="unknown option pooling"):
        load(f"mteb:{NAME}?pooling=cls")
    (tiny / "model.safetensors").unlink()
    with pytest.raises(InputError, match="the model cannot be loaded"):
        load(f"mteb:{NAME}")
