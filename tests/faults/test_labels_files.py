"""What befalls a database file: a full disk, another program's lock, damage, a clock that goes back, rival upgrades."""

import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from eds.errors import EdsError, LockedError, ProjectError
from eds.labels import database
from eds.labels.backup import back_up, restore
from eds.labels.frames import labels_frame
from eds.labels.judgements import Judgement, Receipt, submit
from eds.labels.queue import next_batch
from eds.labels.store import open_store
from tests.labels.stores import BACKENDS, begin, fresh_store, fresh_url, judge_all
from tests.labels.test_migrate import later

BIG = "reason " * 1000


def test_a_full_disk_is_told_and_nothing_is_torn(tmp_path: Path) -> None:
    with fresh_store("sqlite", tmp_path) as store:
        name = begin(store, queries=100, each=50)
        tasks = next_batch(store, name, "ann", 5000)
        with store._writer.connect() as connection:  # the one connection that writes
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count={pages + 10}")
        kept, told = [], None
        for start in range(0, 5000, 50):
            batch = [
                Judgement(f"t{start + i}", t.assignment, 1, guideline=BIG)
                for i, t in enumerate(tasks[start : start + 50])
            ]
            try:
                submit(store, "ann", batch)
            except ProjectError as error:
                told = error
                break
            kept += [one.token for one in batch]
        assert told is not None
        assert "no space is left" in str(told)
        assert sorted(labels_frame(store)["label_id"]) == sorted(kept)  # whole batches, and all that were acknowledged
        with store._writer.connect() as connection:
            connection.exec_driver_sql("PRAGMA max_page_count=1000000")
        submit(store, "ann", batch)  # space again: the same batch goes in
        assert len(labels_frame(store)) == len(kept) + 50
        assert store.read(lambda c: c.exec_driver_sql("PRAGMA integrity_check").scalar()) == "ok"


LIMITED = """
import resource, signal, sys
from eds.errors import EdsError
from eds.labels.judgements import Judgement, submit
from eds.labels.queue import next_batch
from eds.labels.store import open_store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = open_store(sys.argv[1])
tasks = next_batch(store, "first", "ann", 5000)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
for number, task in enumerate(tasks):
    try:
        submit(store, "ann", [Judgement(f"t{number}", task.assignment, 1, guideline="x" * 9000)])
    except EdsError as error:
        print("told", error, flush=True)
        break
    print(number, flush=True)
"""


def test_a_file_that_may_not_grow_is_told_and_every_acknowledged_label_is_there(tmp_path: Path) -> None:
    with fresh_store("sqlite", tmp_path) as store:
        begin(store, queries=100, each=50)
        place, address = store.path, str(store.url)
    limit = str(max(place.stat().st_size, 1 << 20) + (1 << 19))
    done = subprocess.run([sys.executable, "-c", LIMITED, address, limit], capture_output=True, text=True, check=True)
    *numbers, told = done.stdout.splitlines()
    assert told.startswith("told")
    assert "no space is left" in told
    store = open_store(place)
    stored = set(labels_frame(store)["label_id"])
    assert {f"t{number}" for number in numbers} == stored
    assert store.read(lambda c: c.exec_driver_sql("PRAGMA integrity_check").scalar()) == "ok"
    store.close()


HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
connection.execute("ROLLBACK")
"""


@contextmanager
def holding(path: Path) -> Iterator[None]:
    """Another program holds the file while the block lasts."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield


def test_another_program_locks_the_file_for_five_seconds(tmp_path: Path) -> None:
    with fresh_store("sqlite", tmp_path) as store, ThreadPoolExecutor(1) as pool:
        name = begin(store)
        task = next_batch(store, name, "ann")[0]
        with holding(store.path):
            assert len(next_batch(store, name, "ann", 99)) == 12  # readers do not wait
            waiting = pool.submit(submit, store, "ann", [Judgement("waited", task.assignment, 1)])
            with pytest.raises(TimeoutError):
                waiting.result(5)
            assert labels_frame(store).empty
        assert waiting.result(15) == [Receipt("waited", already=False)]
        assert labels_frame(store)["label_id"].tolist() == ["waited"]


def test_a_lock_that_never_ends_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "WAIT", 1)
    with fresh_store("sqlite", tmp_path) as store:
        task = next_batch(store, begin(store), "ann")[0]
        with holding(store.path), pytest.raises(LockedError, match="another program holds the label database"):
            submit(store, "ann", [Judgement("t", task.assignment, 1)])
        submit(store, "ann", [Judgement("t", task.assignment, 1)])


def header(content: bytes) -> bytes:
    return b"x" * 100 + content[100:]


