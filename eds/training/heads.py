"""Hash heads: from an embedding to one number per bit of a code; the signs are the code.

A head is trained (linear, or with one hidden layer) or computed: the signs of principal components, and ITQ, which
rotates these components so that signs lose least. All are of one class, and are stored and used alike.
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from eds import choices
from eds.errors import InputError
from eds.hashing.codes import MOST_BITS

HIDDEN = 256
ITERATIONS = 50  # of ITQ, as its authors do
Array = NDArray[Any]


class Head(nn.Module):
    """Float32 (items, dimension) to (items, bits); inputs are centred and scaled by the training items."""

    mean: Tensor
    spread: Tensor

    def __init__(self, dimension: int, bits: int, kind: str = "linear", hidden: int = HIDDEN) -> None:
        super().__init__()
        if not 1 <= bits <= MOST_BITS:
            raise InputError(f"codes of {bits} bits", where="head", hint=f"Codes may have 1 to {MOST_BITS} bits.")
        choices.check(choices.HashHead, kind, "head")
        if hidden < 1:
            raise InputError(f"a hidden layer of {hidden}", where="head", hint="Use at least 1.")
        self.register_buffer("mean", torch.zeros(dimension))
        self.register_buffer("spread", torch.ones(()))
        layers = (
            [nn.Linear(dimension, bits)]
            if kind == "linear"
            else [nn.Linear(dimension, hidden), nn.ReLU(), nn.Linear(hidden, bits)]
        )
        self.layers = nn.Sequential(*layers)

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
        exact = deepcopy(self).double()
        parts = [np.zeros((0, self.bits), np.int8)]
        for start in range(0, len(vectors), block):
            found = exact(torch.from_numpy(vectors[start : start + block].astype(np.float64))).numpy()
            parts.append(np.where(found >= 0, 1, -1).astype(np.int8))
        return np.concatenate(parts)

    @property
    def bits(self) -> int:
        """The length of a code."""
        last: nn.Linear = self.layers[-1]  # type: ignore[assignment]
        return last.out_features


def create_head(dimension: int, bits: int, kind: str, seed: int, hidden: int = HIDDEN) -> Head:
    """Create a head with random weights; the caller's random state does not change."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Head(dimension, bits, kind, hidden)


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


def pca_head(vectors: Array, bits: int) -> Head:
    """Signs of the leading principal components of the vectors, (items, dimension).

    Formula: code = sign(W (x - mean)), W the `bits` leading eigenvectors of the covariance.
    Source: the usual baseline of the hashing literature (PCA-sign, also PCAH).
    Conventions: each component's largest weight is positive, so that the code does not depend on the library.
    Example, run by doctest:
    >>> points = np.array([[2.0, 0.0], [-2.0, 0.1], [1.0, -0.1], [-1.0, 0.0]], dtype=np.float32)
    >>> pca_head(points, 1).codes(points).ravel().tolist()
    [1, -1, 1, -1]
    """
    weights, head = _components(vectors, bits)
    return _set_weights(head, weights)


def itq_head(vectors: Array, bits: int, seed: int) -> Head:
    """Principal components, rotated so that their signs approximate them best (iterative quantisation).

    Formula: minimise ||B - V R||^2 over codes B and rotations R in turn: B = sign(V R), R = U' of the SVD of B'V.
    Source: Gong, Lazebnik 2011; 50 iterations from a random rotation.
    Conventions: V are the components of `pca_head`, centred; the seed draws the initial rotation.
    Example, run by doctest:
    >>> points = np.array([[2.0, 0.0], [-2.0, 0.1], [1.0, -0.1], [-1.0, 0.0]], dtype=np.float32)
    >>> itq_head(points, 2, 0).codes(points).shape
    (4, 2)
    """
    weights, head = _components(vectors, bits)
    parts = (vectors - head.mean.numpy()).astype(np.float64) @ weights.T
    turn, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(bits, bits)))
    for _ in range(ITERATIONS):
        signs = np.where(parts @ turn >= 0, 1.0, -1.0)
        left, _, right = np.linalg.svd(signs.T @ parts)
        turn = (left @ right).T
    return _set_weights(head, turn.T @ weights)


def _components(vectors: Array, bits: int) -> tuple[Array, Head]:
    """The leading eigenvectors, (bits, dimension), and an empty head that centres its input."""
    dimension = vectors.shape[1]
    head = Head(dimension, bits)
    if bits > min(dimension, len(vectors) - 1):
        raise InputError(
            f"{bits} bits of {len(vectors):,} vectors of {dimension} numbers",
            where="principal components",
            hint="Each bit needs a component: use fewer bits, or train a head.",
        )
    head.centre(vectors)
    centred = (vectors - head.mean.numpy()).astype(np.float64)
    _, found = np.linalg.eigh(centred.T @ centred)
    weights = found[:, ::-1][:, :bits].T
    top = np.take_along_axis(weights, np.abs(weights).argmax(axis=1)[:, None], axis=1)
    return weights * np.sign(top), head


def _set_weights(head: Head, weights: Array) -> Head:
    linear: nn.Linear = head.layers[0]  # type: ignore[assignment]
    with torch.no_grad():
        linear.weight.copy_(torch.from_numpy(weights.astype(np.float32)))
        linear.bias.zero_()
    return head.eval()
