from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from eds.errors import InputError
from eds.synthetic.attributes import WEIGHTS
from eds.synthetic.catalogue import Plan, _pictures, _table
from eds.synthetic.experts import Expert, draw_experts
from eds.synthetic.panel import positive_units, true_value
from eds.universe import ALL_PAIRS, PairRules, Universe

DIFFERENT = PairRules(one_per_product=False)  # pairs of images of different products


def images_of(products: int, views: int, wild: int, seed: int) -> pd.DataFrame:
    pictures = _pictures(Plan(products, views, wild, seed))
    return _table(pictures, {picture.path: "" for picture in pictures}, 256)


def judges(*thresholds: float) -> list[Expert]:
    first = replace(draw_experts(1)[0], weights=tuple(WEIGHTS.values()))
    return [replace(first, expert_id=f"e{k}", threshold=value) for k, value in enumerate(thresholds)]


def every_pair(images: pd.DataFrame) -> pd.DataFrame:
    queries = images.loc[images["role"] != "candidate", "image_id"]
    candidates = images.loc[images["role"] != "query", "image_id"]
    rows = [(q, c) for q in queries for c in candidates if q != c]
    return pd.DataFrame(rows, columns=["query_id", "candidate_id"])


@pytest.mark.parametrize("block", [1, 100, 10**6])
@pytest.mark.parametrize(("threshold", "seed", "panel"), [(0.8, 1, 3), (0.45, 1, 2), (0.1, 2, 4)])
@pytest.mark.parametrize(
    "rules", [PairRules(), PairRules(category="same"), PairRules(one_per_product=False), ALL_PAIRS]
)
def test_positive_units_equal_brute_force(
    block: int, threshold: float, seed: int, panel: int, rules: PairRules
) -> None:
    images = images_of(30, 2, 11, seed)
    experts = [replace(expert, threshold=threshold + 0.02 * k) for k, expert in enumerate(draw_experts(panel, seed))]
    universe, pairs = Universe(images, rules), every_pair(images)
    number, value = universe.numbers(pairs), true_value(pairs, images, experts)
    expected = np.unique(number[(number >= 0) & (value == 1)])
    np.testing.assert_array_equal(positive_units(universe, images, experts, block=block), expected)


def test_ties_of_the_majority_are_negative() -> None:
    images = images_of(14, 2, 0, 0)
    pairs = pd.DataFrame({"query_id": [images["image_id"][0]], "candidate_id": [images["image_id"][1]]})
    for thresholds, expected in (((0.5, 1.5), 0), ((0.5, 0.5), 1), ((0.5, 1.5, 1.5), 0), ((0.5, 0.5, 1.5), 1)):
        assert true_value(pairs, images, judges(*thresholds)).tolist() == [expected]


def test_the_same_product_is_always_similar() -> None:
    images, experts = images_of(50, 3, 20, 4), draw_experts(3, 4)
    every, others = (len(positive_units(Universe(images, rules), images, experts)) for rules in (ALL_PAIRS, DIFFERENT))
    assert every - others == 50 * 2 + 20 * 3


def test_true_value_does_not_depend_on_the_rows_order() -> None:
    images, experts = images_of(30, 2, 5, 3), judges(0.5, 0.6, 0.7)
    pairs = every_pair(images)
    value = true_value(pairs, images, experts)
    order = np.random.Generator(np.random.PCG64(0)).permutation(len(pairs))
    shuffled = images.sample(frac=1, random_state=0)
    np.testing.assert_array_equal(true_value(pairs.iloc[order], shuffled, experts), value[order])
    first, second = (positive_units(Universe(frame, ALL_PAIRS), frame, experts) for frame in (images, shuffled))
    np.testing.assert_array_equal(first, second)
    assert len(first) == value.sum()


def test_an_empty_panel_is_refused() -> None:
    images = images_of(14, 2, 0, 0)
    with pytest.raises(InputError, match="empty"):
        positive_units(Universe(images, ALL_PAIRS), images, [])
    with pytest.raises(InputError, match="empty"):
        true_value(every_pair(images)[:3], images, [])
