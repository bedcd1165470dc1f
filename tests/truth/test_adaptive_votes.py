"""Votes that need not be asked: fewer by 40 % at the same error of the truth, on pairs whose truth is known.

The long form, with 200 catalogues, is tests/speed/replication.py.
"""

from itertools import product

import numpy as np
import pytest

from eds.errors import InputError
from eds.truth.adaptive_votes import (
    check_control,
    expected_votes,
    experts_error,
    needed_leads,
    recalibrated,
    stop_votes,
)
from eds.truth.majority import majority_vote
from tests.speed.replication import CONTROL, MODELS, simulate


@pytest.mark.parametrize("panel", [3, 4, 5])
@pytest.mark.parametrize("f", [0.2, 0.4, 0.6])
def test_labels_of_fewer_votes_are_expected_to_be_as_right_as_a_full_panels(panel: int, f: float) -> None:
    """By every sequence of votes, where the relevance model knows nothing: a lead of two of five would not do."""
    leads = needed_leads(np.full(10, f), 0.1, panel)
    votes = np.array(list(product((1, 0), repeat=panel)))
    stopped = stop_votes(votes, np.tile(leads[0], (len(votes), 1)))
    ties = votes.sum(axis=1) * 2 > panel  # a tie is negative
    wrong = {"fewer": 0.0, "all": 0.0}
    for truth, share in ((1, f), (0, 1 - f)):
        chance = share * np.where(votes == truth, 0.9, 0.1).prod(axis=1)
        wrong["fewer"] += float(chance[stopped.label != truth].sum())
        wrong["all"] += float(chance[ties != truth].sum())
    assert wrong["fewer"] <= 1.02 * wrong["all"] + 1e-12


@pytest.mark.parametrize("model", MODELS)
def test_the_truth_is_as_right_as_a_full_panels_with_fewer_votes(model: str) -> None:
    found = [simulate(seed, model) for seed in range(4)]
    votes, error, full = (float(np.mean([getattr(one, name) for one in found])) for name in vars(found[0]))
    assert error <= 1.03 * full + 0.0005
    assert votes <= (1.83 if model in ("right", "too sure") else 2.35)  # 1.8: 40 % fewer than 3
    assert votes >= CONTROL * 3 + (1 - CONTROL)


def test_a_stopped_label_is_as_sure_as_asked_for_by_bayes() -> None:
    error, panel = 0.12, 3
    every = np.concatenate([np.linspace(0.02, 0.98, 25), np.full(200, 0.02)])
    for probability, (similar, different) in zip(every, needed_leads(every, error, panel), strict=True):
        right, wrong = 1 - error, error
        most_wrong = 1.1 * (3 * error**2 * right + error**3)
        for lead, prior in ((similar, probability), (different, 1 - probability)):
            if lead > panel:  # a full panel decides
                continue
            sure = prior * right**lead / (prior * right**lead + (1 - prior) * wrong**lead)
            assert 1 - sure <= most_wrong + 1e-12
            before = prior * right ** (lead - 1)
            assert (
                lead == 1
                or (1 - prior) * wrong ** (lead - 1) / (before + (1 - prior) * wrong ** (lead - 1)) > most_wrong
            ), "one vote less would not do"


@pytest.mark.parametrize("leads", [(1, 1), (2, 2), (3, 1), (9, 9)])
def test_votes_stop_at_the_first_that_settles_it(leads: tuple[int, int]) -> None:
    every = np.array(list(product((1, 0, -1), repeat=3)))
    found = stop_votes(every, np.tile(leads, (len(every), 1)))
    for votes, label, count in zip(every.tolist(), found.label, found.votes, strict=True):
        for asked in range(1, 4):  # by the definition, one vote after the other
            given = [("skip" if vote == -1 else vote) for vote in votes[:asked]]
            state = majority_vote(given, 3)
            ahead = state["positive"] - state["negative"]
            if state["label"] is not None or ahead >= leads[0] or -ahead >= leads[1] or asked == 3:
                break
        assert count == asked
        assert label == (-1 if state["positive"] + state["negative"] == 0 else int(ahead > 0))


def test_expected_votes_are_those_of_a_simulation() -> None:
    rng = np.random.default_rng(0)
    f = np.repeat([0.02, 0.3, 0.6, 0.95], 25_000)
    truth = rng.random(len(f)) < f
    votes = (truth[:, None] ^ (rng.random((len(f), 5)) < 0.1)).astype(np.int64)
    leads = needed_leads(f, 0.1, 5)
    assert expected_votes(leads, f, 0.1, 5) == pytest.approx(stop_votes(votes, leads).votes.mean(), abs=0.01)


def test_the_experts_error_is_found_from_their_disagreement() -> None:
    rng = np.random.default_rng(1)
    for error in (0.05, 0.2):
        votes = (rng.random((20_000, 3)) < error).sum(axis=1)
        assert experts_error(votes, 3 - votes) == pytest.approx(error, abs=0.01)


def test_what_control_pairs_do_not_bear_out_saves_nothing() -> None:
    rng = np.random.default_rng(2)
    f = rng.random(4000)
    at = np.arange(400)
    assert np.ptp(recalibrated(f, at, rng.integers(0, 2, 400))) < 0.5  # the model knows nothing
    inverted = recalibrated(f, at, (rng.random(400) > f[:400]).astype(np.int64))
    assert np.ptp(inverted) == 0
    right = (rng.random(400) < f[:400]).astype(np.int64)
    assert np.abs(recalibrated(f, at, right) - f).mean() < 0.05
    few = np.arange(10)
    assert recalibrated(f, few, right[:10]) is f


def test_the_control_check_counts_labels_that_turned() -> None:
    votes = np.array([[0, 0, 0]] * 8 + [[0, 1, 1]] * 2)
    check = check_control(votes, np.tile([3, 1], (10, 1)))
    assert (check.pairs, check.votes, check.panel, check.turned) == (10, 1.0, 3.0, 2)
    assert check.low < 0.2 < check.high
    assert check_control(votes[:0], np.zeros((0, 2), np.int64)).pairs == 0


def test_pairs_that_matter_get_two_votes_and_nonsense_is_refused() -> None:
    f = np.array([0.01, 0.99])
    assert needed_leads(f, 0.1, 3).min(axis=1).tolist() == [1, 1]
    assert needed_leads(f, 0.1, 3, matters=[True, False]).min(axis=1).tolist() == [2, 1]
    with pytest.raises(InputError, match="panel is 0"):
        needed_leads(f, 0.1, 0)
    with pytest.raises(InputError, match="not from 0 to 1"):
        needed_leads(np.array([1.5]), 0.1, 3)
