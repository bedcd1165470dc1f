"""Codes of at most 64 bits by the million: how many lie at each distance, and which are nearest. Nothing is sorted.

A code is one unsigned number; a distance is one XOR and one population count, block by block into buffers that stay
in cache. Two distances side by side are counted as one number of 16 bits, which halves the counting.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from eds.errors import InputError

Array = np.ndarray[Any, np.dtype[Any]]
BLOCK = 1 << 15  # codes at a time; even: distances are counted in pairs
MOST_BITS = 64
Progress = Callable[[int, int], None]


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
        words, apart, rest = _buffers(len(codes))
        for number in range(first, last):
            pairs = np.zeros(bits * 256 + bits + 1, np.int64)
            for start in range(0, len(codes), BLOCK):
                near = _apart(queries[number], codes[start : start + BLOCK], words, apart)
                even = len(near) & ~1
                pairs += np.bincount(near[:even].view(np.uint16), minlength=len(pairs))
                if even < len(near):
                    found[number, near[even]] += 1
            rest[: len(pairs)] = pairs
            folded = rest.reshape(bits + 1, 256)
            found[number] += folded.sum(axis=1) + folded.sum(axis=0)[: bits + 1]

    def _buffers(n: int) -> tuple[Array, Array, Array]:
        size = min(BLOCK, n)
        return np.empty(size, np.uint64), np.empty(size, np.uint8), np.zeros((bits + 1) * 256, np.int64)

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
        size = min(BLOCK, len(codes))
        words, apart, below = np.empty(size, np.uint64), np.empty(size, np.uint8), np.empty(size, bool)
        for number in range(first, last):
            kept, kept_apart = np.zeros(0, np.int64), np.zeros(0, np.uint8)
            waiting: list[tuple[Array, Array]] = []
            bound, count = bits + 1, 0  # only what lies nearer than the bound can still get in
            for start in range(0, len(codes), BLOCK):
                near = _apart(queries[number], codes[start : start + BLOCK], words, apart)
                some = np.flatnonzero(np.less(near, bound, out=below[: len(near)]))
                if not len(some):
                    continue
                waiting.append((some + start, near[some]))
                count += len(some)
                if len(kept) + count >= 2 * k or bound > bits:
                    kept, kept_apart = _first(k, kept, kept_apart, waiting)
                    waiting, count = [], 0
                    bound = int(kept_apart[-1]) if len(kept) == k else bound
            kept, kept_apart = _first(k, kept, kept_apart, waiting)
            places[number], far[number] = kept, kept_apart

    _shared(search, len(queries), threads)
    return places, far


def distances_of(queries: Array, query: Array, codes: Array, place: Array) -> Array:
    """The distance of each pair (query number, place of a code), (pairs,) int64 each; (pairs,) uint8."""
    found: Array = np.bitwise_count(queries[query] ^ codes[place])
    return found


def _apart(query: Any, codes: Array, words: Array, apart: Array) -> Array:
    """Distances of one query to a block of codes, (n,) uint8, in the buffer `apart`."""
    mixed = np.bitwise_xor(codes, query, out=words[: len(codes)])
    found: Array = np.bitwise_count(mixed, out=apart[: len(codes)])
    return found


def _first(k: int, kept: Array, kept_apart: Array, waiting: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """The k first by (distance, place); places come in ascending order, so a stable sort by distance does it."""
    place = np.concatenate([kept, *(part for part, _ in waiting)])
    far = np.concatenate([kept_apart, *(part for _, part in waiting)])
    if len(far) > 4 * k:
        top = np.flatnonzero(far <= np.partition(far, k - 1)[k - 1])
        place, far = place[top], far[top]
    order = np.argsort(far, kind="stable")[:k]
    return place[order], far[order]


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
