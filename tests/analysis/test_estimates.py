"""Estimates of how many positives there are, against scipy, simulation and their invariants."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from eds.analysis import (
    horvitz_thompson,
    neyman_allocation,
    p_map,
    p_posterior,
    pool_recall,
    sample_size,
    stratified_estimate,
    unseen_positives,
)
from eds.errors import InputError


@st.composite
def strata(draw: st.DrawFn) -> dict[str, int]:
    size = draw(st.integers(1, 5000))
    drawn = draw(st.integers(1, size))
    return {"N": size, "n": drawn, "a": draw(st.integers(0, drawn))}


@given(st.integers(0, 50), st.integers(50, 3000), st.floats(0, 0.05))
def test_the_posterior_is_the_truncated_beta(a: int, b: int, p_lb: float) -> None:
    beta = stats.beta(a + 1, b - a + 1)
    found = p_posterior(a, b, p_lb, 0.9)
    assume(beta.sf(p_lb) >= 1e-6)
    start = beta.cdf(p_lb)
    assert found["lower"] == pytest.approx(beta.ppf(start + 0.05 * (1 - start)), rel=1e-6)
    assert found["upper"] == pytest.approx(beta.ppf(start + 0.95 * (1 - start)), rel=1e-6)
    grid = np.linspace(p_lb, 1, 400_001)
    density = beta.pdf(grid)
    assert found["mean"] == pytest.approx(np.trapezoid(grid * density, grid) / np.trapezoid(density, grid), rel=1e-4)
    assert found["lower"] <= found["mean"] <= found["upper"]
    assert p_map(a, b, p_lb) >= p_lb


@given(st.integers(0, 500), st.lists(strata(), max_size=4))
def test_recall_lies_within_its_limits(pool: int, outside: list[dict[str, int]]) -> None:
    found = pool_recall(pool, outside)
    unsampled = sum(part["N"] for part in outside if not part["n"])
    positives = pool + sum(part["a"] for part in outside)
    assert math.isnan(found["recall"]) == (unsampled > 0 or positives == 0)
    if math.isnan(found["recall"]):  # nothing is known of a part: only how low it might be; or there are no positives
        assert math.isnan(found["lower"]) or found["lower"] <= found["upper"]
        return
    assert found["lower"] <= found["recall"] <= found["upper"] + 1e-12


@given(st.lists(strata(), min_size=1, max_size=4))
def test_a_census_has_no_variance_and_empty_strata_change_nothing(parts: list[dict[str, int]]) -> None:
    census = [{"N": part["n"], "n": part["n"], "a": part["a"]} for part in parts]
    found = stratified_estimate(census)
    assert (found["variance_total"], found["total"]) == (0, sum(part["a"] for part in parts))
    empty = {"N": 0, "n": 0, "a": 0}
    assert repr(stratified_estimate([*parts, empty])) == repr(stratified_estimate(parts))


def test_a_single_draw_from_a_larger_stratum_estimates_nothing() -> None:
    census, single = {"N": 9, "n": 9, "a": 4}, {"N": 400, "n": 1, "a": 1}
    assert all(math.isnan(value) for value in stratified_estimate([census, single]).values())
    assert stratified_estimate([census, {"N": 1, "n": 1, "a": 1}])["total"] == 5


def test_estimates_are_right_on_average() -> None:
    """A stratum of 400 with 40 positives, 50 drawn, and a census: mean and variance over 4,000 draws."""
    rng = np.random.default_rng(0)
    drawn = rng.hypergeometric(40, 360, 50, 4000)
    told = [stratified_estimate([{"N": 9, "n": 9, "a": 4}, {"N": 400, "n": 50, "a": int(count)}]) for count in drawn]
    totals = np.array([found["total"] for found in told])
    assert totals.mean() == pytest.approx(44, abs=4 * totals.std() / math.sqrt(len(totals)))
    assert np.mean([found["variance_total"] for found in told]) == pytest.approx(totals.var(), rel=0.1)
    inside = [pool_recall(4, [{"N": 400, "n": 50, "a": int(count)}]) for count in drawn[:500]]
    covered = np.mean([found["lower"] <= 4 / 44 <= found["upper"] for found in inside])
    assert covered >= 0.95


def test_what_cannot_be_counts_is_refused() -> None:
    for bad in ({"N": 3, "n": 4, "a": 0}, {"N": 3, "n": 2, "a": 3}, {"N": 3, "n": -1, "a": 0}, {"N": 3, "n": 1}):
        with pytest.raises(InputError, match="stratum 0"):
            stratified_estimate([bad])
    with pytest.raises(InputError):
        horvitz_thompson([1], [0])
    with pytest.raises(InputError):
        unseen_positives([1, 1, 1], 2)
    with pytest.raises(InputError, match="half_width is None"):
        sample_size("absolute", p=0.1)
    with pytest.raises(InputError, match="Known: absolute"):
        sample_size("all")
    assert math.isnan(neyman_allocation([5], [0.0], 10)[0])
