"""Loops over codes that numba compiles (extra `scale`); imported only where numba is installed.

Every loop gives what the numpy way beside it gives, number by number (`code_search`, `hamming`). The loops let go of
Python's lock, so threads share the queries.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.extending import intrinsic

Array = np.ndarray[Any, np.dtype[Any]]
BLOCK = 2048  # codes whose distances stay in the first cache
CHUNK, PART = 512, 64  # distances that are passed over at once if the least of them is too far
PLACE = 40  # a key is distance << PLACE | number of the candidate: keys sort as lists do
NOBODY = np.uint16(65535)  # a product that no candidate stands for yet


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile on first use; kept on disk where a folder can be written, so that the next process need not."""
    try:
        found: Callable[..., Any] = numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:  # no such folder
        found = numba.njit(nogil=True)(function)
    return found


def _population(_: Any, word: Any) -> Any:
    """How many bits of a word are set: one instruction."""
    return numba.types.uint64(word), lambda context, builder, signature, given: builder.ctpop(given[0])


ones: Any = intrinsic(_population)


@compiled
def set_distances(codes: Array, query: np.uint64, apart: Array) -> None:
    """The distances of codes (n,) uint64 and a query, into apart (n,)."""
    for place in range(len(codes)):
        apart[place] = ones(codes[place] ^ query)


@compiled
def _add(codes: Array, query: np.uint64, apart: Array) -> None:
    for place in range(len(codes)):
        apart[place] += ones(codes[place] ^ query)


@compiled
def _least(apart: Array) -> Any:
    least = apart[0]
    for place in range(len(apart)):
        least = min(least, apart[place])
    return least


@compiled
def _next(apart: Array, start: int, limit: int) -> int:
    """The first place from `start` on where a distance is at most `limit`; len(apart) if there is none."""
    place, total = start, len(apart)
    while place < total:
        if place % CHUNK == 0 and _least(apart[place : place + CHUNK]) > limit:
            place += CHUNK
        elif place % PART == 0 and _least(apart[place : place + PART]) > limit:
            place += PART
        else:
            stop = min(place - place % PART + PART, total)
            for found in range(place, stop):
                if apart[found] <= limit:
                    return found
            place = stop
    return total


@compiled
def distances(queries: Array, codes: Array, apart: Array) -> None:
    """Every distance of queries (q,) and codes (n,) uint64, into apart (q, n) uint8."""
    for low in range(0, len(codes), BLOCK):
        for number in range(len(queries)):
            set_distances(codes[low : low + BLOCK], queries[number], apart[number, low : low + BLOCK])


@compiled
def count_distances(queries: Array, codes: Array, start: int, stop: int, counts: Array) -> None:
    """Add to counts (q, 65) int64 how many of codes[start:stop] lie at each distance of the queries (q,) uint64.

    Four rows count in turn: an increment does not wait for the one before it, which is often of the same distance.
    """
    rows = np.empty((4, 65), np.int64)
    for low in range(start, stop, BLOCK):
        high = min(low + BLOCK, stop)
        fours = low + (high - low) // 4 * 4
        for number in range(len(queries)):
            query = queries[number]
            rows[:] = 0
            for index in range(low, fours, 4):
                rows[0, ones(codes[index] ^ query)] += 1
                rows[1, ones(codes[index + 1] ^ query)] += 1
                rows[2, ones(codes[index + 2] ^ query)] += 1
                rows[3, ones(codes[index + 3] ^ query)] += 1
            for index in range(fours, high):
                rows[0, ones(codes[index] ^ query)] += 1
            for distance in range(65):
                counts[number, distance] += rows[:, distance].sum()


@compiled
def _kept(keys: Array, size: int, bound: int, one: bool, best: Array, slot: Array) -> int:
    """Drop from keys, (size,), what lies beyond the bound or was bettered by its product; the new size."""
    kept = 0
    for place in range(size):
        apart, number = np.int64(keys[place]) >> PLACE, np.int64(keys[place]) & ((1 << PLACE) - 1)
        leads = not one or best[slot[number]] == apart
        if apart <= bound and leads:
            keys[kept] = keys[place]
            kept += 1
        elif one and leads:
            best[slot[number]] = NOBODY
    return kept


