"""What a cut through a group of ties leaves open: how many of its relevant items come among the first k."""

import numpy as np

from eds.pairs import Reals


def expected_in_cut(n: int, p: int, w: int, first: int, relevant: int, step: float, total: float) -> float:
    """Expected AP@k over the retrieved, of a list whose last group (n items, p relevant) has only w places left.

    Formula: sum over h of P(h) [total + sum over t of (h/w)(P + (t - C - 1)(h - 1)/(w - 1) + 1)/t] / (P + h).
    Source: specification 8, `ap_retrieved`; h ~ Hypergeometric(n, p, w), C = `first`, P = `relevant`.
    Conventions: 0/0 = 0; `step` is H(C + w) - H(C), `total` the sum of the groups before.
    Example, run by doctest:
    >>> expected_in_cut(2, 1, 1, 0, 0, 1.0, 0.0)
    0.5
    """
    h, share = hypergeometric(n, p, w)
    mean = np.zeros(len(h)) if w == 1 else (h - 1) / (w - 1)
    inside = h / w * ((relevant + 1 - mean * (first + 1)) * step + mean * w)
    ends = relevant + h
    value = np.where(ends > 0, (total + inside) / np.maximum(ends, 1), 0.0)
    return float(share @ value)


def hypergeometric(n: int, p: int, w: int) -> tuple[Reals, Reals]:
    """How many of p marked among n are drawn with w, and how likely each number is, both (numbers,) float64.

    The ratios of neighbouring probabilities are exact; added up from the likeliest number outwards and made to
    sum to 1, they keep their digits where gamma functions of large numbers lose them.

    >>> hypergeometric(4, 2, 2)[1].round(6).tolist()
    [0.166667, 0.666667, 0.166667]
    """
    h = np.arange(max(0, w - (n - p)), min(w, p) + 1, dtype=np.float64)
    lower = h[:-1]
    ratios = np.log((p - lower) * (w - lower)) - np.log((lower + 1) * (n - p - w + lower + 1))
    peak = int(np.searchsorted(-ratios, 0))  # ratios fall: beyond the peak they are below 0
    logs = np.zeros(len(h))
    logs[peak + 1 :] = np.cumsum(ratios[peak:])
    logs[:peak] = -np.cumsum(ratios[:peak][::-1])[::-1]
    share = np.exp(logs)
    return h, share / share.sum()
