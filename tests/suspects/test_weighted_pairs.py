"""Weighted draws: their probabilities are exact, and their estimate is right whatever the relevance model says."""

import math
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from eds.analysis.weighted_draws import Draw, outside_sample
from eds.errors import InputError
from eds.intervals import clopper_pearson_interval
from eds.pairs import Flags, Integers, Reals
from eds.suspects import draw_weighted, pool
from eds.suspects.weighted_pairs import FLOOR, is_weighted
from eds.universe import PairRules, Universe
from tests.suspects.lists import catalogue, drawn_lists, frame_of

QUERIES, CANDIDATES = [f"q{n:04}" for n in range(12)], [f"c{n:04}" for n in range(40)]
LISTS = frame_of(drawn_lists(12, 2, 20, 40))
UNIVERSE = Universe(catalogue(QUERIES, CANDIDATES), PairRules(one_per_product=False))
POOL = pool(LISTS, 4)
SEEDS = 61
LISTED, SIZE = 12_000, 162_000  # units of the simulated catalogues


@cache
def labels() -> tuple[Integers, Integers]:
    units = np.unique(UNIVERSE.numbers(POOL))
    best = POOL.assign(unit=UNIVERSE.numbers(POOL), first=POOL["sources"].str.contains(":0")).set_index("unit")["first"]
    return units, best[units].to_numpy().astype(np.int64)


def drawn(n: int, seed: int, suspects: pd.DataFrame = POOL) -> pd.DataFrame:
    return draw_weighted(UNIVERSE, n, seed, suspects=suspects, neighbors=LISTS, labels=labels()).suspects


def test_pairs_outside_the_pool_are_drawn_once_and_in_proportion_to_their_probability() -> None:
    first = drawn(60, 3)
    both = drawn(40, 3, first)
    mine = both[is_weighted(both)]
    units = UNIVERSE.numbers(mine)
    assert len(np.unique(units)) == len(mine) == 100
    assert not np.isin(units, UNIVERSE.numbers(POOL)).any()
    assert mine["batch"].nunique() == 2
    pd.testing.assert_frame_equal(both.head(len(first)), first)
    least = FLOOR * 60 / (UNIVERSE.size - len(POOL))
    assert (first[is_weighted(first)]["probability"] >= least - 1e-12).all()


def test_every_unit_is_drawn_as_often_as_its_probability_says() -> None:
    """Horvitz and Thompson's count of the units, and of the units that some model lists, is right on the mean."""
    size = UNIVERSE.size - len(POOL)
    listed = np.setdiff1d(UNIVERSE.numbers(LISTS), UNIVERSE.numbers(POOL))
    every, some, odd = [], [], []
    for seed in range(SEEDS):
        rows = drawn(50, seed).iloc[len(POOL) :]
        weight, units = 1 / rows["probability"].to_numpy(), UNIVERSE.numbers(rows)
        assert len(rows) == 50
        every.append(weight.sum())
        some.append(weight[np.isin(units, listed)].sum())
        odd.append(weight[units % 3 == 0].sum())
    free = np.setdiff1d(np.arange(UNIVERSE.size), UNIVERSE.numbers(POOL))
    for counts, truth in ((every, size), (some, len(listed)), (odd, int((free % 3 == 0).sum()))):
        assert abs(np.mean(counts) - truth) < 4 * np.std(counts) / math.sqrt(SEEDS)


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(InputError, match="cannot be drawn"):
        drawn(10_000, 0)


# --- the estimate, by simulation: listed units and a large rest, as in a catalogue


def simulate(kind: str, seed: int, n: int = 800, batches: int = 2) -> tuple[float, Any]:
    """The true positives outside the pool, and the sample of a uniform draw and weighted ones."""
    truth, draws = drawn_world(kind, seed, n, batches)
    return truth, outside_sample(SIZE, draws)


