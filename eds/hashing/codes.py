"""Binary codes as arrays: checked, packed into one 64-bit number each, compared by Hamming distance.

Everything on codes starts here. A code has at most 64 bits, given as -1/+1, 0/1 or the signs of a real
embedding (`signs`); inside it is one unsigned number, so a distance is one XOR and one population count.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eds.errors import InputError
from eds.pairs import Integers, Reals

MOST_BITS = 64
BLOCK = 1 << 22  # distances computed at a time

Packed = NDArray[np.uint64]
Codes = ArrayLike | Sequence[ArrayLike]  # (items, bits) of -1/+1 or 0/1


def signs(vectors: ArrayLike) -> NDArray[np.int8]:
    """The code of each row of a real embedding: +1 where it is 0 or more, else -1.

    >>> signs([[0.0, -0.5, 2.0]]).tolist()
    [[1, -1, 1]]
    """
    found = np.asarray(vectors, dtype=np.float64)
    if np.isnan(found).any():
        raise InputError("a vector holds NaN", where="codes", hint="Leave such images out.")
    return np.where(found >= 0, 1, -1).astype(np.int8)


def pack(codes: Codes, what: str = "codes") -> tuple[Packed, int]:
    """Codes (items, bits) of -1/+1 or 0/1 as (items,) numbers, and how many bits they have.

    >>> pack([[1, -1, -1], [1, 1, 1]])[0].tolist()
    [1, 7]
    """
    try:
        found = np.asarray(codes)
        found = found.astype(np.float64) if found.dtype == object else found
    except (ValueError, TypeError) as error:
        raise InputError(
            "codes differ in length, or are not numbers", where=what, hint="Give one length to all."
        ) from error
    if found.ndim != 2 or found.dtype.kind not in "biuf":
        raise InputError(
            f"codes have shape {found.shape} and type {found.dtype}",
            where=what,
            hint="Give a row of numbers for each item.",
        )
    bits = found.shape[1]
    if not 1 <= bits <= MOST_BITS:
        raise InputError(f"codes have {bits} bits", where=what, hint=f"Codes may have 1 to {MOST_BITS} bits.")
    high, low = found == 1, -1 if (found < 0).any() else 0
    known = (high | (found == low)).all(axis=1)
    if not known.all():
        row = int(np.flatnonzero(~known)[0])
        raise InputError(
            f"row {row} holds something else than -1 and +1, or 0 and 1", where=what, hint="Binarise first: `signs`."
        )
    weights = np.left_shift(np.uint64(1), np.arange(bits, dtype=np.uint64))
    return (high * weights).sum(axis=1, dtype=np.uint64), bits


def as_words(codes: NDArray[np.uint8]) -> Packed:
    """Packed bytes, (n, bytes) uint8, as (n, words) uint64; the last word is filled up with zeros."""
    padded = np.zeros((len(codes), -(-codes.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : codes.shape[1]] = codes
    return padded.view(np.uint64)


def number_words(words: Packed, bits: int) -> Packed:
    """The codes in words of packed bytes, (n,), as `pack` numbers them: 0 to 2^bits - 1.

    >>> number_words(as_words(np.packbits([[1, 0, 0], [1, 1, 1]], axis=1))[:, 0], 3).tolist()
    [1, 7]
    """
    stored = np.ascontiguousarray(words).view(np.uint8).reshape(-1, 8)
    return pack(np.unpackbits(stored, axis=1)[:, :bits])[0]


def same_bits(left: Codes, right: Codes) -> tuple[Packed, Packed, int]:
    """Two sets of codes, packed; refused if their lengths differ."""
    (first, bits), (second, others) = pack(left, "queries"), pack(right, "codes")
    if bits != others:
        raise InputError(f"{bits} bits against {others}", where="codes", hint="Compare codes of equal length only.")
    return first, second, bits


def distances(queries: Packed, items: Packed) -> Iterator[tuple[slice, NDArray[np.uint8]]]:
    """Hamming distances (some queries, items) in blocks of queries, with which queries these are."""
    step = max(1, BLOCK // max(1, len(items)))
    for start in range(0, len(queries), step):
        rows = slice(start, min(start + step, len(queries)))
        yield rows, np.bitwise_count(queries[rows, None] ^ items[None, :])


def hamming(a: ArrayLike, b: ArrayLike) -> dict[str, Any]:
    """How many bits of two codes differ, by counting and by three identities.

    Formula: count = #differing = (K - <a,b>)/2 = (K/4) ||a/||a|| - b/||b||||^2 = (K/2)(1 - cos), codes in {-1,+1}^K.
    Source: specification 7, `hamming`.
    Conventions: the whole number is the distance; the others show that cosine search on codes finds the same.
    Example, run by doctest:
    >>> hamming([1, 1, -1, -1], [1, -1, -1, 1])["count"]
    2
    """
    first, second, bits = same_bits([a], [b])
    left, right = (np.where(np.asarray(code, dtype=np.float64) == 1, 1.0, -1.0) for code in (a, b))
    dot = float(left @ right)
    gap: Reals = (left - right) / np.sqrt(bits)
    return {
        "count": int(np.bitwise_count(first[0] ^ second[0])),
        "via_dot": (bits - dot) / 2,
        "via_euclid": bits / 4 * float(gap @ gap),
        "via_cosine": bits / 2 * (1 - dot / bits),
    }


def hamming_ranking(query_code: ArrayLike, codes: Mapping[str, ArrayLike]) -> list[str]:
    """Ids by ascending distance to the query's code, then by id.

    >>> hamming_ranking([1, 1], {"z": [1, 1], "b": [-1, 1], "a": [1, -1]})
    ['z', 'a', 'b']
    """
    names = list(codes)
    query, items, _ = same_bits([query_code], [codes[name] for name in names])
    apart: Integers = np.bitwise_count(query[0] ^ items).astype(np.int64)
    return [name for _, name in sorted(zip(apart.tolist(), names, strict=True))]
