"""Labels on a disk that is full or may only be read: they can still be exported and backed up, to another one."""

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing, suppress
from pathlib import Path

import pytest

from eds.errors import EdsError
from eds.labels import database
from eds.labels.backup import back_up, check_backup
from eds.labels.frames import labels_frame
from eds.labels.judgements import Judgement, submit
from eds.labels.queue import next_batch
from eds.labels.store import open_store
from eds.labels.transfer import export_votes
from eds.project import Project
from tests.labels.stores import begin, judge_all
from tests.privileges import small_disk


def judged(folder: Path, *, crashed: bool) -> tuple[Path, list[str]]:
    """A label file in the folder; if the writer crashed, its last acts are in the log alone."""
    made = folder / "made.db"
    with closing(open_store(made)) as store:
        judge_all(store, begin(store), "ann")
        names = labels_frame(store)["label_id"].tolist()
        if crashed:
            for suffix in ("", "-wal"):
                shutil.copy(f"{made}{suffix}", folder / f"labels.db{suffix}")
    if not crashed:
        shutil.copy(made, folder / "labels.db")
    for file in folder.glob("made.db*"):
        file.unlink()
    return folder / "labels.db", names


@pytest.mark.parametrize("crashed", [False, True])
@pytest.mark.parametrize("how", ["full", "read-only"])
def test_labels_can_be_saved(tmp_path: Path, how: str, crashed: bool) -> None:
    with small_disk("8m") as disk:
        path, names = judged(disk, crashed=crashed)
        if how == "full":
            with suppress(OSError), (disk / "ballast").open("wb", buffering=0) as stream:
                while stream.write(bytes(1 << 12)):
                    pass
        else:
            subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        before = {file.name: file.read_bytes() for file in disk.glob("labels.db*")}
        with closing(open_store(path)) as store:
            assert labels_frame(store)["label_id"].tolist() == names
            assert export_votes(store, tmp_path / "votes.csv") == len(names)
            back_up(store, tmp_path / "backup.zip")
            with pytest.raises(EdsError):
                submit(store, "ann", [Judgement("new", next_batch(store, "first", "bob")[0].assignment, 1)])
        assert check_backup(tmp_path / "backup.zip").labels == len(names)
        assert {name: (disk / name).read_bytes() for name in before} == before


def test_another_programs_file_is_never_copied_while_it_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, _ = judged(tmp_path, crashed=False)
    with closing(open_store(path)) as writer:
        submit(writer, "bob", [Judgement("new", next_batch(writer, "first", "bob")[0].assignment, 1)])
        monkeypatch.setattr(shutil, "copy", None)
        made = database._open_unwritable(path, sqlite3.OperationalError("readonly"))
        assert made.execute("SELECT count(*) FROM label_event").fetchone() == (13,)
        made.close()


def test_a_killed_upgrade_leaves_a_name_that_the_next_one_clears(tmp_path: Path) -> None:
    project = Project.create(tmp_path / "p")
    with closing(open_store(project.path("labels"))) as store:
        judge_all(store, begin(store), "ann")
    first, second = Path(project.labels.upgrade().backup), Path(project.labels.upgrade().backup)
    assert first.name.startswith("labels-before-upgrade-to-")
    assert first != second
    first.unlink()
    leftover = first.with_name(f".{first.name}.{'0' * 8}-1-{'0' * 8}.tmp")
    leftover.write_text("hashes")

    os.utime(leftover, (0, 0))
    assert Path(project.labels.upgrade().backup) == first
    assert not leftover.exists()
