"""Which votes count where several campaigns ask a pair, against a model by plain loops."""

from datetime import timedelta
from random import Random
from typing import Any

import pandas as pd
import pytest

from eds import truth
from eds.errors import InputError
from tests.reference import truth as reference
from tests.truth.acts import START, act, frame

MISSING = ("waits", "stopped")
PEOPLE = ("ada", "bo", "cy", "di", "ed")


def asked(random: Random) -> dict[str, list[reference.Wave]]:
    """Up to three campaigns that ask one pair, each in up to two waves; every answer has a time of its own."""
    times = random.sample(range(100), 100)
    campaigns: dict[str, list[reference.Wave]] = {}
    for name in random.sample(["first", "second", "third"], random.choice([1, 2, 2, 3])):
        people = random.sample(PEOPLE, random.randint(1, 4))
        # Mostly answered, so that campaigns are complete; a leaning, so that they are decided early, too.
        leaning = [random.choice([1, 0])] * 3 + [1, 0, None]
        states: reference.Wave = {
            person: (times.pop(), random.choice(leaning))
            if random.random() < 0.7
            else random.choice(["waits", "stopped"])
            for person in people
        }
        cut = random.choice([len(people), random.randint(1, len(people))])
        waves = (people[:cut], people[cut:])
        campaigns[name] = [{person: states[person] for person in part} for part in waves if part]
    return campaigns


def tables(by_pair: list[dict[str, list[reference.Wave]]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The acts, and the panels, of these pairs."""
    acts: list[dict[str, Any]] = []
    extra, panels = [], []
    for number, campaigns in enumerate(by_pair):
        for name, waves in campaigns.items():
            for wave, states in enumerate(waves):
                said = {person: state for person, state in states.items() if isinstance(state, tuple)}
                stopped = sum(state == "stopped" for state in states.values())
                panels.append(("q1", f"c{number}", name, wave, len(states), stopped))
                for person, (time, value) in said.items():
                    made = START + timedelta(seconds=time)
                    text = {"expert_id": person, "value": value, "created_at": made, "candidate_id": f"c{number}"}
                    acts.append(act(len(acts), **text))
                    extra.append((name, wave))
    columns = ["query_id", "candidate_id", "campaign", "wave", "panel", "stopped"]
    labels = frame(acts).assign(campaign=[name for name, _ in extra], wave=[wave for _, wave in extra])
    return labels.astype({"wave": "int64"}), pd.DataFrame(panels, columns=columns)


@pytest.mark.parametrize("seed", range(4))
def test_campaigns_vote_where_they_are_complete(seed: int) -> None:
    random = Random(seed)  # many pairs at once: cases in which every rule matters are rare
    by_pair = [asked(random) for _ in range(600)]
    acts, panels = tables(by_pair)
    rows = random.sample(range(len(acts)), len(acts))
    joint = truth.joint_votes(acts.iloc[rows], panels)
    decision = truth.decide(joint.labels, joint.panel)
    found = decision.truth.set_index("candidate_id")["value"].to_dict()
    status = decision.undecided.set_index("candidate_id")["status"].to_dict()
    for number, campaigns in enumerate(by_pair):
        expected, label = reference.joint_label(campaigns)
        name = f"c{number}"
        assert found.get(name) == label
        assert status.get(name) == (expected if label is None else None)


def test_a_campaign_in_which_nobody_has_judged_changes_nothing() -> None:
    judged: list[dict[str, list[reference.Wave]]] = [
        {"first": [{"ada": (1, 1), "bo": (2, value)}]} for value in (1, 0, None)
    ]
    empty: list[reference.Wave] = [{"ada": "waits", "cy": "waits", "di": "waits"}]
    before, after = (
        truth.joint_votes(*tables(part)) for part in (judged, [{**one, "second": empty} for one in judged])
    )
    pd.testing.assert_frame_equal(before.labels, after.labels)
    pd.testing.assert_frame_equal(before.panel, after.panel)


def test_an_expert_of_two_campaigns_has_one_vote_the_latest_of_complete_ones() -> None:
    twice: dict[str, list[reference.Wave]] = {
        "first": [{"ada": (1, 1), "bo": (2, 1), "cy": (3, 0)}],
        "second": [{"ada": (4, 0), "di": "waits", "ed": "waits"}],
    }
    joint = truth.joint_votes(*tables([twice]))
    assert joint.panel["panel"].tolist() == [3]
    assert truth.decide(joint.labels, joint.panel).truth["value"].tolist() == [1]
    twice["second"] = [{"ada": (4, 0)}]
    joint = truth.joint_votes(*tables([twice]))
    assert joint.panel["panel"].tolist() == [3]  # the sum of the panels, ada once
    assert truth.decide(joint.labels, joint.panel).truth[
        ["value", "votes_for", "votes_against"]
    ].to_numpy().tolist() == [[0, 1, 2]]


def test_votes_as_of_a_date_count_as_they_did_then() -> None:
    two: dict[str, list[reference.Wave]] = {"first": [{"ada": (1, 1)}], "second": [{"bo": (5, 0), "cy": (6, 0)}]}
    acts, panels = tables([two])
    for seconds, label in ((0, None), (1, 1), (5, 1), (6, 0)):
        joint = truth.joint_votes(acts, panels, START + timedelta(seconds=seconds))
        assert truth.decide(joint.labels, joint.panel).truth["value"].tolist() == ([] if label is None else [label])


def test_votes_without_a_panel_are_refused() -> None:
    acts, panels = tables([{"first": [{"ada": (1, 1)}]}, {"first": [{"ada": (2, 1)}]}])
    with pytest.raises(InputError, match="1 votes are on pairs that no panel is asked"):
        truth.joint_votes(acts, panels.head(1))
