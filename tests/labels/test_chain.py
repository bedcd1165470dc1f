"""Acts are chained by digests: what was changed, lost or added beside the program is named before anybody uses it."""

import hashlib
import random
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds.errors import DamagedError, EdsError
from eds.labels import chain
from eds.labels.adjudication import adjudicate
from eds.labels.backup import back_up, restore
from eds.labels.experts import add_expert
from eds.labels.frames import labels_frame
from eds.labels.judgements import Judgement, submit
from eds.labels.queue import next_batch
from eds.labels.store import Store, open_store
from eds.labels.transfer import export_votes, import_votes
from tests.labels.stores import BACKENDS, begin, fresh_store, judge_all
from tests.labels.test_transfer import some_votes

TEXT = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=8)
WHOLE = st.integers(0, 2**62)
SAID = st.builds(
    chain.Said,
    *(TEXT for _ in range(6)),
    WHOLE,
    st.none() | st.integers(0, 1),
    st.none() | st.floats(0, 1e9),
    WHOLE,
    st.none() | TEXT,
    TEXT,
    st.none() | TEXT,
    st.none() | TEXT,
    st.integers(0, 1),
    st.none() | TEXT,
    st.none() | st.integers(0, 3),
    st.none() | TEXT,
)


@pytest.fixture(params=BACKENDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with fresh_store(request.param, tmp_path) as made:
        yield made


def as_table(acts: list[chain.Said]) -> pa.Table:
    return pa.table({name: [getattr(act, name) for act in acts] for name in chain.Said._fields})


@given(st.lists(SAID, min_size=1, max_size=5))
def test_one_act_and_many_have_the_same_digests(acts: list[chain.Said]) -> None:
    types = {"value": pa.int64(), "grade": pa.int64(), "seconds": pa.float64()} | {
        name: pa.string() for name in chain.MAY_BE_MISSING
    }
    table = as_table(acts)
    for name, kind in types.items():
        table = table.set_column(table.column_names.index(name), name, table[name].cast(kind))
    ends: dict[tuple[str, str], str] = {}
    expected = []
    for act in acts:
        ends[act.campaign, act.expert] = chain.link(ends.get((act.campaign, act.expert), ""), act)
        expected.append(ends[act.campaign, act.expert])
    assert chain.links(table, {}) == expected


@given(SAID, SAID)
def test_acts_that_say_different_things_have_different_digests(one: chain.Said, other: chain.Said) -> None:
    assert (chain.link("", one) == chain.link("", other)) == (one == other)


def test_the_digest_is_the_documented_one() -> None:
    act = chain.Said("c", "ann", "q", "x", "normal", "t1", 1, None, None, 1000, "", "pair", None, "v1", 0)
    text = "before\0c\0ann\0q\0x\0normal\0t1\0" + "1\0\0\0" + "1000\0=\0pair\0\0=v1\0" + "0"
    assert chain.link("before", act) == hashlib.sha256(text.encode()).hexdigest()[:32]
    more = f"{text}\0=shape,colour\0002\0=see the hem"
    said = act._replace(aspects="shape,colour", grade=2, note="see the hem")
    assert chain.link("before", said) == hashlib.sha256(more.encode()).hexdigest()[:32]


def test_every_way_to_store_an_act_lengthens_the_chain(store: Store, tmp_path: Path) -> None:
    name = begin(store)
    judge_all(store, name, "ann")
    task = next_batch(store, name, "bob")[0]
    for turn in range(3):
        submit(store, "bob", [Judgement(f"r{turn}", task.assignment, turn % 2, 1)])
    add_expert(store, "lead", role="lead")
    for turn in range(2):
        adjudicate(store, name, "q0", "c0-0", turn, by="lead", token=f"lead{turn}")
    import_votes(store, some_votes(), "other", add_missing=True)
    assert len(labels_frame(store)) == 12 + 3 + 7
    back_up(store, tmp_path / "b.zip")  # verifies every campaign
    restore(tmp_path / "b.zip", tmp_path / "again.db")
    again = open_store(tmp_path / "again.db")
    assert labels_frame(again).equals(labels_frame(store))
    task = next_batch(again, name, "bob")[0]
    submit(again, "bob", [Judgement("later", task.assignment, 1)])
    assert len(labels_frame(again)) == 12 + 3 + 7 + 1
    again.close()


def test_devices_of_one_expert_and_many_experts_at_once_keep_whole_chains(store: Store) -> None:
    name = begin(store, queries=10)
    jobs = [(expert, task) for expert in ("ann", "bob") for task in next_batch(store, name, expert, 40)]

    def act(job: tuple[str, object]) -> None:
        expert, task = job
        number = task.assignment  # type: ignore[attr-defined]
        submit(store, expert, [Judgement(f"{number}", number, 1, 2)])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(act, jobs))
    assert len(labels_frame(store)) == 80