def pages(content: bytes) -> bytes:
    noise = random.Random(0).randbytes(len(content) - 8192)
    return content[:8192] + noise


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "header": header,
    "pages": pages,
    "cut": lambda content: content[: len(content) // 3],
    "empty": lambda content: b"",
    "text": lambda content: b"query_id,candidate_id\n" * 1000,
    "zeros": lambda content: bytes(len(content)),
}


def _back_up(place: Path, target: Path) -> None:
    """Open, and read everything."""
    store = open_store(place)
    try:
        back_up(store, target)
    finally:
        store.close()


@pytest.mark.parametrize("damage", list(DAMAGE))
def test_a_damaged_file_is_recognised_never_overwritten_and_restore_helps(tmp_path: Path, damage: str) -> None:
    with fresh_store("sqlite", tmp_path) as store:
        judge_all(store, begin(store, queries=20), "ann")
        before = labels_frame(store)
        back_up(store, tmp_path / "good.zip")
        place = store.path
    broken = DAMAGE[damage](place.read_bytes())
    place.write_bytes(broken)
    with pytest.raises(
        ProjectError, match=r"damaged or is none .* left as it is\. .* eds labels restore BACKUP --replace"
    ):
        _back_up(place, tmp_path / "bad.zip")
    assert place.read_bytes() == broken
    assert not (tmp_path / "bad.zip").exists()
    restore(tmp_path / "good.zip", place, replace=True)
    again = open_store(place)
    assert labels_frame(again).equals(before)
    again.close()
    (aside,) = tmp_path.glob("labels.db.before-*")
    assert aside.read_bytes() == broken


@pytest.mark.parametrize("kind", BACKENDS)
def test_a_clock_that_goes_back_changes_no_order(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with fresh_store(kind, tmp_path) as store:
        name = begin(store)
        number = next_batch(store, name, "ann")[0].assignment
        moment = 1_800_000_000_000_000
        for turn, step in enumerate((0, -3_600_000_000, 5, -86_400_000_000)):
            moment += step
            monkeypatch.setattr(store, "now", lambda moment=moment: moment)
            submit(store, "ann", [Judgement(f"t{turn}", number, turn % 2)])
        frame = labels_frame(store)
        assert frame["label_id"].tolist() == ["t0", "t1", "t2", "t3"]
        assert frame["created_at"].is_monotonic_increasing
        assert frame["created_at"].is_unique
        first = datetime.fromtimestamp(1_800_000_000, UTC)
        assert labels_frame(store, as_of=first)["label_id"].tolist() == ["t0"]


UPGRADER = """
import sys
from pathlib import Path
from eds.labels import migrate
from eds.labels.store import Store
from eds.labels.database import parse
store = Store(parse(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
migrate.upgrade(store._writer, folder=Path(sys.argv[2]))
print(store.read(lambda c: migrate.revision(c)), flush=True)
store.close()
"""


@pytest.mark.parametrize("kind", BACKENDS)
def test_programs_that_upgrade_at_once_wait_for_each_other(kind: str, tmp_path: Path) -> None:
    with fresh_url(kind, tmp_path) as url:
        store = open_store(url)
        judge_all(store, begin(store), "ann")
        before = labels_frame(store)
        folder = later(tmp_path / "m")
        command = [sys.executable, "-c", UPGRADER, url, str(folder)]
        pipe = subprocess.PIPE
        rivals = [subprocess.Popen(command, text=True, stdin=pipe, stdout=pipe, stderr=pipe) for _ in range(3)]
        for rival in rivals:
            assert rival.stdout is not None
            assert rival.stdout.readline() == "ready\n"
        told = [rival.communicate("go\n", timeout=60) for rival in rivals]
        assert [out for out, _ in told] == ["toy\n"] * 3, told
        assert labels_frame(store).equals(before)
        store.close()


def test_a_kill_while_the_store_is_made_leaves_none_or_a_whole_one(tmp_path: Path) -> None:
    chance = random.Random(1)
    for turn in range(4):
        place = tmp_path / f"{turn}.db"
        code = "import sys; from eds.labels.store import open_store; print(1, flush=True); open_store(sys.argv[1])"
        with subprocess.Popen(
            [sys.executable, "-c", code, f"sqlite:///{place}"], stdout=subprocess.PIPE, text=True
        ) as maker:
            assert maker.stdout is not None
            maker.stdout.readline()
            time.sleep(chance.uniform(0, 0.15))
            maker.kill()
        try:
            open_store(place).close()
        except EdsError:
            pytest.fail("a half-made store stands in the place")
