"""What the baselines share: centred input, principal components, random rotations."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from eds.backbones.hash_head import Head
from eds.errors import InputError

Array = NDArray[Any]


def centred(vectors: Array, bits: int, kind: str = "linear", hidden: int = 1) -> tuple[Head, Array]:
    """An empty head, and its input as float64: centred, with unit variance on average."""
    head = Head(vectors.shape[1], bits, kind, hidden)
    head.centre(vectors)
    return head, (vectors - head.mean.numpy()).astype(np.float64) / float(head.spread)


def components(inputs: Array, bits: int) -> Array:
    """The leading principal components of centred input, (bits, dimension); each one's largest weight is positive."""
    from sklearn.decomposition import PCA

    if bits > min(inputs.shape[1], len(inputs) - 1):
        raise InputError(
            f"{bits} bits of {len(inputs):,} vectors of {inputs.shape[1]} numbers",
            where="principal components",
            hint="Each bit needs a component: use fewer bits, or train a head.",
        )
    found = PCA(bits, svd_solver="covariance_eigh").fit(inputs).components_
    top = np.take_along_axis(found, np.abs(found).argmax(axis=1)[:, None], axis=1)
    return np.asarray(found * np.sign(top))


def rotation(bits: int, seed: int) -> Array:
    """A random rotation, (bits, bits)."""
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(bits, bits)))[0]


def linear(head: Head, weights: Array, bias: Array | None = None) -> Head:
    """The head with the weights (bits, inputs) and bias (bits,) of its linear layer."""
    layer = next(part for part in head.layers if isinstance(part, nn.Linear))
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(weights.astype(np.float32)))
        layer.bias.copy_(torch.from_numpy(np.zeros(len(weights), np.float32) if bias is None else bias))
    return head.eval()
