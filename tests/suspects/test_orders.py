"""Every design's probabilities are exact: held against how often each pair is really chosen."""

import itertools
import math

import numpy as np
import pytest

from eds.suspects.orders import ABSENT, ORDERS, Arrangement, Work, arrange, reciprocal_rank_fusion

SEEDS = 1500


def work() -> Work:
    """Thirty pairs of six queries, proposed by one, two or three models."""
    rng = np.random.default_rng(1)
    ranks = np.where(rng.random((30, 3)) < 0.5, rng.integers(0, 4, (30, 3)), ABSENT)
    ranks[(ranks == ABSENT).all(axis=1), 0] = 3
    return Work(np.arange(30) // 5, ranks)


def dealt(order: str, seed: int, batch_size: int = 8) -> Arrangement:
    wins, losses = np.array([5, 0, 2]), np.array([1, 4, 2])
    rng = np.random.default_rng(seed)
    return arrange(work(), order, batch_size, rng, wins=wins, losses=losses, floor=0.25)


@pytest.mark.parametrize("order", ORDERS)
def test_every_batch_estimates_the_total_without_bias(order: str) -> None:
    """Judged before + judged now / probability, for each batch t, has the truth as its mean."""
    values = np.random.default_rng(7).random(30) < np.linspace(0.1, 0.9, 30)
    estimates = np.empty((SEEDS, 4))
    for seed in range(SEEDS):
        found = dealt(order, seed)
        assert sorted(found.position.tolist()) == list(range(30))
        for batch in range(4):
            now = found.batch == batch
            estimates[seed, batch] = values[found.batch < batch].sum() + (values[now] / found.probability[now]).sum()
    error = estimates.std(axis=0) / math.sqrt(SEEDS)
    assert (np.abs(estimates.mean(axis=0) - values.sum()) <= 4 * error + 1e-9).all()
    assert np.allclose(estimates[:, 3], values.sum()), "the last batch completes a census"


@pytest.mark.parametrize("order", ["random", "fusion"])
def test_pairs_enter_the_first_batch_as_often_as_told(order: str) -> None:
    entered, told = np.zeros(30), np.zeros(30)
    for seed in range(SEEDS):
        found = dealt(order, seed)
        first = found.batch == 0
        entered += first
        told[first] = found.probability[first]
    assert (told > 0).all(), "no pair is beyond reach"
    assert (np.abs(entered / SEEDS - told) <= 4 * np.sqrt(told * (1 - told) / SEEDS) + 1e-9).all()


@pytest.mark.parametrize(("order", "size"), list(itertools.product(ORDERS, [1, 7, 29, 30, 31])))
def test_batches_have_their_size(order: str, size: int) -> None:
    found = dealt(order, 0, size)
    counts = np.bincount(found.batch)
    assert counts.sum() == 30
    assert counts.max() <= size
    if order == "random":
        assert np.ptp(counts) <= 1
    else:
        assert (counts[:-1] == size).all()


def test_the_floor_gives_the_shallowest_pairs_their_share() -> None:
    """A shallow pair of a bad arm is reached early all the same."""
    ranks = np.array([[rank, ABSENT] for rank in range(50)] + [[ABSENT, rank] for rank in range(50)])
    chance = np.zeros(100)
    for seed in range(200):
        found = arrange(
            Work(np.zeros(100, np.int64), ranks), "bandit", 10, np.random.default_rng(seed),
            wins=np.array([1000, 0]), losses=np.array([0, 1000]), floor=0.4,
        )  # fmt: skip
        chance += found.batch == 0
    chance /= 200
    assert chance[50] > 0.95, "depth 0 of the bad arm: half the floor is shared by two pairs"
    assert chance[51:].mean() < 0.05
    assert chance[:6].min() > 0.95


def test_no_pair_is_out_of_the_bandits_reach() -> None:
    """A loved arm with plenty of shallow pairs leaves the deep pairs of the other a small chance all the same."""
    ranks = np.array([[ABSENT, 0]] * 200 + [[rank, ABSENT] for rank in range(1, 51)])
    reached = 0
    for seed in range(300):
        found = arrange(
            Work(np.zeros(250, np.int64), ranks), "bandit", 10, np.random.default_rng(seed),
            wins=np.array([0, 1000]), losses=np.array([1000, 0]), floor=0.4,
        )  # fmt: skip
        reached += (found.batch[201:] == 0).sum()
    expected = 300 * 49 * 0.5 * 0.4 * 10 / 250
    assert abs(reached - expected) < 5 * math.sqrt(expected)


def test_fusion_is_the_sum_of_reciprocal_ranks() -> None:
    rows = [[0, 2, ABSENT], [ABSENT, ABSENT, 9]]
    expected = [1 / 61 + 1 / 63, 1 / 70]
    assert reciprocal_rank_fusion(np.array(rows)).tolist() == pytest.approx(expected, abs=1e-12)
