"""Every design's probabilities are exact: held against how often each pair is really chosen."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

from eds.registry import SAMPLING_ORDERS
from eds.suspects import Batching, pool, reorder
from eds.suspects.orders.fusion import reciprocal_rank_fusion
from eds.suspects.sampling_order import ABSENT, Arrangement, Work, arrange
from tests import recipes
from tests.suspects.lists import drawn_lists, frame_of

SEEDS = 1500


def work() -> Work:
    """Thirty pairs of six queries, proposed by one, two or three models."""
    rng = np.random.default_rng(1)
    ranks = np.where(rng.random((30, 3)) < 0.5, rng.integers(0, 4, (30, 3)), ABSENT)
    ranks[(ranks == ABSENT).all(axis=1), 0] = 3
    return Work(np.arange(30) // 5, ranks, np.array([5, 0, 2]), np.array([1, 4, 2]), 0.25)


def dealt(order: str, seed: int, batch_size: int = 8) -> Arrangement:
    return arrange(work(), order, batch_size, np.random.default_rng(seed))


@pytest.mark.parametrize("order", SAMPLING_ORDERS.names())
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


@pytest.mark.parametrize(("order", "size"), list(itertools.product(SAMPLING_ORDERS, [1, 7, 29, 30, 31])))
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
        arms = Work(np.zeros(100, np.int64), ranks, np.array([1000, 0]), np.array([0, 1000]), 0.4)
        found = arrange(arms, "bandit", 10, np.random.default_rng(seed))
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
        arms = Work(np.zeros(250, np.int64), ranks, np.array([0, 1000]), np.array([1000, 0]), 0.4)
        found = arrange(arms, "bandit", 10, np.random.default_rng(seed))
        reached += (found.batch[201:] == 0).sum()
    expected = 300 * 49 * 0.5 * 0.4 * 10 / 250
    assert abs(reached - expected) < 5 * math.sqrt(expected)


def test_fusion_is_the_sum_of_reciprocal_ranks() -> None:
    rows = [[0, 2, ABSENT], [ABSENT, ABSENT, 9]]
    expected = [1 / 61 + 1 / 63, 1 / 70]
    assert reciprocal_rank_fusion(np.array(rows)).tolist() == pytest.approx(expected, abs=1e-12)


def test_the_recipe_adds_an_order_in_one_file(tmp_path: Path) -> None:
    copy = recipes.follow("Add a sampling order", tmp_path)
    batches, chances, names = json.loads(
        copy.python(
            "import json; from eds.registry import SAMPLING_ORDERS\n"
            "from eds.suspects import Batching, lists_frame, pool\n"
            "suspects = pool(lists_frame({'m': {'q': list('abcde')}}), 5, Batching('shuffled', 2))\n"
            "columns = suspects.sort_values('position')[['batch', 'probability']]\n"
            "print(json.dumps([*columns.T.to_numpy().tolist(), SAMPLING_ORDERS.names()]))"
        )
    )
    assert batches == [0, 0, 1, 1, 2]
    assert chances == [2 / 5, 2 / 5, 2 / 3, 2 / 3, 1]
    assert names == ["bandit", "contrast", "fusion", "learned", "random", "shuffled"]


def test_orders_that_learn_ask_first_what_the_labels_say() -> None:
    """Of 8,000 pairs a third is judged: what is asked next is similar more often, and still estimates without bias."""
    lists = frame_of(drawn_lists(200, 3, 10, 60))
    table = pool(lists, 10, Batching(size=400))
    best = table["sources"].str.count(":[0-3]").to_numpy()
    value = (np.random.default_rng(0).random(len(table)) < np.array([0.02, 0.2, 0.6, 0.95])[best]).astype(int)
    truth = table[["query_id", "candidate_id"]].assign(value=value)
    known, rest = truth[table["batch"] < 3], table["batch"] >= 3
    for order, better in (("learned", True), ("contrast", False)):
        found = reorder(table, known, Batching(order, 400, truth=known))
        first = found["batch"] == found.loc[rest, "batch"].min()
        rate = value[first.to_numpy()].mean()
        assert (rate > 1.5 * value[rest.to_numpy()].mean()) == better
        assert (found.loc[rest, "probability"] > 0).all()
        proposed = table["sources"].str.count(":").to_numpy()
        if not better:
            assert (proposed[first] < 3).mean() > (proposed[rest] < 3).mean()


def test_without_labels_learned_orders_deal_evenly() -> None:
    found = dealt("learned", 0)
    assert np.allclose(found.probability[found.batch == 0], 8 / 30)
