"""Ids that stand in order, and vectors in the order of the images, are numbered by a comparison: the same numbers."""

from typing import Any

import numpy as np
import pytest

from eds.errors import InputError
from eds.neighbors import Rules, query_gallery
from eds.neighbors.query_gallery import QueryGallery
from tests.neighbors.galleries import Gallery, catalogue


def sorted_shop() -> Gallery:
    gallery = catalogue(200, 4, products=50)
    return gallery.turned(np.argsort([name.encode() for name in gallery.images["image_id"]]))


def numbered(found: QueryGallery) -> list[Any]:
    parts = [
        (side.ids.tolist(), side.rows.tolist(), side.category.tolist()) for side in (found.queries, found.candidates)
    ]
    alike = found.queries.product[:, None] == found.candidates.product
    return [parts, found.own.tolist(), alike.tolist(), found.total_rows]


def test_in_order_or_not_the_numbers_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    gallery = sorted_shop()
    turn = np.random.default_rng(0).permutation(200)
    vectors, rules = gallery.vectors(), Rules(1, category="same")
    slowly = numbered(QueryGallery.of(vectors, gallery.turned(turn).images, rules))

    def never(*_: object) -> Any:
        raise AssertionError("ids in order were sorted again")

    monkeypatch.setattr(query_gallery, "id_order", never)
    monkeypatch.setattr(type(vectors), "rows_of", never)
    quickly = numbered(QueryGallery.of(vectors, gallery.images, rules))
    for one, other in zip(quickly[0], slowly[0], strict=True):
        assert one[:2] == other[:2]
        assert len(set(zip(one[2], other[2], strict=True))) == 3
    assert quickly[1:] == slowly[1:]


def test_vectors_in_another_order_than_sorted_images_are_looked_up() -> None:
    gallery = sorted_shop()
    order = np.random.default_rng(1).permutation(200)
    found = QueryGallery.of(gallery.vectors(order), gallery.images, Rules(1))
    straight = QueryGallery.of(gallery.vectors(), gallery.images, Rules(1))
    assert [order[row] for row in found.candidates.rows] == straight.candidates.rows.tolist()
    assert found.candidates.ids.tolist() == straight.candidates.ids.tolist()


def test_an_id_that_stands_twice_is_no_order() -> None:
    gallery = sorted_shop()
    names = gallery.images["image_id"].tolist()
    twice = gallery.images.assign(image_id=[*names[:50], *names[49:199]])
    with pytest.raises(InputError, match=f"1 duplicate ids: {names[49]}"):
        QueryGallery.of(gallery.vectors(), twice, Rules(1))
    vectors = gallery.vectors()
    vectors.names = [*names[:50], *names[49:199]]
    with pytest.raises(InputError, match="vectors of m"):
        QueryGallery.of(vectors, gallery.images, Rules(1))