CHANGES = {
    "value": "UPDATE label_event SET value = 1 - value WHERE label_id = '{act}'",
    "seconds": "UPDATE label_event SET seconds = 7.25 WHERE label_id = '{act}'",
    "time": "UPDATE label_event SET created_at = created_at + 1 WHERE label_id = '{act}'",
    "pair": "UPDATE pair SET query_id = 'qX' WHERE query_id = 'q1'",
    "item": "UPDATE item SET kind = 'repeat' WHERE id = (SELECT min(id) FROM item)",
    "expert": "UPDATE expert SET name = 'anne' WHERE name = 'ann'",
    "lost": "DELETE FROM label_event WHERE label_id = '{act}'",
    "end": "UPDATE panel SET head = 'x' || substr(head, 2) WHERE acts > 0",
    "digest": "UPDATE label_event SET digest = 'x' || substr(digest, 2) WHERE label_id = '{act}'",
}


@pytest.mark.parametrize("change", list(CHANGES))
def test_a_change_beside_the_program_is_named(tmp_path: Path, change: str) -> None:
    with fresh_store("sqlite", tmp_path) as store:
        judge_all(store, begin(store), "ann")
        act = labels_frame(store)["label_id"][5]
        path = store.path
    with sqlite3.connect(path) as raw:
        for trigger in ("update", "delete"):
            raw.execute(f"DROP TRIGGER label_event_no_{trigger}")
        raw.execute(CHANGES[change].format(act=act))
        for trigger in ("update", "delete"):
            raw.execute(
                f"CREATE TRIGGER label_event_no_{trigger} BEFORE {trigger.upper()} ON label_event "
                "BEGIN SELECT RAISE(ABORT, 'label_event is append-only'); END"
            )
    raw.close()
    store = open_store(path)
    for use in (
        labels_frame,
        lambda held: back_up(held, tmp_path / "b.zip"),
        lambda held: export_votes(held, tmp_path / "v.csv"),
    ):
        with pytest.raises(DamagedError) as told:
            use(store)
        if change in ("value", "seconds", "time", "digest"):
            assert act in told.value.faults[0]
    assert not (tmp_path / "b.zip").exists()
    assert not (tmp_path / "v.csv").exists()
    store.close()


def test_flipped_bits_never_change_an_export_silently(tmp_path: Path) -> None:
    """One bit anywhere in the file: the same votes or an error; never other votes, never a traceback."""
    with fresh_store("sqlite", tmp_path) as store:
        judge_all(store, begin(store, queries=12), "ann")
        good = labels_frame(store)
        path = store.path
    content, dice, silent = path.read_bytes(), random.Random(22), []
    for number in range(150):
        damaged = bytearray(content)
        place = dice.randrange(len(content))
        damaged[place] ^= 1 << dice.randrange(8)
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        path.write_bytes(damaged)
        try:
            opened = open_store(path)
        except EdsError:
            continue
        try:
            if not labels_frame(opened).equals(good):
                silent.append((number, place))
            if number % 10 == 0:  # it reads the same, and more slowly
                back_up(opened, tmp_path / "b.zip")
        except EdsError:
            pass
        finally:
            opened.close()
    assert silent == []
