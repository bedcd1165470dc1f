"""Intervals over queries hold the true number as often as they say: the short form of tests/speed/intervals.py."""

import pytest

from tests.interval_coverage import RATES, WORLDS, coverage, difference_coverage, micro_coverage

NOISE = 0.012  # of a share of 600 intervals, added to the promised 92 to 98 %


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("n", [20, 50, 200])
def test_95_percent_intervals_of_rates_and_means_cover_92_to_98(name: str, n: int) -> None:
    shares = {rate: coverage(WORLDS[name], n, rate, 600).share for rate in RATES}
    assert all(0.92 - NOISE <= share <= 0.98 + NOISE for share in shares.values()), shares


def test_bootstrap_intervals_of_micro_aucs_and_differences_cover_too() -> None:
    shares = {"micro": micro_coverage(30, 0.9, 150).share, "difference": difference_coverage(20, 400).share}
    assert all(0.92 - 2 * NOISE <= share <= 0.98 + 2 * NOISE for share in shares.values()), shares
