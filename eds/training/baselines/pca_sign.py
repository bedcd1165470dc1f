"""PCAH: signs of the leading principal components."""

from eds.backbones.hash_head import Head
from eds.training.baselines._shared import Array, centred, components, linear


def fit(vectors: Array, bits: int, seed: int, classes: Array | None = None) -> Head:
    """Signs of the leading principal components of the vectors, (items, dimension).

    Formula: sign(W (x - mean)), W the `bits` leading eigenvectors of the covariance.
    Source: the usual baseline of the hashing literature (PCAH, PCA-sign); components by scikit-learn.
    Conventions: each component's largest weight is positive, so that the code does not depend on the library.
    Example, run by doctest:
    >>> import numpy as np
    >>> points = np.array([[2.0, 0.0], [-2.0, 0.1], [1.0, -0.1], [-1.0, 0.0]], dtype=np.float32)
    >>> fit(points, 1, 0).codes(points).ravel().tolist()
    [1, -1, 1, -1]
    """
    head, inputs = centred(vectors, bits)
    return linear(head, components(inputs, bits))
