"""Codes of at most 64 bits by the million: how many lie at each distance, and which are nearest. Nothing is sorted.

A code is one unsigned number; a distance is one XOR and one population count, block by block into buffers that stay
in cache. Two distances side by side are counted as one number of 16 bits, which halves the counting.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from eds.errors import InputError

Array = np.ndarray[Any, np.dtype[Any]]
BLOCK = 1 << 15  # codes at a time: they and their buffers stay in cache
CHUNK = 1 << 20  # distances of one query that are counted at a time; even, for they are counted in pairs
TILE = 8  # queries that meet a block of codes
MOST_BITS = 64


def distance_counts(queries: Array, codes: Array, bits: int, threads: int = 1) -> Array:
    """How many codes lie at each Hamming distance: queries (q,), codes (n,) uint64; (q, bits + 1) int64.

    Formula: #{c : popcount(q XOR c) = d} for d = 0 .. bits.
    Source: specification 7, `hamming`; 8, groups[d].
    Conventions: every code counts, also an equal one; at most 64 bits.
    Example, run by doctest:
    >>> distance_counts(np.array([5], np.uint64), np.array([5, 4, 2], np.uint64), 3).tolist()
    [[1, 1, 0, 1]]
    """
    _check(bits)
    found = np.zeros((len(queries), bits + 1), np.int64)

    def count(first: int, last: int) -> None:
        for low, _, rows in _rows(queries, codes, first, last):
            for number, row in enumerate(rows, low):
                found[number] += _counted(row, bits)

    _shared(count, len(queries), threads)
    return found


def nearest(queries: Array, codes: Array, bits: int, k: int, threads: int = 1) -> tuple[Array, Array]:
    """Each query's k nearest codes, by (distance, place) ascending: (q, k) places int64 and distances int64.

    Formula: the first k of all codes in that order.
    Source: specification 7, `hamming_ranking`.
    Conventions: queries (q,), codes (n,) uint64, codes in the order of their ids; k at most n.
    Example, run by doctest:
    >>> nearest(np.array([5], np.uint64), np.array([2, 4, 5, 7], np.uint64), 3, 2)[0].tolist()
    [[2, 1]]
    """
    _check(bits)
    if not 1 <= k <= len(codes):
        raise InputError(f"k is {k} of {len(codes):,} codes", where="nearest codes", do="Give 1 up to their number.")
    places, far = np.empty((len(queries), k), np.int64), np.empty((len(queries), k), np.int64)

    def search(first: int, last: int) -> None:
        kept: dict[int, tuple[Array, Array]] = {}
        below = np.empty(min(CHUNK, len(codes)), bool)
        for low, start, rows in _rows(queries, codes, first, last):
            for number, row in enumerate(rows, low):
                place, apart = kept.pop(number, (np.zeros(0, np.int64), np.zeros(0, np.uint8)))
                some = np.flatnonzero(np.less_equal(row, _bound(k, apart, row), out=below[: len(row)]))
                place, apart = _first(k, np.concatenate([place, some + start]), np.concatenate([apart, row[some]]))
                if start + len(row) == len(codes):
                    places[number], far[number] = place, apart
                else:
                    kept[number] = place, apart

    _shared(search, len(queries), threads)
    return places, far


def distances_of(queries: Array, query: Array, codes: Array, place: Array) -> Array:
    """The distance of each pair (query number, place of a code), (pairs,) int64 each; (pairs,) uint8."""
    found: Array = np.bitwise_count(queries[query] ^ codes[place])
    return found


def _rows(queries: Array, codes: Array, first: int, last: int) -> Iterator[tuple[int, int, Array]]:
    """Distances of the queries first..last in tiles: (number of the first query, of the first code, (q, n) uint8).

    A block of codes meets all queries of the tile while it is in cache. The array is used again for the next tile.
    """
    words = np.empty(min(BLOCK, len(codes)), np.uint64)
    apart = np.empty((min(TILE, last - first), min(CHUNK, len(codes))), np.uint8)
    for low in range(first, last, TILE):
        tile = queries[low : min(low + TILE, last)]
        for start in range(0, len(codes), CHUNK):
            part = codes[start : start + CHUNK]
            for begin in range(0, len(part), BLOCK):
                block = part[begin : begin + BLOCK]
                for number, query in enumerate(tile):
                    mixed = np.bitwise_xor(block, query, out=words[: len(block)])
                    np.bitwise_count(mixed, out=apart[number, begin : begin + len(block)])
            yield low, start, apart[: len(tile), : len(part)]


def _bound(k: int, kept: Array, row: Array) -> int:
    """A distance that the k-th nearest does not exceed, from those kept, or from the beginning of a row."""
    if len(kept) == k:
        return int(kept[-1]) - 1  # later codes of the same distance come behind
    begin = row[: max(BLOCK, k)]
    return int(np.searchsorted(np.cumsum(_counted(begin, MOST_BITS)), k)) if len(begin) >= k else MOST_BITS


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


def _first(k: int, place: Array, apart: Array) -> tuple[Array, Array]:
    """The k first by (distance, place); places come in ascending order, so a stable sort by distance does it."""
    if len(apart) > 4 * k:
        top = np.flatnonzero(apart <= np.partition(apart, k - 1)[k - 1])
        place, apart = place[top], apart[top]
    order = np.argsort(apart, kind="stable")[:k]
    return place[order], apart[order]


def _shared(work: Callable[[int, int], None], queries: int, threads: int) -> None:
    """The queries in one part for each thread."""
    step = max(1, -(-queries // max(threads, 1)))
    starts = range(0, queries, step)
    if len(starts) < 2:
        work(0, queries)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, starts, [min(start + step, queries) for start in starts]))


def _check(bits: int) -> None:
    if not 1 <= bits <= MOST_BITS:
        raise InputError(f"codes have {bits} bits", where="codes", do=f"Codes may have 1 to {MOST_BITS} bits.")
