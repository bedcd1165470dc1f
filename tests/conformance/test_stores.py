"""One suite for every database that can hold labels: SQLite, and a real PostgreSQL that the tests start."""

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path

import pandas as pd
import pytest
import sqlalchemy as sa

from eds import tables
from eds.errors import EdsError, InputError
from eds.labels import schema
from eds.labels.campaigns import (
    Plan,
    add_gold,
    add_pairs,
    add_to_panel,
    close_campaign,
    create_campaign,
    leave_panel,
    set_guideline,
)
from eds.labels.events import Judgement, Receipt, flag_task, submit
from eds.labels.experts import add_expert, disable
from eds.labels.frames import labels_frame
from eds.labels.queue import last_answers, list_campaigns, next_batch, next_pages, progress
from eds.labels.store import Store
from tests.labels.stores import BACKENDS, begin, fresh_store, judge_all, pairs


@pytest.fixture(params=BACKENDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with fresh_store(request.param, tmp_path) as made:
        yield made


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


def test_the_same_token_again_stores_nothing_and_says_so(store: Store) -> None:
    name = begin(store)
    one = Judgement("t1", next_batch(store, name, "ann")[0].assignment, 1, seconds=2.5)
    assert submit(store, "ann", [one]) == [Receipt("t1", already=False)]
    assert submit(store, "ann", [one, one]) == [Receipt("t1", already=True)] * 2
    assert len(labels_frame(store)) == 1
    with pytest.raises(InputError, match="names another act"):
        submit(store, "ann", [Judgement("t1", one.assignment, 0)])
    with pytest.raises(InputError, match="names another act"):
        submit(store, "bob", [Judgement("t1", next_batch(store, name, "bob")[0].assignment, 1)])
    assert labels_frame(store)["value"].tolist() == [1]


def test_a_second_judgement_supersedes_the_first_and_both_stay(store: Store) -> None:
    name = begin(store)
    number = next_batch(store, name, "ann")[0].assignment
    submit(store, "ann", [Judgement("a", number, 1), Judgement("b", number, 0)])
    submit(store, "ann", [Judgement("c", number, None)], session_id="evening")
    frame = labels_frame(store)
    assert frame[["label_id", "supersedes"]].fillna("").to_numpy().tolist() == [["a", ""], ["b", "a"], ["c", "b"]]
    assert frame["value"].fillna(-1).tolist() == [1, 0, -1]
    assert frame["created_at"].is_monotonic_increasing
    assert [(a.task.assignment, a.value, a.label_id) for a in last_answers(store, name, "ann")] == [(number, None, "c")]


def test_as_of_a_date_and_of_one_campaign(store: Store) -> None:
    name = begin(store)
    create_campaign(store, Plan("second"), pairs(1), ["ann"])
    start = datetime(2026, 1, 1, tzinfo=UTC)
    micro = round(start.timestamp() * 1e6)
    for day, task in enumerate(next_batch(store, name, "ann", 3)):
        submit(store, "ann", [Judgement(f"d{day}", task.assignment, 1)], times=[micro + day * 86_400_000_000])
    submit(store, "ann", [Judgement("other", next_batch(store, "second", "ann")[0].assignment, 0)])
    assert labels_frame(store, as_of=start + timedelta(days=1))["label_id"].tolist() == ["d0", "d1"]
    assert labels_frame(store, as_of=start + timedelta(days=1))["created_at"].max() == start + timedelta(days=1)
    assert labels_frame(store, campaign="second")["label_id"].tolist() == ["other"]
    with pytest.raises(InputError, match="no campaign"):
        labels_frame(store, campaign="third")


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


def test_pairs_and_experts_that_come_later_and_one_who_leaves(store: Store) -> None:
    name = begin(store)
    before = [task.assignment for task in next_batch(store, name, "ann", 99)]
    judge_all(store, name, "bob")
    assert add_pairs(store, name, pair := pairs(5)) == 8
    assert add_pairs(store, name, pair) == 0
    after = [task.assignment for task in next_batch(store, name, "ann", 99)]
    assert [number for number in after if number in before] == before  # nothing that was handed out moved
    assert len(next_batch(store, name, "bob", 99)) == 8
    add_expert(store, "dot")
    add_to_panel(store, name, ["dot"])
    assert len(judge_all(store, name, "dot")) == 20
    leave_panel(store, name, "ann")
    assert next_batch(store, name, "ann") == []
    add_to_panel(store, name, ["ann"])
    assert [task.assignment for task in next_batch(store, name, "ann", 99)] == after
    close_campaign(store, name)
    assert next_batch(store, name, "ann") == []
    submit(store, "ann", [Judgement("late", after[0], 1)])  # was on its way: an expert's attention is not thrown away
    assert "late" in set(labels_frame(store)["label_id"])


def test_gold_and_repeats_are_mixed_in_at_their_shares(store: Store) -> None:
    add_expert(store, "ann")
    gold = pd.DataFrame({"query_id": "q0", "candidate_id": [f"g{i}" for i in range(9)], "value": [0, 1, 0] * 3})
    assert add_gold(store, gold) == 9
    assert add_gold(store, gold) == 0
    with pytest.raises(InputError, match="was 0"):
        add_gold(store, gold.head(1).assign(value=1))
    with pytest.raises(InputError, match="gold pairs are to be mixed in, 9 are known"):
        create_campaign(store, Plan("too many", gold_share=1.0), pairs(), ["ann"])
    create_campaign(store, Plan("g", gold_share=0.5, repeat_share=0.25), pairs(), ["ann"])
    asked = judge_all(store, "g", "ann")
    frame = labels_frame(store, campaign="g")
    assert frame["kind"].value_counts().to_dict() == {"normal": 12, "gold": 6, "repeat": 3}
    repeats = frame[frame["kind"] == "repeat"]
    for pair in zip(repeats["query_id"], repeats["candidate_id"], strict=True):
        first, second = (place for place, seen in enumerate(asked) if seen == pair)
        assert second > first
    assert frame[frame["kind"] == "gold"]["query_id"].eq("q0").all()
    assert frame["supersedes"].isna().all()  # a repeat is asked anew, it corrects nothing


def test_pages_hold_one_query_each(store: Store) -> None:
    name = begin(store, Plan("grid", mode="grid", polarity="similar", repeat_share=0.25), queries=4, each=7)
    pages = next_pages(store, name, "ann", pages=99, size=5)
    assert sum(map(len, pages)) == 28 + 7
    assert all(len({(task.query_id, task.mode) for task in page}) == 1 and len(page) <= 5 for page in pages)
    assert {task.mode for page in pages for task in page} == {"grid", "pair"}
    few = next_pages(store, name, "ann", pages=2, size=5)
    assert few == pages[:2]
    assert [[t.assignment for t in page] for page in next_pages(store, name, "ann", 1, 5, skip=[
        task.assignment for page in few for task in page])] == [[t.assignment for t in pages[2]]]  # fmt: skip
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


def test_the_guideline_in_force_is_stored_with_each_label(store: Store) -> None:
    name = begin(store, Plan("g", guideline="v1"))
    first, second, third = next_batch(store, name, "ann", 3)
    submit(store, "ann", [Judgement("1", first.assignment, 1)])
    set_guideline(store, name, "v2")
    submit(store, "ann", [Judgement("2", second.assignment, 1), Judgement("3", third.assignment, 1, guideline="v1")])
    assert labels_frame(store)["guideline"].tolist() == ["v1", "v2", "v1"]
    assert list_campaigns(store)["guideline"].tolist() == ["v2"]


@pytest.mark.parametrize("table", ["label_event", "audit"])  # the others have no rows here: see their own tests
def test_the_database_itself_keeps_acts_for_ever(store: Store, table: str) -> None:
    name = begin(store)
    submit(store, "ann", [Judgement("kept", next_batch(store, name, "ann")[0].assignment, 1)])
    own = f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}" if store.sqlite else f"TRUNCATE {table}"
    for statement in (f"UPDATE {table} SET id = id + 1000", f"DELETE FROM {table}", own):
        with pytest.raises(sa.exc.DBAPIError, match="append-only"):
            store.write(lambda connection, text=statement: connection.exec_driver_sql(text))  # type: ignore[misc]
    assert labels_frame(store)["label_id"].tolist() == ["kept"]


