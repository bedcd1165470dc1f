"""The counting of codes against every pair counted singly, whatever the block and the number of threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eds.errors import InputError
from eds.neighbors import hamming
from eds.neighbors.hamming import distance_counts, nearest

NUMBERS = st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=30)


def apart(one: int, other: int) -> int:
    return (one ^ other).bit_count()


@settings(deadline=None)
@given(NUMBERS, NUMBERS, st.sampled_from([1, 5, 8, 13, 64]), st.sampled_from([2, 4, 32]), st.integers(1, 3), st.data())
def test_counts_and_nearest_are_those_of_every_pair(
    queries: list[int], codes: list[int], bits: int, block: int, threads: int, data: st.DataObject
) -> None:
    mask = (1 << bits) - 1
    asked, items = ([number & mask for number in part] for part in (queries, codes))
    k = data.draw(st.integers(1, len(items)))
    kept = hamming.BLOCK, hamming.CHUNK, hamming.TILE
    hamming.BLOCK, hamming.CHUNK, hamming.TILE = block, 3 * block, 4
    try:
        counts = distance_counts(np.array(asked, np.uint64), np.array(items, np.uint64), bits, threads)
        place, far = nearest(np.array(asked, np.uint64), np.array(items, np.uint64), bits, k, threads)
    finally:
        hamming.BLOCK, hamming.CHUNK, hamming.TILE = kept
    for number, query in enumerate(asked):
        distances = [apart(query, code) for code in items]
        assert counts[number].tolist() == [distances.count(distance) for distance in range(bits + 1)]
        expected = sorted((distance, row) for row, distance in enumerate(distances))[:k]
        assert list(zip(far[number].tolist(), place[number].tolist(), strict=True)) == expected


def test_bad_numbers_are_told() -> None:
    some = np.zeros(3, np.uint64)
    with pytest.raises(InputError, match="65 bits"):
        distance_counts(some, some, 65)
    with pytest.raises(InputError, match="k is 4 of 3 codes"):
        nearest(some, some, 8, 4)
