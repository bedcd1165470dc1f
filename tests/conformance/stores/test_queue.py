"""Who is asked what, and in which order."""

from collections import Counter
from itertools import groupby

import sqlalchemy as sa

from eds import tables
from eds.labels import schema
from eds.labels.campaigns import (
    Plan,
    add_to_panel,
    create_campaign,
    leave_panel,
)
from eds.labels.experts import add_expert
from eds.labels.frames import labels_frame
from eds.labels.judgements import Judgement, flag_task, submit
from eds.labels.queue import last_answers, next_batch, next_pages, progress
from eds.labels.store import Store
from tests.labels.stores import begin, judge_all, pairs


def test_every_expert_judges_every_pair_exactly_once(store: Store) -> None:
    name = begin(store)
    orders = {expert: judge_all(store, name, expert) for expert in ("ann", "bob", "cid")}
    wanted = Counter(zip(*(pairs()[side] for side in ("query_id", "candidate_id")), strict=True))
    assert all(Counter(order) == wanted for order in orders.values())
    assert len({tuple(order) for order in orders.values()}) == 3  # each in an order of their own
    for order in orders.values():  # grouped by query
        assert len(list(groupby(query for query, _ in order))) == 3
    frame = labels_frame(store)
    tables.check(frame, tables.LABELS)
    assert len(frame) == 36
    assert not frame.duplicated(["query_id", "candidate_id", "expert_id"]).any()
    assert progress(store)[["total", "done", "left"]].to_numpy().tolist() == [[12, 12, 0]] * 3


def test_the_order_is_stored_and_does_not_depend_on_rows(store: Store) -> None:
    for expert in ("ann", "bob"):
        add_expert(store, expert)
    create_campaign(store, Plan("a", seed=5), pairs(), ["ann"])
    create_campaign(store, Plan("b", seed=5), pairs().iloc[::-1], ["bob", "ann"])
    create_campaign(store, Plan("c", seed=6), pairs(), ["ann"])
    a, b, c = ([(t.query_id, t.candidate_id) for t in next_batch(store, n, "ann", 99)] for n in "abc")
    assert a == b
    assert a != c
    assert next_batch(store, "a", "ann", 4) == next_batch(store, "a", "ann", 4)  # asking twice changes nothing
    held = [task.assignment for task in next_batch(store, "a", "ann", 3)]
    assert [(t.query_id, t.candidate_id) for t in next_batch(store, "a", "ann", 2, skip=held)] == a[3:5]


def test_unsure_and_flagged_come_back_at_the_end_once(store: Store) -> None:
    name = begin(store)
    order = next_batch(store, name, "ann", 99)
    submit(store, "ann", [Judgement("u", order[0].assignment, None)])
    assert not flag_task(store, "ann", order[1].assignment, "picture is broken", "f").already
    assert flag_task(store, "ann", order[1].assignment, "picture is broken", "f").already
    rest = next_batch(store, name, "ann", 99)
    assert [task.assignment for task in rest[-2:]] == [order[0].assignment, order[1].assignment]
    assert [task.returned for task in rest] == [False] * 10 + [True] * 2
    submit(store, "ann", [Judgement("u2", order[0].assignment, None)])  # still unsure: that is the answer
    flag_task(store, "ann", order[1].assignment, "still broken", "f2")  # left to the lead
    assert len(next_batch(store, name, "ann", 99)) == 10
    row = progress(store).set_index("expert").loc["ann"]
    assert (row["done"], row["left"], row["unsure"], row["flagged"]) == (1, 10, 1, 1)


def test_pages_hold_one_query_each(store: Store) -> None:
    name = begin(store, Plan("grid", mode="grid", polarity="similar", repeat_share=0.25), queries=4, each=7)
    pages = next_pages(store, name, "ann", pages=99, size=5)
    assert sum(map(len, pages)) == 28 + 7
    assert all(len({(task.query_id, task.mode) for task in page}) == 1 and len(page) <= 5 for page in pages)
    assert {task.mode for page in pages for task in page} == {"grid", "pair"}
    few = next_pages(store, name, "ann", pages=2, size=5)
    assert few == pages[:2]
    assert [
        [t.assignment for t in page]
        for page in next_pages(store, name, "ann", 1, 5, skip=[task.assignment for page in few for task in page])
    ] == [[t.assignment for t in pages[2]]]
    task = few[0][0]
    submit(store, "ann", [Judgement("x", task.assignment, 1)])
    stored = store.read(lambda c: c.execute(sa.select(schema.label_event)).one())
    assert (stored.mode, stored.polarity) == ("grid", "similar")


def test_early_stop_asks_no_further_but_the_controls_are_fully_voted(store: Store) -> None:
    name = begin(store, Plan("e", early_stop=True, control_share=0.25), queries=4, each=4)
    judge_all(store, name, "ann", 1)
    judge_all(store, name, "bob", 1)
    left = next_batch(store, name, "cid", 99)
    assert len(left) == 4  # a quarter of 16: two of three agree on the others
    state = progress(store).set_index("expert")
    assert state.loc["cid", "stopped"] == 12
    # A revision makes a pair undecided again: cid is asked after all.
    stopped = {(r.query_id, r.candidate_id) for r in pairs(4, 4).itertuples()} - {
        (task.query_id, task.candidate_id) for task in left
    }
    answer = next(a for a in last_answers(store, name, "bob", 99) if (a.task.query_id, a.task.candidate_id) in stopped)
    submit(store, "bob", [Judgement("revised", answer.task.assignment, 0)])
    assert len(next_batch(store, name, "cid", 99)) == 5
    submit(store, "bob", [Judgement("revised again", answer.task.assignment, 1)])
    assert len(next_batch(store, name, "cid", 99)) == 4
    # A fourth expert makes two votes of four undecided.
    add_expert(store, "dot")
    add_to_panel(store, name, ["dot"])
    assert len(next_batch(store, name, "cid", 99)) == 16
    leave_panel(store, name, "dot")
    assert len(next_batch(store, name, "cid", 99)) == 4
