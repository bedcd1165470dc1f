"""Codes of at most 64 bits by the million: how many lie at each distance. Nothing is sorted.

A code is one unsigned number; a distance is one XOR and one population count, block by block into buffers that stay
in cache. Without numba, two distances side by side are counted as one number of 16 bits, which halves the counting;
where numba is installed and there is much to count, no distance is written down at all.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any

import numpy as np

from eds.errors import InputError
from eds.hashing.codes import MOST_BITS

Array = np.ndarray[Any, np.dtype[Any]]
Counter = Callable[[Array, int, int], Array]
BLOCK = 1 << 15  # codes at a time: they and their buffers stay in cache
CHUNK = 1 << 20  # distances of one query that are counted at a time; even, for they are counted in pairs
TILE = 8  # queries that meet a block of codes
SHORT = 64  # codes of a query that are counted pair by pair
PORTION = 1 << 14  # queries for which that is done at once
WORTH = 1 << 29  # words of codes compared, from which on numba repays its start


def distance_counts(
    queries: Array,
    codes: Array,
    bits: int,
    threads: int = 1,
    spans: tuple[Array, Array] | None = None,
    part_of: int = 0,
) -> Array:
    """How many codes lie at each Hamming distance: queries (q,), codes (n,) uint64; (q, bits + 1) int64.

    Formula: #{c : popcount(q XOR c) = d} for d = 0 .. bits.
    Source: specification 7, `hamming`; 8, groups[d].
    Conventions: every code counts, also an equal one; with spans, start and stop (q,) int64, of each query only the
    codes start .. stop - 1; at most 64 bits; part_of: the pairs of the whole job, which decide whether numba starts.
    Example, run by doctest:
    >>> distance_counts(np.array([5], np.uint64), np.array([5, 4, 2], np.uint64), 3).tolist()
    [[1, 1, 0, 1]]
    """
    if not 1 <= bits <= MOST_BITS:
        raise InputError(f"codes have {bits} bits", where="codes", hint=f"Codes may have 1 to {MOST_BITS} bits.")
    start, stop = (np.zeros(len(queries), np.int64), np.full(len(queries), len(codes))) if spans is None else spans
    found = np.zeros((len(queries), bits + 1), np.int64)
    short = stop - start <= SHORT
    for first in range(0, len(queries), PORTION):
        some = np.flatnonzero(short[first : first + PORTION]) + first
        found[some] = _pair_by_pair(queries[some], codes, start[some], stop[some], bits)
    long_stop = np.where(short, start, stop)
    compiled = compiling_pays(max(part_of, int((long_stop - start).sum())))
    tiles = _tiles(start, long_stop)
    if tiles:
        count = _compiled_counter(codes) if compiled else _plain_counter(codes)

        def fill(tile: Array) -> None:
            found[tile] = count(queries[tile], start[tile[0]], stop[tile[0]])[:, : bits + 1]

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(fill, tiles))
    return found


def compiling_pays(words: int) -> bool:
    """Whether numba is installed and repays its start where so many words of codes are compared."""
    return words >= WORTH and find_spec("numba") is not None


def distances_of(queries: Array, query: Array, codes: Array, place: Array) -> Array:
    """The distance of each pair (query number, place of a code), (pairs,) int64 each; (pairs,) uint8."""
    found: Array = np.bitwise_count(queries[query] ^ codes[place])
    return found


def distances(queries: Array, codes: Array, apart: Array) -> None:
    """Every distance of queries (q,) and codes (n,) uint64, into apart (q, n) uint8."""
    words = np.empty(min(BLOCK, len(codes)), np.uint64)
    for begin in range(0, len(codes), BLOCK):
        block = codes[begin : begin + BLOCK]
        for number, query in enumerate(queries):
            mixed = np.bitwise_xor(block, query, out=words[: len(block)])
            np.bitwise_count(mixed, out=apart[number, begin : begin + len(block)])


def _tiles(start: Array, stop: Array) -> list[Array]:
    """The queries that have codes to meet, some at a time that meet the same ones; (up to TILE,) int64 each."""
    order = np.lexsort((stop, start))
    order = order[stop[order] > start[order]]
    fresh = np.diff(start[order], prepend=-1).astype(bool) | np.diff(stop[order], prepend=-1).astype(bool)
    alike = np.split(order, np.flatnonzero(fresh)[1:])
    return [group[low : low + TILE] for group in alike for low in range(0, len(group), TILE)]


def _pair_by_pair(queries: Array, codes: Array, start: Array, stop: Array, bits: int) -> Array:
    """Counts where each query has few codes, (q, bits + 1) int64."""
    size = stop - start
    query = np.repeat(np.arange(len(start)), size)
    place = np.arange(len(query)) + np.repeat(start - np.cumsum(size) + size, size)
    apart = distances_of(queries, query, codes, place)
    cells = np.bincount(query * (bits + 1) + apart, minlength=len(queries) * (bits + 1))
    return cells.reshape(len(queries), bits + 1)


def _compiled_counter(codes: Array) -> Counter:
    """Counts of queries (q,) and codes[start:stop] by numba, (q, 65) int64."""
    from eds.hashing.kernels import count_distances

    def count(queries: Array, start: int, stop: int) -> Array:
        found = np.zeros((len(queries), MOST_BITS + 1), np.int64)
        count_distances(queries, codes, start, stop, found)
        return found

    return count


def _plain_counter(codes: Array) -> Counter:
    """The same by numpy."""

    def count(queries: Array, start: int, stop: int) -> Array:
        found = np.zeros((len(queries), MOST_BITS + 1), np.int64)
        apart = np.empty((len(queries), min(CHUNK, stop - start)), np.uint8)
        for first in range(start, stop, CHUNK):
            part = codes[first : min(first + CHUNK, stop)]
            distances(queries, part, apart)
            for number in range(len(queries)):
                found[number] += _counted(apart[number, : len(part)])
        return found

    return count


def _counted(row: Array) -> Array:
    """How often each of the distances 0 .. 64 stands in a row, (n,) uint8; (65,) int64."""
    even = len(row) & ~1
    pairs = np.zeros((MOST_BITS + 1) << 8, np.int64)
    most = (MOST_BITS << 8) + MOST_BITS + 1
    pairs[:most] = np.bincount(row[:even].view(np.uint16), minlength=most)
    folded = pairs.reshape(MOST_BITS + 1, 256)
    found: Array = folded.sum(axis=1) + folded.sum(axis=0)[: MOST_BITS + 1]
    if even < len(row):
        found[row[even]] += 1
    return found
