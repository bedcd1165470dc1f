"""LSH: signs of random projections."""

import numpy as np

from eds.backbones.hash_head import Head
from eds.training.baselines._shared import Array, centred, linear


def fit(vectors: Array, bits: int, seed: int, classes: Array | None = None) -> Head:
    """Signs of projections on random directions.

    Formula: sign(w (x - mean)), w standard normal.
    Source: Charikar 2002.
    Conventions: the seed draws w; the training vectors give the mean alone.
    Example, run by doctest:
    >>> fit(np.eye(4, dtype=np.float32), 2, 0).codes(np.eye(4, dtype=np.float32)).shape
    (4, 2)
    """
    head, _ = centred(vectors, bits)
    return linear(head, np.random.default_rng(seed).normal(size=(bits, vectors.shape[1])))
