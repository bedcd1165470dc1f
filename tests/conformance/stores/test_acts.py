"""An act is stored once, stays for ever, and corrects by being a new one."""

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from eds import tables
from eds.errors import InputError
from eds.labels import schema
from eds.labels.campaigns import (
    Plan,
    create_campaign,
    set_guideline,
)
from eds.labels.frames import labels_frame
from eds.labels.judgements import Judgement, Receipt, submit
from eds.labels.queue import last_answers, list_campaigns, next_batch, progress
from eds.labels.store import Store
from tests.labels.stores import begin, pairs


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
    with pytest.raises(InputError, match="unknown campaign"):
        labels_frame(store, campaign="third")


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
    for statement in (
        "INSERT INTO pair (query_id, candidate_id) VALUES ('q0', 'c0-0')",
        "INSERT INTO pair (query_id, candidate_id) VALUES ('same', 'same')",
    ):
        with pytest.raises(sa.exc.IntegrityError):
            store.write(lambda connection, text=statement: connection.exec_driver_sql(text))  # type: ignore[misc]


def test_an_empty_store_gives_the_empty_table(store: Store) -> None:
    frame = labels_frame(store)
    tables.check(frame, tables.LABELS)
    assert frame.empty
    assert progress(store).empty
    assert submit(store, "nobody", []) == []