def test_uniqueness_is_the_databases(store: Store) -> None:
    name = begin(store)
    number = next_batch(store, name, "ann")[0].assignment
    submit(store, "ann", [Judgement("t", number, 1)])
    event = {"sequence": 2, "value": 1, "created_at": 1, "mode": "pair"}
    wrong: tuple[dict[str, object], ...] = (
        {"label_id": "t", "assignment": number},
        {"label_id": "t2", "assignment": number, "sequence": 1},
        {"label_id": "t3", "assignment": 10**9},
        {"label_id": "t4", "assignment": number, "value": 2},
        {"label_id": "t5", "assignment": number, "seconds": -1.0},
    )
    for values in wrong:
        insert = sa.insert(schema.label_event).values({**event, **values})
        with pytest.raises(sa.exc.IntegrityError):
            store.write(lambda connection, insert=insert: connection.execute(insert))  # type: ignore[misc]
    twice = sa.insert(schema.assignment).from_select(
        [c.name for c in schema.assignment.c if c.name != "id"],
        sa.select(*[c for c in schema.assignment.c if c.name != "id"]).limit(1),
    )
    with pytest.raises(sa.exc.IntegrityError):
        store.write(lambda connection: connection.execute(twice))
    for statement in ("INSERT INTO pair (query_id, candidate_id) VALUES ('q0', 'c0-0')",
                      "INSERT INTO pair (query_id, candidate_id) VALUES ('same', 'same')"):  # fmt: skip
        with pytest.raises(sa.exc.IntegrityError):
            store.write(lambda connection, text=statement: connection.exec_driver_sql(text))  # type: ignore[misc]


