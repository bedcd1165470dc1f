"""Estimates from a judged part of the pool, by simulation with a known truth."""

import numpy as np
import pandas as pd
import pytest

from eds.suspects import Batching, add_pairs, pool, prefix_weights, reorder
from eds.suspects.partial_estimates import pool_total
from tests.suspects.lists import drawn_lists, frame_of

ROWS = drawn_lists(12, 3, 4, 30, seed=2)
SEEDS = 30


def labelled(suspects: pd.DataFrame) -> pd.DataFrame:
    """Labels that depend on who proposes the pair, the same in every simulation."""
    ordered = suspects.sort_values(["query_id", "candidate_id"], ignore_index=True)
    chance = 0.25 + 0.3 * ordered["sources"].str.count(";")
    drawn = np.random.default_rng(5).random(len(ordered)) < chance
    return ordered.assign(value=drawn.astype(int))[["query_id", "candidate_id", "value"]]


TRUTH = labelled(pool(frame_of(ROWS), 4))


@pytest.mark.parametrize("order", ["random", "fusion", "bandit"])
def test_a_judged_prefix_estimates_the_positives_without_bias(order: str) -> None:
    """Two batches and a half; and, learning, a part of one batch, a new order, then a batch of that."""
    plain, learning = np.empty(SEEDS), np.empty(SEEDS)
    for seed in range(SEEDS):
        found = pool(frame_of(ROWS), 4, Batching(order=order, seed=seed, size=20))
        told = found.merge(TRUTH, how="left")
        plain[seed] = prefix_weights(found, found.head(50)) @ told["value"]
        judged = told[told["position"] < 12]
        again = reorder(found, judged, Batching(order=order, seed=seed, size=20, truth=judged[TRUTH.columns]))
        second = sorted(again["batch"].unique())[1]
        learning[seed] = prefix_weights(again, again[again["batch"] <= second]) @ again.merge(TRUTH)["value"]
    for estimates in (plain, learning):
        error = estimates.std() / np.sqrt(SEEDS)
        assert abs(estimates.mean() - TRUTH["value"].sum()) <= 4 * error
        assert error > 0


def test_random_pairs_that_are_judged_far_behind_change_nothing() -> None:
    """One judged row of a batch has no spread: it must not take the interval from the batches before it."""
    found = pool(frame_of(ROWS), 4, Batching(size=20))
    value = found.merge(TRUTH, how="left")["value"].to_numpy(np.float64)
    known = (found["position"] < 40).to_numpy()
    more = known | (found["position"] == 65).to_numpy()
    most = np.ones(len(found))
    plain, behind = (pool_total(found, judged, np.where(judged, value, 0.0), most) for judged in (known, more))
    assert (plain.total, plain.variance) == (behind.total, behind.variance)
    assert np.isfinite(plain.variance)


def test_everything_judged_is_a_census() -> None:
    found = pool(frame_of(ROWS), 4, Batching(order="fusion", size=20))
    assert (prefix_weights(found, TRUTH) == 1).all()
    assert (prefix_weights(found, TRUTH.head(0)) == 0).all()


def test_two_draws_are_estimated_apart() -> None:
    before = pool(frame_of([row for row in ROWS if row[0] != "m2"]), 4, Batching(size=20))
    after = pool(frame_of(ROWS), 4, Batching(size=20), previous=before)
    assert after["stratum"].nunique() == 2
    weights = prefix_weights(after, before)
    assert (weights[: len(before)] == 1).all()
    assert (weights[len(before) :] == 0).all()


def test_rows_of_other_origins_weigh_nothing() -> None:
    found = pool(frame_of(ROWS), 4)
    own = add_pairs(pd.DataFrame({"query_id": ["u"], "candidate_id": ["v"]}), found)
    assert prefix_weights(own, own)[-1] == 0


def test_row_order_does_not_matter() -> None:
    found = pool(frame_of(ROWS), 4, Batching(order="bandit", size=20))
    shuffled = found.sample(frac=1, random_state=1)
    weights = pd.Series(prefix_weights(found, found.head(30)), index=found.index)
    assert prefix_weights(shuffled, found.head(30)).tolist() == weights[shuffled.index].tolist()
    one, two = (reorder(frame, found.head(30), Batching(order="bandit", size=20)) for frame in (found, shuffled))
    by_ids = ["query_id", "candidate_id"]
    pd.testing.assert_frame_equal(
        one.sort_values(by_ids, ignore_index=True), two.sort_values(by_ids, ignore_index=True)
    )


@pytest.mark.parametrize("order", ["random", "fusion", "bandit"])
@pytest.mark.parametrize("judged", [30, 70])
def test_the_variance_of_the_pools_total_comes_from_its_design(order: str, judged: int) -> None:
    """Over many seeds: the mean of the variances is that of the totals, or above it (blocks of a batch are alike)."""
    totals, variances = np.empty(SEEDS), np.empty(SEEDS)
    for seed in range(SEEDS):
        found = pool(frame_of(ROWS), 4, Batching(order=order, seed=seed, size=20))
        value = found.merge(TRUTH, how="left")["value"].to_numpy(np.float64)
        known = (found["position"] < judged).to_numpy()
        made = pool_total(found, known, np.where(known, value, 0.0), np.ones(len(found)))
        totals[seed], variances[seed] = made.total, made.variance
    assert totals.mean() == pytest.approx(TRUTH["value"].sum(), abs=4 * totals.std() / np.sqrt(SEEDS))
    spread = totals.var(ddof=1)
    assert spread * 0.6 < variances.mean() < spread * 3


def test_the_variance_of_one_simple_random_sample_is_cochrans() -> None:
    found = pool(frame_of(ROWS), 4, Batching(size=1000)).assign(probability=1.0)
    known = (found["position"] < 40).to_numpy()
    value = np.where(known, found.merge(TRUTH, how="left")["value"], 0.0)
    made, size = pool_total(found, known, value, np.ones(len(found))), len(found)
    assert made.total == pytest.approx(size * value[known].mean())
    assert made.variance == pytest.approx(size**2 * (1 - 40 / size) * value[known].var(ddof=1) / 40)


def test_a_judged_part_in_random_order_is_as_precise_as_one_sample() -> None:
    """Nine of ten batches: a mean of the batches' estimates with equal weights would have four times the variance."""
    found = pool(frame_of(ROWS), 4, Batching(size=12, seed=1))
    known = (found["batch"] < found["batch"].max()).to_numpy()
    value = np.where(known, found.merge(TRUTH, how="left")["value"], 0.0)
    n, size = int(known.sum()), len(found)
    made = pool_total(found, known, value, np.ones(size))
    assert made.variance < 1.6 * size**2 * (1 - n / size) * value[known].var(ddof=1) / n


def test_pairs_of_ones_own_choice_are_a_census_or_unknown() -> None:
    found = pool(frame_of(ROWS), 4)
    own = add_pairs(pd.DataFrame({"query_id": ["u"] * 4, "candidate_id": list("vwxy")}), found)
    known = np.ones(len(own), np.bool_)
    whole = pool_total(own, known, np.ones(len(own)), np.ones(len(own)))
    assert (whole.total, whole.variance, whole.unknown) == (len(own), 0, 0)
    known[-2:] = False
    part = pool_total(own, known, np.where(known, 1.0, 0.0), np.ones(len(own)))
    assert (part.total, part.unknown, part.assumed) == (len(own), 2, 2)
    nothing = pool_total(own, np.zeros(len(own), np.bool_), np.zeros(len(own)), np.ones(len(own)))
    assert np.isnan(nothing.total)
    assert nothing.unknown == len(own)
