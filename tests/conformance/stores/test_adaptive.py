"""An adaptive campaign asks further experts only where the label is unsure, and control pairs of everybody."""

import numpy as np
import pandas as pd
import pytest

from eds.errors import InputError
from eds.labels.campaigns import Plan, add_pairs, add_to_panel, create_campaign, leave_panel, set_leads
from eds.labels.experts import add_expert
from eds.labels.frames import control_pairs, panels
from eds.labels.judgements import Judgement, submit
from eds.labels.progress import expert_progress
from eds.labels.queue import next_batch, progress
from eds.labels.store import Store
from tests.labels.stores import pairs

PANEL = ["ann", "bob", "cid"]


def begin(store: Store, queries: int = 30, each: int = 4, *, control: float = 0.1, panel: list[str] = PANEL) -> str:
    for expert in panel:
        add_expert(store, expert)
    create_campaign(store, Plan("some", adaptive=True, control_share=control, seed=3), pairs(queries, each), panel)
    return "some"


def asked(store: Store) -> dict[str, list[str]]:
    """Of each pair who is asked now."""
    result: dict[str, list[str]] = {}
    for expert in progress(store, "some")["expert"]:
        for task in next_batch(store, "some", expert, 9999):
            result.setdefault(f"{task.query_id} {task.candidate_id}", []).append(expert)
    return result


def judge(store: Store, expert: str, pair: str, value: int | None, turn: int = 0) -> None:
    number = next(
        task.assignment
        for task in next_batch(store, "some", expert, 9999)
        if f"{task.query_id} {task.candidate_id}" == pair
    )
    submit(store, expert, [Judgement(f"{expert}/{pair}/{turn}", number, value)])


def free_pairs(store: Store) -> list[str]:
    control = set(control_pairs(store, "some")[["query_id", "candidate_id"]].agg(" ".join, axis=1))
    return sorted(set(asked(store)) - control)


def test_two_are_asked_first_a_third_where_they_differ_and_everybody_about_control_pairs(store: Store) -> None:
    begin(store)
    control = set(control_pairs(store, "some")[["query_id", "candidate_id"]].agg(" ".join, axis=1))
    before = asked(store)
    assert len(control) == 12
    assert {pair: len(experts) for pair, experts in before.items()} == {
        pair: 3 if pair in control else 2 for pair in before
    }
    shares = pd.Series([expert for experts in before.values() for expert in experts]).value_counts()
    assert shares.max() < 1.4 * shares.min()  # work is spread, query by query
    alike, apart = free_pairs(store)[:2]
    for expert in before[alike]:
        judge(store, expert, alike, 1)
    for value, expert in enumerate(before[apart]):
        judge(store, expert, apart, value)
    now = asked(store)
    assert alike not in now
    assert now[apart] == sorted(set(PANEL) - set(before[apart]))
    sizes = panels(store, "some").sizes
    size = sizes.set_index(sizes["query_id"] + " " + sizes["candidate_id"])["panel"]
    assert size[alike] == 2, "the pair is complete with two votes"
    assert size[apart] == 3


def test_pairs_that_are_known_beforehand_need_one_vote_unless_it_says_otherwise(store: Store) -> None:
    begin(store)
    known, surprising, *_ = free_pairs(store)
    names = pd.DataFrame([pair.split(" ") for pair in (known, surprising)], columns=["query_id", "candidate_id"])
    leads = names.assign(lead_similar=3, lead_different=1)
    assert set_leads(store, "some", leads) == 2
    assert set_leads(store, "some", leads) == 0, "nothing changes when it is said again"
    assert [len(asked(store)[pair]) for pair in (known, surprising)] == [1, 1]
    judge(store, asked(store)[known][0], known, 0)
    judge(store, asked(store)[surprising][0], surprising, 1)
    assert known not in asked(store)
    assert len(asked(store)[surprising]) == 2
    set_leads(store, "some", leads.assign(lead_different=2))
    assert len(asked(store)[known]) == 1, "it is asked again as soon as more is needed"


def test_unsure_answers_and_experts_who_leave_are_made_up_for(store: Store) -> None:
    begin(store)
    pair = free_pairs(store)[0]
    first, second = asked(store)[pair]
    (third,) = set(PANEL) - {first, second}
    judge(store, first, pair, None)
    judge(store, first, pair, None, 1)  # unsure again is an answer
    assert sorted(asked(store)[pair]) == sorted([second, third])
    leave_panel(store, "some", second)
    assert asked(store)[pair] == [third]
    judge(store, third, pair, 1)
    assert pair not in asked(store)
    sizes = panels(store, "some").sizes
    mine = sizes[(sizes["query_id"] + " " + sizes["candidate_id"]) == pair]
    assert mine["panel"].tolist() == [2]


def test_who_joins_and_what_is_added_keeps_to_the_number_of_votes(store: Store) -> None:
    begin(store)
    add_expert(store, "dan")
    add_to_panel(store, "some", ["dan"])
    free = free_pairs(store)
    assert {len(asked(store)[pair]) for pair in free} == {2}
    add_pairs(store, "some", pd.DataFrame({"query_id": ["q900"], "candidate_id": ["c900"]}))
    assert len(asked(store)["q900 c900"]) in (2, 4)  # 4 if it is drawn as a control pair
    assert panels(store, "some").sizes["wave"].unique().tolist() == [0]


def test_an_expert_sees_progress_in_what_is_asked_of_them(store: Store) -> None:
    begin(store)
    for expert in PANEL:
        mine = expert_progress(store, "some", expert)
        assert (mine.left, mine.done) == (mine.total, 0)
    total = sum(expert_progress(store, "some", expert).total for expert in PANEL)
    assert total == 12 * 3 + (120 - 12) * 2


def test_what_makes_no_sense_is_refused(store: Store) -> None:
    begin(store)
    leads = pairs(1, 1).assign(lead_similar=0, lead_different=1)
    with pytest.raises(InputError, match="below 1"):
        set_leads(store, "some", leads)
    create_campaign(store, Plan("all"), pairs(1, 2), PANEL)
    with pytest.raises(InputError, match="asks all its experts"):
        set_leads(store, "all", leads.assign(lead_similar=np.int64(1)))
    with pytest.raises(InputError, match="control_share is 0"):
        create_campaign(store, Plan("none", adaptive=True, control_share=0.0), pairs(1, 2), PANEL)
