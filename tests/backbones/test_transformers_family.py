"""Models of transformers and sentence-transformers against the libraries' own calls."""

import json
import logging
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from eds.backbones import Backbone, load
from eds.backbones.families.transformers import quiet
from eds.errors import InputError
from tests.backbones.pictures import pictures
from tests.backbones.repositories import ARCHITECTURES, sentence_transformers_repository, transformers_repository
from tests.reference import backbones as slow


def _vectors(backbone: Backbone) -> Any:
    return backbone.encode(np.stack([backbone.spec.preprocessing.pixels(image) for image in pictures()]))


def _own_call(folder: Path) -> Any:
    """What AutoModel and AutoImageProcessor give."""
    with quiet():
        model = transformers.AutoModel.from_pretrained(folder).eval()
        processor = transformers.AutoImageProcessor.from_pretrained(folder, backend="pil")
    pixels = processor(images=pictures(), return_tensors="pt")["pixel_values"]
    with torch.no_grad():
        if hasattr(model, "get_image_features"):
            return model.get_image_features(pixel_values=pixels).pooler_output.numpy()
        return model(pixel_values=pixels).pooler_output.flatten(1).numpy()


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_vectors_are_those_of_the_librarys_own_call(name: str, tmp_path: Path) -> None:
    folder = transformers_repository(tmp_path, name)
    backbone = load(f"transformers:local-dir:{folder}")
    assert slow.distance(_vectors(backbone), _own_call(folder)) <= 1e-5
    assert backbone.spec.pooling == ("projected" if name in ("clip", "siglip") else "pooler")
    assert backbone.spec.text == f"transformers:local-dir:{name}"


def test_loading_prints_nothing_of_the_librarys(tmp_path: Path) -> None:
    """A CLIP has no loss of its own, which transformers would warn of once."""
    said: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record.getMessage())

    handler = Kept()
    warn_once: Any = transformers.utils.logging.get_logger("transformers").warning_once
    warn_once.cache_clear()
    transformers.utils.logging.add_handler(handler)
    try:
        load(f"transformers:local-dir:{transformers_repository(tmp_path, 'clip')}")
    finally:
        transformers.utils.logging.remove_handler(handler)
    assert said == []


def test_poolings(tmp_path: Path) -> None:
    folder = transformers_repository(tmp_path, "vit")
    with quiet():
        model = transformers.AutoModel.from_pretrained(folder).eval()
    for pooling in ("cls", "mean"):
        backbone = load(f"transformers:local-dir:{folder}?pooling={pooling}")
        pixels = np.stack([backbone.spec.preprocessing.pixels(image) for image in pictures()])
        steps = backbone.spec.preprocessing
        values = ((pixels / 255 - np.array(steps.mean)) / np.array(steps.std)).transpose(0, 3, 1, 2)
        with torch.no_grad():
            hidden = model(pixel_values=torch.from_numpy(values).float()).last_hidden_state
        expected = hidden[:, 0] if pooling == "cls" else hidden.mean(dim=1)
        assert slow.distance(backbone.encode(pixels), expected.numpy()) <= 1e-5


def test_a_model_without_its_pooler_asks_for_a_pooling(tmp_path: Path) -> None:
    transformers_repository(tmp_path, "vit")
    with quiet():
        transformers.ViTModel.from_pretrained(tmp_path / "vit", add_pooling_layer=False).save_pretrained(
            tmp_path / "vit"
        )
    with pytest.raises(InputError, match="pooling=cls"):
        load(f"transformers:local-dir:{tmp_path}/vit")
    assert load(f"transformers:local-dir:{tmp_path}/vit?pooling=cls").spec.pooling == "cls"
    with pytest.raises(InputError, match="no pooler output"):
        load(f"transformers:local-dir:{tmp_path}/vit?pooling=pooler")


def test_missing_and_random_weights(tmp_path: Path) -> None:
    folder = transformers_repository(tmp_path, "dinov2")
    random = load(f"transformers:local-dir:{folder}?random_init=true")
    assert random.spec.random_init
    (folder / "model.safetensors").unlink()
    with pytest.raises(InputError, match="lacks a file"):
        load(f"transformers:local-dir:{folder}")
    assert load(f"transformers:local-dir:{folder}?random_init=true").spec == random.spec


def test_weights_in_several_files_are_read(tmp_path: Path) -> None:
    folder = transformers_repository(tmp_path, "vit")
    whole = _vectors(load(f"transformers:local-dir:{folder}"))
    with quiet():
        model = transformers.AutoModel.from_pretrained(folder)
        (folder / "model.safetensors").unlink()
        model.save_pretrained(folder, max_shard_size="20KB")
    assert (folder / "model.safetensors.index.json").is_file()
    parts = load(f"transformers:local-dir:{folder}")
    assert np.abs(_vectors(parts) - whole).max() <= 1e-6
    next(folder.glob("model-00001-*")).unlink()
    with pytest.raises(InputError, match="lacks a file"):
        load(f"transformers:local-dir:{folder}")


def test_a_repositorys_own_code_never_runs(tmp_path: Path) -> None:
    folder = transformers_repository(tmp_path, "vit")
    mark = tmp_path / "ran"
    (folder / "own.py").write_text(f"open({str(mark)!r}, 'w')\nclass Own: pass\nclass Config: pass\n")
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Config", "AutoModel": "own.Own"}}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match="own code is never run"):
        load(f"transformers:local-dir:{folder}")
    assert not mark.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"do_pad": True, "pad_size": {"height": 40, "width": 40}}, "not supported"),
        ({"rescale_factor": 1 / 127.5}, "not supported"),
        ({"size": {"height": 32, "width": 48}}, "not supported"),
        ({"image_processor_type": "NoSuchProcessor"}, "cannot be read"),
    ],
)
def test_preprocessing_that_cannot_be_followed_is_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    folder = transformers_repository(tmp_path, "vit")
    values = json.loads((folder / "preprocessor_config.json").read_text())
    (folder / "preprocessor_config.json").write_text(json.dumps({**values, **change}))
    with pytest.raises(InputError, match=message):
        load(f"transformers:local-dir:{folder}")


def test_refusals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for text, message in (
        ("transformers:no-org/no-name", "HF_HUB_OFFLINE"),
        ("transformers:a/b/c", "invalid repository"),
        (f"transformers:{tmp_path}", "invalid repository"),
        ("transformers:local-dir:/nowhere", "not found"),
        (f"transformers:local-dir:{tmp_path}", "lacks a file"),
        ("transformers:a/b?output=logits", "unknown option output"),
    ):
        with pytest.raises(InputError, match=message):
            load(text)


def test_sentence_transformers_own_call(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    folder = sentence_transformers_repository(tmp_path)
    backbone = load(f"st:local-dir:{folder}")
    found = _vectors(backbone)
    with quiet():
        model = SentenceTransformer(str(folder), device="cpu")
        expected = model.encode(pictures())
        assert slow.distance(found, expected) <= 1e-5
    assert backbone.spec.text == "st:local-dir:st"
    shutil.rmtree(tmp_path / "clip")
    for text, message in ((f"st:local-dir:{tmp_path}", "lacks a file"), (f"st:{folder}", "invalid repository")):
        with pytest.raises(InputError, match=message):
            load(text)
