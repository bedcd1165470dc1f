import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from eds.errors import InputError
from eds.intervals import clopper_pearson_interval, percentile_interval, wilson_interval

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
