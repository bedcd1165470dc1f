"""Ranks counted in many small pieces, with exact decisions: those of the full sort, whatever the pieces."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eds.neighbors import Rules, mine, pair_ranks, rank_counting
from eds.neighbors.rank_counting import Bounds, Ladder
from tests.neighbors.galleries import Gallery, catalogue, galleries, rules


@pytest.fixture(autouse=True)
def small_pieces() -> Iterator[None]:
    """Tiles of a few queries, few scores to a thread, few decisions at once, queries in several passes."""
    kept = rank_counting.TILE, rank_counting.SEARCHED, rank_counting.NEAR, rank_counting.QUERY_CELLS
    rank_counting.TILE, rank_counting.SEARCHED, rank_counting.NEAR, rank_counting.QUERY_CELLS = 64, 16, 3, 20
    yield
    rank_counting.TILE, rank_counting.SEARCHED, rank_counting.NEAR, rank_counting.QUERY_CELLS = kept


def checked(gallery: Gallery, rule: Rules, block: int, threads: int) -> None:
    asked = gallery.images.loc[gallery.images["role"] != "candidate", "image_id"].tolist()
    ids = gallery.images["image_id"].tolist()
    pairs = pd.DataFrame([(q, c) for q in asked for c in ids], columns=["query_id", "candidate_id"], dtype=object)
    pairs = pairs.sample(frac=0.6, random_state=1)
    found = pair_ranks(gallery.vectors(shard=7), gallery.images, pairs, rule, block=block, threads=threads)
    places = {
        (query, name): rank for query, order in gallery.orders(rule).items() for rank, (name, _) in enumerate(order)
    }
    assert found.tolist() == [places.get(pair, -1) for pair in pairs.itertuples(index=False, name=None)]


@settings(deadline=None, max_examples=40)
@given(galleries, rules, st.integers(1, 20), st.sampled_from([1, 2, 5]))
def test_ranks_in_small_pieces(gallery: Gallery, rule: Rules, block: int, threads: int) -> None:
    checked(gallery, rule, block, threads)


@pytest.mark.parametrize("rule", [Rules(99), Rules(99, False, False), Rules(99, category="other")])
def test_scores_that_only_exact_arithmetic_tells_apart(rule: Rules) -> None:
    """Vectors that differ in the last bit: every pair lies within the bounds of every other."""
    gallery = catalogue(60, 1, products=20, metric="dot", dimension=6)
    values = np.tile(gallery.values[0].astype(np.float32), (60, 1))
    step = np.random.default_rng(0).integers(0, 3, 60)
    for _ in range(2):
        values[:, 2] = np.where(step > 0, np.nextafter(values[:, 2], np.float32(9)), values[:, 2])
        step -= 1
    near = Gallery(gallery.images, values.astype(np.float64), "dot")
    checked(near, rule, 13, 2)
    lists = mine(near.vectors(), near.images, rule, metric="cosine").sample(frac=0.8, random_state=0)
    found = pair_ranks(near.vectors(), near.images, lists, rule, metric="cosine", block=13, threads=2)
    assert found.tolist() == lists["rank"].tolist()


def test_bounds_grow_with_the_longest_vector_met() -> None:
    """Of dot products the error grows while longer vectors come by: bounds are made anew, counts stay right."""
    gallery = catalogue(60, 7, products=20, metric="dot", dimension=6, levels=2)
    longer = gallery.values * (2.0 ** np.arange(60) / 2.0**30)[:, None]
    order = np.argsort(np.linalg.norm(longer, axis=1))
    checked(Gallery(gallery.images, longer, "dot").turned(order), Rules(1), 5, 1)


@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=12), st.lists(st.integers(-4, 4), max_size=30), st.integers(0, 2)
)
def test_a_ladder_counts_what_lies_surely_above(pairs: list[int], scores: list[int], slack: int) -> None:
    """Against every score compared with every bound."""
    exact = np.sort(np.array(pairs, dtype=np.float64))
    ladder = Ladder(np.zeros(len(pairs), np.int64), Bounds.around(exact, slack), np.array([0, len(pairs)]))
    given_scores = np.array(scores, dtype=np.float32)
    beaten = ladder.beaten(np.zeros(len(scores), np.int64), given_scores, 0, 1)
    low, high = ladder.bounds.low, ladder.bounds.high
    assert ladder.above(ladder.tally(beaten, 0, 1), 0, 1).tolist() == [int((given_scores > top).sum()) for top in high]
    open_ = set(ladder.undecided(beaten).tolist())
    around = [set(np.flatnonzero((low <= score) & (score <= high)).tolist()) for score in given_scores]
    assert open_ == {place for place, near in enumerate(around) if near}
    start, stop = ladder.pairs_around(beaten)
    assert all(set(range(start[place], stop[place])) == around[place] for place in open_)
