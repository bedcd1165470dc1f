import numpy as np
import pytest

from eds.synthetic.attributes import CATEGORIES
from eds.synthetic.garments.fittings import Pose
from eds.synthetic.garments.person import worn
from eds.synthetic.garments.scene import Product
from eds.synthetic.garments.wild import jpeg_quality, wild_view
from eds.synthetic.products import draw_products, stream

PRODUCTS = [Product(attributes, key, 1) for key, attributes in enumerate(draw_products(14, seed=1))]


def test_snapshots_of_a_product_differ_and_come_back_the_same() -> None:
    first = [wild_view(PRODUCTS[3], number, 64).tobytes() for number in range(5)]
    assert len(set(first)) == 5
    assert [wild_view(PRODUCTS[3], number, 64).tobytes() for number in range(5)] == first


def test_a_snapshot_is_neither_black_nor_white() -> None:
    means = [np.asarray(wild_view(product, 0, 48)).mean() for product in PRODUCTS]
    assert 25 < min(means) < max(means) < 235


def test_quality_is_a_cameras() -> None:
    assert {55 <= jpeg_quality(product, n) < 88 for product in PRODUCTS for n in range(9)} == {True}


@pytest.mark.parametrize("category", CATEGORIES)
def test_the_figure_adds_pieces_and_takes_none_away(category: str) -> None:
    product = next(p for p in PRODUCTS if p.attributes.category == category)
    pieces = product.pieces(Pose())
    dressed = worn(product, pieces, Pose(), stream(1))
    assert [piece for piece in dressed if any(piece is own for own in pieces)] == pieces
    is_pump = product.attributes.silhouette == "pump"
    assert (len(dressed) == len(pieces)) == is_pump
