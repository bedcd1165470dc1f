"""Distances counted 64 codes at a time, by loops that numba compiles (extra `scale`): no distance is ever written down.

Plane b of a run of codes holds their bits b, those of 64 codes in a word. Of three planes and what a query has in
these three bits, two words tell how many of the three differ, for 64 codes at once; there are 8 such pairs of words,
so all queries share them. Adders of words make seven planes of the 22 pairs: the binary digits of the distances. How
many distances are 37 is then the number of ones in a word that is the AND of seven.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.cgutils import for_range_slice
from numba.extending import intrinsic

from eds.hashing.kernels import Array, compiled, ones

GROUPS, DIGITS = 22, 7  # groups of three bits; digits of a distance up to 64
WORD, LANES = 64, 8  # codes of a word; words that are added at once
STEP = WORD * LANES  # codes that are counted at once
WORDS = 64  # words of a plane that are in cache at a time
ZERO = np.uint64(0)


def planes_of(codes: Array) -> Array:
    """Bit b of codes (n,) uint64 in plane b: (66, words) uint64, words a multiple of 8; codes left over have none."""
    planes = np.zeros((3 * GROUPS, len(codes) // STEP * LANES), np.uint64)
    _set_planes(codes, planes)
    return planes


@compiled
def _set_planes(codes: Array, planes: Array) -> None:
    square = np.empty(WORD, np.uint64)
    for word in range(planes.shape[1]):
        square[:] = codes[WORD * word : WORD * word + WORD]
        width, mask = WORD // 2, np.uint64(0xFFFFFFFF)
        while width:  # exchange two quarters of ever smaller squares: rows become columns
            for begin in range(0, WORD, 2 * width):
                for row in range(begin, begin + width):
                    moved = ((square[row] >> np.uint64(width)) ^ square[row + width]) & mask
                    square[row] ^= moved << np.uint64(width)
                    square[row + width] ^= moved
            width >>= 1
            mask ^= mask << np.uint64(width)
        for bit in range(WORD):
            planes[bit, word] = square[bit]


@compiled
def _all(bits: int) -> np.uint64:
    """A word full of the lowest of these bits."""
    return ZERO - np.uint64(bits & 1)


@compiled
def _set_table(planes: Array, low: int, words: int, table: Array) -> None:
    """How many bits of each group differ, (22, 8, 2, WORDS): for each content of the query's three, two digits."""
    for group in range(GROUPS):
        for content in range(8):
            first, second, third = _all(content), _all(content >> 1), _all(content >> 2)
            for word in range(words):
                one = planes[3 * group, low + word] ^ first
                two = planes[3 * group + 1, low + word] ^ second
                three = planes[3 * group + 2, low + word] ^ third
                table[group, content, 0, word] = one ^ two ^ three
                table[group, content, 1, word] = (one & two) | (three & (one ^ two))


def _network(builder: Any, inputs: list[list[Any]]) -> list[Any]:
    """Add binary numbers: inputs[d] are their digits d; the digits of the sum."""
    columns, result = [list(column) for column in inputs], []
    for digit in range(DIGITS):
        column = columns[digit]
        while len(column) > 1:
            one, two, *rest = column
            differ, both = builder.xor(one, two), builder.and_(one, two)
            if rest:  # where one and two differ, the third decides, else either of them
                third, *rest = rest
                both = builder.xor(one, builder.and_(differ, builder.xor(one, third)))
                differ = builder.xor(differ, third)
            column = [*rest, differ]
            if digit + 1 < DIGITS:
                columns[digit + 1].append(both)
        result.append(column[0])
    return result


