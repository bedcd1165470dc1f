"""The list of one query against the specification's vectors, and against the mined lists."""

import pytest
from hypothesis import given

from eds.errors import InputError
from eds.neighbors import Rules, mine, top_k
from tests.neighbors.galleries import Gallery, galleries


@given(galleries)
def test_same_as_mined(gallery: Gallery) -> None:
    rule = Rules(5)
    found = mine(gallery.vectors(), gallery.images, rule)
    item_of = dict(zip(gallery.images["image_id"], gallery.images["product_id"], strict=True))
    for query, order in gallery.orders(Rules(1000, exclude_product=False, one_per_product=False)).items():
        names, scores = [name for name, _ in order], [score for _, score in order]
        lists = found.loc[found["query_id"] == query, "candidate_id"].tolist()
        assert top_k(query, names, scores, 5, item_of, exclude_same_item=True, one_per_item=True) == lists


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        top_k("q", ["a", "a", "b"], [1.0, 2.0, float("nan")], 0)
    assert caught.value.faults == (
        "k is 0; give a number from 1 up",
        "duplicate id 'a'",
        "score of 'b' is nan",
    )
    with pytest.raises(InputError, match="2 ids but 1 scores"):
        top_k("q", ["a", "b"], [1.0], 1)
