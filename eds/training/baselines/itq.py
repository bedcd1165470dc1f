"""ITQ: principal components, rotated so that their signs lose least."""

import numpy as np

from eds.backbones.hash_head import Head
from eds.training.baselines._shared import Array, centred, components, linear, rotation

ITERATIONS = 50  # as its authors do


def fit(vectors: Array, bits: int, seed: int, classes: Array | None = None) -> Head:
    """Principal components, rotated so that their signs approximate them best (iterative quantisation).

    Formula: minimise ||B - V R||^2 over codes B and rotations R in turn: B = sign(V R), R = U' of the SVD of B'V.
    Source: Gong and Lazebnik 2011; 50 iterations from a random rotation.
    Conventions: V are the components of PCAH, centred; the seed draws the initial rotation.
    Example, run by doctest:
    >>> points = np.array([[2.0, 0.0], [-2.0, 0.1], [1.0, -0.1], [-1.0, 0.0]], dtype=np.float32)
    >>> fit(points, 2, 0).codes(points).shape
    (4, 2)
    """
    head, inputs = centred(vectors, bits)
    weights = components(inputs, bits)
    parts, turn = inputs @ weights.T, rotation(bits, seed)
    for _ in range(ITERATIONS):
        signs = np.where(parts @ turn >= 0, 1.0, -1.0)
        left, _, right = np.linalg.svd(signs.T @ parts)
        turn = (left @ right).T
    return linear(head, turn.T @ weights)
