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
from eds.tables import BOX


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
    pairs, _ = find_near_duplicates(images, hashes, 4)
    assert sorted(pairs.to_numpy().tolist()) == sorted(expected)
    turned, _ = find_near_duplicates(images[::-1], hashes[::-1], 4)
    pd.testing.assert_frame_equal(pairs, turned)
    assert pairs["distance"].tolist() == [1, 2, 3]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 12)), min_size=1, max_size=30), st.integers(0, 4))
def test_pairs_join_what_the_double_loop_joins(rows: list[tuple[int, int]], within: int) -> None:
    """Stand-ins leave pairs out, but hide nothing: whoever is near somebody is listed, with its own distance."""
    hashes = [value * 0x0101 for _, value in rows]
    named = pd.DataFrame({"image_id": [f"{n:02d}" for n in range(len(rows))], "sha256": [f"{v} {d}" for d, v in rows]})
    pairs, _ = find_near_duplicates(named, np.array(hashes, dtype=np.uint64), within)
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
    pairs, _ = find_near_duplicates(images, np.zeros(1000, dtype=np.uint64), 4)
    assert len(pairs) == 999
    assert set(pairs["left_id"]) == {"0000"}


def test_too_many_pairs_are_refused_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "MOST", 100)
    with pytest.raises(InputError, match="look alike"):
        find_close(np.zeros(50, dtype=np.uint64), 4)


def test_a_distance_with_too_many_pairs_is_lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    """64 hashes of one bit each: every pair differs in two bits, and from zero each differs in one."""
    monkeypatch.setattr(duplicates, "MOST", 100)
    hashes = np.array([0, *(1 << np.arange(63, dtype=np.uint64))], dtype=np.uint64)
    images = pd.DataFrame({"image_id": [f"{n:02d}" for n in range(64)], "sha256": [str(n) for n in range(64)]})
    pairs, used = find_near_duplicates(images, hashes, 4)
    assert used == 1
    assert len(pairs) == 63
    assert set(pairs["left_id"]) == {"00"}


def catalogue(*rows: tuple[str, str, str, str]) -> pd.DataFrame:
    """Images with image_id, product_id, sha256 and role, without crop boxes."""
    frame = pd.DataFrame(rows, columns=["image_id", "product_id", "sha256", "role"])
    return frame.assign(**{name: pd.array([pd.NA] * len(frame), "Int64") for name in BOX})


def test_products_that_share_files_directly_or_through_others_become_one() -> None:
    images = catalogue(
        ("a", "q", "1", "both"),
        ("b", "p", "1", "both"),
        ("c", "q", "2", "both"),
        ("d", "r", "2", "both"),
        ("e", "r", "3", "both"),
        ("f", "s", "4", "both"),
    )
    merged, gone, notes = duplicates.apply_policy(images, "merge")
    assert merged["product_id"].tolist() == ["p", "p", "p", "p", "p", "s"]
    assert gone == []
    assert notes[0].startswith("2 products")


def test_one_image_of_a_file_stays_as_candidate_and_takes_over_the_query() -> None:
    images = catalogue(
        ("a", "p", "1", "query"),
        ("b", "q", "1", "candidate"),
        ("c", "r", "1", "candidate"),
        ("d", "s", "2", "both"),
    )
    kept, gone, _ = duplicates.apply_policy(images, "leave-out")
    assert kept[["image_id", "role"]].to_numpy().tolist() == [["b", "both"], ["d", "both"]]
    assert gone == ["a", "c"]
    boxed = images.assign(box_left=pd.array([0, 1, 2, None], "Int64"))  # different crops of one file
    assert len(duplicates.apply_policy(boxed, "leave-out")[0]) == 4


@pytest.mark.parametrize("within", [-1, 17])
def test_a_distance_out_of_range_is_refused(within: int) -> None:
    with pytest.raises(InputError, match="0 to 16"):
        find_close(np.zeros(3, dtype=np.uint64), within)
