"""Networks of inverted residual blocks (MobileNetV2, EfficientNet-Lite) as graphs of OpenVINO, made without torch.

A network is its tensors under one set of names (`stem`, `blocks.N.expand`, `blocks.N.depthwise`, `blocks.N.project`,
`head`, each with `.weight` and, of its batch norm, `.scale`, `.shift`, `.mean`, `.variance`; `classifier.weight`,
`.bias`) and a `Style`. Shapes say the rest: kernels, and where a stage begins, since each has its number of channels.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from eds.backbones.on_openvino import library
from eds.errors import InputError

Floats = npt.NDArray[np.float32]

STEM_STRIDE = 2
STRIDES = (1, 2, 2, 2, 1, 2, 1)  # of the first block of each stage: both papers'
LAYER_PARTS = ("weight", "scale", "shift", "mean", "variance")


@dataclass(frozen=True)
class Style:
    """What the tensors do not say."""

    epsilon: float  # of the batch norms
    same_padding: bool  # as TensorFlow pads, uneven at even sides; else evenly by half the kernel


def graph(tensors: Mapping[str, Floats], style: Style, side: int, *, logits: bool) -> Any:
    """The network as an OpenVINO model: float32 (1, 3, side, side) to pooled features (1, n), or to its logits."""
    openvino = library()  # first: it keeps the telemetry out
    from openvino import opset13 as ops

    taken: set[str] = set()
    image = ops.parameter([1, 3, side, side], np.float32, name="image")
    builder = _Builder(ops, tensors, style, taken)
    value = builder.layer(image, "stem", STEM_STRIDE)
    stage = -1
    for number in range(_blocks(tensors)):
        name = f"blocks.{number}"
        entered, left = builder.sides(name)
        stage += entered != left
        if stage >= len(STRIDES):
            raise _misfit(f"{stage + 1} stages, of which there are {len(STRIDES)}")
        first = entered != left
        inner = builder.layer(value, f"{name}.expand", 1) if f"{name}.expand.weight" in tensors else value
        inner = builder.layer(inner, f"{name}.depthwise", STRIDES[stage] if first else 1)
        inner = builder.layer(inner, f"{name}.project", 1, activated=False)
        value = inner if first else ops.add(value, inner)
    value = builder.layer(value, "head", 1)
    value = ops.reduce_mean(value, np.array([2, 3]))
    if logits:
        weight, bias = builder.array("classifier.weight"), builder.array("classifier.bias")
        value = ops.add(ops.matmul(value, weight, transpose_a=False, transpose_b=True), bias)
    if over := sorted(set(tensors) - taken - {"classifier.weight", "classifier.bias"}):
        raise _misfit(f"unexpected: {', '.join(over[:8])}")
    return openvino.Model([value], [image], "inverted residuals")


@dataclass(frozen=True)
class _Builder:
    ops: Any
    tensors: Mapping[str, Floats]
    style: Style
    taken: set[str]

    def array(self, name: str) -> Floats:
        """A tensor, which counts as used."""
        if name not in self.tensors:
            raise _misfit(f"missing: {name}")
        self.taken.add(name)
        return self.tensors[name]

    def sides(self, block: str) -> tuple[int, int]:
        """The channels that enter a block, and those that leave it."""
        expanded = f"{block}.expand.weight" in self.tensors
        entered = self.array(f"{block}.expand.weight").shape[1] if expanded else None
        entered = entered or self.array(f"{block}.depthwise.weight").shape[0]
        return entered, self.array(f"{block}.project.weight").shape[0]

    def layer(self, value: Any, name: str, stride: int, *, activated: bool = True) -> Any:
        """A convolution with its batch norm folded in, and ReLU6."""
        weight, scale, shift, mean, variance = (self.array(f"{name}.{part}").astype(np.float64) for part in LAYER_PARTS)
        factor = scale / np.sqrt(variance + self.style.epsilon)
        kernel = (weight * factor[:, None, None, None]).astype(np.float32)
        bias = (shift - mean * factor).astype(np.float32)[None, :, None, None]
        half = [0, 0] if self.style.same_padding else [kernel.shape[2] // 2] * 2
        pad = "same_upper" if self.style.same_padding else "explicit"
        if name.endswith(".depthwise"):
            run, kernel = self.ops.group_convolution, kernel[:, :, None]
        else:
            run = self.ops.convolution
        value = self.ops.add(run(value, kernel, [stride] * 2, half, half, [1, 1], pad), bias)
        return self.ops.clamp(value, 0.0, 6.0) if activated else value


def _blocks(tensors: Mapping[str, Floats]) -> int:
    numbers = {int(name.split(".")[1]) for name in tensors if name.startswith("blocks.")}
    if numbers != set(range(len(numbers))):
        raise _misfit("blocks are missing")
    return len(numbers)


def _misfit(what: str) -> InputError:
    return InputError(f"the weights do not fit this architecture ({what})", hint="Install their package again.")
