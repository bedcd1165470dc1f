"""A label database that is deleted or replaced while it is open: nothing is acknowledged that is not in the file."""

import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from eds.errors import ReplacedError
from eds.labels.backup import back_up, restore
from eds.labels.frames import labels_frame
from eds.labels.judgements import Judgement, submit
from eds.labels.queue import next_batch
from eds.labels.store import Store, open_store
from tests.labels.stores import begin, fresh_store

JOURNALS = ("", "-wal", "-shm")


def judge(store: Store, name: str, prefix: str, count: int) -> tuple[list[str], int]:
    """Give this many acts one by one, as a page does; the acknowledged tokens, and how many were refused."""
    kept, refused = [], 0
    for number in range(count):
        task = next_batch(store, name, "ann", 99)[0] if store.path.exists() else None
        try:
            submit(store, "ann", [Judgement(f"{prefix}{number}", task.assignment if task else 1, 1)])
            kept.append(f"{prefix}{number}")
        except ReplacedError:
            refused += 1
    return kept, refused


def in_file(path: Path) -> set[str]:
    with sqlite3.connect(path) as connection:
        return {name for (name,) in connection.execute("SELECT label_id FROM label_event")}


def copy_of(store: Store, folder: Path) -> Path:
    """A backup of the store, restored beside it."""
    back_up(store, folder / "backup.zip")
    restore(folder / "backup.zip", folder / "new.db")
    return folder / "new.db"


@pytest.mark.parametrize("moment", ["between", "within"])
def test_a_replaced_file_acknowledges_nothing_until_it_is_opened_again(tmp_path: Path, moment: str) -> None:
    with fresh_store("sqlite", tmp_path) as store:
        name = begin(store, queries=20)
        before, _ = judge(store, name, "before", 3)
        copy = copy_of(store, tmp_path)
        lost, _ = judge(store, name, "lost", 2)

        def replace() -> None:
            copy.replace(store.path)
            for suffix in JOURNALS[1:]:
                store.path.with_name(store.path.name + suffix).unlink(missing_ok=True)

        if moment == "between":
            replace()
            with pytest.raises(ReplacedError, match="deleted or replaced"):
                submit(store, "ann", [Judgement("after", 1, 1)])
        else:
            with pytest.raises(ReplacedError, match="deleted or replaced"):
                store.write(lambda _: replace())
        kept, refused = judge(store, name, "then", 5)
        assert refused == 0
        assert in_file(store.path) == {*before, *kept}
        (saved,) = tmp_path.glob("labels.db.removed-*")
        assert in_file(saved) == {*before, *lost}
        assert saved.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("gone", [JOURNALS, JOURNALS[:1]])
def test_a_deleted_file_acknowledges_nothing_and_what_it_held_is_kept(tmp_path: Path, gone: tuple[str, ...]) -> None:
    with fresh_store("sqlite", tmp_path) as store:
        name = begin(store, queries=20)
        before, _ = judge(store, name, "before", 3)
        for suffix in gone:
            store.path.with_name(store.path.name + suffix).unlink()
        assert judge(store, name, "after", 15) == ([], 15)
        with pytest.raises(ReplacedError):
            labels_frame(store)
        (saved,) = tmp_path.glob("labels.db.removed-*")
        assert in_file(saved) == set(before)
        for suffix in JOURNALS[1:]:
            store.path.with_name(store.path.name + suffix).unlink(missing_ok=True)
        shutil.copy(saved, store.path)  # what the message says to do
        assert sorted(labels_frame(store)["label_id"]) == before
        kept, _ = judge(store, name, "again", 2)
        assert in_file(store.path) == {*before, *kept}


def test_a_deleted_log_is_noticed(tmp_path: Path) -> None:
    with fresh_store("sqlite", tmp_path) as store:
        name = begin(store)
        judge(store, name, "before", 3)
        for suffix in JOURNALS[1:]:
            store.path.with_name(store.path.name + suffix).unlink()
        with pytest.raises(ReplacedError):
            submit(store, "ann", [Judgement("after", 1, 1)])
        kept, _ = judge(store, name, "then", 3)
        assert set(kept) <= in_file(store.path)


def test_another_store_in_its_place_is_refused_until_the_end(tmp_path: Path) -> None:
    with fresh_store("sqlite", tmp_path) as store, fresh_store("sqlite", tmp_path / "other") as other:
        begin(store)
        begin(other)
        aside = tmp_path / "aside.db"
        other.close()
        shutil.copy(store.path, aside)
        other.path.replace(store.path)
        for _ in range(2):
            with pytest.raises(ReplacedError):
                submit(store, "ann", [Judgement("t", 1, 1)])
            with pytest.raises(ReplacedError, match="another label store"):
                labels_frame(store)
        assert in_file(store.path) == set()


def test_writers_that_share_a_commit_all_hear_of_it(tmp_path: Path) -> None:
    with fresh_store("sqlite", tmp_path) as store:
        name = begin(store, queries=10)
        tasks = next_batch(store, name, "ann", 40)
        with ThreadPoolExecutor(8) as pool:
            first = list(
                pool.map(lambda t: submit(store, "ann", [Judgement(f"a{t.assignment}", t.assignment, 1)]), tasks)
            )
            store.path.unlink()
            later = [pool.submit(submit, store, "ann", [Judgement(f"b{t.assignment}", t.assignment, 0)]) for t in tasks]
            refusals = [future.exception(60) for future in later]
        assert len(first) == 40
        assert all(isinstance(error, ReplacedError) for error in refusals)


def test_a_copy_and_a_backup_keep_the_name_of_the_store(tmp_path: Path) -> None:
    with fresh_store("sqlite", tmp_path) as store, fresh_store("sqlite", tmp_path / "other") as other:
        begin(store)
        moved = open_store(copy_of(store, tmp_path))
        assert moved.store_id == store.store_id
        assert store.store_id != other.store_id
        moved.close()
