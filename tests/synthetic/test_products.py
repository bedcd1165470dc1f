from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eds.synthetic.attributes import CATEGORIES, combine, compare, encode, select
from eds.synthetic.experts import draw_experts
from eds.synthetic.panel import _majority
from eds.synthetic.products import COLLECTION_SIZE, draw_collections, draw_products


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 60), st.integers(1, 20))
def test_a_longer_catalogue_starts_like_a_shorter_one(seed: int, few: int, more: int, size: int) -> None:
    assert draw_collections(few + more, seed, size)[:few] == draw_collections(few, seed, size)
    assert draw_products(few + more, seed, size)[:few] == draw_products(few, seed, size)


@pytest.mark.parametrize("seed", range(3))
def test_collections_are_numbered_in_order_bounded_and_of_one_category(seed: int) -> None:
    collections, products = draw_collections(500, seed), draw_products(500, seed)
    sizes = Counter(collections)
    assert list(sizes) == list(range(len(sizes)))
    assert max(sizes.values()) == 1.5 * COLLECTION_SIZE
    kinds = {(collection, product.category) for collection, product in zip(collections, products, strict=True)}
    assert len(kinds) == len(sizes)
    assert {category for _, category in kinds} == set(CATEGORIES)


def test_collections_of_one_are_single_products() -> None:
    assert draw_collections(30, 1, size=1) == tuple(range(30))


@pytest.mark.parametrize("seed", range(4))
def test_a_catalogue_of_the_demo_has_rare_positives_nearly_all_within_collections(seed: int) -> None:
    """Prevalence below 1 %; in a collection most products are similar, but not all: colourways and prints differ."""
    count = 1200
    products, collection = draw_products(count, seed), np.array(draw_collections(count, seed))
    encoded = encode(pd.DataFrame([{"category": product.category, **product.columns()} for product in products]))
    rows = np.arange(count)
    similar = _majority(select(encoded, rows[:, None]), select(encoded, rows[None, :]), draw_experts(3, 0))
    np.fill_diagonal(similar, False)
    together = collection[:, None] == collection[None, :]
    np.fill_diagonal(together, False)
    assert 0.005 < similar.sum() / (count * (count - 1)) < 0.01
    assert (similar & together).sum() > 0.85 * similar.sum()
    assert 0.5 < similar[together].mean() < 0.8


def test_base_designs_of_a_category_differ() -> None:
    products, collections = draw_products(600, 0), draw_collections(600, 0)
    first = [products[collections.index(number)] for number in range(max(collections) + 1)]
    encoded = encode(pd.DataFrame([{"category": base.category, **base.columns()} for base in first]))
    rows = np.arange(len(first))
    alike = combine(compare(select(encoded, rows[:, None]), select(encoded, rows[None, :])))
    np.fill_diagonal(alike, 0)
    assert np.quantile(alike.max(axis=1), 0.95) < 0.75