def drawn_world(kind: str, seed: int, n: int = 800, batches: int = 2) -> tuple[float, list[Draw]]:
    """The true positives outside the pool, and a uniform draw and weighted ones, all labelled."""
    rng = np.random.default_rng([seed, len(kind)])
    quality = rng.normal(size=LISTED)
    chance = 1 / (1 + np.exp(3.5 - 1.8 * quality))
    value = np.concatenate([rng.random(LISTED) < chance, rng.random(SIZE - LISTED) < 0.0002])
    guess = {"right": chance, "useless": rng.permutation(chance)}
    guess["inverted"] = np.sort(chance)[np.argsort(np.argsort(-chance))]
    f = np.concatenate([guess[kind], np.full(SIZE - LISTED, 0.0002 if kind == "right" else 0.02)])
    free, draws = np.ones(len(value), bool), []
    for number in range(batches + 1):
        g = np.sqrt(f * (1 - f)) * free
        share = free / free.sum() if number == 0 else FLOOR * free / free.sum() + (1 - FLOOR) * g / g.sum()
        likely = np.minimum((n // 4 if number == 0 else n) * share, 1)
        some = systematic(likely, rng)
        draws.append(Draw(1 / likely[some], value[some].astype(np.int64), np.ones(len(some), bool)))
        free[some] = False
    return float(value.sum()), draws


def systematic(chance: Reals, rng: np.random.Generator) -> Integers:
    order = rng.permutation(len(chance))
    return order[np.diff(np.floor(np.append(0, np.cumsum(chance[order])) + rng.random())) > 0]


@pytest.mark.parametrize("kind", ["right", "useless", "inverted"])
def test_the_interval_of_the_total_covers_the_truth_whatever_the_model_guesses(kind: str) -> None:
    """Long form: tests/speed/weighted_draws.py."""
    inside, error = [], []
    for seed in range(64):
        truth, sample = simulate(kind, seed)
        low, high = sample.limits(0.95)
        inside.append(low <= truth <= high)
        error.append(sample.total / truth - 1)
    assert np.mean(inside) >= 0.88
    assert abs(np.mean(error)) < 4 * np.std(error) / 8


def test_equal_draws_have_the_limits_of_clopper_and_pearson() -> None:
    value = np.array([1] * 40 + [0] * 960)
    sample = outside_sample(10**7, [Draw(np.full(1000, 10**4), value, np.ones(1000, bool))])
    assert sample is not None
    low, high = clopper_pearson_interval(40, 1000)
    assert sample.total == pytest.approx(40 * 10**4)
    assert np.allclose(sample.limits(0.95), (low * 10**7, high * 10**7), rtol=0.01)


def test_none_seen_does_not_mean_none_there() -> None:
    draw = Draw(np.full(300, 100.0), np.zeros(300, np.int64), np.ones(300, bool))
    sample = outside_sample(30_000, [draw])
    assert sample is not None
    assert sample.total == 0
    assert sample.limits(0.95)[1] == pytest.approx(30_000 * clopper_pearson_interval(0, 300)[1], rel=0.02)


def test_what_was_not_reached_is_left_out_and_what_was_passed_over_widens() -> None:
    value = np.array([1, 0, 0, 0, 0] * 40)
    whole = outside_sample(20_000, [Draw(np.full(200, 100.0), value, np.ones(200, bool))])
    half: Flags = np.arange(200) < 100
    part = outside_sample(20_000, [Draw(np.full(200, 100.0), np.where(half, value, -1), half)])
    torn = outside_sample(20_000, [Draw(np.full(200, 100.0), np.where(half, value, -1), np.ones(200, bool))])
    assert whole is not None
    assert part is not None
    assert torn is not None
    assert [part.total, whole.total] == pytest.approx([4000, 4000])
    widths = [one.limits(0.95)[1] - one.limits(0.95)[0] for one in (whole, part, torn)]
    assert widths[0] < widths[1] < widths[2] / 3
    assert outside_sample(20_000, [Draw(np.full(200, 100.0), np.full(200, -1), ~half & half)]) is None


def test_a_draw_that_is_judged_in_part_speaks_for_its_units_that_later_draws_leave_out() -> None:
    """Half of 200 units are drawn, a third of them is judged, and half of what is left is drawn and judged."""
    totals = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        value, order = (rng.random(200) < 0.3).astype(np.int64), rng.permutation(200)
        first, second = order[:100], order[100:150]
        reached = np.arange(100) < 34
        draws = [
            Draw(np.full(100, 2.0), np.where(reached, value[first], -1), reached),
            Draw(np.full(50, 2.0), value[second], np.ones(50, bool)),
        ]
        sample = outside_sample(200, draws)
        assert sample is not None
        totals.append(sample.total - value.sum())
    assert abs(np.mean(totals)) < 4 * np.std(totals) / 20
