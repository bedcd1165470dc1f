"""Scores and ranks of given pairs against the full sort."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds.errors import InputError
from eds.neighbors import Rules, mine, pair_ranks, pair_scores
from tests.neighbors.galleries import METRICS, ROUNDING_STEP, Gallery, catalogue, galleries, rules
from tests.reference.neighbors import similarity


def all_pairs(gallery: Gallery) -> pd.DataFrame:
    asked = gallery.images.loc[gallery.images["role"] != "candidate", "image_id"].tolist()
    ids = gallery.images["image_id"].tolist()
    return pd.DataFrame([(q, c) for q in asked for c in ids], columns=["query_id", "candidate_id"], dtype=object)


@given(galleries, rules, st.integers(1, 70), st.integers(1, 3), st.integers(1, 70))
def test_ranks_as_in_the_full_sort(gallery: Gallery, rule: Rules, block: int, threads: int, shard: int) -> None:
    pairs = all_pairs(gallery).sample(frac=0.7, random_state=0)
    vectors = gallery.vectors(np.arange(len(gallery.images))[::-1], shard)
    found = pair_ranks(vectors, gallery.images, pairs, rule, block=block, threads=threads)
    places = {
        (query, name): rank for query, order in gallery.orders(rule).items() for rank, (name, _) in enumerate(order)
    }
    assert found.tolist() == [places.get(pair, -1) for pair in pairs.itertuples(index=False, name=None)]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("levels", [0, 1])
@pytest.mark.parametrize("rule", [Rules(5000), Rules(5000, exclude_product=False, one_per_product=False)])
def test_ranks_of_a_mined_list_are_its_ranks(metric: str, levels: int, rule: Rules) -> None:
    gallery = catalogue(3000, 4, products=400, metric=metric, dimension=20, levels=levels)
    role = np.where(np.arange(3000) % 300 == 0, "query", "candidate")
    images = gallery.images.assign(role=role)
    lists = mine(gallery.vectors(), images, rule).sample(frac=0.05, random_state=1)
    for block in (100, 4000):
        found = pair_ranks(gallery.vectors(), images, lists, rule, block=block)
        assert found.tolist() == lists["rank"].tolist()
    assert pair_scores(gallery.vectors(), lists).tolist() == lists["score"].tolist()


@given(galleries)
def test_scores_of_pairs(gallery: Gallery) -> None:
    pairs = all_pairs(gallery)
    values = dict(zip(gallery.images["image_id"], gallery.values.tolist(), strict=True))
    expected = [similarity(values[q], values[c], gallery.metric) for q, c in pairs.itertuples(index=False, name=None)]
    assert pair_scores(gallery.vectors(), pairs).tolist() == pytest.approx(expected, rel=1e-13, abs=ROUNDING_STEP)


def test_pairs_that_cannot_be_ranked_are_told_together() -> None:
    gallery = catalogue(20, 2, products=20)
    images = gallery.images.assign(role=["query"] * 5 + ["candidate"] * 15)
    ids = images["image_id"].tolist()
    pairs = pd.DataFrame({"query_id": [ids[0], ids[7]], "candidate_id": ["nobody", ids[8]]})
    with pytest.raises(InputError) as caught:
        pair_ranks(gallery.vectors(), images, pairs, Rules(3))
    assert caught.value.faults == (
        f"query_id: 1 are not queries of table images: {ids[7]}",
        "candidate_id: 1 are unknown to table images: nobody",
    )
    with pytest.raises(InputError, match="have no vector: nobody"):
        pair_scores(gallery.vectors(), pairs)


def test_no_pairs_have_no_ranks() -> None:
    gallery = catalogue(9, 2, products=9)
    none = pd.DataFrame({"query_id": [], "candidate_id": []}, dtype=object)
    assert pair_ranks(gallery.vectors(), gallery.images, none, Rules(3)).tolist() == []
    assert pair_scores(gallery.vectors(), none).tolist() == []


def test_unusable_vectors_are_named() -> None:
    gallery = catalogue(20, 2, products=20)
    gallery.values[4] = np.nan
    images = gallery.images.assign(role="both")
    pairs = pd.DataFrame({"query_id": [images["image_id"][0]], "candidate_id": [images["image_id"][4]]})
    with pytest.raises(InputError, match="zero or not finite"):
        pair_scores(gallery.vectors(), pairs)
    with pytest.raises(InputError, match="zero or not finite"):
        pair_ranks(gallery.vectors(), images, pairs, Rules(1))
