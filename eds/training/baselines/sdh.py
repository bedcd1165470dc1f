"""SDH: supervised discrete hashing, codes from which a linear classifier tells the classes, by kernels of anchors."""

import numpy as np
import torch

from eds.backbones.hash_head import Head, Kernels
from eds.errors import InputError
from eds.training.baselines._shared import Array, centred, linear

LEARNS = "classes"
ANCHORS, ITERATIONS, CYCLES = 300, 5, 3
RIDGE, FIDELITY = 1.0, 1e-5  # lambda and nu of the authors


def fit(vectors: Array, bits: int, seed: int, classes: Array | None = None) -> Head:
    """Codes B of the training vectors, a classifier W on them, and kernels that predict them, fitted in turn.

    Formula: minimise |Y - B W|^2 + lambda |W|^2 + nu |B - K P|^2, K the Gaussian kernel of the vectors and anchors; B
    bit by bit: b_k = sign(q_k - B' W' w_k), q = Y W' + nu K P.
    Source: Shen et al. 2015; lambda = 1, nu = 1e-5, five rounds.
    Conventions: 300 anchors drawn by the seed; the kernel's width is scikit-learn's default, 1 / (dimension x
    variance); needs classes.
    Example, run by doctest:
    >>> points = np.float32([[1, 0], [1, 0.1], [0, 1], [0.1, 1]])
    >>> codes = fit(points, 4, 0, np.array([0, 0, 1, 1])).codes(points)
    >>> bool((codes[0] == codes[1]).all()), bool((codes[0] == codes[2]).all())
    (True, False)
    """
    from sklearn.metrics.pairwise import rbf_kernel

    if classes is None:
        raise InputError("decided pairs are not classes", where="SDH", hint="Use labels product or category.")
    rng = np.random.default_rng(seed)
    anchors = rng.choice(len(vectors), min(ANCHORS, len(vectors)), replace=False)
    head, inputs = centred(vectors, bits, "kernel", len(anchors))
    gamma = 1 / inputs.shape[1]
    kernel = rbf_kernel(inputs, inputs[anchors], gamma)
    wanted = np.eye(int(classes.max()) + 1)[classes]
    solve = np.linalg.solve
    ridge = kernel.T @ kernel + 1e-6 * len(inputs) * np.eye(len(anchors))
    codes = rng.choice([-1.0, 1.0], (len(inputs), bits))
    for _ in range(ITERATIONS):
        project = solve(ridge, kernel.T @ codes)
        weights = solve(codes.T @ codes + RIDGE * np.eye(bits), codes.T @ wanted)
        pull = wanted @ weights.T + FIDELITY * kernel @ project
        for _ in range(CYCLES):
            for bit in range(bits):
                rest = codes @ weights @ weights[bit] - codes[:, bit] * (weights[bit] @ weights[bit])
                codes[:, bit] = np.where(pull[:, bit] - rest >= 0, 1.0, -1.0)
    layer = head.layers[0]
    if isinstance(layer, Kernels):
        layer.anchors.copy_(torch.from_numpy(inputs[anchors].astype(np.float32)))
        layer.gamma.fill_(gamma)
    return linear(head, solve(ridge, kernel.T @ codes).T)
