"""Collision-aware accuracy: a code space that is used well scores above one where every class is a single code."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eds.errors import InputError
from eds.hashing.codes import Codes, distances, same_bits
from eds.pairs import Integers, Reals


@dataclass(frozen=True)
class Balls:
    """What lies within Hamming distance 0 .. r of each query, each array (queries, r + 1)."""

    bits: int
    items: Integers
    relevant: Integers
    largest: Integers  # the most items that share one code

    @classmethod
    def of(cls, queries: Codes, codes: Codes, relevant: Codes, r: int) -> "Balls":
        """Count them: queries (queries, bits), codes (items, bits), relevant (queries, items) of 0 and 1."""
        asked, items, bits = same_bits(queries, codes)
        if not 0 <= r <= bits:
            raise InputError(f"the radius is {r}", where="codes", hint=f"Give 0 to {bits}, the number of bits.")
        wanted = np.asarray(relevant)
        if wanted.shape != (len(asked), len(items)):
            raise InputError(
                f"relevance has shape {wanted.shape} for {len(asked)} queries and {len(items)} items", where="codes"
            )
        distinct, bucket, size = np.unique(items, return_inverse=True, return_counts=True)
        found: NDArray[np.int64] = np.zeros((3, len(asked), r + 1), np.int64)
        for rows, block in distances(asked, distinct):
            for query, apart in enumerate(block, rows.start or 0):
                near = np.flatnonzero(apart <= r)
                hits = np.bincount(bucket, weights=wanted[query] > 0, minlength=len(distinct))
                found[0, query] = np.bincount(apart[near], weights=size[near], minlength=r + 1)
                found[1, query] = np.bincount(apart[near], weights=hits[near], minlength=r + 1)
                np.maximum.at(found[2, query], apart[near], size[near])
        return cls(bits, found[0].cumsum(1), found[1].cumsum(1), np.maximum.accumulate(found[2], axis=1))

    @property
    def precision(self) -> Reals:
        """The share of relevant items in each ball; 0 in an empty one."""
        return np.where(self.items > 0, self.relevant / np.maximum(self.items, 1), 0.0)

    @property
    def fill(self) -> Reals:
        """How evenly each ball's possible codes are filled: 1 only if all of them hold equally many."""
        volume = np.cumsum([float(comb(self.bits, distance)) for distance in range(self.items.shape[1])])
        return np.where(self.items > 0, self.items / np.maximum(self.largest * volume, 1), 0.0)

    def lgap(self, r: int) -> Reals:
        """The value of `lgap` of each query, (queries,), where r is at most the radius counted to."""
        found: Reals = (self.precision * self.fill)[:, : r + 1].mean(axis=1)
        return found


def lgap(query: ArrayLike, codes: Codes, relevant: Sequence[int], r: int) -> dict[str, Any]:
    """Local group average precision of one query.

    Formula: (1/(r + 1)) sum over t = 0 .. r of P_t phi_t; P_t the precision within distance t, phi_t = |S_t| over
    (largest number of items with one code in S_t times V(K, t)), V(K, t) the number of possible codes within t.
    Source: specification 10, `lgap`.
    Conventions: an empty ball gives the term 0; r <= K; values compare at equal K and r only.
    Example, run by doctest:
    >>> lgap([-1, -1], [[-1, -1], [1, -1]], [1, 1], 1)["terms"]
    [1.0, 0.6666666666666666]
    """
    balls = Balls.of([query], codes, [relevant], r)
    terms = (balls.precision * balls.fill)[0]
    return {"lgap": float(terms.mean()), "terms": terms.tolist()}


def mlgap(queries: Codes, codes: Codes, relevant: Codes, r: int) -> float:
    """The mean of `lgap` over queries.

    >>> round(mlgap([[-1, -1]], [[-1, -1], [1, -1]], [[1, 1]], 1), 6)
    0.833333
    """
    balls = Balls.of(queries, codes, relevant, r)
    if not len(balls.items):
        raise InputError("there is no query", where="mLGAP", hint="Give at least one.")
    return float((balls.precision * balls.fill).mean())
