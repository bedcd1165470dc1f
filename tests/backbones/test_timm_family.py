"""Models of timm against timm's own transform, loader and eager pass; and what is refused."""

import json
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


def test_what_authors_keep_beside_the_weights_is_dropped_by_timms_filter(tmp_path: Path) -> None:
    path = timm_file(tmp_path, "beit_base_patch16_224")
    state = load_file(path)
    indices = {f"blocks.{block}.attn.relative_position_index": torch.zeros(197, 197) for block in range(12)}
    torch.save({"model": {**state, **indices}}, tmp_path / "authors.pth")
    found = load(f"timm:beit_base_patch16_224@{tmp_path}/authors.pth", runtime="torch")
    own = load(f"timm:beit_base_patch16_224@{path}", runtime="torch")
    images = np.zeros((1, 224, 224, 3), np.uint8)
    assert slow.distance(found.encode(images), own.encode(images)) < 1e-6


def test_a_file_of_several_gpus_with_maes_decoder_loads_as_it_is(tmp_path: Path) -> None:
    path = timm_file(tmp_path, "test_vit", classes=0)
    names = ("mask_token", "decoder_pos_embed", "decoder_blocks.0.norm1.weight", "decoder_embed.weight")
    state = {**load_file(path), **{name: torch.zeros(1, 2) for name in names}}
    torch.save({"model": {f"module.{name}": value for name, value in state.items()}}, tmp_path / "authors.pth")
    own, found = (encoded(f"timm:test_vit@{file}") for file in (path, tmp_path / "authors.pth"))
    np.testing.assert_array_equal(own, found)
    state["decoderless.weight"] = torch.zeros(1)
    torch.save(state, tmp_path / "other.pth")
    with pytest.raises(InputError, match="do not fit") as caught:
        load(f"timm:test_vit@{tmp_path / 'other.pth'}")
    assert caught.value.faults == ("unexpected in the file (1): decoderless.weight",)


def test_arrays_of_vits_original_release_load_completely(tmp_path: Path) -> None:
    model = timm.create_model("vit_tiny_patch16_224", num_classes=0).eval()
    path = tmp_path / "vit.npz"
    np.savez(path, **arrays_of_vit(model))
    images = np.random.default_rng(0).integers(0, 255, (2, 224, 224, 3), dtype=np.uint8)
    found = load(f"timm:vit_tiny_patch16_224@{path}", runtime="torch")
    steps = found.spec.preprocessing
    batch = torch.from_numpy(((images / 255.0 - steps.mean) / steps.std).astype(np.float32)).permute(0, 3, 1, 2)
    with torch.inference_mode():
        wanted = torch.nn.functional.normalize(model(batch)).numpy()
    assert slow.distance(found.encode(images), wanted) < 1e-5
    arrays = arrays_of_vit(model)
    del arrays["Transformer/encoder_norm/bias"]
    np.savez(path, **arrays)
    with pytest.raises(InputError, match="do not fit"):
        load(f"timm:vit_tiny_patch16_224@{path}", runtime="torch")


def arrays_of_vit(model: Any) -> dict[str, Any]:
    """The weights of a small ViT under the names and in the layout of its original release in JAX."""
    heads = model.blocks[0].attn.num_heads

    def array(tensor: torch.Tensor) -> npt.NDArray[np.float32]:
        return tensor.detach().numpy()

    def norm(name: str, layer: Any) -> dict[str, Any]:
        return {f"{name}/scale": array(layer.weight), f"{name}/bias": array(layer.bias)}

    arrays: dict[str, Any] = {
        "embedding/kernel": array(model.patch_embed.proj.weight).transpose(2, 3, 1, 0),
        "embedding/bias": array(model.patch_embed.proj.bias),
        "cls": array(model.cls_token),
        "Transformer/posembed_input/pos_embedding": array(model.pos_embed),
        **norm("Transformer/encoder_norm", model.norm),
    }
    for number, block in enumerate(model.blocks):
        name = f"Transformer/encoderblock_{number}"
        width = block.norm1.weight.shape[0]
        attention = f"{name}/MultiHeadDotProductAttention_1"
        for part, (weight, bias) in zip(
            ("query", "key", "value"),
            zip(block.attn.qkv.weight.chunk(3), block.attn.qkv.bias.chunk(3), strict=True),
            strict=True,
        ):
            arrays[f"{attention}/{part}/kernel"] = array(weight).T.reshape(width, heads, -1)
            arrays[f"{attention}/{part}/bias"] = array(bias).reshape(heads, -1)
        arrays[f"{attention}/out/kernel"] = array(block.attn.proj.weight).T.reshape(heads, -1, width)
        arrays[f"{attention}/out/bias"] = array(block.attn.proj.bias)
        for dense, layer in enumerate((block.mlp.fc1, block.mlp.fc2)):
            arrays[f"{name}/MlpBlock_3/Dense_{dense}/kernel"] = array(layer.weight).T
            arrays[f"{name}/MlpBlock_3/Dense_{dense}/bias"] = array(layer.bias)
        arrays |= {**norm(f"{name}/LayerNorm_0", block.norm1), **norm(f"{name}/LayerNorm_2", block.norm2)}
    return arrays


def test_weights_of_another_image_size_are_not_stretched(tmp_path: Path) -> None:
    model = timm.create_model("test_vit", img_size=192)
    path = tmp_path / "large.pth"
    torch.save({"model": {**model.state_dict(), "mask": torch.zeros(1)}}, path)
    with pytest.raises(InputError, match="do not fit") as caught:
        load(f"timm:test_vit@{path}?drop=mask")
    assert any("pos_embed" in fault for fault in caught.value.faults)


def test_a_folder_and_a_hub_repository_equal_timms_own_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = timm.create_model("test_resnet", num_classes=7).eval()
    config = {"mean": (0.4, 0.4, 0.4), "std": (0.2, 0.2, 0.2), "crop_pct": 0.9, "interpolation": "bilinear"}
    folder = tmp_path / "hub/models--org--shoes/snapshots/0123"
    timm.models._hub.save_for_hf(model, str(folder), {"model_args": {}})
    values = json.loads((folder / "config.json").read_text())
    values["pretrained_cfg"] = {**values.get("pretrained_cfg", {}), **config}
    (folder / "config.json").write_text(json.dumps(values))
    (tmp_path / "hub/models--org--shoes/refs").mkdir()
    (tmp_path / "hub/models--org--shoes/refs/main").write_text("0123")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    own = timm.create_model(f"local-dir:{folder}", pretrained=True, num_classes=0).eval()
    transform = create_transform(**resolve_data_config({}, model=own))  # type: ignore[no-untyped-call]
    with torch.inference_mode():
        wanted = torch.nn.functional.normalize(own(torch.stack([transform(image) for image in pictures()]))).numpy()
    for text in (f"timm:local-dir:{folder}", "timm:hf-hub:org/shoes"):
        assert slow.distance(encoded(text), wanted) <= 1e-5
    assert load("timm:hf-hub:org/shoes?output=logits").spec.dimension == 7
    (folder / "config.json").write_text('{"model_type": "clip"}')
    with pytest.raises(InputError, match="names no architecture of timm"):
        load("timm:hf-hub:org/shoes")
