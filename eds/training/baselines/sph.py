"""SpH: spherical hashing, a bit for being within a sphere."""

import numpy as np
import torch

from eds.backbones.hash_head import Head, Spheres
from eds.errors import InputError
from eds.training.baselines._shared import Array, centred

ITERATIONS = 50
MEAN, SPREAD = 0.1, 0.15  # of the overlaps, in shares of a quarter: closer is close enough
DRAWN = 5  # vectors whose mean is the first centre of a sphere


def fit(vectors: Array, bits: int, seed: int, classes: Array | None = None) -> Head:
    """Spheres that hold half of the vectors each, and every two of them a quarter.

    Formula: bit i is r_i - |x - p_i|; r_i the median distance; centres that share too much push each other away:
    p_i += (1/bits) sum over j of (o_ij - n/4) / (n/4) (p_i - p_j) / 2, o_ij the vectors in both.
    Source: Heo et al. 2012, algorithm 1, eps_m = 0.1 and eps_s = 0.15.
    Conventions: codes are compared by Hamming distance, not by the paper's spherical one.
    Example, run by doctest:
    >>> fit(np.eye(8, dtype=np.float32), 2, 0).codes(np.eye(8, dtype=np.float32)).shape
    (8, 2)
    """
    head, inputs = centred(vectors, bits, "spheres")
    n, rng = len(inputs), np.random.default_rng(seed)
    if n < DRAWN:
        raise InputError(f"{n} vectors", where="SpH", hint=f"Give at least {DRAWN}.")
    centre = np.stack([inputs[rng.choice(n, DRAWN, replace=False)].mean(axis=0) for _ in range(bits)])
    norms = np.square(inputs).sum(axis=1)[:, None]
    quarter = n / 4
    for _ in range(ITERATIONS):
        apart = np.sqrt(np.maximum(norms - 2 * inputs @ centre.T + np.square(centre).sum(axis=1), 0))
        radius = np.median(apart, axis=0)
        inside = (apart <= radius).astype(np.float64)
        shared = inside.T @ inside
        others = shared[~np.eye(bits, dtype=bool)]
        close = not len(others) or np.abs(others - quarter).mean() <= MEAN * quarter
        if close and (not len(others) or others.std() <= SPREAD * quarter):
            break
        force = (shared - quarter) / quarter / 2
        np.fill_diagonal(force, 0)
        centre = centre + (force.sum(axis=1)[:, None] * centre - force @ centre) / bits
    apart = np.sqrt(np.maximum(norms - 2 * inputs @ centre.T + np.square(centre).sum(axis=1), 0))
    layer = head.layers[0]
    if isinstance(layer, Spheres):
        layer.centre.copy_(torch.from_numpy(centre.astype(np.float32)))
        layer.radius.copy_(torch.from_numpy(np.median(apart, axis=0).astype(np.float32)))
    return head.eval()
