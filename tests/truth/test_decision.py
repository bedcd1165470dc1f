from datetime import timedelta
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eds import tables, truth
from eds.errors import InputError, UnknownNameError
from eds.registry import VOTING_RULES
from tests.reference import truth as reference
from tests.truth.acts import START, act, campaigns, frame

COLUMNS = ["query_id", "candidate_id", "value", "votes_for", "votes_against", "unsure", "tie"]
VOTINGS = [("normal",), ("normal", "gold"), ("gold", "normal"), ("repeat",), ("normal", "gold", "repeat")]


@given(campaigns(), st.integers(3, 5), st.sampled_from(VOTINGS), st.integers(0, 30))
def test_truth_is_that_of_plain_loops(
    acts: list[dict[str, Any]], panel: int, voting: tuple[str, ...], seconds: int
) -> None:
    for as_of in (None, START + timedelta(seconds=seconds)):
        found = truth.decide(frame(acts), panel, as_of=as_of, voting=voting)
        expected = reference.truth(acts, panel, voting, as_of)
        assert found.truth[COLUMNS].to_numpy().tolist() == [
            [query, candidate, label, yes, no, unsure, tie]
            for query, candidate, _, label, yes, no, unsure, tie in expected
            if label is not None
        ]
        assert found.undecided.to_numpy().tolist() == [
            [query, candidate, status, yes, no, unsure, panel]
            for query, candidate, status, label, yes, no, unsure, _ in expected
            if label is None
        ]
        for status in ("complete", "decided"):
            labelled = [row for row in expected if row[2] == status and row[3] is not None]
            assert found.counts[status] == len(labelled)
        assert found.counts["open"] == sum(row[2] == "open" for row in expected)
        assert found.counts["undefined"] == sum(row[2] == "complete" and row[3] is None for row in expected)


@pytest.mark.parametrize("rule", VOTING_RULES.names())
@settings(max_examples=15)
@given(campaigns(), st.randoms(use_true_random=False))
def test_row_order_does_not_matter_and_the_table_is_valid(rule: str, acts: list[dict[str, Any]], random: Any) -> None:
    found = truth.decide(frame(acts), 3, rule=rule)
    again = truth.decide(frame(random.sample(acts, len(acts))), 3, rule=rule)
    pd.testing.assert_frame_equal(found.truth, again.truth)
    pd.testing.assert_frame_equal(found.undecided, again.undecided)
    assert found.counts == again.counts
    tables.check(found.truth, tables.TRUTH)
    assert set(found.truth["rule"]) <= {rule}


def test_gold_and_repeats_have_no_vote_unless_asked() -> None:
    acts = [act(1, value=1), act(2, value=0, kind="repeat"), act(3, value=0, kind="gold", candidate_id="g")]
    assert truth.decide(frame(acts), 1).truth[["candidate_id", "value"]].to_numpy().tolist() == [["9", 1]]
    both = truth.decide(frame(acts), 1, voting=("normal", "gold")).truth
    assert both[["candidate_id", "value"]].to_numpy().tolist() == [["9", 1], ["g", 0]]
    first = truth.decide(frame(acts), 1, voting=("repeat", "normal")).truth
    assert first["value"].tolist() == [0]


def test_a_panel_for_each_pair_tells_what_nobody_answered() -> None:
    acts = [act(1), act(2, candidate_id="a", value=0), act(3, kind="gold", candidate_id="g")]
    panel = pd.DataFrame(
        {"query_id": ["q1", "q1", "q1", "q0"], "candidate_id": ["9", "a", "g", "z"], "panel": [3, 2, 2, 1]}
    )
    found = truth.decide(frame(acts), panel)
    assert found.truth[["candidate_id", "value"]].to_numpy().tolist() == [["a", 0]]
    assert found.undecided[["query_id", "candidate_id", "votes_for", "panel"]].to_numpy().tolist() == [
        ["q0", "z", 0, 1],
        ["q1", "9", 1, 3],
        ["q1", "g", 0, 2],
    ]
    assert found.counts["open"] == 3


def test_more_answers_than_the_panel_are_told_by_pair() -> None:
    acts = [act(1), act(2, expert_id="bo"), act(3, candidate_id="a")]
    with pytest.raises(InputError, match=r"q1 9: 2 answers, panel 1"):
        truth.decide(frame(acts), 1)
    known = pd.DataFrame({"query_id": ["q1"], "candidate_id": ["9"], "panel": [2]})
    with pytest.raises(InputError, match=r"q1 a: 1 answers, panel 0"):
        truth.decide(frame(acts), known)


@pytest.mark.parametrize(
    ("panel", "fault"),
    [
        (0, "the panel is 0"),
        (True, "the panel is True"),
        (2.5, "the panel is 2.5"),
        (pd.DataFrame({"query_id": ["q1"], "candidate_id": ["9"]}), "have no panel"),
        (pd.DataFrame({"query_id": ["q1"], "candidate_id": ["9"], "panel": [1.5]}), "have no panel"),
        (pd.DataFrame({"query_id": ["q1"], "panel": [1]}), "candidate_id is missing"),
        (
            pd.DataFrame({"query_id": ["q1"] * 2, "candidate_id": ["9"] * 2, "panel": [1, 1]}),
            "1 duplicate pairs, first q1 9",
        ),
    ],
)
def test_a_bad_panel_is_refused(panel: Any, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        truth.decide(frame([act(1)]), panel)


@pytest.mark.parametrize("voting", [(), ("normal", "normal"), ("extra",)])
def test_bad_voting_kinds_are_refused(voting: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="voting kinds are"):
        truth.decide(frame([act(1)]), 1, voting=voting)


def test_an_unknown_rule_names_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean majority"):
        truth.decide(frame([act(1)]), 1, rule="majorty")


def test_no_labels_give_an_empty_table() -> None:
    for rule in VOTING_RULES:
        found = truth.decide(frame([]), 3, rule=rule)
        tables.check(found.truth, tables.TRUTH)
        assert found.truth.empty
        assert found.undecided.empty
        assert set(found.counts.values()) == {0}


def test_two_opinions_are_compared_pair_by_pair() -> None:
    acts = [act(1), act(2, expert_id="bo"), act(3, expert_id="cy", value=0), act(4, candidate_id="a")]
    labels = frame(acts)
    majority, unanimity = (truth.decide(labels, 3, rule=rule).truth for rule in ("majority", "unanimity"))
    differing = truth.compare(majority, unanimity)
    assert differing[["candidate_id", "value", "value_second"]].to_numpy().tolist() == [["9", 1, 0]]
    assert truth.compare(majority, majority).empty
    lost = truth.compare(majority, unanimity.iloc[:0])
    assert lost["value_second"].isna().tolist() == [True]
