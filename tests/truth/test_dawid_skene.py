from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds import truth
from eds.errors import InputError
from eds.truth.dawid_skene import fit
from tests.reference import truth as reference
from tests.truth.acts import act, campaigns, frame

cast = st.dictionaries(
    st.tuples(st.sampled_from("abcde"), st.sampled_from("xyz")), st.sampled_from([0, 1]), min_size=1
).map(lambda found: [(task, worker, value) for (task, worker), value in found.items()])


@given(cast, st.integers(1, 5), st.randoms(use_true_random=False))
def test_posteriors_equal_plain_loops(votes: list[tuple[str, str, int]], iterations: int, random: Any) -> None:
    found = truth.dawid_skene(votes, iterations)
    assert found == pytest.approx(reference.dawid_skene(votes, iterations), abs=1e-9)
    assert found == truth.dawid_skene(random.sample(votes, len(votes)), iterations)


@pytest.mark.parametrize(
    ("votes", "fault"),
    [([("a", "x", 2)], "a vote is"), ([("a", "x")], "a vote is"), ([("a", "x", 1), ("a", "x", 0)], "votes twice")],
)
def test_bad_votes_are_refused(votes: Any, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        truth.dawid_skene(votes, 3)


def test_iterations_must_be_some() -> None:
    with pytest.raises(InputError, match="iterations is 0"):
        truth.dawid_skene([("a", "x", 1)], 0)
    assert truth.dawid_skene([], 3) == {}


def test_anchors_turn_a_flipped_solution() -> None:
    """Two against one, everywhere: without anchors the two are believed, with some the one."""
    task, worker = np.repeat(np.arange(8), 3), np.tile(np.arange(3), 8)
    true = np.array([1, 0, 1, 0, 1, 0, 1, 0])
    value = np.where(worker == 0, true[task], 1 - true[task]).astype(np.int8)
    plain = fit(task, worker, value, tasks=8, workers=3, iterations=20)
    assert ((plain.posterior > 0.5) == (true == 0)).all()
    anchored = fit(task, worker, value, tasks=8, workers=3, iterations=20, known=dict(enumerate(true[:6].tolist())))
    assert ((anchored.posterior > 0.5) == (true == 1)).all()
    assert anchored.confusion[0, 1, 1] > 0.99
    assert anchored.confusion[1, 1, 1] < 0.01


def test_an_anchor_holds_against_all_votes() -> None:
    task, worker = np.repeat(np.arange(6), 3), np.tile(np.arange(3), 6)
    value = np.array([1, 1, 1, 0, 1, 0], dtype=np.int8)[task]
    for iterations in (1, 2, 9):
        fitted = fit(task, worker, value, tasks=6, workers=3, iterations=iterations, known={0: 0})
        assert fitted.posterior[0] == 0.0
        assert fitted.posterior[1] < 1.0


@given(campaigns())
def test_the_consensus_is_that_of_the_votes(acts: list[dict[str, Any]]) -> None:
    found = truth.consensus(frame(acts), iterations=4)
    votes = [
        ("\t".join(pair), name, value)
        for pair, by in reference.votes(acts, ("normal",)).items()
        for name, value in by.items()
        if value is not None
    ]
    expected = reference.dawid_skene(votes, 4) if votes else {}
    keys = found.pairs["query_id"].astype(object) + "\t" + found.pairs["candidate_id"].astype(object)
    assert dict(zip(keys, found.pairs["posterior"], strict=True)) == pytest.approx(expected, abs=1e-9)
    assert (found.pairs["differs"] == ((found.pairs["posterior"].round(12) > 0.5) != found.pairs["majority"])).all()
    queue = found.pairs["entropy"].tolist()
    assert queue == sorted(queue, reverse=True)
    p = found.pairs["posterior"].clip(1e-15, 1 - 1e-15)
    np.testing.assert_allclose(found.pairs["entropy"], -(p * np.log2(p) + (1 - p) * np.log2(1 - p)), atol=1e-9)


def test_gold_anchors_the_consensus_and_its_acts_are_read() -> None:
    rows = [
        act(
            3 * n + place,
            candidate_id=f"c{n}",
            expert_id=name,
            value=(n + (name != "ada")) % 2,
            kind="gold" if n < 6 else "normal",
        )
        for n in range(8)
        for place, name in enumerate(("ada", "bo", "cy"))
    ]
    gold = pd.DataFrame({"query_id": "q1", "candidate_id": [f"c{n}" for n in range(6)], "value": [0, 1] * 3})
    found = truth.consensus(frame(rows), gold=gold)
    free = found.pairs[found.pairs["candidate_id"].isin(["c6", "c7"])].sort_values("candidate_id")
    assert (free["posterior"] > 0.5).tolist() == [False, True]
    assert free["majority"].tolist() == [1, 0]
    assert free["differs"].all()
    experts = found.experts.set_index("expert_id")
    assert experts["sensitivity"].round(2).to_dict() == {"ada": 1.0, "bo": 0.0, "cy": 0.0}


@given(campaigns())
def test_disputed_pairs_have_both_votes_closest_first(acts: list[dict[str, Any]]) -> None:
    found = truth.disputed_pairs(frame(acts))
    expected = []
    for pair, by in reference.votes(acts, ("normal",)).items():
        values = list(by.values())
        yes, no = values.count(1), values.count(0)
        if yes and no:
            expected.append((abs(yes - no), -(yes + no), *pair, yes, no, values.count(None), yes == no))
    assert [tuple(one) for one in found.to_numpy().tolist()] == [row[2:] for row in sorted(expected)]


def test_a_lead_for_either_side_is_as_close() -> None:
    names = ("ada", "bo", "cy", "dee")
    votes: dict[str, list[int | None]] = {
        "for": [1, 1, 1, 0],
        "against": [0, 0, 1, 0],
        "close": [0, 0, 1, None],
        "tie": [1, 0, 1, 0],
        "sure": [1] * 4,
    }
    acts = [
        act(4 * row + place, candidate_id=pair, expert_id=name, value=votes[pair][place])
        for row, pair in enumerate(votes)
        for place, name in enumerate(names)
    ]
    assert truth.disputed_pairs(frame(acts))["candidate_id"].tolist() == ["tie", "close", "against", "for"]
