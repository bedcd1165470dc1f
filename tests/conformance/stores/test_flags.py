"""Flags that experts raise are listed for leads and resolved once."""

import json

import pytest

from eds.errors import InputError
from eds.labels.audit import read_audit
from eds.labels.campaigns import Plan
from eds.labels.flags import open_flags, resolve_flag
from eds.labels.frames import control_pairs, labels_frame
from eds.labels.judgements import Judgement, flag_task, submit, withdraw_flag
from eds.labels.queue import next_batch, progress
from eds.labels.store import Store
from tests.labels.stores import begin, judge_all


def test_open_flags_are_listed_with_the_answer_and_resolved_once(store: Store) -> None:
    name = begin(store)
    first, second = next_batch(store, name, "ann", 2)
    submit(store, "ann", [Judgement("a", first.assignment, 0)])
    flag_task(store, "ann", first.assignment, "cut off", "f1")
    flag_task(store, "ann", second.assignment, "", "f2")
    found = open_flags(store)
    assert found[["campaign", "expert", "reason", "judged"]].to_numpy().tolist() == [
        [name, "ann", "cut off", True],
        [name, "ann", "", False],
    ]
    assert found["candidate_id"].tolist() == [first.candidate_id, second.candidate_id]
    assert found["value"].fillna(-1).tolist() == [0, -1]
    assert open_flags(store, "none").empty
    number = int(found["flag"][0])
    assert resolve_flag(store, number, by="lea")
    assert not resolve_flag(store, number, by="max")
    assert open_flags(store, name)["flag"].tolist() == found["flag"].tolist()[1:]
    last = read_audit(store).iloc[-1]
    assert (last["actor"], last["act"], last["subject"]) == ("lea", "resolve flag", str(number))
    assert json.loads(last["detail"]) == {"again": False}
    assert progress(store).set_index("expert").loc["ann", "flagged"] == 1
    assert len(labels_frame(store)) == 1
    for wrong in (0, -1, 10**9, 2**64):
        with pytest.raises(InputError, match="unknown flag"):
            resolve_flag(store, wrong, by="lea")


@pytest.mark.parametrize("early_stop", [False, True])
def test_a_task_that_was_flagged_twice_can_be_asked_again(store: Store, early_stop: bool) -> None:
    name = begin(store, Plan("f", early_stop=early_stop, control_share=1e-9), queries=1, each=2)
    control = set(control_pairs(store, name)["candidate_id"]) if early_stop else set()
    task = next(task for task in next_batch(store, name, "ann", 9) if task.candidate_id not in control)
    for token in ("f1", "f2"):
        flag_task(store, "ann", task.assignment, "broken", token)
    assert task.assignment not in [one.assignment for one in next_batch(store, name, "ann", 9)]
    first, second = open_flags(store)["flag"].tolist()
    assert resolve_flag(store, first, by="lea")
    assert task.assignment not in [one.assignment for one in next_batch(store, name, "ann", 9)]
    if early_stop:  # the others agree meanwhile: nothing is left to ask
        for expert in ("bob", "cid"):
            judge_all(store, name, expert)
    assert resolve_flag(store, second, by="lea", again=True)
    asked = [one.assignment for one in next_batch(store, name, "ann", 9)]
    assert (task.assignment in asked) == (not early_stop)


def test_a_flag_that_is_withdrawn_was_never_set(store: Store) -> None:
    """Not for the queue, nor for what comes later: an unsure task or one that is flagged then comes back."""
    name = begin(store)
    before = next_batch(store, name, "ann", 99)
    task = before[0].assignment
    flag_task(store, "ann", task, "slipped", "f1")
    assert next_batch(store, name, "ann", 99)[-1].assignment == task
    assert withdraw_flag(store, "ann", task, "f1")
    assert not withdraw_flag(store, "ann", task, "f1")  # sent again after a lost answer
    assert next_batch(store, name, "ann", 99) == before
    assert open_flags(store).empty
    submit(store, "ann", [Judgement("a", task, None)])
    assert next_batch(store, name, "ann", 99)[-1].assignment == task
    flag_task(store, "ann", task, "broken", "f2")  # the second time: left to the lead
    assert task not in [one.assignment for one in next_batch(store, name, "ann", 99)]
    assert withdraw_flag(store, "ann", task, "f2")
    assert next_batch(store, name, "ann", 99)[-1].assignment == task
    for token, who in (("f3", "ann"), ("f2", "bob")):
        with pytest.raises(InputError):
            withdraw_flag(store, who, task, token)


def test_a_flag_on_a_judged_task_is_withdrawn_and_the_answer_stays(store: Store) -> None:
    name = begin(store)
    (task,) = next_batch(store, name, "ann", 1)
    submit(store, "ann", [Judgement("a", task.assignment, 1)])
    flag_task(store, "ann", task.assignment, "broken", "f1")
    assert withdraw_flag(store, "ann", task.assignment, "f1")
    assert open_flags(store).empty
    mine = progress(store).set_index("expert").loc["ann"]
    assert (mine["done"], mine["flagged"]) == (1, 0)
