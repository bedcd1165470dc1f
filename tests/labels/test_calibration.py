"""Calibration: feedback after each answer, a result, another round if it was not enough; never a vote."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels.audit import read_audit
from eds.labels.calibration import (
    Feedback,
    Round,
    answer,
    ask_again,
    begin_round,
    due,
    feedback,
    next_task,
    plan_calibration,
    planned,
    rounds_of,
)
from eds.labels.campaigns import Plan, leave_panel
from eds.labels.experts import disable
from eds.labels.frames import labels_frame
from eds.labels.gold import add_gold
from eds.labels.guidelines import Example, put_in_force, save_guideline
from eds.labels.judgements import NotYoursError
from eds.labels.lead_queries import calibration_results
from eds.labels.queue import next_batch, progress
from eds.labels.store import Store
from tests.labels.stores import BACKENDS, begin, fresh_store, pairs

EXAMPLES = [
    Example("e", "yes", "positive", "same cut"),
    Example("e", "no", "negative", "other cut"),
    Example("e", "edge", "border", "just", 1),
    Example("e", "open", "border", "either"),
]
KNOWN = {"yes": 1, "no": 0, "edge": 1, "open": None, **{f"g{i}": i % 2 for i in range(6)}}


@pytest.fixture(params=BACKENDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with fresh_store(request.param, tmp_path) as made:
        yield made


def prepared(store: Store, size: int = 4, needed: float = 0.75, gold: int = 6) -> str:
    """A campaign with a guideline of four examples, and gold, one pair of which it asks itself."""
    known = pd.DataFrame(
        {"query_id": "g", "candidate_id": [f"g{i}" for i in range(gold)], "value": [i % 2 for i in range(gold)]}
    )
    add_gold(store, pd.concat([known, pairs(1, 1).assign(value=1)]))
    name = begin(store)
    save_guideline(store, "1", "text", EXAMPLES)
    put_in_force(store, name, "1")
    plan_calibration(store, name, size, needed)
    return name


def go(store: Store, name: str, expert: str, wrong: int = 0) -> tuple[Round, list[Feedback]]:
    """Answer a whole round, the first `wrong` counted ones wrongly."""
    made, given = begin_round(store, name, expert), []
    while (task := next_task(store, made.round, expert)) is not None:
        right = KNOWN[task.candidate_id]
        value = 1 if right is None else right
        if wrong and right is not None:
            value, wrong = 1 - right, wrong - 1
        given.append(answer(store, expert, task.task, value, f"{expert}/{task.task}", seconds=2.0))
    return rounds_of(store, name, expert)[-1], given


def test_a_round_from_beginning_to_result(store: Store) -> None:
    name = prepared(store)
    assert planned(store, name) == (4, 0.75)
    assert due(store, name, "ann")
    before = progress(store)
    round_, given = go(store, name, "ann")
    assert [one.right for one in given if one.expected is not None] == [True] * round_.counted
    assert round_.finished
    assert round_.passed
    assert round_.share == 1.0
    assert not due(store, name, "ann")
    assert due(store, name, "bob")
    assert feedback(store, round_.round, "ann") == given
    assert feedback(store, round_.round, "bob") == []
    # Nothing of it is a vote, nothing of the queue moved.
    assert labels_frame(store).empty
    pd.testing.assert_frame_equal(progress(store), before)


def test_too_many_wrong_ones_lead_to_another_round_of_other_pairs(store: Store) -> None:
    name = prepared(store)
    first, given = go(store, name, "ann", wrong=2)
    assert (first.finished, first.passed, first.right) == (True, False, first.counted - 2)
    assert due(store, name, "ann")
    second, again = go(store, name, "ann")
    assert second.number == 2
    assert {one.candidate_id for one in again}.isdisjoint({one.candidate_id for one in given})
    assert not due(store, name, "ann")
    table = calibration_results(store, name)
    shown = table[["expert", "number", "size", "answered", "counted", "right", "median_seconds"]].to_numpy().tolist()
    assert shown == [
        ["ann", 1, 4, 4, first.counted, first.right, 2.0],
        ["ann", 2, 4, 4, second.counted, second.right, 2.0],
    ]
    assert calibration_results(store, name)["needed"].tolist() == [0.75, 0.75]


def test_a_lead_asks_for_another_round_which_must_be_passed(store: Store) -> None:
    name = prepared(store)
    go(store, name, "ann")
    assert not due(store, name, "ann")
    made = ask_again(store, name, "ann")
    assert (made.number, made.answered) == (2, 0)
    assert due(store, name, "ann")
    assert ask_again(store, name, "ann") == made  # asked twice, one round
    go(store, name, "ann", wrong=2)
    assert due(store, name, "ann")
    go(store, name, "ann")
    assert not due(store, name, "ann")
    assert read_audit(store)["act"].tolist().count("ask for calibration") == 2
    with pytest.raises(InputError, match="unknown expert"):
        ask_again(store, name, "stranger")


def test_answers_are_asked_alike_often_and_in_an_order_of_the_experts_own(store: Store) -> None:
    name = prepared(store, size=6)
    asked = {}
    for expert in ("ann", "bob", "cid"):
        _, given = go(store, name, expert)
        asked[expert] = [one.candidate_id for one in given]
        counts = pd.Series([-1 if one.expected is None else one.expected for one in given]).value_counts()
        assert abs(counts[1] - counts[0]) <= 1
    assert len({tuple(order) for order in asked.values()}) == 3
    assert not any(name_.startswith("c0-") for order in asked.values() for name_ in order)  # asked by the campaign


def test_a_reload_goes_on_and_a_second_answer_changes_nothing(store: Store) -> None:
    name = prepared(store)
    made = begin_round(store, name, "ann")
    task = next_task(store, made.round, "ann")
    assert task is not None
    assert task.place == 1
    assert begin_round(store, name, "ann") == made
    assert next_task(store, made.round, "bob") is None
    told = answer(store, "ann", task.task, 1, "a")
    assert answer(store, "ann", task.task, 0, "b") == told  # whoever has seen the answer cannot give another
    assert answer(store, "ann", task.task, 1, "a") == told
    following = next_task(store, made.round, "ann")
    assert following is not None
    assert following.place == 2
    with pytest.raises(InputError, match="names another act"):
        answer(store, "ann", following.task, 1, "a")
    assert rounds_of(store, name, "ann")[-1].answered == 1


def test_unsure_is_not_right_but_an_open_border_takes_any_answer(store: Store) -> None:
    name = prepared(store, size=200, needed=0.0)
    made = begin_round(store, name, "ann")
    assert made.size == 10  # all there is
    while (task := next_task(store, made.round, "ann")) is not None:
        told = answer(store, "ann", task.task, None, f"t{task.task}")
        assert told.right is (None if task.candidate_id == "open" else False)
        assert told.note == {one.candidate_id: one.note for one in EXAMPLES}.get(task.candidate_id, "")
    done = rounds_of(store, name, "ann")[-1]
    assert (done.counted, done.right, done.passed) == (9, 0, True)


def test_what_is_refused(store: Store) -> None:
    name = prepared(store)
    made = begin_round(store, name, "ann")
    task = next_task(store, made.round, "ann")
    assert task is not None
    for attempt in (
        lambda: answer(store, "bob", task.task, 1, "x"),
        lambda: answer(store, "ann", task.task, 2, "x"),
        lambda: answer(store, "ann", task.task, 1, ""),
        lambda: answer(store, "ann", task.task, 1, "x", seconds=float("nan")),
        lambda: begin_round(store, name, "nobody"),
        lambda: begin_round(store, "none", "ann"),
        lambda: plan_calibration(store, name, -1),
        lambda: plan_calibration(store, name, 5, 1.5),
    ):
        with pytest.raises(InputError):
            attempt()
    waits = next_task(store, begin_round(store, name, "bob").round, "bob")
    assert waits is not None
    leave_panel(store, name, "bob")
    with pytest.raises(InputError, match="not on the panel"):
        begin_round(store, name, "bob")
    with pytest.raises(NotYoursError, match="not on the panel"):  # nor is the round gone on with that was begun before
        answer(store, "bob", waits.task, 1, "y")
    disable(store, "ann")
    with pytest.raises(InputError, match="disabled"):
        answer(store, "ann", task.task, 1, "x")
    plan_calibration(store, name, 0)
    assert planned(store, name) is None
    assert not due(store, name, "cid")
    with pytest.raises(InputError, match="no calibration"):
        begin_round(store, name, "cid")
    assert rounds_of(store, name, "ann")[-1].answered == 0
    for table in ("calibration_round", "calibration_task"):
        with pytest.raises(sa.exc.DBAPIError, match="append-only"):
            store.write(lambda c, t=table: c.exec_driver_sql(f"DELETE FROM {t}"))  # type: ignore[misc]


def test_there_must_be_something_to_calibrate_with(store: Store) -> None:
    name = begin(store, Plan("bare"))
    add_gold(store, pairs(1, 1).assign(value=1))  # the campaign asks it itself
    with pytest.raises(InputError, match="nothing to calibrate with"):
        plan_calibration(store, name, 5)
    assert next_batch(store, name, "ann", 1)
