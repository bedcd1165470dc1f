"""Models of timm against timm's own transform, loader and eager pass; and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import timm
import torch
from safetensors.torch import load_file, save_file
from timm.data.config import resolve_data_config
from timm.data.transforms_factory import create_transform

from eds.backbones import Request, load, weights
from eds.backbones.families.timm import preprocessing
from eds.errors import InputError, UnknownNameError
from tests.backbones.pictures import pictures, timm_file
from tests.reference import backbones as slow

CLOSE = 1e-5


def encoded(text: str, **settings: str) -> npt.NDArray[np.float32]:
    backbone = load(text, **settings)  # type: ignore[arg-type]
    return backbone.encode(np.stack([backbone.spec.preprocessing.pixels(image) for image in pictures()]))


@pytest.mark.parametrize("name", ["test_resnet", "test_vit", "test_efficientnet", "test_convnext"])
def test_vectors_are_timms_own(name: str, tmp_path: Path) -> None:
    path = timm_file(tmp_path, name, classes=0)
    expected = slow.timm_vectors(name, path, pictures(), num_classes=0)
    assert slow.distance(encoded(f"timm:{name}@{path}"), expected) <= CLOSE


def test_logits_are_timms_own_and_the_classifier_is_dropped_without_them(tmp_path: Path) -> None:
    path = timm_file(tmp_path, "test_resnet")
    expected = slow.timm_vectors("test_resnet", path, pictures())
    assert slow.distance(encoded(f"timm:test_resnet@{path}?output=logits"), expected) <= CLOSE
    assert encoded(f"timm:test_resnet@{path}").shape[1] == timm.create_model("test_resnet").num_features


@pytest.mark.parametrize(
    "name",
    [
        "resnet50.tv2_in1k",
        "vit_base_patch16_224.augreg_in21k",
        "tf_efficientnet_b7.ns_jft_in1k",
        "convnext_base.fb_in1k",
        "coat_lite_medium_384.in1k",
        "beit_base_patch16_224.in22k_ft_in22k",
        "regnety_160.swag_ft_in1k",
    ],
)
def test_the_preprocessing_is_timms_create_transform(name: str) -> None:
    found: Any = timm.get_pretrained_cfg(name)
    config = found.to_dict()
    steps = preprocessing(config, Request.parse(f"timm:{name}"))
    theirs = create_transform(**resolve_data_config({}, pretrained_cfg=config))  # type: ignore[no-untyped-call]
    for image in pictures(3):
        values = (torch.tensor(steps.pixels(image)) / 255 - torch.tensor(steps.mean)) / torch.tensor(steps.std)
        assert torch.allclose(values.permute(2, 0, 1), theirs(image), atol=1e-6)


def test_another_architecture_is_refused_with_the_keys(tmp_path: Path) -> None:
    path = timm_file(tmp_path, "test_resnet")
    with pytest.raises(InputError, match="do not fit this architecture") as caught:
        load(f"timm:test_efficientnet@{path}")
    told = "\n".join(caught.value.faults)
    assert "missing from the file" in told
    assert "conv_stem.weight" in told
    assert "unexpected in the file" in told


def test_one_missing_tensor_is_not_left_random(tmp_path: Path) -> None:
    path = timm_file(tmp_path, "test_vit")
    state = load_file(path)
    del state["blocks.0.attn.qkv.bias"]
    save_file(state, path)
    with pytest.raises(InputError) as caught:
        load(f"timm:test_vit@{path}")
    assert caught.value.faults == ("missing from the file (1): blocks.0.attn.qkv.bias",)


@pytest.mark.parametrize(
    ("text", "error", "told"),
    [
        ("timm:resnet5o", UnknownNameError, "Did you mean resnet50"),
        ("timm:resnet50.tv3_in1k", UnknownNameError, "tv2_in1k"),
        ("timm:test_resnet@/nowhere/a.pth", InputError, "/nowhere/a.pth: weights file not found"),
        ("timm:test_resnet@/a.pth?random_init=true", InputError, "contradict"),
        ("timm:test_resnet?random_init=true&sise=3", InputError, "did you mean size"),
        ("timm:test_vit?random_init=true&size=99", InputError, "does not accept 99 x 99"),
        ("timm:test_vit?random_init=true&pooling=nonsense", InputError, "cannot build it"),
        ("timm:test_resnet?random_init=true&output=logits&classes=many", InputError, "classes is 'many'"),
    ],
)
def test_refusals(text: str, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        load(text)


def test_random_weights_are_the_same_each_time_and_leave_torchs_state_alone() -> None:
    before = torch.random.get_rng_state()
    first, second = (load("timm:test_vit", random_init=True).spec for _ in range(2))
    assert first == second
    assert first.weights_sha256
    assert torch.equal(before, torch.random.get_rng_state())


def test_a_file_is_told_by_its_bytes_not_by_its_folder(tmp_path: Path) -> None:
    path = timm_file(tmp_path, "test_resnet")
    (tmp_path / "elsewhere").mkdir()
    moved = tmp_path / "elsewhere" / path.name
    moved.write_bytes(path.read_bytes())
    first, second = load(f"timm:test_resnet@{path}").spec, load(f"timm:test_resnet@{moved}").spec
    assert first.digest == second.digest
    assert first.weights_sha256 == weights.file_digest(path)
    assert str(tmp_path) not in first.to_json()
