from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from eds.errors import InputError
from eds.synthetic.attributes import WEIGHTS
from eds.synthetic.catalogue import Plan, _pictures, _table
from eds.synthetic.experts import Expert, draw_experts
from eds.synthetic.panel import full_truth, true_value


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
def test_full_truth_equals_brute_force(block: int, threshold: float, seed: int, panel: int) -> None:
    images = images_of(30, 2, 11, seed)
    experts = [replace(expert, threshold=threshold + 0.02 * k) for k, expert in enumerate(draw_experts(panel, seed))]
    pairs = every_pair(images)
    value = true_value(pairs, images, experts)
    whole = full_truth(images, experts, block=block)
    assert (whole.pairs, whole.positives) == (len(pairs), int(value.sum()))
    assert whole.rate == whole.positives / whole.pairs
    of_query = pairs.assign(value=value).groupby("query_id")["value"].sum()
    pd.testing.assert_series_equal(
        whole.positives_of_query.sort_index(), of_query, check_names=False, check_dtype=False, check_index_type=False
    )
    product = images.set_index("image_id")["product_id"]
    same = pairs["query_id"].map(product).to_numpy() == pairs["candidate_id"].map(product).to_numpy()
    assert (whole.same_product_pairs, whole.same_product_positives) == (int(same.sum()), int(value[same].sum()))


def test_ties_of_the_majority_are_negative() -> None:
    images = images_of(14, 2, 0, 0)
    pairs = pd.DataFrame({"query_id": [images["image_id"][0]], "candidate_id": [images["image_id"][1]]})
    for thresholds, expected in (((0.5, 1.5), 0), ((0.5, 0.5), 1), ((0.5, 1.5, 1.5), 0), ((0.5, 0.5, 1.5), 1)):
        assert true_value(pairs, images, judges(*thresholds)).tolist() == [expected]


def test_the_same_product_is_always_similar() -> None:
    whole = full_truth(images_of(50, 3, 20, 4), draw_experts(3, 4))
    assert whole.same_product_positives == whole.same_product_pairs == 50 * 2 + 20 * 3


def test_true_value_does_not_depend_on_the_rows_order() -> None:
    images, experts = images_of(30, 2, 5, 3), judges(0.5, 0.6, 0.7)
    pairs = every_pair(images)
    value = true_value(pairs, images, experts)
    order = np.random.Generator(np.random.PCG64(0)).permutation(len(pairs))
    shuffled = images.sample(frac=1, random_state=0)
    np.testing.assert_array_equal(true_value(pairs.iloc[order], shuffled, experts), value[order])
    assert full_truth(shuffled, experts).positives == full_truth(images, experts).positives == value.sum()


def test_an_empty_panel_is_refused() -> None:
    images = images_of(14, 2, 0, 0)
    with pytest.raises(InputError, match="empty"):
        full_truth(images, [])
    with pytest.raises(InputError, match="empty"):
        true_value(every_pair(images)[:3], images, [])