@compiled
def scan(
    codes: Array,
    start: int,
    slot: Array,
    product: Array,
    category: Array,
    asked: Array,
    own: Array,
    own_product: Array,
    own_category: Array,
    k: int,
    ties: bool,
    exclude: bool,
    one: bool,
    same: int,
    best: Array,
    keys: Array,
    sizes: Array,
    apart: Array,
) -> Array:
    """Let candidates pass by a few queries; keeps for each what may stand in its list: keys, perhaps grown.

    codes (words, n) uint64 of the candidates start .. start + n in the order of their ids; slot (where the product
    stands in `best`), product, category: (all candidates,) int64; asked (q, words); own, own_product, own_category
    (q,) int64; same: 1 only of the query's category, -1 only of others, 0 any; best (q, slots) uint16, all NOBODY
    before and after; keys (q, room) int64 and sizes (q,) int64: what earlier candidates left; apart: room for the
    distances of a block.

    `bound` is the least distance within which k candidates (of k products) lie. Behind them, by id, none at the
    bound can enter, unless ties are kept.
    """
    words, total = codes.shape
    furthest = 64 * words
    at = np.zeros((len(asked), furthest + 1), np.int64)  # candidates kept at each distance
    within = np.zeros(len(asked), np.int64)  # and within the bound
    bound = np.full(len(asked), furthest, np.int64)
    for query in range(len(asked)):
        for place in range(sizes[query]):
            key = keys[query, place]
            at[query, key >> PLACE] += 1
            if one:
                best[query, slot[key & ((1 << PLACE) - 1)]] = key >> PLACE
        within[query] = sizes[query]
        while within[query] - at[query, bound[query]] >= k:
            within[query] -= at[query, bound[query]]
            bound[query] -= 1
    for low in range(0, total, len(apart)):
        high = min(low + len(apart), total)
        for query in range(len(asked)):
            limit = bound[query] if ties or within[query] < k else bound[query] - 1
            if limit < 0:
                continue
            set_distances(codes[0, low:high], asked[query, 0], apart)
            for word in range(1, words):
                _add(codes[word, low:high], asked[query, word], apart)
            block = apart[: high - low]
            place = -1
            while True:
                place = _next(block, place + 1, limit)
                if place == high - low:
                    break
                far, number = np.int64(block[place]), start + low + place
                if number == own[query] or (exclude and product[number] == own_product[query]):
                    continue
                if same != 0 and (category[number] == own_category[query]) != (same == 1):
                    continue
                if one:
                    before = np.int64(best[query, slot[number]])
                    if before <= far:
                        continue
                    best[query, slot[number]] = far
                    if before <= bound[query]:
                        at[query, before] -= 1
                        within[query] -= 1
                if sizes[query] == keys.shape[1]:
                    sizes[query] = _kept(keys[query], sizes[query], bound[query], one, best[query], slot)
                    if 2 * sizes[query] > keys.shape[1]:
                        wider = np.zeros((len(keys), 2 * keys.shape[1]), np.int64)
                        wider[:, : keys.shape[1]] = keys
                        keys = wider
                keys[query, sizes[query]] = far << PLACE | number
                sizes[query] += 1
                at[query, far] += 1
                within[query] += 1
                while within[query] - at[query, bound[query]] >= k:
                    within[query] -= at[query, bound[query]]
                    bound[query] -= 1
                limit = bound[query] if ties or within[query] < k else bound[query] - 1
    for query in range(len(asked)):
        sizes[query] = _kept(keys[query], sizes[query], bound[query], one, best[query], slot)
        if one:
            for place in range(sizes[query]):
                best[query, slot[keys[query, place] & ((1 << PLACE) - 1)]] = NOBODY
    return keys
