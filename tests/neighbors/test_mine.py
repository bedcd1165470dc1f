"""Lists against a naive full sort, on random and on heavily tied data, however the work is cut up."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds.errors import InputError
from eds.neighbors import Rules, mine, mine_with_recall
from tests.neighbors.galleries import METRICS, ROUNDING_STEP, Gallery, catalogue, galleries, rows, rules

RULES = [
    Rules(3),
    Rules(200),
    Rules(5, exclude_product=False, one_per_product=False),
    Rules(2, keep_ties=True, category="same"),
]


def large(metric: str, levels: int) -> Gallery:
    """6,000 candidates, 40 of them queries: past the sampled first floors."""
    gallery = catalogue(6000, 1, products=900, metric=metric, dimension=24, levels=levels)
    role = np.where(np.arange(6000) % 150 == 0, "both", "candidate")
    return Gallery(gallery.images.assign(role=role), gallery.values, metric)


def same(found: pd.DataFrame, expected: list[tuple[str, str, int, float]]) -> None:
    """Equal ids and ranks; scores to the last bits, since the reference sums in exact arithmetic."""
    assert [row[:3] for row in rows(found)] == [row[:3] for row in expected]
    assert found["score"].tolist() == pytest.approx([row[3] for row in expected], rel=1e-13, abs=ROUNDING_STEP)


@given(galleries, rules, st.integers(1, 70), st.integers(1, 3), st.randoms(use_true_random=False), st.integers(1, 70))
def test_same_as_a_full_sort(gallery: Gallery, rule: Rules, block: int, threads: int, chance: Any, shard: int) -> None:
    order = list(range(len(gallery.images)))
    chance.shuffle(order)
    vectors = gallery.vectors(np.array(order), shard)
    same(mine(vectors, gallery.images, rule, block=block, threads=threads), gallery.expected(rule))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("levels", [0, 1])
@pytest.mark.parametrize("rule", RULES)
def test_bit_identical_however_cut_up(metric: str, levels: int, rule: Rules) -> None:
    gallery = large(metric, levels)
    plain = mine(gallery.vectors(), gallery.images, rule)
    turn = np.random.default_rng(0).permutation(6000)
    for block, threads, order, shard in [(170, 1, None, 1000), (5000, 3, turn, 4000), (512, 2, turn[::-1], 999)]:
        other = mine(gallery.vectors(order, shard), gallery.turned(turn).images, rule, block=block, threads=threads)
        pd.testing.assert_frame_equal(plain, other, check_exact=True)


@pytest.mark.parametrize("metric", ["dot", "hamming"])
def test_large_and_tied_as_a_sort_by_numpy(metric: str) -> None:
    gallery = large(metric, levels=1)
    ids = gallery.images["image_id"].to_numpy(dtype=object)
    asked = np.flatnonzero(gallery.images["role"] == "both")
    scores = gallery.values[asked] @ gallery.values.T  # small integers: exact
    scores = (scores - 24) / 2 if metric == "hamming" else scores
    found = mine(gallery.vectors(), gallery.images, Rules(50, exclude_product=False, one_per_product=False))
    for query, row in zip(asked, scores, strict=True):
        expected = sorted((-score, name) for score, name in zip(row, ids, strict=True) if name != ids[query])[:50]
        part = found[found["query_id"] == ids[query]]
        assert list(zip(-part["score"], part["candidate_id"], strict=True)) == expected


def test_a_crowd_of_equal_vectors_is_ordered_by_id() -> None:
    ids = [f"{n:04d}" for n in np.random.default_rng(0).permutation(3000)]
    images = pd.DataFrame({"image_id": ids, "product_id": ids, "category": "c", "role": "both"})
    gallery = Gallery(
        images,
        np.tile(np.random.default_rng(1).standard_normal(40).astype(np.float32), (3000, 1)).astype(float),
        "cosine",
    )
    asked = images.assign(role=np.where(images["image_id"].isin(["0000", "1500"]), "both", "candidate"))
    found = mine(gallery.vectors(), asked, Rules(4), block=700)
    assert found["candidate_id"].tolist() == ["0001", "0002", "0003", "0004", "0000", "0001", "0002", "0003"]
    assert len(mine(gallery.vectors(), asked, Rules(4, keep_ties=True))) == 2 * 2999


def test_half_floats_give_the_lists_of_their_values() -> None:
    gallery = catalogue(80, 3, products=30)
    halves = Gallery(gallery.images, gallery.values.astype(np.float16).astype(float), "cosine")
    same(mine(halves.vectors(dtype="float16"), halves.images, Rules(7)), halves.expected(Rules(7)))


def test_wild_queries_lose_nothing_and_short_lists_are_told() -> None:
    gallery = catalogue(40, 5, products=40)
    images = gallery.images.assign(role=["query"] * 10 + ["candidate"] * 30)
    mined = mine_with_recall(gallery.vectors(), images, Rules(31, exclude_product=False, one_per_product=False))
    assert mined.lists.groupby("query_id").size().tolist() == [30] * 10
    assert (mined.short, mined.recall) == (10, None)


def test_nobody_asked_gives_an_empty_table() -> None:
    gallery = catalogue(5, 0, products=5)
    found = mine(gallery.vectors(), gallery.images.assign(role="candidate"), Rules(3))
    assert list(found.columns) == ["model", "query_id", "candidate_id", "rank", "score"]
    assert found.empty
    alone = mine_with_recall(gallery.vectors(), gallery.images.assign(role="query"), Rules(3))
    assert (len(alone.lists), alone.short) == (0, 5)


def test_progress_reaches_its_total() -> None:
    gallery = catalogue(50, 0, products=9)
    seen: list[tuple[int, int]] = []
    mine(gallery.vectors(), gallery.images, Rules(3), block=20, progress=lambda *step: seen.append(step))
    assert seen == [(20, 50), (40, 50), (50, 50)]


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
def test_unusable_vectors_are_all_named(bad: float) -> None:
    gallery = catalogue(60, 2, products=60)
    gallery.values[[3, 50]] = bad
    names = gallery.images["image_id"].to_numpy()[[3, 50]]
    with pytest.raises(InputError, match="2 vectors are zero or not finite") as caught:
        mine(gallery.vectors(), gallery.images, Rules(3), block=10)
    assert all(name in str(caught.value) for name in names)


def test_bad_input_is_refused() -> None:
    gallery = catalogue(20, 2, products=60)
    vectors, images = gallery.vectors(), gallery.images
    twice = pd.concat([images, images[:1]])
    with pytest.raises(InputError, match="duplicate ids"):
        mine(vectors, twice, Rules(3))
    with pytest.raises(InputError, match="have no vector: stranger"):
        mine(vectors, pd.concat([images, images[:1].assign(image_id="stranger")]), Rules(3))
    with pytest.raises(InputError, match="20 images have no category"):
        mine(vectors, images.assign(category=None), Rules(3, category="same"))
    with pytest.raises(InputError, match="hamming cannot compare"):
        mine(vectors, images, Rules(3), metric="hamming")
    with pytest.raises(InputError, match="metric is 'euclid'"):
        mine(vectors, images, Rules(3), metric="euclid")
    with pytest.raises(InputError, match="block is 0"):
        mine(vectors, images, Rules(3), block=0)
    for k in (0, -1, 2.5, True):
        with pytest.raises(InputError, match="k is"):
            Rules(k)  # type: ignore[arg-type]


def test_another_metric_may_be_asked_for() -> None:
    gallery = catalogue(30, 8, products=30)
    as_dot = Gallery(gallery.images, gallery.values, "dot")
    same(mine(gallery.vectors(), gallery.images, Rules(4), metric="dot"), as_dot.expected(Rules(4)))
