"""The counting of codes against every pair counted singly, whatever the block, the threads and the way."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eds.errors import InputError
from eds.hashing import hamming
from eds.hashing.hamming import distance_counts, distances, distances_of

NUMBERS = st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=30)
WAYS = [False, True] if find_spec("numba") else [False]


@contextmanager
def way(compiled: bool, block: int = hamming.BLOCK) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hamming, "WORTH", 0 if compiled else 1 << 62)
        sizes = {"BLOCK": block, "CHUNK": 3 * block, "TILE": 4, "SHORT": 4, "PORTION": 5}
        for name, value in sizes.items():
            patch.setattr(hamming, name, value)
        yield


@settings(deadline=None)
@given(
    NUMBERS,
    NUMBERS,
    st.sampled_from([1, 5, 8, 13, 64]),
    st.sampled_from([2, 4, 32]),
    st.integers(1, 3),
    st.sampled_from(WAYS),
    st.data(),
)
def test_counts_are_those_of_every_pair(
    queries: list[int], codes: list[int], bits: int, block: int, threads: int, compiled: bool, data: st.DataObject
) -> None:
    mask = (1 << bits) - 1
    asked, items = ([number & mask for number in part] for part in (queries, codes))
    ends = [sorted(data.draw(st.tuples(*[st.integers(0, len(items))] * 2))) for _ in asked]
    few = np.array(ends, np.int64)
    arrays = np.array(asked, np.uint64), np.array(items, np.uint64)
    with way(compiled, block):
        counts = distance_counts(*arrays, bits, threads)
        spanned = distance_counts(*arrays, bits, threads, (few[:, 0], few[:, 1]))
    for number, query in enumerate(asked):
        apart = [(query ^ code).bit_count() for code in items]
        assert counts[number].tolist() == [apart.count(distance) for distance in range(bits + 1)]
        near = apart[ends[number][0] : ends[number][1]]
        assert spanned[number].tolist() == [near.count(distance) for distance in range(bits + 1)]
    assert distances_of(arrays[0], np.array([0]), arrays[1], np.array([0])).tolist() == [apart_of(asked[0], items[0])]


def apart_of(one: int, other: int) -> int:
    return (one ^ other).bit_count()


@pytest.mark.parametrize("compiled", WAYS)
@pytest.mark.parametrize("total", [2047, 2048, 70_001])
def test_many_codes_in_many_blocks(compiled: bool, total: int) -> None:
    draw = np.random.default_rng(total)
    queries, codes = (draw.integers(0, 1 << 64, size, dtype=np.uint64) for size in (9, total))
    expected = np.bitwise_count(queries[:, None] ^ codes)
    with way(compiled):
        found = distance_counts(queries, codes, 64, 2)
    assert found.tolist() == [np.bincount(row, minlength=65).tolist() for row in expected]
    apart = np.empty((9, total), np.uint8)
    if compiled:
        from eds.hashing import kernels

        kernels.distances(queries, codes, apart)
    else:
        distances(queries, codes, apart)
    assert np.array_equal(apart, expected)


@pytest.mark.parametrize("compiled", WAYS)
@settings(deadline=None, max_examples=40)
@given(
    bits=st.integers(1, 64),
    start=st.integers(0, 3000),
    length=st.integers(0, 3000),
    more=st.sampled_from([0, 1, 511, 512, 5000]),
    kind=st.sampled_from(["any", "near", "same", "opposite"]),
    seed=st.integers(1, 2**32),
)
def test_runs_that_begin_and_end_between_the_steps(
    compiled: bool, bits: int, start: int, length: int, more: int, kind: str, seed: int
) -> None:
    draw = np.random.default_rng(seed)
    mask = np.uint64((1 << bits) - 1)
    queries = draw.integers(0, 1 << 64, 11, dtype=np.uint64) & mask
    codes = draw.integers(0, 1 << 64, start + length + more, dtype=np.uint64) & mask
    if kind == "near":  # small distances only
        codes = queries[0] ^ (codes & np.uint64(7) & mask)
    elif kind != "any":  # distance 0 or `bits` for one query
        codes[:] = queries[0] if kind == "same" else queries[0] ^ mask
    spans = np.full(11, start), np.full(11, start + length)
    with way(compiled):
        found = distance_counts(queries, codes, bits, 2, spans)
    apart = np.bitwise_count(queries[:, None] ^ codes[start : start + length])
    assert found.tolist() == [np.bincount(row, minlength=bits + 1).tolist() for row in apart]


def test_bad_numbers_are_told() -> None:
    some = np.zeros(3, np.uint64)
    for bits in (0, 65):
        with pytest.raises(InputError, match=f"{bits} bits"):
            distance_counts(some, some, bits)
