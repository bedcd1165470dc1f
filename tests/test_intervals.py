import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap, norm, t
from statsmodels.stats.proportion import proportion_confint

from eds.errors import InputError
from eds.intervals import (
    EQUAL,
    FEW,
    UNDEFINED,
    Multiplicity,
    bootstrap_interval,
    clopper_pearson_interval,
    draw_queries,
    mean_interval,
    percentile_interval,
    rate_interval,
    resampled_means,
    wilson_interval,
)
from tests.reference import intervals as reference

METHODS = [(wilson_interval, "wilson"), (clopper_pearson_interval, "beta")]
counts = st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(("interval", "method"), METHODS)
@given(counts, st.sampled_from([0.8, 0.95, 0.99]))
def test_limits_equal_the_peer(interval, method, of, level) -> None:  # type: ignore[no-untyped-def]
    assert interval(*of, level) == pytest.approx(proportion_confint(*of, 1 - level, method=method), abs=1e-10)


@pytest.mark.parametrize(("interval", "method"), METHODS)
@given(counts)
def test_limits_hold_the_rate_and_shrink_with_n(interval, method, of) -> None:  # type: ignore[no-untyped-def]
    a, n = of
    low, high = interval(a, n)
    assert 0 <= low <= a / n <= high <= 1
    tighter = interval(3 * a, 3 * n)
    assert tighter[1] - tighter[0] < high - low


@pytest.mark.parametrize(("interval", "method"), METHODS)
def test_arrays_give_what_numbers_give(interval, method) -> None:  # type: ignore[no-untyped-def]
    a, n = np.array([0, 2, 5, 0]), np.array([5, 5, 5, 0])
    low, high = interval(a, n)
    assert [*zip(low, high, strict=True)] == [interval(*of) for of in zip(a.tolist(), n.tolist(), strict=True)]
    assert (low[0], high[2], low[3], high[3]) == (0.0, 1.0, 0.0, 1.0)


@pytest.mark.parametrize(("a", "n"), [(3, 2), (-1, 2), (0.5, 2), (float("nan"), 2), (0, -1)])
def test_what_is_no_count_is_refused(a: float, n: float) -> None:
    with pytest.raises(InputError, match="invalid proportion"):
        wilson_interval(a, n)


def test_levels_outside_0_to_1_are_refused() -> None:
    for level in (0, 1, float("nan")):
        with pytest.raises(InputError, match="level"):
            clopper_pearson_interval(1, 2, level)
        with pytest.raises(InputError, match="level"):
            percentile_interval(np.array([1.0]), level)


def test_percentiles_leave_out_what_is_undefined() -> None:
    assert percentile_interval(np.array([0.0, np.nan, 1.0, 2.0]), 0.5) == (0.5, 1.5)
    assert np.isnan(percentile_interval(np.array([np.nan]))).all()


by_query = st.integers(1, 9).flatmap(lambda w: st.tuples(st.integers(0, w), st.just(w)))


@given(st.lists(by_query, max_size=40), st.sampled_from([0.8, 0.95]))
def test_limits_of_rates_are_those_of_the_loops(counts: list[tuple[int, int]], level: float) -> None:
    interval = rate_interval([a for a, _ in counts], [w for _, w in counts], level)
    expected = reference.rate_interval(counts, level)
    if expected is None:
        assert interval.no_interval == (UNDEFINED if not counts else FEW if len(counts) < 8 else EQUAL)
        assert interval.to_dict()["low"] is None
    else:
        assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-9)
        assert 0 <= interval.low <= sum(a for a, _ in counts) / sum(w for _, w in counts) <= interval.high <= 1


@given(st.integers(8, 400).flatmap(lambda n: st.tuples(st.integers(1, n - 1), st.just(n))))
def test_values_of_0_and_1_have_wilsons_limits_over_queries(of: tuple[int, int]) -> None:
    a, n = of
    interval = mean_interval([1.0] * a + [0.0] * (n - a))
    low, high = proportion_confint(a, n, method="wilson")
    assert interval.low == pytest.approx(low, abs=1e-9) or (a < 3 and interval.low < low)
    assert interval.high == pytest.approx(high, abs=1e-9) or (n - a < 3 and interval.high > high)


@given(st.lists(by_query, min_size=8, max_size=30))
def test_the_larger_share_is_mirrored_by_its_complement(counts: list[tuple[int, int]]) -> None:
    one = rate_interval([a for a, _ in counts], [w for _, w in counts])
    other = rate_interval([w - a for a, w in counts], [w for _, w in counts])
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-9, nan_ok=True)


def test_queries_without_a_value_or_a_pair_play_no_part() -> None:
    values = [0.1, 0.9, 0.5, 0.7, 0.3, 0.6, 0.8, 0.2]
    assert mean_interval([*values, np.nan]) == mean_interval(values)
    assert rate_interval([*range(8), 0], [8] * 8 + [0]) == rate_interval(range(8), [8] * 8)


def mean_of(values: list[float]):  # type: ignore[no-untyped-def]
    def statistic(times: Multiplicity) -> np.ndarray:
        return resampled_means(np.array(values), times)

    return statistic


def test_few_queries_and_equal_values_have_no_bootstrap_interval() -> None:
    assert bootstrap_interval(mean_of([0.1, 0.2]), 2).no_interval == FEW
    assert bootstrap_interval(mean_of([0.1] * 9), 9).no_interval == EQUAL
    assert bootstrap_interval(mean_of([np.nan] * 9), 9).no_interval == UNDEFINED


def test_bca_limits_are_those_of_the_peer_at_the_wider_tail() -> None:
    values = np.random.default_rng(1).exponential(size=30)
    wide = 2 * norm.cdf(t.ppf(0.975, 29) * np.sqrt(30 / 29)) - 1
    peer = bootstrap((values,), np.mean, confidence_level=wide, n_resamples=9999, method="BCa", rng=1)
    ours = bootstrap_interval(mean_of(values.tolist()), 30, resamples=9999)
    width = peer.confidence_interval.high - peer.confidence_interval.low
    assert (ours.low, ours.high) == pytest.approx(tuple(peer.confidence_interval), abs=0.04 * width)


def test_from_50_queries_on_a_bootstrap_interval_is_that_of_percentiles() -> None:
    values = np.random.default_rng(2).normal(size=60)
    ours = bootstrap_interval(mean_of(values.tolist()), 60, resamples=400, seed=3)
    drawn = resampled_means(values, draw_queries(60, 400, 3))
    assert (ours.low, ours.high) == percentile_interval(drawn)
