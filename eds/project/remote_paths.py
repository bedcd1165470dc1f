"""Files that verbs write where a path or an address is given."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eds import io
from eds.errors import InputError


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

    Whoever finds `last` there finds everything; what a broken attempt leaves has to be removed by hand.
    """
    if not io.is_remote(address):
        yield io.local_path(address)
        return
    if replace or next(io.listing(address), None) is not None:
        what = "a remote export cannot be replaced" if replace else "there are objects already"
        raise InputError(what, where=str(address), do="Name a new prefix.")
    with tempfile.TemporaryDirectory(prefix="eds-put-") as folder:
        yield Path(folder) / "export"
        upload(Path(folder) / "export", address, last=last)


def upload(folder: Path, base: io.Address, *, last: str) -> None:
    """Copy every file below the folder to an address, `last` in the end."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    for name in sorted(names, key=lambda name: name == last):
        with io.replacing(io.join(base, name)) as temporary:
            shutil.copyfile(folder / name, temporary)
