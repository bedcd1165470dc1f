"""Models as files of ONNX and TorchScript, against ONNX Runtime and torch."""

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch

from eds.backbones import Backbone, load
from eds.errors import InputError
from tests.backbones.pictures import pictures
from tests.backbones.repositories import STEPS, Tiny, onnx_file, torchscript_file
from tests.reference import backbones as slow


def _pixels(backbone: Backbone) -> Any:
    return np.stack([backbone.spec.preprocessing.pixels(image) for image in pictures()])


def _normalised(pixels: Any) -> Any:
    values = (pixels / 255 - np.array([0.5, 0.4, 0.3])) / np.array([0.2, 0.25, 0.3])
    return values.transpose(0, 3, 1, 2).astype(np.float32)


@pytest.mark.parametrize("pooling", ["", "mean", "cls"])
def test_onnx_equals_onnx_runtime(pooling: str, tmp_path: Path) -> None:
    path = onnx_file(tmp_path, tokens=bool(pooling))
    backbone = load(f"onnx:{path}?{STEPS}" + (f"&pooling={pooling}" if pooling else ""))
    pixels = _pixels(backbone)
    output = onnxruntime.InferenceSession(str(path)).run(None, {"pixels": _normalised(pixels)})[0]
    expected = {"": lambda: output, "mean": lambda: output.mean(axis=1), "cls": lambda: output[:, 0]}[pooling]()
    assert slow.distance(backbone.encode(pixels), expected) <= 1e-5


def test_torchscript_equals_torch(tmp_path: Path) -> None:
    backbone = load(f"torchscript:{torchscript_file(tmp_path)}?size=64&{STEPS}")
    pixels = _pixels(backbone)
    with torch.no_grad():
        expected = Tiny()(torch.from_numpy(_normalised(pixels))).numpy()
    assert slow.distance(backbone.encode(pixels), expected) <= 1e-5


def test_onnx_needs_no_torch(tmp_path: Path) -> None:
    import subprocess
    import sys

    path = onnx_file(tmp_path)
    code = f"from eds.backbones import load; load('onnx:{path}?{STEPS}'); import sys; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_refusals(tmp_path: Path) -> None:
    onnx, tokens, script = onnx_file(tmp_path), onnx_file(tmp_path, tokens=True), torchscript_file(tmp_path)
    torn = tmp_path / "torn.onnx"
    torn.write_bytes(onnx.read_bytes()[:1000])
    for text, message in (
        (f"onnx:{onnx}", "does not state resize, interpolation, mean, std"),
        (f"onnx:{onnx}?{STEPS}&size=72", "takes 64 x 64"),
        (f"onnx:{onnx}?{STEPS}&pooling=mean", "pools already"),
        (f"onnx:{onnx}?{STEPS}&output=nix", "no output 'nix'"),
        (f"onnx:{tokens}?{STEPS}", "not one vector per image"),
        (f"onnx:{torn}?{STEPS}", "cannot read it"),
        (f"onnx:{script}?{STEPS}", "not .onnx or .xml"),
        (f"onnx:{tmp_path}/nix.onnx?{STEPS}", "not found"),
        (f"torchscript:{onnx}?{STEPS}&size=64", "not a TorchScript model"),
        (f"torchscript:{script}?{STEPS}", "does not state size"),
        (f"torchscript:{tmp_path}/nix.ts?{STEPS}&size=64", "not found"),
    ):
        with pytest.raises(InputError, match=message):
            load(text)
