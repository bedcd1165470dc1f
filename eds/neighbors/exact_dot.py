"""Exact arithmetic on given pairs: the same bits with any block, thread count, BLAS and processor."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
CELLS = 1 << 18  # float64 numbers in one step: so few stay in cache, and the allocator keeps their memory
GATHERED = 1 << 18  # numbers gathered from the vectors at once: they, too, stay in cache


def dots(left: Array, left_row: Array, right: Array, right_row: Array, threads: int = 1) -> Array:
    """Dot products of given pairs of rows.

    Formula: Σ_i left[a, i] · right[b, i] for each pair (a, b).
    Source: specification of scale, section 2: survivors are scored again in float64.
    Conventions: left, right (n, d) float32 or float16; rows (pairs,) int64; products of float32 numbers are exact
    in float64; numpy's pairwise sum along a row depends on d alone (einsum and BLAS do not promise
    that), so a pair's score never depends on the pairs beside it.
    Example, run by doctest:
    >>> vectors = np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32)
    >>> dots(vectors, np.array([0, 1]), vectors, np.array([1, 1]))
    array([11., 25.])
    """
    n, width = len(left_row), left.shape[1]
    found = np.empty(n)
    step = max(1, CELLS // max(width, 1))
    alike = left is right and left_row is right_row

    def fill(start: int, stop: int) -> None:
        size = min(step, stop - start)  # memory is used again: threads that keep asking for it wait for each other
        first_of, second_of = _Widened(left, size), _Widened(right, size)
        with np.errstate(over="ignore", invalid="ignore"):  # a thread does not inherit it
            for first in range(start, stop, step):
                part = slice(first, min(first + step, stop))
                one = first_of.rows(left_row[part])
                other = one if alike else second_of.rows(right_row[part])
                np.add.reduce(np.multiply(one, other, one), axis=1, out=found[part])

    share = max(step, -(-n // threads))
    starts = range(0, n, share)
    if len(starts) < 2:
        fill(0, n)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(fill, starts, [min(start + share, n) for start in starts]))
    return found


class _Widened:
    """Rows of a table of vectors as float64, in memory that is used again; to widen first is quicker than ufuncs do."""

    def __init__(self, vectors: Array, size: int) -> None:
        self._vectors = vectors
        self._stored, self._wide = np.empty((size, vectors.shape[1]), vectors.dtype), np.empty((size, vectors.shape[1]))

    def rows(self, rows: Array) -> Array:
        """(n, width) float64 until the next call."""
        stored, wide = self._stored[: len(rows)], self._wide[: len(rows)]
        self._vectors.take(rows, 0, stored, "clip")  # "raise" would copy; the rows are known
        np.copyto(wide, stored)
        return wide


def lengths(vectors: Array, rows: Array | None = None, threads: int = 1) -> Array:
    """Euclidean lengths of rows, (n,) int64 or all, of (·, d) float32 or float16 vectors; (n,) float64."""
    rows = np.arange(len(vectors)) if rows is None else rows
    return np.sqrt(dots(vectors, rows, vectors, rows, threads))


def portions(rows: Array, width: int) -> Iterator[tuple[Array, Array, Array]]:
    """Pairs in portions whose vectors, of `width` numbers, fit in cache; each vector is gathered once.

    rows, (pairs,) int64: the vector each pair needs. Gives (places of the pairs, (n,) distinct rows,
    (pairs,) which of these each pair needs).
    """
    order = np.argsort(rows, kind="stable")
    fresh = np.diff(rows[order], prepend=-1) != 0
    serial = np.cumsum(fresh) - 1  # number of the distinct row, pair by pair
    distinct = rows[order][fresh]
    step = max(1, GATHERED // width)
    for first in range(0, len(distinct), step):
        low, high = np.searchsorted(serial, [first, first + step])
        yield order[low:high], distinct[first : first + step], serial[low:high] - first
