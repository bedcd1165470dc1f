"""Files that verbs read and write where a path or an address is given."""

import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from eds import io
from eds.errors import InputError

if TYPE_CHECKING:
    from eds.project import Project

FETCHED = ".eds/fetched"


@contextmanager
def fetch_files(project: "Project", addresses: Sequence[io.Address]) -> Iterator[list[Path]]:
    """Give local copies of files, or of folders of vectors: local ones themselves, remote ones fetched.

    The copies are deleted after the block. After a failure they stay, so that the next attempt fetches the rest only.
    """
    folder = project.root / FETCHED
    yield [_fetch(address, folder) for address in addresses]
    shutil.rmtree(folder, ignore_errors=True)


def _fetch(address: io.Address, folder: Path) -> Path:
    if not io.is_remote(address):
        return io.local_path(address)
    beside = folder / hashlib.sha256(str(address).encode()).hexdigest()[:16]
    named = beside / io.name_of(address)
    try:
        copy = io.fetched(address, beside)
    except io.AbsentError:
        if not io.exists(io.join(address, "model.json")):
            raise
        from eds.vectors import copy_remote

        return copy_remote(address, named)
    named.unlink(missing_ok=True)
    named.hardlink_to(copy)
    return named


@contextmanager
def local_file(address: io.Address) -> Iterator[Path]:
    """Give the file to write, and others beside it; those of an address are uploaded in the end, this file last."""
    if not io.is_remote(address):
        yield io.local_path(address)
        return
    name = io.name_of(address)
    with tempfile.TemporaryDirectory(prefix="eds-put-") as folder:
        yield Path(folder) / name
        upload(Path(folder), io.parent_of(address), last=name)


@contextmanager
def local_folder(address: io.Address, *, last: str, replace: bool) -> Iterator[Path]:
    """Give the folder to write; one at an address must be new, and gets its files one by one, `last` in the end.

    If `last` is there, everything is; what a broken attempt leaves has to be removed by hand.
    """
    if not io.is_remote(address):
        yield io.local_path(address)
        return
    if replace or next(io.listing(address), None) is not None:
        what = "a remote export cannot be replaced" if replace else "there are objects already"
        raise InputError(what, where=str(address), hint="Name a new prefix.")
    with tempfile.TemporaryDirectory(prefix="eds-put-") as folder:
        yield Path(folder) / "export"
        upload(Path(folder) / "export", address, last=last)


def upload(folder: Path, base: io.Address, *, last: str) -> None:
    """Copy every file below the folder to an address, `last` in the end."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    for name in sorted(names, key=lambda name: name == last):
        with io.replacing(io.join(base, name)) as temporary:
            shutil.copyfile(folder / name, temporary)
