"""Every engine that says it is exact gives the exact engine's table, bit by bit; an index tells its recall.

A new module of eds.neighbors.search takes part by itself.
"""

import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from eds.errors import InputError, MissingExtraError, UnknownNameError
from eds.neighbors import Rules, mine, mine_with_recall
from eds.registry import SEARCHES
from tests.neighbors.galleries import METRICS, Gallery, catalogue, galleries, rules

NAMES = sorted(SEARCHES)
EXACT = [name for name in NAMES if not SEARCHES.load(name).approximate]
APPROXIMATE = [name for name in NAMES if SEARCHES.load(name).approximate]
RULES = [
    Rules(6),
    Rules(300),
    Rules(5, False, False),
    Rules(2, keep_ties=True, category="same"),
    Rules(9, category="other"),
]


def shop(metric: str = "cosine", levels: int = 0, images: int = 3000) -> Gallery:
    """Products of one to a few views; every fortieth image is a query."""
    gallery = catalogue(images, 3, products=images // 4, metric=metric, dimension=20, levels=levels)
    role = np.where(np.arange(images) % 40 == 0, "both", "candidate")
    return Gallery(gallery.images.assign(role=role), gallery.values, metric)


@pytest.mark.parametrize("engine", EXACT)
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("levels", [0, 1])
@pytest.mark.parametrize("rule", RULES)
def test_the_exact_engines_table(engine: str, metric: str, levels: int, rule: Rules) -> None:
    gallery = shop(metric, levels)
    expected = mine(gallery.vectors(), gallery.images, rule, search="exact")
    found = mine(gallery.vectors(shard=450), gallery.images, rule, search=engine)
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


@settings(max_examples=15)
@given(galleries, rules)
def test_small_and_odd_catalogues(gallery: Gallery, rule: Rules) -> None:
    expected = mine(gallery.vectors(), gallery.images, rule, search="exact")
    for engine in EXACT:
        found = mine(gallery.vectors(), gallery.images, rule, search=engine)
        pd.testing.assert_frame_equal(found, expected, check_exact=True)


@pytest.mark.parametrize("engine", EXACT)
def test_a_product_that_fills_the_head_of_every_list(engine: str) -> None:
    gallery = shop(images=2000)
    images = gallery.images.assign(product_id=["same"] * 1500 + [f"p{n}" for n in range(500)])
    expected = mine(gallery.vectors(), images, Rules(30))
    assert expected.groupby("query_id").size().eq(30).all()
    pd.testing.assert_frame_equal(mine(gallery.vectors(), images, Rules(30), search=engine), expected, check_exact=True)


@pytest.mark.parametrize("engine", APPROXIMATE)
def test_an_index_tells_its_recall_and_is_refused_below_the_limit(engine: str) -> None:
    gallery = shop(images=4000)
    mined = mine_with_recall(gallery.vectors(), gallery.images, Rules(6), search=engine, lowest_recall=0.5)
    exact = mine(gallery.vectors(), gallery.images, Rules(6))
    both = exact.merge(mined.lists, on=["query_id", "candidate_id"])
    assert (mined.recall, mined.compared) == (len(both) / len(exact), 100)
    assert (both["score_x"] == both["score_y"]).all()
    with pytest.raises(InputError, match=r"recall is .* against the exact lists of 100 queries"):
        mine_with_recall(gallery.vectors(), gallery.images, Rules(6), search=engine, lowest_recall=1.01)


@pytest.mark.parametrize("engine", APPROXIMATE)
def test_an_index_reaches_the_limit_with_effort(engine: str) -> None:
    gallery = shop(images=4000)
    mined = mine_with_recall(gallery.vectors(), gallery.images, Rules(6), search=engine, effort=8.0)
    both = mine(gallery.vectors(), gallery.images, Rules(6)).merge(mined.lists, on=["query_id", "candidate_id"])
    assert mined.recall == len(both) / len(mined.lists) >= 0.99
    little = mine_with_recall(
        gallery.vectors(), gallery.images, Rules(6), search=engine, effort=0.01, lowest_recall=0.0
    )
    assert little.recall is not None
    assert little.recall <= mined.recall
    with pytest.raises(InputError, match=r"Search harder \(--effort 32\), or use --search exact"):
        mine_with_recall(gallery.vectors(), gallery.images, Rules(6), search=engine, effort=8.0, lowest_recall=1.01)


def test_effort_is_for_indexes_and_a_number_above_nought() -> None:
    gallery = shop(images=100)
    for engine in EXACT:
        with pytest.raises(InputError, match="finds everything"):
            mine_with_recall(gallery.vectors(), gallery.images, Rules(3), search=engine, effort=2.0)
    for effort in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="effort is"):
            mine_with_recall(gallery.vectors(), gallery.images, Rules(3), search=APPROXIMATE[0], effort=effort)


@pytest.mark.parametrize("engine", APPROXIMATE)
def test_an_index_fills_lists_that_the_rules_empty(engine: str) -> None:
    gallery = shop(images=2000)
    images = gallery.images.assign(product_id=["same"] * 1500 + [f"p{n}" for n in range(500)])
    mined = mine_with_recall(gallery.vectors(), images, Rules(30), search=engine, lowest_recall=0.5)
    assert mined.short == 0


@pytest.mark.parametrize("engine", APPROXIMATE)
def test_an_index_over_bits_is_refused(engine: str) -> None:
    gallery = shop("hamming", images=200)
    with pytest.raises(InputError, match="bits"):
        mine(gallery.vectors(), gallery.images, Rules(3), search=engine)


def test_unknown_engine_lists_the_known(monkeypatch: pytest.MonkeyPatch) -> None:
    gallery = shop(images=100)
    with pytest.raises(UnknownNameError, match="Known: exact, faiss, faiss-hnsw, faiss-ivf, faiss-ivf-pq"):
        mine(gallery.vectors(), gallery.images, Rules(3), search="annoy")
    monkeypatch.setitem(sys.modules, "faiss", None)
    for module in ("faiss", "_faiss"):
        monkeypatch.delitem(sys.modules, f"eds.neighbors.search.{module}")
    with pytest.raises(MissingExtraError, match=r"eds-benchmark\[scale\]"):
        mine(gallery.vectors(), gallery.images, Rules(3), search="faiss")


@pytest.mark.parametrize("engine", APPROXIMATE)
def test_an_index_scores_from_the_stored_vectors_whatever_their_order(engine: str) -> None:
    """Of a dimension that short codes do not divide, in rows that do not follow the ids."""
    gallery = catalogue(1500, 8, products=1500, dimension=70)
    images = gallery.images.assign(role=np.where(np.arange(1500) % 50 == 0, "both", "candidate"))
    turn = np.random.default_rng(0).permutation(1500)
    rule = Rules(5)
    mined = mine_with_recall(gallery.vectors(turn, 333), images, rule, search=engine, effort=16.0, lowest_recall=0.0)
    exact = mine(gallery.vectors(), images, Rules(1500))
    both = exact.merge(mined.lists, on=["query_id", "candidate_id"])
    assert len(both) == len(mined.lists) == 150
    assert (both["score_x"] == both["score_y"]).all()
    assert mined.recall is not None
    assert mined.recall > 0.9


def test_short_codes_are_not_learnt_from_a_handful() -> None:
    gallery = shop(images=200)
    with pytest.raises(InputError, match="ivf-pq cannot learn from 200 candidates"):
        mine(gallery.vectors(), gallery.images, Rules(3), search="faiss-ivf-pq")
