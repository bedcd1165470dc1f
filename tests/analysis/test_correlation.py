"""Orderings of models, tests over queries, adjusted p, against scipy, statsmodels and enumeration."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from eds.analysis import (
    AnalysisInputs,
    benjamini_hochberg,
    compare,
    holm,
    kendall_tau,
    sign_flip_test,
    spearman,
    tau_ap,
    tau_ap_b,
)
from eds.errors import InputError
from eds.metrics import Measure, ScoringInputs, evaluate
from tests.metrics.benchmarks import Bench, benches
from tests.reference import analysis as reference

values = st.integers(0, 5).map(float)
sides = st.integers(3, 9).flatmap(lambda n: st.tuples(*[st.lists(values, min_size=n, max_size=n)] * 2))
orders = st.integers(2, 8).flatmap(lambda n: st.tuples(*[st.permutations([float(i) for i in range(n)])] * 2))
shares = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(sides)
def test_spearman_and_kendall_are_those_of_scipy(pair: tuple[list[float], list[float]]) -> None:
    x, y = pair
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert math.isnan(spearman(x, y)["rho"])
        assert math.isnan(kendall_tau(x, y)["tau_b"])
        return
    theirs = stats.spearmanr(x, y)
    assert spearman(x, y)["rho"] == pytest.approx(theirs.statistic, abs=1e-12)
    assert spearman(x, y)["p_t"] == pytest.approx(theirs.pvalue, abs=1e-7)
    assert kendall_tau(x, y)["tau_b"] == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)


def test_noise_in_the_last_bit_breaks_no_tie() -> None:
    assert spearman([0.1 + 0.2, 0.3, 0.5, 0.9], [1, 1, 2, 3])["rho"] == 1
    assert kendall_tau([0.1 + 0.2, 0.3, 0.5], [1, 1, 2])["tau_b"] == 1


@given(orders)
def test_tau_ap_is_that_of_the_definition(pair: tuple[list[float], list[float]]) -> None:
    a, b = pair
    assert tau_ap(a, b) == pytest.approx(reference.tau_ap(a, b), abs=1e-12)
    assert tau_ap(a, a) == pytest.approx(1)
    assert tau_ap(a, [-value for value in a]) == pytest.approx(-1)
    assert tau_ap_b(a, b) == pytest.approx((tau_ap(a, b) + tau_ap(b, a)) / 2, abs=1e-12)


@settings(max_examples=40)
@given(st.lists(st.sampled_from([-0.2, -0.1, 0.0, 0.1, 0.1, 0.3]), min_size=1, max_size=10))
def test_sign_flips_are_enumerated(differences: list[float]) -> None:
    p = sign_flip_test(differences)
    assert p == pytest.approx(reference.sign_flip(differences))
    assert p >= 2 ** (1 - len(differences)) - 1e-12


def test_many_sign_flips_agree_with_their_enumeration() -> None:
    differences = [0.1, 0.3, -0.2, 0.4, 0.2, -0.1, 0.3, 0.1, -0.3, 0.2, 0.1, 0.4, -0.1, 0.2]
    drawn = sign_flip_test(differences, resamples=20_000)
    assert drawn == pytest.approx(reference.sign_flip(differences), abs=0.01)
    assert sign_flip_test(differences[::-1], resamples=20_000) == drawn
    with pytest.raises(InputError):
        sign_flip_test([math.nan])


@given(shares)
def test_adjusted_p_are_those_of_statsmodels(p: list[float]) -> None:
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])
    assert benjamini_hochberg(p) == pytest.approx(multipletests(p, method="fdr_bh")[1])
    three = np.array([holm(p), benjamini_hochberg(p), p])
    assert (np.diff(three, axis=0) <= 1e-12).all()


@settings(max_examples=20)
@given(benches())
def test_models_are_compared_query_by_query(bench: Bench) -> None:
    found = evaluate(ScoringInputs(bench.labels_frame, rankings=bench.rankings_frame), [Measure("RR", 3)])
    made = bench.rankings_frame[bench.rankings_frame["rank"] < 1]
    told = compare(found, AnalysisInputs(labels=bench.labels_frame, rankings=bench.rankings_frame, pool_lists=made))
    by_model = {result.model: result.values for result in found}
    for row in told["RR@3"].pairs if told.measures else ():
        first, second = by_model[row.first], by_model[row.second]
        assert first is not None
        assert second is not None
        difference = first.by_query - second.by_query
        difference = difference[~np.isnan(difference)]
        assert row.n == len(difference)
        if row.n:
            assert row.difference == pytest.approx(difference.mean(), abs=1e-12)
            assert row.p == pytest.approx(reference.sign_flip(difference.tolist()))
        assert not row.beyond_sampling  # four queries cannot reach 5 %
