import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from eds.errors import InputError
from eds.files import digest, replacing, write_text


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


def test_leftovers_of_dead_writers_are_swept_those_of_living_ones_kept(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    dead, alive = tmp_path / f".t.txt.{ended.pid}.tmp", tmp_path / f".t.txt.{os.getppid()}.tmp"
    dead.touch()
    alive.touch()
    write_text(tmp_path / "t.txt", "new")
    assert not dead.exists()
    assert alive.exists()


def test_a_file_that_cannot_grow_is_a_clear_error_and_keeps_the_old_one(tmp_path: Path) -> None:
    """A limit on file size acts like a full disk: the write fails half way."""
    target = tmp_path / "t.txt"
    write_text(target, "old")
    program = """
import pathlib, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
from eds.errors import InputError
from eds.files import write_text
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


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"):
        write_text(tmp_path / "file" / "t.txt", "x")


def test_digest_is_sha256(tmp_path: Path) -> None:
    content = os.urandom(3_000_000)
    (tmp_path / "f").write_bytes(content)
    assert digest(tmp_path / "f") == hashlib.sha256(content).hexdigest()
