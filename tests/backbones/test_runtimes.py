"""Runtimes: OpenVINO's float32 is torch's; nothing is chosen or rounded in silence."""

import importlib.util
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from eds.backbones import load, network, on_openvino, on_torch, runtimes
from eds.errors import InputError, MissingExtraError
from tests.backbones.pictures import timm_file
from tests.reference import backbones as slow

TEXT = "timm:test_vit?random_init=true"


def noise(count: int, side: int = 160) -> Any:
    return np.random.default_rng(2).integers(0, 256, (count, side, side, 3), dtype=np.uint8)


def test_openvino_is_torch() -> None:
    by_openvino, by_torch = load(TEXT, threads=1), load(TEXT, runtime="torch")
    assert (by_openvino.spec.runtime, by_torch.spec.runtime) == ("openvino", "torch")
    assert slow.distance(by_openvino.encode(noise(9)), by_torch.encode(noise(9))) <= 1e-5
    assert by_openvino.spec.digest != by_torch.spec.digest


def test_reduced_precision_only_by_name() -> None:
    exact = load(TEXT, runtime="torch").encode(noise(4))
    for runtime in ("torch", "openvino"):
        try:
            reduced = load(TEXT, runtime=runtime, precision="bfloat16")
        except InputError as error:  # a processor without it: refused, not replaced
            assert "this processor has no bfloat16" in str(error)  # noqa: PT017
            continue
        assert reduced.spec.precision == "bfloat16"
        assert "bfloat16" in reduced.spec.text
        assert 1e-7 < slow.distance(reduced.encode(noise(4)), exact) < 0.05
    with pytest.raises(InputError, match="no float16 on the cpu"):
        load(TEXT, runtime="torch", precision="float16")
    with pytest.raises(InputError, match="option precision is 'int8'"):
        load(TEXT, precision="int8")


def test_a_runtime_that_strays_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    run = on_openvino.OpenVinoRunner.run
    drift: Callable[..., Any] = lambda self, batch: run(self, batch) + 0.01  # noqa: E731
    monkeypatch.setattr(on_openvino.OpenVinoRunner, "run", drift)
    with pytest.raises(InputError, match="runtime openvino differs from torch"):
        load(TEXT)


def test_no_silent_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="runtime is 'onnx'"):
        load(TEXT, runtime="onnx")
    with pytest.raises(InputError, match="device cuda:7 does not exist"):
        load(TEXT, device="cuda:7")
    with pytest.raises(InputError, match="device is 'gpu'"):
        load(TEXT, device="gpu")
    with pytest.raises(InputError, match="threads is 0"):
        load(TEXT, threads=0)
    there = {"torch"}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: True if name in there else None)
    with pytest.raises(MissingExtraError, match="--runtime torch"):
        runtimes.choose("cpu", "auto")
    assert runtimes.choose("cpu", "torch") == ("cpu", "torch")
    there.symmetric_difference_update({"torch", "openvino"})
    assert runtimes.choose("auto", "auto") == ("cpu", "openvino")
    with pytest.raises(MissingExtraError, match="runtime torch needs the package torch"):
        runtimes.choose("cpu", "torch")
    with pytest.raises(MissingExtraError, match="device cuda needs the package torch"):
        runtimes.choose("cuda", "auto")


def test_openvino_sends_nothing_home() -> None:
    load(TEXT)
    assert sys.modules.get("openvino_telemetry") is None


def test_networks_are_set_to_inference_and_their_answer_is_checked() -> None:
    class Odd(torch.nn.Module):
        def forward(self, batch: torch.Tensor) -> torch.Tensor:
            return batch.mean(dim=1)

    backbone = load(TEXT, runtime="torch")
    from eds.backbones import Request

    with pytest.raises(InputError, match="not one vector per image"):
        network.backbone(Odd(), backbone.spec, Request.parse(TEXT))
    with pytest.raises(InputError, match=r"not uint8 \(n, 160, 160, 3\)"):
        backbone.encode(noise(2).astype(np.float32))


@pytest.mark.parametrize("runtime", ["openvino", "torch"])
def test_weights_that_are_not_finite_are_refused(tmp_path: Path, runtime: str) -> None:
    file = timm_file(tmp_path, "test_resnet")
    state = load_file(file)
    name = next(name for name, tensor in state.items() if tensor.ndim == 4)
    state[name][0] = float("nan")
    save_file(state, file)
    with pytest.raises(InputError, match=r"returns vectors that are not finite\. Check the weights"):
        load(f"timm:test_resnet@{file}", runtime=runtime)


def test_vectors_that_are_not_finite_are_refused() -> None:
    class Broken(torch.nn.Module):
        def forward(self, batch: torch.Tensor) -> torch.Tensor:
            return torch.log(batch.mean(dim=(1, 2, 3))[:, None].clamp(max=0.5) - 0.4).repeat(1, 3)

    from eds.backbones import Request

    spec = load(TEXT, runtime="torch").spec
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = network.NetworkBackbone(
            spec,
            runtimes.start(on_torch.Normalised(Broken(), (0,) * 3, (1,) * 3), 160, "cpu", "torch", "float32", None),
        )
        with pytest.raises(InputError, match="not finite for 1 of 2"):
            made.encode(np.stack([np.full((160, 160, 3), value, np.uint8) for value in (10, 200)]))
    assert Request.parse(TEXT).random_init