def test_an_expert_writes_only_their_own_queue(store: Store) -> None:
    name = begin(store)
    theirs = next_batch(store, name, "bob")[0].assignment
    with pytest.raises(InputError, match="no task of 'ann'"):
        submit(store, "ann", [Judgement("t", theirs, 1)])
    with pytest.raises(InputError, match="no task of 'ann'"):
        flag_task(store, "ann", theirs, "", "f")
    mine = next_batch(store, name, "ann")[0].assignment
    disable(store, "ann")
    assert next_batch(store, name, "ann") == []
    with pytest.raises(InputError, match="disabled"):
        submit(store, "ann", [Judgement("t", mine, 1)])
    with pytest.raises(InputError, match="no expert 'eve'"):
        next_batch(store, name, "eve")
    with pytest.raises(InputError, match="no campaign 'none'"):
        next_batch(store, "none", "ann")
    assert labels_frame(store).empty


HOSTILE = (
    "x" * 10_000,
    "a\0b",
    "\ud800",
    "'; DROP TABLE expert; --",
    '"quoted", \\back\n%s %(a)s :b ?',
    "👗🧵",
    "\\.",
    "",
)


def test_any_text_in_any_place_is_kept_as_it_is_or_refused(store: Store) -> None:
    begin(store)
    for place, text in enumerate(HOSTILE):
        _enter_everywhere(store, text, f"campaign {place}")


def _enter_everywhere(store: Store, text: str, name: str) -> None:
    create_campaign(store, Plan(name), pairs(), ["ann", "bob"])
    tasks = next_batch(store, name, "ann", 9)
    acts = [
        lambda: submit(store, "ann", [Judgement(text, tasks[0].assignment, 1)]),
        lambda: submit(store, "ann", [Judgement("session " + name, tasks[1].assignment, 1)], session_id=text),
        lambda: submit(store, "ann", [Judgement("guideline " + name, tasks[2].assignment, 1, guideline=text)]),
        lambda: flag_task(store, "ann", tasks[3].assignment, text, name),
        lambda: flag_task(store, "ann", tasks[4].assignment, "reason", text),
        lambda: add_expert(store, text),
        lambda: create_campaign(store, Plan(text), pairs(), ["ann"]),
        lambda: create_campaign(store, Plan(f"by {len(text)}", guideline=text), pairs(), ["ann"]),
        lambda: add_pairs(store, name, pd.DataFrame({"query_id": [text], "candidate_id": ["c"]}, dtype=object)),
        lambda: next_batch(store, text, "ann"),
        lambda: next_batch(store, name, text),
        lambda: submit(store, text, [Judgement("who " + name, tasks[5].assignment, 1)]),
        lambda: labels_frame(store, campaign=text),
    ]
    kept, told = 0, list[str]()
    for act in acts:
        try:
            act()  # type: ignore[no-untyped-call]
            kept += 1
        except InputError as error:
            told.append(str(error))
    assert max(map(len, told), default=0) < 400
    frame = labels_frame(store, campaign=name)
    assert set(frame["guideline"]) <= {text, ""}
    assert set(frame["session_id"].dropna()) <= {text}
    assert set(frame["label_id"]) <= {text, f"session {name}", f"guideline {name}"}
    harmless = not ("\0" in text or "\ud800" in text or len(text) > 9999 or text == "")
    assert kept >= (7 if harmless else 0), text
    assert (text in set(frame["label_id"])) == harmless
    asked = {task.query_id for task in next_batch(store, name, "bob", 99)}
    assert (text in asked) == harmless


WRONG: tuple[dict[str, object], ...] = (
    {"value": 2},
    {"value": True},
    {"value": 1.0},
    {"value": "1"},
    {"assignment": -1},
    {"assignment": 2**64},
    {"assignment": "1"},
    {"assignment": 10**9},
    {"seconds": float("nan")},
    {"seconds": -0.5},
    {"seconds": float("inf")},
    {"mode": "maybe"},
)


def test_a_bad_judgement_keeps_the_whole_batch_out(store: Store) -> None:
    name = begin(store)
    first, second = next_batch(store, name, "ann", 2)
    for wrong in WRONG:
        bad = Judgement(**{"token": "bad", "assignment": second.assignment, "value": 1, **wrong})  # type: ignore[arg-type]
        with pytest.raises(InputError, match=r"judgement 1: |no task"):
            submit(store, "ann", [Judgement("good", first.assignment, 1), bad])
    assert labels_frame(store).empty


