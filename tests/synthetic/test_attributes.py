from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eds.errors import TableError
from eds.synthetic.attributes import (
    CATEGORIES,
    TRUE_COLUMNS,
    WEIGHTS,
    Attributes,
    combine,
    compare,
    encode,
    select,
    similarity,
    similarity_parts,
)
from eds.synthetic.products import draw_products


def frame_of(products: list[Attributes] | tuple[Attributes, ...]) -> pd.DataFrame:
    return pd.DataFrame([{"category": product.category, **product.columns()} for product in products])


PRODUCTS = draw_products(200, seed=3)
FRAME = frame_of(PRODUCTS)
places = st.lists(st.tuples(st.integers(0, 199), st.integers(0, 199)), min_size=1, max_size=20)


@settings(deadline=None, max_examples=50)
@given(places)
def test_similarity_is_symmetric_and_bounded(pairs: list[tuple[int, int]]) -> None:
    left, right = FRAME.iloc[[a for a, _ in pairs]], FRAME.iloc[[b for _, b in pairs]]
    forth, back = similarity(left, right), similarity(right, left)
    np.testing.assert_array_equal(forth, back)
    assert ((forth >= 0) & (forth <= 1 + 1e-12)).all()


@settings(deadline=None, max_examples=30)
@given(places)
def test_a_row_does_not_depend_on_the_other_rows(pairs: list[tuple[int, int]]) -> None:
    whole = similarity(FRAME.iloc[[a for a, _ in pairs]], FRAME.iloc[[b for _, b in pairs]])
    one_by_one = [similarity(FRAME.iloc[[a]], FRAME.iloc[[b]])[0] for a, b in pairs]
    np.testing.assert_array_equal(whole, one_by_one)


def test_equal_products_have_similarity_one_and_different_ones_less() -> None:
    encoded = encode(FRAME)
    rows = np.arange(len(FRAME))
    matrix = combine(compare(select(encoded, rows[:, None]), select(encoded, rows[None, :])))
    np.testing.assert_allclose(np.diag(matrix), 1.0, atol=1e-12)
    drawn_alike = np.array([[a == b for b in PRODUCTS] for a in PRODUCTS])
    # A hidden attribute (the accent of a plain cloth) may differ between products that look the same.
    assert (matrix[~drawn_alike] < 1 - 1e-9).mean() > 0.999


def test_the_formula_against_a_plain_loop() -> None:
    """The same rule once more, term by term in scalar Python, for products of one category without tables."""
    base = next(p for p in PRODUCTS if p.category == "dress" and p.pattern == "stripes")
    other = replace(base, length=max(0.0, base.length - 0.25), lightness=base.lightness - 0.06, sleeve="long")
    base = replace(base, sleeve="short")
    terms = dict.fromkeys(WEIGHTS, 1.0)
    terms |= {"length": 1 - (base.length - other.length), "colour": 1 - 0.06 / 0.30, "sleeve": 1 - 2 * 0.4}
    expected = sum(WEIGHTS[name] * term for name, term in terms.items()) / sum(WEIGHTS.values())
    assert similarity(frame_of([base]), frame_of([other]))[0] == pytest.approx(expected)


def test_what_is_absent_on_both_sides_says_nothing_and_on_one_side_counts_as_zero() -> None:
    skirt = next(p for p in PRODUCTS if p.category == "skirt")
    dress = next(p for p in PRODUCTS if p.category == "dress")
    parts = similarity_parts(frame_of([skirt, skirt]), frame_of([skirt, dress]))
    assert np.isnan(parts["sleeve"].to_numpy()[0])
    assert parts["sleeve"].to_numpy()[1] == 0
    assert parts["category"].to_numpy()[1] == 0.5


def test_categories_bound_the_similarity() -> None:
    shirt = next(p for p in PRODUCTS if p.category == "shirt")
    shoe = next(p for p in PRODUCTS if p.category == "shoe")
    assert similarity(frame_of([shirt]), frame_of([shoe]))[0] <= 0.2


def test_more_of_a_change_gives_less_similarity() -> None:
    base = replace(next(p for p in PRODUCTS if p.category == "coat"), hue=20.0, chroma=0.1)
    steps = [replace(base, hue=20.0 + turn) for turn in (0, 10, 30, 60, 90)]
    seen = similarity(frame_of([base] * 5), frame_of(steps))
    assert (np.diff(seen) < 0).all()


def test_every_attribute_has_a_column_and_every_weight_a_term() -> None:
    assert set(TRUE_COLUMNS) == {f"true_{f.name}" for f in fields(Attributes)} - {"true_category"}
    assert tuple(PRODUCTS[0].columns()) == TRUE_COLUMNS
    assert list(similarity_parts(FRAME[:1], FRAME[:1]).columns) == ["category", *WEIGHTS]
    assert sum(WEIGHTS.values()) == pytest.approx(1)


def test_unknown_values_and_missing_columns_are_refused_all_at_once() -> None:
    with pytest.raises(TableError, match="true_hue"):
        similarity(FRAME.drop(columns="true_hue"), FRAME)
    wrong = FRAME.assign(true_pattern="zebra", true_fabric="tin")
    with pytest.raises(TableError) as caught:
        encode(wrong)
    assert caught.value.faults == ("true_pattern: zebra", "true_fabric: tin")


def test_products_begin_with_every_category_and_a_longer_catalogue_begins_with_the_shorter() -> None:
    assert tuple(p.category for p in PRODUCTS[: len(CATEGORIES)]) == CATEGORIES
    assert draw_products(40, seed=3) == PRODUCTS[:40]
    assert draw_products(40, seed=4) != PRODUCTS[:40]
