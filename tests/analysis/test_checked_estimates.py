import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds.analysis.known_truth import CheckedEstimate, checks_sentence
from eds.analysis.totals import Estimate

shares = st.floats(0, 1)


@given(shares, shares, shares)
def test_a_truth_is_contained_between_the_limits(first: float, second: float, truth: float) -> None:
    low, high = sorted((first, second))
    check = CheckedEstimate("p", "", Estimate(low, low, high), truth)
    assert check.contained is (low - 1e-12 <= truth <= high + 1e-12)
    assert check.to_dict()["contained"] is check.contained


@pytest.mark.parametrize(
    ("estimate", "truth"), [(None, 0.5), (Estimate(0.5, 0.4, 0.6), None), (Estimate(0.5, math.nan, math.nan), 0.5)]
)
def test_without_an_interval_or_a_truth_nothing_is_said(estimate: Estimate | None, truth: float | None) -> None:
    check = CheckedEstimate("p", "", estimate, truth)
    assert check.contained is None
    assert checks_sentence([check]) == checks_sentence([])


@given(st.lists(st.sampled_from([True, False, None]), max_size=5))
def test_the_sentence_names_each_interval_once(kinds: list[bool | None]) -> None:
    inside, outside = Estimate(0.5, 0.4, 0.6), Estimate(0.2, 0.1, 0.3)
    estimates = {True: inside, False: outside, None: None}
    checks = [CheckedEstimate(f"name{k}", "", estimates[kind], 0.5) for k, kind in enumerate(kinds)]
    text = checks_sentence(checks)
    assert [text.count(check.name) for check in checks] == [int(check.contained is not None) for check in checks]
    assert (" not" in text) is (False in kinds)
