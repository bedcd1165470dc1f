import hashlib
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from eds.errors import InputError
from eds.io.files import abandoned, digest, replacing, unfinished, write_text
from tests.privileges import small_disk


def test_a_block_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "t.txt"
    write_text(target, "old")

    def fail_half_way() -> None:
        with replacing(target) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["t.txt"]


def leftover(path: Path, process: int, machine: str | None = None, age: float = 0.0) -> Path:
    """What a writer of `path` has begun: this process's name for it, told as another's."""
    here, _, chance = unfinished(path).name.removeprefix(f".{path.name}.").split("-")
    made = path.with_name(f".{path.name}.{machine or here}-{process}-{chance}")
    made.touch()
    os.utime(made, (time.time() - age,) * 2)
    return made


def test_leftovers_of_dead_writers_are_swept_those_of_living_ones_kept(tmp_path: Path) -> None:
    target, day = tmp_path / "t[1].txt", 86400
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    gone = [leftover(target, ended.pid), leftover(target, os.getpid(), "0" * 8, 2 * day)]
    kept = [
        leftover(target, os.getppid(), age=2 * day),  # alive
        leftover(target, ended.pid, "0" * 8, day / 2),  # of another machine: nobody can tell
        leftover(tmp_path / "t[1].txt.receipt", ended.pid),
        leftover(tmp_path / "t1.txt", ended.pid),
    ]
    assert set(abandoned(target)) == set(gone)
    write_text(target, "new")
    assert set(tmp_path.iterdir()) == {target, *kept}


def test_many_writers_of_one_path_never_meet(tmp_path: Path) -> None:
    """Threads have one process number, as processes of two machines may have."""
    target, texts = tmp_path / "t.txt", [str(number) * 100_000 for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write_text, [target] * 40, texts * 5))
    assert target.read_text() in texts
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_that_cannot_grow_is_a_clear_error_and_keeps_the_old_one(tmp_path: Path) -> None:
    """A limit on file size acts like a full disk: the write fails half way."""
    target = tmp_path / "t.txt"
    write_text(target, "old")
    program = """
import pathlib, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
from eds.errors import InputError
from eds.io.files import write_text
try:
    write_text(pathlib.Path(sys.argv[1]), "x" * 5000)
except InputError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program, str(target)], capture_output=True, text=True, check=True)
    assert "cannot be written (File too large)" in done.stdout
    assert "Free space" in done.stdout
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["t.txt"]


def test_a_full_disk_is_told_as_such_also_by_numpy() -> None:
    with small_disk("256k") as disk:

        def save() -> None:
            with replacing(disk / "v.npy") as temporary, temporary.open("wb") as file:
                np.save(file, np.zeros(100_000))

        with pytest.raises(InputError, match=r"cannot be written \(No space left on device\)"):
            save()
        assert list(disk.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"):
        write_text(tmp_path / "file" / "t.txt", "x")


def test_digest_is_sha256(tmp_path: Path) -> None:
    content = os.urandom(3_000_000)
    (tmp_path / "f").write_bytes(content)
    assert digest(tmp_path / "f") == hashlib.sha256(content).hexdigest()
