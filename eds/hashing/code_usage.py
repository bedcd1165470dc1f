"""How much of the code space a hash model uses, and what share of its collisions mix classes."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eds.errors import InputError
from eds.hashing.codes import Packed, pack


def code_usage(codes: ArrayLike, labels: Sequence[Any] | None = None) -> dict[str, Any]:
    """Counts and shares of the codes in use, with `labels` also of collisions between classes.

    Formula: utilisation = distinct/2^K, of the reachable distinct/min(n, 2^K); colliding pairs
    sum n_i(n_i - 1)/(n(n - 1)); entropy -sum (n_i/n) log2(n_i/n), normalised by min(K, log2 n); expected distinct of
    uniform codes 2^K(1 - (1 - 2^-K)^n).
    Source: specification 10, `code_usage`.
    Conventions: one item has no pairs and no entropy: 0. `cross_class_share_of_collisions` is 0 without collisions.
    Example, run by doctest:
    >>> code_usage([[1, 1], [1, 1], [-1, 1]])["colliding_item_rate"]
    0.6666666666666666
    """
    return packed_code_usage(*pack(codes), labels)


def packed_code_usage(packed: Packed, bits: int, labels: Sequence[Any] | None = None) -> dict[str, Any]:
    """As `code_usage`, of codes packed into one number each, (items,) uint64."""
    n = len(packed)
    if not n:
        raise InputError("there is no code", where="codes", hint="Give at least one.")
    if labels is not None and len(labels) != n:
        raise InputError(f"{len(labels)} labels for {n} codes", where="codes", hint="Give one label for each.")
    _, bucket, size = np.unique(packed, return_inverse=True, return_counts=True)
    space, share = 2.0**bits, size / n
    entropy = max(0.0, float(-(share * np.log2(share)).sum()))
    most = min(float(bits), math.log2(n))
    colliding = int((size * (size - 1)).sum())
    found: dict[str, Any] = {
        "n": n,
        "bits": bits,
        "distinct": len(size),
        "utilisation": len(size) / space,
        "utilisation_of_reachable": len(size) / min(n, space),
        "max_bucket": int(size.max()),
        "colliding_pair_rate": colliding / (n * (n - 1)) if n > 1 else 0.0,
        "colliding_item_rate": int(size[size > 1].sum()) / n,
        "entropy_bits": entropy,
        "entropy_normalised": entropy / most if most else 0.0,
        "expected_distinct_uniform": -space * math.expm1(n * math.log1p(-1 / space)),
    }
    if labels is None:
        return found
    classes, kind = np.unique(np.asarray(labels), return_inverse=True)
    each = np.bincount(bucket * len(classes) + kind, minlength=len(size) * len(classes)).reshape(len(size), -1)
    within = int((each * (each - 1)).sum())
    return found | {
        "mixed_codes": int(((each > 0).sum(axis=1) > 1).sum()),
        "cross_class_share_of_collisions": (colliding - within) / colliding if colliding else 0.0,
    }


def utilisation_bound(min_diameter: int) -> float:
    """The largest share of any great circle of the cube that codes can use if classes stay compact.

    Formula: (h + 1)/(2h + 1), h the smallest class diameter.
    Source: specification 10, `utilisation_bound`.
    Conventions: h >= 1 and at least two classes, each closer to itself than to others; an upper bound, not reached.
    Example, run by doctest:
    >>> utilisation_bound(2)
    0.6
    """
    if min_diameter < 1:
        raise InputError(f"the diameter is {min_diameter}", where="utilisation bound", hint="Give at least 1.")
    return (min_diameter + 1) / (2 * min_diameter + 1)