def test_bad_pairs_are_told_by_row_and_nothing_is_stored(store: Store) -> None:
    add_expert(store, "ann")
    bad = pd.DataFrame({"query_id": ["q", None, "x" * 2000, "q"], "candidate_id": ["c", "c", "c", "a\0"]})
    with pytest.raises(InputError) as told:
        create_campaign(store, Plan("bad"), bad, ["ann"])
    assert "row 1: query_id is empty" in str(told.value)
    assert "row 2: query_id" in str(told.value)
    with pytest.raises(InputError, match="row 1: 'q' with itself"):
        create_campaign(store, Plan("bad"), pd.DataFrame({"query_id": ["p", "q"], "candidate_id": ["c", "q"]}), ["ann"])
    with pytest.raises(InputError, match="no expert 'eve'"):
        create_campaign(store, Plan("bad"), pairs(), ["ann", "eve"])
    with pytest.raises(InputError) as faults:
        create_campaign(
            store, Plan("bad", mode="grid", gold_share=2, early_stop=True, control_share=0), pairs(), ["ann"]
        )
    assert len(faults.value.faults) == 3
    assert list_campaigns(store).empty
    assert store.read(lambda c: c.execute(sa.select(sa.func.count()).select_from(schema.pair)).scalar()) == 0


def test_a_pair_from_two_origins_is_one_question(store: Store) -> None:
    add_expert(store, "ann")
    both = pd.concat([pairs(), pairs(1, origin="random")])
    create_campaign(store, Plan("o"), both, ["ann"])
    rows = store.read(lambda c: c.execute(sa.select(schema.item.c.origin)).scalars().all())
    assert Counter(rows) == {"pool": 8, "pool;random": 4}


def test_many_threads_lose_nothing_and_double_nothing(store: Store) -> None:
    panel = tuple(f"e{i}" for i in range(8))
    name = begin(store, panel=panel, queries=5, each=4)
    acknowledged: list[str] = []
    guard = threading.Lock()

    def work(expert: str) -> None:
        number = 0
        while tasks := next_batch(store, name, expert, 3):
            batch = [Judgement(f"{expert}/{number + i}", task.assignment, i % 2) for i, task in enumerate(tasks)]
            submit(store, expert, batch)
            receipts = submit(store, expert, batch)  # as if the first answer had been lost
            assert all(receipt.already for receipt in receipts)
            number += len(tasks)
            with guard:
                acknowledged.extend(one.token for one in batch)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, panel))
    assert sorted(labels_frame(store)["label_id"]) == sorted(acknowledged)
    assert len(acknowledged) == 8 * 20


def test_the_same_token_from_many_threads_at_once_is_one_act(store: Store) -> None:
    name = begin(store)
    number = next_batch(store, name, "ann")[0].assignment
    with ThreadPoolExecutor(8) as pool:
        receipts = list(pool.map(lambda _: submit(store, "ann", [Judgement("t", number, 1)])[0], range(24)))
    assert [receipt.already for receipt in receipts].count(False) == 1
    assert len(labels_frame(store)) == 1


def test_revisions_from_two_devices_at_once_all_stay_in_one_order(store: Store) -> None:
    name = begin(store, Plan("e", early_stop=True))
    numbers = {expert: [t.assignment for t in next_batch(store, name, expert, 12)] for expert in ("ann", "bob", "cid")}

    def work(job: tuple[str, int]) -> None:
        expert, turn = job
        batch = [Judgement(f"{expert}/{turn}/{n}", n, turn % 2) for n in numbers[expert]]
        submit(store, expert, batch if turn % 2 else batch[::-1])

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, [(expert, turn) for turn in range(6) for expert in numbers]))
    frame = labels_frame(store)
    assert len(frame) == 3 * 6 * 12
    assert frame["supersedes"].isna().sum() == 36
    assert frame["supersedes"].dropna().is_unique


def test_two_at_once_make_one_expert_and_one_campaign(store: Store) -> None:
    begin(store)

    def attempt(act: int) -> str:
        try:
            if act % 2:
                add_expert(store, "new")
            else:
                create_campaign(store, Plan("new"), pairs(), ["ann"])
        except EdsError as error:
            return str(error)
        return "made"

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(attempt, range(8)))
    assert told.count("made") == 2
    assert all("already" in text for text in told if text != "made")
    assert list_campaigns(store)["items"].tolist() == [12, 12]


def test_an_empty_store_gives_the_empty_table(store: Store) -> None:
    frame = labels_frame(store)
    tables.check(frame, tables.LABELS)
    assert frame.empty
    assert progress(store).empty
    assert submit(store, "nobody", []) == []
