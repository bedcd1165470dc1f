"""Codes of at most 64 bits by the million: how many lie at each distance. Nothing is sorted.

A code is one unsigned number; a distance is one XOR and one population count, block by block into buffers that stay
in cache. Two distances side by side are counted as one number of 16 bits, which halves the counting. Where numba is
installed and there is much to count, it does the same several times as fast.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from eds.errors import InputError
from eds.neighbors.code_search import worth_compiling
from eds.neighbors.counting import ragged

Array = np.ndarray[Any, np.dtype[Any]]
BLOCK = 1 << 15  # codes at a time: they and their buffers stay in cache
CHUNK = 1 << 20  # distances of one query that are counted at a time; even, for they are counted in pairs
TILE = 8  # queries that meet a block of codes
SHORT = 64  # codes of a query that are counted pair by pair
PORTION = 1 << 14  # queries for which that is done at once
MOST_BITS = 64


def distance_counts(
    queries: Array, codes: Array, bits: int, threads: int = 1, spans: tuple[Array, Array] | None = None
) -> Array:
    """How many codes lie at each Hamming distance: queries (q,), codes (n,) uint64; (q, bits + 1) int64.

    Formula: #{c : popcount(q XOR c) = d} for d = 0 .. bits.
    Source: specification 7, `hamming`; 8, groups[d].
    Conventions: every code counts, also an equal one; with spans, start and stop (q,) int64, of each query only the
    codes start .. stop - 1; at most 64 bits.
    Example, run by doctest:
    >>> distance_counts(np.array([5], np.uint64), np.array([5, 4, 2], np.uint64), 3).tolist()
    [[1, 1, 0, 1]]
    """
    if not 1 <= bits <= MOST_BITS:
        raise InputError(f"codes have {bits} bits", where="codes", do=f"Codes may have 1 to {MOST_BITS} bits.")
    start, stop = (np.zeros(len(queries), np.int64), np.full(len(queries), len(codes))) if spans is None else spans
    found = np.zeros((len(queries), bits + 1), np.int64)
    compiled = worth_compiling(bits, int((stop - start).sum()))

    def count(tile: Array) -> None:
        near = codes[start[tile[0]] : stop[tile[0]]]
        found[tile] = (_compiled if compiled else _counts)(queries[tile], near, bits)

    short = stop - start <= SHORT
    for first in range(0, len(queries), PORTION):
        some = np.flatnonzero(short[first : first + PORTION]) + first
        found[some] = _pair_by_pair(queries[some], codes, start[some], stop[some], bits)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(count, _tiles(start, np.where(short, start, stop))))
    return found


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
    """The queries that have codes to meet, a few at a time that meet the same ones; (up to TILE,) int64 each."""
    order = np.lexsort((stop, start))
    order = order[stop[order] > start[order]]
    fresh = np.diff(start[order], prepend=-1).astype(bool) | np.diff(stop[order], prepend=-1).astype(bool)
    alike = np.split(order, np.flatnonzero(fresh)[1:])
    return [group[low : low + TILE] for group in alike for low in range(0, len(group), TILE)]


def _pair_by_pair(queries: Array, codes: Array, start: Array, stop: Array, bits: int) -> Array:
    """Counts where each query has few codes, (q, bits + 1) int64."""
    place, query = ragged(start, stop)
    apart = distances_of(queries, query, codes, place)
    cells = np.bincount(query * (bits + 1) + apart, minlength=len(queries) * (bits + 1))
    return cells.reshape(len(queries), bits + 1)


def _compiled(queries: Array, codes: Array, bits: int) -> Array:
    """Counts of a tile by numba, (q, bits + 1) int64."""
    from eds.neighbors.kernels import counted

    counts = np.zeros((len(queries), MOST_BITS + 1), np.int64)
    counted(queries, codes, counts)
    return counts[:, : bits + 1]


def _counts(queries: Array, codes: Array, bits: int) -> Array:
    """The same by numpy."""
    found = np.zeros((len(queries), bits + 1), np.int64)
    apart = np.empty((len(queries), min(CHUNK, len(codes))), np.uint8)
    for first in range(0, len(codes), CHUNK):
        part = codes[first : first + CHUNK]
        distances(queries, part, apart)
        for number in range(len(queries)):
            found[number] += _counted(apart[number, : len(part)], bits)
    return found


def _counted(row: Array, bits: int) -> Array:
    """How often each of the distances 0 .. bits stands in a row, (n,) uint8; (bits + 1,) int64."""
    even = len(row) & ~1
    pairs = np.zeros((bits + 1) * 256, np.int64)
    pairs[: bits * 257 + 1] = np.bincount(row[:even].view(np.uint16), minlength=bits * 257 + 1)
    folded = pairs.reshape(bits + 1, 256)
    found: Array = folded.sum(axis=1) + folded.sum(axis=0)[: bits + 1]
    if even < len(row):
        found[row[even]] += 1
    return found
