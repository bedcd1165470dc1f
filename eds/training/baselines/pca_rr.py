"""PCA-RR: principal components, rotated at random."""

from eds.backbones.hash_head import Head
from eds.training.baselines._shared import Array, centred, components, linear, rotation


def fit(vectors: Array, bits: int, seed: int, classes: Array | None = None) -> Head:
    """Signs of principal components after a random rotation, which spreads their variance over the bits.

    Formula: sign(R' W (x - mean)), W the components, R a random rotation.
    Source: Gong and Lazebnik 2011, the baseline PCA-RR.
    Conventions: the seed draws R.
    Example, run by doctest:
    >>> import numpy as np
    >>> fit(np.eye(4, dtype=np.float32), 2, 0).codes(np.eye(4, dtype=np.float32)).shape
    (4, 2)
    """
    head, inputs = centred(vectors, bits)
    return linear(head, rotation(bits, seed).T @ components(inputs, bits))
