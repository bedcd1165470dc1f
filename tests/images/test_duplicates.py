"""Near duplicates against the plain double loop, the hash against its definition written as a loop."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds.errors import InputError
from eds.images import duplicates
from eds.images.duplicates import difference_hashes, find_close, find_near_duplicates


def by_double_loop(hashes: list[int], within: int) -> list[tuple[int, int, int]]:
    found = []
    for i in range(len(hashes)):
        for j in range(i + 1, len(hashes)):
            distance = (hashes[i] ^ hashes[j]).bit_count()
            if distance <= within:
                found.append((i, j, distance))
    return found


@given(
    st.lists(st.integers(0, 5), max_size=40),
    st.lists(st.sets(st.integers(0, 63), max_size=9), min_size=40, max_size=40),
    st.integers(0, 16),
)
def test_close_is_the_double_loop(stems: list[int], flips: list[set[int]], within: int) -> None:
    """A few far-apart stems, each with some bits flipped: pairs at every distance around the threshold."""
    far = [0, 2**64 - 1, 0xF0F0F0F0F0F0F0F0, 0x00000000FFFFFFFF, 1, 0x123456789ABCDEF0]
    hashes = [far[stem] ^ sum(1 << bit for bit in flip) for stem, flip in zip(stems, flips, strict=False)]
    pairs = find_close(np.array(hashes, dtype=np.uint64), within)
    assert list(zip(*(part.tolist() for part in pairs), strict=True)) == by_double_loop(hashes, within)


def test_difference_hash_is_its_definition() -> None:
    grey = np.random.default_rng(0).integers(0, 4, (20, 8, 9), dtype=np.uint8)
    expected = []
    for picture in grey.tolist():
        value = 0
        for line in picture:
            for left, right in pairwise(line):
                value = value * 2 + (right > left)
        expected.append(value)
    assert difference_hashes(grey).tolist() == expected


def test_equal_files_are_stood_for_by_one_and_order_is_nothing() -> None:
    images = pd.DataFrame({"image_id": list("dcba"), "sha256": ["1", "1", "2", "3"]})
    hashes = np.array([5, 5, 4, 2**40], dtype=np.uint64)
    expected = [["b", "c", 1], ["a", "c", 3], ["a", "b", 2]]
    pairs = find_near_duplicates(images, hashes, 4)
    assert sorted(pairs.to_numpy().tolist()) == sorted(expected)
    turned = find_near_duplicates(images[::-1], hashes[::-1], 4)
    pd.testing.assert_frame_equal(pairs, turned)
    assert pairs["distance"].tolist() == [1, 2, 3]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 12)), min_size=1, max_size=30), st.integers(0, 4))
def test_pairs_join_what_the_double_loop_joins(rows: list[tuple[int, int]], within: int) -> None:
    """Stand-ins leave pairs out, but hide nothing: whoever is near somebody is listed, with its own distance."""
    hashes = [value * 0x0101 for _, value in rows]
    named = pd.DataFrame({"image_id": [f"{n:02d}" for n in range(len(rows))], "sha256": [f"{v} {d}" for d, v in rows]})
    pairs = find_near_duplicates(named, np.array(hashes, dtype=np.uint64), within)
    for left, right, distance in pairs.to_numpy().tolist():
        assert (hashes[int(left)] ^ hashes[int(right)]).bit_count() == distance <= within
    kept = named.drop_duplicates("sha256").index.tolist()
    near = {
        f"{place:02d}"
        for i, j, _ in by_double_loop([hashes[place] for place in kept], within)
        for place in (kept[i], kept[j])
    }
    assert set(pairs["left_id"]) | set(pairs["right_id"]) == near


def test_a_thousand_blank_pictures_make_a_thousand_pairs() -> None:
    images = pd.DataFrame({"image_id": [f"{n:04d}" for n in range(1000)], "sha256": [str(n) for n in range(1000)]})
    pairs = find_near_duplicates(images, np.zeros(1000, dtype=np.uint64), 4)
    assert len(pairs) == 999
    assert set(pairs["left_id"]) == {"0000"}


def test_too_many_pairs_are_refused_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "MOST", 100)
    with pytest.raises(InputError, match="look alike"):
        find_close(np.zeros(50, dtype=np.uint64), 4)


@pytest.mark.parametrize("within", [-1, 17])
def test_a_distance_out_of_range_is_refused(within: int) -> None:
    with pytest.raises(InputError, match="0 to 16"):
        find_close(np.zeros(3, dtype=np.uint64), within)
