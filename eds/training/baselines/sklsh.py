"""SKLSH: random waves, whose codes keep a Gaussian kernel."""

import numpy as np
import torch

from eds.backbones.hash_head import Cosine, Head
from eds.training.baselines._shared import Array, centred, linear


def fit(vectors: Array, bits: int, seed: int, classes: Array | None = None) -> Head:
    """Signs of random Fourier features with random thresholds (shift-invariant kernels).

    Formula: sign(cos(w x + b) + t), w normal with variance g, b uniform on [0, 2 pi], t uniform on [-1, 1].
    Source: Raginsky and Lazebnik 2009.
    Conventions: g is scikit-learn's default of a Gaussian kernel, 1 / (dimension x variance).
    Example, run by doctest:
    >>> fit(np.eye(4, dtype=np.float32), 2, 0).codes(np.eye(4, dtype=np.float32)).shape
    (4, 2)
    """
    head, inputs = centred(vectors, bits, "cosine")
    rng = np.random.default_rng(seed)
    waves = rng.normal(size=(bits, inputs.shape[1])) / np.sqrt(inputs.shape[1])  # the input's variance is 1
    linear(head, waves, rng.uniform(0, 2 * np.pi, bits).astype(np.float32))
    cosine = head.layers[1]
    if isinstance(cosine, Cosine):
        cosine.threshold.copy_(torch.from_numpy(rng.uniform(-1, 1, bits).astype(np.float32)))
    return head