def _adder(_: Any, table: Any, rows: Any, digits: Any, words: Any) -> Any:
    """In digits (7 WORDS,) the sum of the numbers whose two digits start at rows (44,) of a flat table."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        data = [
            context.make_array(kind)(context, builder, value).data
            for kind, value in zip(signature.args[:3], given, strict=False)
        ]
        word, vector = ir.IntType(64), ir.VectorType(ir.IntType(64), LANES)
        starts = [builder.load(builder.gep(data[1], [word(row)])) for row in range(2 * GROUPS)]

        def lanes(base: Any, place: Any) -> Any:
            return builder.bitcast(builder.gep(base, [place]), vector.as_pointer())

        with for_range_slice(builder, word(0), given[3], word(LANES), word) as (place, _count):
            loaded = [builder.load(lanes(data[0], builder.add(start, place)), align=8) for start in starts]
            empty: list[list[Any]] = [[] for _ in range(DIGITS - 2)]
            for digit, value in enumerate(_network(builder, [loaded[::2], loaded[1::2], *empty])):
                builder.store(value, lanes(data[2], builder.add(word(digit * WORDS), place)), align=8)
        return context.get_dummy_value()

    return types.void(table, rows, digits, types.int64), generate


_add: Any = intrinsic(_adder)


@compiled
def _set_eights(digits: Array, words: int, eights: Array) -> None:
    """Mark in eights, (8 WORDS,), which of the numbers in digits (7 WORDS,) are 0 .. 7, which 8 .. 15, and so on."""
    for word in range(words):
        eight, sixteen, low = digits[word + 3 * WORDS], digits[word + 4 * WORDS], ~digits[word + 6 * WORDS]
        high, low = digits[word + 5 * WORDS], low & ~digits[word + 5 * WORDS]
        first, second, third, fourth = low & ~sixteen, low & sixteen, high & ~sixteen, high & sixteen
        eights[word], eights[word + WORDS] = first & ~eight, first & eight
        eights[word + 2 * WORDS], eights[word + 3 * WORDS] = second & ~eight, second & eight
        eights[word + 4 * WORDS], eights[word + 5 * WORDS] = third & ~eight, third & eight
        eights[word + 6 * WORDS], eights[word + 7 * WORDS] = fourth & ~eight, fourth & eight


@compiled
def _tally(digits: Array, words: int, eights: Array, counts: Array) -> None:
    """Add to counts, (65,) int64, how often each number stands in digits (7 WORDS,); eights (8 WORDS,) is room."""
    _set_eights(digits, words, eights)
    for base in range(8):
        marked = eights[base * WORDS : base * WORDS + words]
        some = ZERO
        for word in range(words):
            some |= marked[word]
        if not some:  # few distances are far from half the bits
            continue
        n0 = n1 = n2 = n3 = n4 = n5 = n6 = n7 = ZERO  # how many have at least the digits of 0 .. 7
        for word in range(words):
            here, one, two = marked[word], digits[word], digits[word + WORDS]
            four = here & digits[word + 2 * WORDS]
            here2, four2 = here & two, four & two
            n0 += ones(here)
            n1 += ones(here & one)
            n2 += ones(here2)
            n3 += ones(here2 & one)
            n4 += ones(four)
            n5 += ones(four & one)
            n6 += ones(four2)
            n7 += ones(four2 & one)
        n0, n1, n2, n3 = n0 - n4, n1 - n5, n2 - n6, n3 - n7
        n0, n1, n4, n5 = n0 - n2, n1 - n3, n4 - n6, n5 - n7
        for number, found in enumerate((n0 - n1, n1, n2 - n3, n3, n4 - n5, n5, n6 - n7, n7)):
            counts[8 * base + number] += np.int64(found)
    for word in range(words):
        counts[64] += np.int64(ones(digits[word + 6 * WORDS]))


@compiled
def _rows_of(queries: Array) -> Array:
    """Where a flat table tells of the groups of queries (q,) what they have there, (q, 44) int64."""
    rows = np.empty((len(queries), 2 * GROUPS), np.int64)
    for number in range(len(queries)):
        for group in range(GROUPS):
            content = np.int64(queries[number] >> np.uint64(3 * group) & np.uint64(7))
            rows[number, 2 * group] = 2 * WORDS * (8 * group + content)
            rows[number, 2 * group + 1] = rows[number, 2 * group] + WORDS
    return rows


@compiled
def counted(queries: Array, codes: Array, planes: Array, start: int, stop: int, counts: Array) -> None:
    """Add to counts (q, 65) int64 how many of codes[start:stop] lie at each distance of the queries (q,) uint64.

    codes (n,) uint64, and planes as `planes_of` makes them of all of them.
    """
    low = min(-(-start // STEP) * STEP, stop)
    high = max(stop // STEP * STEP, low)
    table = np.empty((GROUPS, 8, 2, WORDS), np.uint64)
    flat, rows = table.reshape(-1), _rows_of(queries)
    digits, eights = np.empty(DIGITS * WORDS, np.uint64), np.empty(8 * WORDS, np.uint64)
    for begin in range(low // WORD, high // WORD, WORDS):
        words = min(WORDS, high // WORD - begin)
        _set_table(planes, begin, words, table)
        for number in range(len(queries)):
            _add(flat, rows[number], digits, words)
            _tally(digits, words, eights, counts[number])
    for first, last in ((start, low), (high, stop)):
        for number in range(len(queries)):
            for place in range(first, last):
                counts[number, ones(codes[place] ^ queries[number])] += 1
