"""The closed-form gradient of tie-aware ranking on a minibatch, written as sums over matrices (specification 9.4)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]


def value_and_gradient(phi: Reals, affinity: NDArray[np.int64], objective: str) -> tuple[float, Reals]:
    """For `ap_simplified` and `dcg_simplified`: relaxed codes (bits, items)."""
    bits, items = phi.shape
    levels = np.unique(affinity)
    distance = np.clip((bits - phi.T @ phi) / 2, 0, bits)
    others = ~np.eye(items, dtype=bool)
    z = distance[None] - np.arange(bits + 1)[:, None, None]  # (bins, items, items)
    kernel = np.maximum(0, 1 - np.abs(z)) * others
    slope = np.where(np.abs(z) < 1, -np.sign(z), 0) * others
    of_level = [affinity == level for level in levels]
    counts = np.stack([(kernel * mask).sum(axis=2) for mask in of_level])  # (levels, bins, items)
    find = _ap if objective == "ap_simplified" else _dcg
    values, alpha = find(counts, levels, (affinity > 0) & others)
    total = np.zeros((items, items))
    for level, mask in enumerate(of_level):
        for d in range(bits + 1):
            b = slope[d] * mask
            a = np.diag(alpha[level, d])
            total += a @ b + b @ a
    return float(values.mean()), -phi @ total / (2 * items)


def _ap(counts: Reals, levels: NDArray[np.int64], positive: NDArray[np.bool_]) -> tuple[Reals, Reals]:
    c, p = counts.sum(axis=0), counts[levels > 0].sum(axis=0)  # (bins, items)
    before, hits = np.cumsum(c, axis=0) - c, np.cumsum(p, axis=0) - p
    num, den = 2 * hits + p + 1, 2 * before + c + 1
    n = positive.sum(axis=1)
    scale = np.where(n > 0, 1 / np.maximum(n, 1), 0)
    parts = {"p": (num + p) / den, "c": -p * num / den**2, "P": 2 * p / den, "C": -2 * p * num / den**2}
    later: dict[str, Any] = {
        name: np.cumsum(part[::-1], axis=0)[::-1] - part for name, part in parts.items() if name in "PC"
    }
    neutral = parts["c"] + later["C"]
    alpha = np.stack([neutral + (parts["p"] + later["P"] if level > 0 else 0) for level in levels]) * scale
    return (p * num / den).sum(axis=0) * scale, alpha


def _dcg(counts: Reals, levels: NDArray[np.int64], positive: NDArray[np.bool_]) -> tuple[Reals, Reals]:
    gains = 2.0**levels - 1
    c, g = counts.sum(axis=0), np.einsum("v,vdi->di", gains, counts)
    before = np.cumsum(c, axis=0) - c
    y = before + (c + 1) / 2 + 1
    fall = g * np.log(2) / (y * np.log(y) ** 2)
    later = np.cumsum(fall[::-1], axis=0)[::-1] - fall
    alpha = np.stack([gain / np.log2(y) - fall / 2 - later for gain in gains])
    return (g / np.log2(y)).sum(axis=0), alpha
