"""Files that verbs write where a path or an address is given."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eds import io


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


def upload(folder: Path, base: io.Address, *, last: str) -> None:
    """Copy every file below the folder to an address, `last` in the end."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    for name in sorted(names, key=lambda name: name == last):
        with io.replacing(io.join(base, name)) as temporary:
            shutil.copyfile(folder / name, temporary)
