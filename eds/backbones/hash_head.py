"""Hash heads: from an embedding to one number per bit of a code; the signs are the code.

Trained heads are linear or have one hidden layer. Computed ones (eds.training.baselines) are linear, cosines of a
linear map, spheres, or linear on kernels. All are of one class, and are stored and used alike.
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from eds.errors import InputError

HIDDEN = 256
Array = NDArray[Any]


class Cosine(nn.Module):
    """cos(x) + t, for a threshold t of each bit."""

    def __init__(self, bits: int) -> None:
        super().__init__()
        self.threshold = nn.Parameter(torch.zeros(bits), requires_grad=False)

    def forward(self, values: Tensor) -> Tensor:
        """(items, bits) to (items, bits)."""
        return values.cos() + self.threshold


class Spheres(nn.Module):
    """Positive within a sphere: r^2 - |x - p|^2, for a centre p and radius r of each bit."""

    def __init__(self, dimension: int, bits: int) -> None:
        super().__init__()
        self.centre = nn.Parameter(torch.zeros(bits, dimension), requires_grad=False)
        self.radius = nn.Parameter(torch.zeros(bits), requires_grad=False)

    def forward(self, vectors: Tensor) -> Tensor:
        """(items, dimension) to (items, bits)."""
        return self.radius**2 - _squared(vectors, self.centre)


class Kernels(nn.Module):
    """exp(-g |x - a|^2) for anchors a."""

    def __init__(self, dimension: int, anchors: int) -> None:
        super().__init__()
        self.anchors = nn.Parameter(torch.zeros(anchors, dimension), requires_grad=False)
        self.gamma = nn.Parameter(torch.ones(()), requires_grad=False)

    def forward(self, vectors: Tensor) -> Tensor:
        """(items, dimension) to (items, anchors)."""
        return torch.exp(-self.gamma * _squared(vectors, self.anchors))


class Head(nn.Module):
    """Float32 (items, dimension) to (items, bits); inputs are centred and scaled by the training items."""

    mean: Tensor
    spread: Tensor

    def __init__(self, dimension: int, bits: int, kind: str = "linear", hidden: int = HIDDEN) -> None:
        super().__init__()
        if bits < 1 or hidden < 1:
            raise InputError(
                f"codes of {bits} bits, a hidden layer of {hidden}", where="head", hint="Use at least 1 of each."
            )
        self.bits, self.kind, self.hidden = bits, kind, hidden
        self.register_buffer("mean", torch.zeros(dimension))
        self.register_buffer("spread", torch.ones(()))
        self.layers = nn.Sequential(*_layers(dimension, bits, kind, hidden))

    def forward(self, vectors: Tensor) -> Tensor:
        """The activations whose signs are the code."""
        output: Tensor = self.layers((vectors - self.mean) / self.spread)
        return output

    def centre(self, vectors: Array) -> None:
        """Set mean and spread from these vectors, (items, dimension), so that inputs have unit variance on average."""
        middle = vectors.mean(axis=0, dtype=np.float64)
        spread = float(np.sqrt(np.square(vectors - middle).mean(dtype=np.float64)))
        if not spread > 0:
            raise InputError("all vectors are the same", where="head", hint="Choose another model.")
        self.mean.copy_(torch.from_numpy(middle.astype(np.float32)))
        self.spread.fill_(spread)

    @torch.inference_mode()
    def codes(self, vectors: Array, block: int = 8192) -> NDArray[np.int8]:
        """The code of each vector, (items, bits) of -1 and 1; the sign of 0 is +1.

        In float64: the last bits of a float32 product depend on how many vectors are multiplied at once.
        """
        exact = deepcopy(self).double().cpu()
        parts = [np.zeros((0, self.bits), np.int8)]
        for start in range(0, len(vectors), block):
            found = exact(torch.from_numpy(vectors[start : start + block].astype(np.float64))).numpy()
            parts.append(np.where(found >= 0, 1, -1).astype(np.int8))
        return np.concatenate(parts)


def restore_head(dimension: int, bits: int, kind: str, hidden: int, state: Mapping[str, Tensor]) -> Head:
    """Create a head with the tensors of a checkpoint; raises InputError for another architecture."""
    head = Head(dimension, bits, kind, hidden)
    own = head.state_dict()
    faults = [
        f"{name}: {tuple(state[name].shape) if name in state else 'missing'}, wanted {tuple(own[name].shape)}"
        for name in own
        if name not in state or state[name].shape != own[name].shape
    ] + [f"{name}: unexpected" for name in state if name not in own]
    if faults:
        raise InputError(
            "the checkpoint has another architecture", where="head", hint="Use its own checkpoint:", faults=faults
        )
    head.load_state_dict(dict(state))
    return head.eval()


def _layers(dimension: int, bits: int, kind: str, hidden: int) -> list[nn.Module]:
    if kind == "linear":
        return [nn.Linear(dimension, bits)]
    if kind == "mlp":
        return [nn.Linear(dimension, hidden), nn.ReLU(), nn.Linear(hidden, bits)]
    if kind == "cosine":
        return [nn.Linear(dimension, bits), Cosine(bits)]
    if kind == "spheres":
        return [Spheres(dimension, bits)]
    if kind == "kernel":
        return [Kernels(dimension, hidden), nn.Linear(hidden, bits)]
    raise InputError(f"unknown kind of head {kind!r}", where="head", hint="Use linear or mlp.")


def _squared(vectors: Tensor, points: Tensor) -> Tensor:
    """Squared distances, (items, points)."""
    return vectors.square().sum(1, keepdim=True) - 2 * vectors @ points.T + points.square().sum(1)
