"""Estimates from a judged part of the pool, by simulation with a known truth."""

import numpy as np
import pandas as pd
import pytest

from eds.suspects import Batching, add_pairs, pool, prefix_weights, reorder
from tests.suspects.lists import drawn_lists, frame_of

ROWS = drawn_lists(12, 3, 4, 30, seed=2)
SEEDS = 60


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
