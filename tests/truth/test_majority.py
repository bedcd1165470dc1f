from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds.errors import InputError
from eds.truth.majority import (
    NO_LABEL,
    STATUS,
    expected_votes_early_stop,
    majority_accuracy,
    majority_vote,
    tally,
)
from tests.reference import truth as reference

ANSWERS = (1, 0, "skip")
PREFIXES = [
    (list(votes), panel)
    for panel in range(1, 6)
    for asked in range(panel + 1)
    for votes in product(ANSWERS, repeat=asked)
]


def test_all_prefixes_up_to_five_experts_equal_trying_every_completion() -> None:
    assert len(PREFIXES) == 542
    for votes, panel in PREFIXES:
        found = majority_vote(votes, panel)
        assert (found["status"], found["label"]) == reference.status_by_trying(votes, panel), (votes, panel)


def test_the_vectorised_rule_is_the_single_one() -> None:
    counts = np.array([[v.count(1), v.count(0), v.count("skip"), panel] for v, panel in PREFIXES], dtype=np.int64)
    status, label = tally(*counts.T)
    single = [majority_vote(votes, panel) for votes, panel in PREFIXES]
    assert [STATUS[place] for place in status] == [one["status"] for one in single]
    assert [None if one == NO_LABEL else one for one in label.tolist()] == [one["label"] for one in single]


@given(st.integers(1, 9).flatmap(lambda panel: st.lists(st.sampled_from(ANSWERS), min_size=panel, max_size=panel)))
def test_early_stop_never_changes_a_label_and_never_reopens(votes: list[Any]) -> None:
    panel = len(votes)
    final = majority_vote(votes, panel)["label"]
    settled = False
    for asked in range(panel + 1):
        found = majority_vote(votes[:asked], panel)
        if found["status"] != "open":
            assert found["label"] == final
            settled = True
        else:
            assert not settled


@given(st.lists(st.sampled_from([1, 0, "skip", None]), max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_votes_and_silence_do_not_matter(votes: list[Any], random: Any) -> None:
    shuffled = random.sample(votes, len(votes))
    told = [vote for vote in votes if vote is not None]
    assert majority_vote(votes, 8) == majority_vote(shuffled, 8) == majority_vote(told, 8)


@pytest.mark.parametrize("votes", [[2], [True], ["yes"], [float("nan")], [-1], [0.5]])
def test_a_foreign_vote_is_refused(votes: list[Any]) -> None:
    with pytest.raises(InputError, match="a vote is"):
        majority_vote(votes, 3)


@pytest.mark.parametrize(("votes", "panel"), [([1, 1, 0], 2), ([1], 0), ([], -1), ([1], 2.0), ([1], True)])
def test_a_panel_too_small_is_refused(votes: list[Any], panel: Any) -> None:
    with pytest.raises(InputError, match="panel"):
        majority_vote(votes, panel)


@pytest.mark.parametrize("panel", range(1, 8))
@pytest.mark.parametrize("q", [0.0, 0.3, 0.5, 0.85, 1.0])
def test_expected_votes_equal_the_sum_over_all_answers(panel: int, q: float) -> None:
    assert expected_votes_early_stop(panel, q) == pytest.approx(reference.expected_votes(panel, q), abs=1e-12)


@given(st.floats(0, 1))
def test_expected_votes_closed_forms(q: float) -> None:
    assert expected_votes_early_stop(2, q) == pytest.approx(1 + q, abs=1e-12)
    assert expected_votes_early_stop(3, q) == pytest.approx(2 + 2 * q * (1 - q), abs=1e-12)


@pytest.mark.parametrize("panel", range(1, 8))
def test_accuracy_equals_the_sum_over_all_answers(panel: int) -> None:
    found = majority_accuracy(panel, 0.93, 0.81)
    sensitivity, specificity = reference.accuracy(panel, 0.93, 0.81)
    assert found["sensitivity"] == pytest.approx(sensitivity, abs=1e-12)
    assert found["specificity"] == pytest.approx(specificity, abs=1e-12)


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_shares_outside_0_to_1_are_refused(share: float) -> None:
    with pytest.raises(InputError, match="0 to 1"):
        expected_votes_early_stop(3, share)
    with pytest.raises(InputError, match="0 to 1"):
        majority_accuracy(3, 0.9, share)
