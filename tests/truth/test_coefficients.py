import math
import warnings
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as peer_fleiss

from eds.errors import InputError
from eds.truth import agreement
from tests.reference import truth as reference

Row = list[int | None]
ratings = st.integers(1, 5).flatmap(
    lambda experts: st.lists(
        st.lists(st.sampled_from([1, 1, 0, None]), min_size=experts, max_size=experts), min_size=1, max_size=15
    )
)
complete = st.integers(2, 5).flatmap(
    lambda experts: st.lists(
        st.lists(st.sampled_from([1, 0]), min_size=experts, max_size=experts), min_size=1, max_size=15
    )
)


def same(found: float, expected: float) -> bool:
    return (math.isnan(found) and math.isnan(expected)) or found == pytest.approx(expected, abs=1e-12)


@given(ratings)
def test_alpha_and_ac1_equal_plain_loops(rows: list[Row]) -> None:
    found = agreement(rows)
    assert same(found["krippendorff_alpha"], reference.krippendorff(rows))
    assert same(found["gwet_ac1"], reference.ac1(rows))


@given(ratings)
def test_alpha_equals_the_peer(rows: list[Row]) -> None:
    found = agreement(rows)["krippendorff_alpha"]
    table = np.array([[np.nan if value is None else value for value in row] for row in rows]).T
    pairable = [told for row in rows if len(told := [value for value in row if value is not None]) > 1]
    if math.isnan(found):
        assert len({value for told in pairable for value in told}) < 2
    else:
        assert same(found, krippendorff.alpha(table, level_of_measurement="nominal", value_domain=[0, 1]))


@given(complete)
def test_fleiss_equals_the_peer(rows: list[Row]) -> None:
    found = agreement(rows)["fleiss_kappa"]
    if not math.isnan(found):
        assert same(found, peer_fleiss(aggregate_raters(np.array(rows), n_cat=2)[0]))
    else:
        assert len({value for row in rows for value in row}) == 1


@given(ratings)
def test_cohen_equals_the_peer(rows: list[Row]) -> None:
    for pair, found in agreement(rows)["cohen_kappa"].items():
        a, b = (int(name) for name in pair.split("-"))
        both = [(row[a], row[b]) for row in rows if row[a] is not None and row[b] is not None]
        if math.isnan(found):
            assert len({value for one in both for value in one}) <= 1
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                assert same(found, cohen_kappa_score(*zip(*both, strict=True), labels=[0, 1]))


@given(st.integers(2, 5), st.integers(1, 9), st.integers(1, 9))
def test_perfect_agreement_with_both_categories_is_1(experts: int, yes: int, no: int) -> None:
    found = agreement([[1] * experts] * yes + [[0] * experts] * no)
    coefficients = [found[name] for name in ("percent_agreement", "krippendorff_alpha", "gwet_ac1", "fleiss_kappa")]
    assert [*coefficients, *found["cohen_kappa"].values()] == pytest.approx([1.0] * (4 + experts * (experts - 1) // 2))


@given(ratings, st.randoms(use_true_random=False))
def test_the_order_of_items_does_not_matter_nor_that_of_experts(rows: list[Row], random: Any) -> None:
    shuffled = agreement(random.sample(rows, len(rows)))
    turned = agreement([row[::-1] for row in rows])
    for name, value in agreement(rows).items():
        if name != "cohen_kappa":
            assert repr(value) == repr(shuffled[name]) == repr(turned[name])


def test_exchanging_the_categories_changes_nothing() -> None:
    rows: list[Row] = [[1, 1, 0], [1, None, 1], [0, 0, 0], [1, 0, 1]]
    turned: list[Row] = [[None if value is None else 1 - value for value in row] for row in rows]
    first, second = agreement(rows), agreement(turned)
    assert first.pop("cohen_kappa") == pytest.approx(second.pop("cohen_kappa"), abs=1e-12)
    assert first == pytest.approx(second, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("rows", [[], [[1, 0], [1]], [[2, 0]], [[True, 1]], [["1", 1]]])
def test_what_is_no_matrix_of_votes_is_refused(rows: Any) -> None:
    with pytest.raises(InputError, match="no matrix"):
        agreement(rows)


@pytest.mark.parametrize("rows", [[[None, None]], [[1, None], [None, 0]], [[1]]])
def test_nothing_to_compare_is_undefined(rows: list[Row]) -> None:
    found = agreement(rows)
    cohen = found.pop("cohen_kappa")
    assert all(math.isnan(value) for value in [*found.values(), *cohen.values()])
