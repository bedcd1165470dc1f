"""SH: spectral hashing, the slowest waves along the principal components."""

import numpy as np

from eds.backbones.hash_head import Head
from eds.training.baselines._shared import Array, centred, components, linear


def fit(vectors: Array, bits: int, seed: int, classes: Array | None = None) -> Head:
    """Signs of the eigenfunctions of the Laplacian of a box, the smallest eigenvalues first.

    Formula: cos(w (v - low)), v a principal component with range [low, high], w = k pi / (high - low); the `bits`
    smallest w over all components and k >= 1.
    Source: Weiss, Torralba, Fergus 2008: sin(pi/2 + w (v - low)).
    Conventions: as many components as bits, or as the vectors have.
    Example, run by doctest:
    >>> line = np.linspace(0, 1, 8, dtype=np.float32)[:, None] * np.float32([[1, 0.1]])
    >>> fit(line, 2, 0).codes(line).T.tolist()
    [[1, 1, 1, 1, -1, -1, -1, -1], [1, 1, -1, -1, -1, -1, 1, 1]]
    """
    head, inputs = centred(vectors, bits, "cosine")
    weights = components(inputs, min(bits, inputs.shape[1], len(inputs) - 1))
    parts = inputs @ weights.T
    low, span = parts.min(axis=0), np.ptp(parts, axis=0)
    waves = np.outer(np.pi / np.maximum(span, 1e-12), np.arange(1, bits + 1))  # (components, k)
    slowest = np.argsort(waves.ravel(), kind="stable")[:bits]
    which, speed = slowest // bits, waves.ravel()[slowest]
    return linear(head, speed[:, None] * weights[which], (-speed * low[which]).astype(np.float32))
