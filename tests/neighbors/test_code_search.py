"""Compiled lists over codes against the slow reference and the plain way: heavy ties, every rule, however cut up."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eds.hashing import hamming
from eds.neighbors import Rules, code_search, mine
from tests.neighbors.galleries import Gallery, catalogue, rows, rules
from tests.privileges import needed

kernels = needed("eds.hashing.kernels")


@pytest.fixture(autouse=True)
def compiled() -> Iterator[None]:
    """Compiled for any work; blocks and slabs small enough that a small catalogue has several."""
    kept = hamming.WORTH, code_search.SLAB, kernels.BLOCK
    hamming.WORTH = 0
    yield
    hamming.WORTH, code_search.SLAB, kernels.BLOCK = kept


def plainly(gallery: Gallery, rule: Rules) -> pd.DataFrame:
    """The lists of the way without numba."""
    hamming.WORTH = 1 << 62
    found = mine(gallery.vectors(), gallery.images, rule)
    hamming.WORTH = 0
    return found


codes = st.builds(
    catalogue,
    images=st.integers(1, 70),
    seed=st.integers(0, 2**20),
    products=st.integers(1, 30),
    metric=st.just("hamming"),
    dimension=st.sampled_from([1, 2, 3, 8, 64, 65, 130, 300]),
    levels=st.sampled_from([0, 1]),
)


@settings(deadline=None, max_examples=60)
@given(
    codes,
    rules,
    st.sampled_from([1, 7, 4096]),
    st.sampled_from([5, 64, 4096]),
    st.integers(1, 3),
    st.randoms(use_true_random=False),
)
def test_same_as_a_full_sort(gallery: Gallery, rule: Rules, slab: int, block: int, threads: int, chance: Any) -> None:
    code_search.SLAB, kernels.BLOCK = slab, block
    order = list(range(len(gallery.images)))
    chance.shuffle(order)
    found = mine(gallery.vectors(np.array(order), 13), gallery.images, rule, threads=threads)
    assert rows(found) == gallery.expected(rule)


@pytest.mark.parametrize("dimension", [4, 16, 100])
@pytest.mark.parametrize("one", [True, False])
@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("category", ["any", "same", "other"])
def test_thousands_of_codes_as_the_plain_way(dimension: int, one: bool, ties: bool, category: Any) -> None:
    gallery = catalogue(4000, 5, products=600, metric="hamming", dimension=dimension)
    role = np.where(np.arange(4000) % 100 == 0, "both", "candidate")
    gallery = Gallery(gallery.images.assign(role=role), gallery.values, "hamming")
    rule = Rules(20, one, one, category, ties)
    for code_search.SLAB, kernels.BLOCK in ((900, 700), (1 << 20, 2048)):
        found = mine(gallery.vectors(), gallery.images, rule)
        pd.testing.assert_frame_equal(found, plainly(gallery, rule), check_exact=True)


@pytest.mark.parametrize("towards", [1, -1])
def test_a_catalogue_sorted_by_distance(towards: int) -> None:
    """Codes that come ever nearer fill the room again and again; codes that go away fill it once."""
    steps = np.sort(np.random.default_rng(0).integers(0, 200, 3000))[::-towards]
    values = np.where(np.arange(200) < steps[:, None], -1.0, 1.0)
    values[0] = 1.0
    names = [f"{n:04d}" for n in range(3000)]
    images = pd.DataFrame({"image_id": names, "product_id": [f"p{n // 7}" for n in range(3000)], "category": "c"})
    gallery = Gallery(images.assign(role=["both"] + ["candidate"] * 2999), values, "hamming")
    for rule in (Rules(9), Rules(9, False, False), Rules(9, keep_ties=True)):
        assert rows(mine(gallery.vectors(), gallery.images, rule)) == gallery.expected(rule)


def test_equal_codes_are_cut_by_id_or_kept_whole() -> None:
    names = [f"{n:04d}" for n in range(1000)]
    images = pd.DataFrame({"image_id": names, "product_id": names, "category": "c", "role": "both"})
    gallery = Gallery(images.assign(role=["both"] * 2 + ["candidate"] * 998), np.ones((1000, 12)), "hamming")
    code_search.SLAB = 300
    assert mine(gallery.vectors(), gallery.images, Rules(2))["candidate_id"].tolist() == [
        "0001",
        "0002",
        "0000",
        "0002",
    ]
    assert len(mine(gallery.vectors(), gallery.images, Rules(2, keep_ties=True))) == 2 * 999


def test_progress_reaches_its_total() -> None:
    gallery = catalogue(50, 0, products=9, metric="hamming")
    seen: list[tuple[int, int]] = []
    code_search.SLAB = 20
    mine(gallery.vectors(), gallery.images, Rules(3), progress=lambda *step: seen.append(step))
    assert seen[-1] == (50, 50)
    assert len(seen) == 3  # two slabs, and the images that are queries alone


def test_little_work_and_no_numba_go_the_plain_way(monkeypatch: pytest.MonkeyPatch) -> None:
    assert code_search.compiled_search_pays(64, 1)
    assert not code_search.compiled_search_pays(70_000, 1)
    hamming.WORTH = 2
    assert not code_search.compiled_search_pays(64, 1)
    monkeypatch.setattr(hamming, "find_spec", lambda name: None)
    assert not code_search.compiled_search_pays(64, 1 << 40)
