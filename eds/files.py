"""Files that are written whole or not at all, and the digests that tell one content from another."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from eds.errors import InputError

CHUNK = 1 << 20


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`; move it there, durably, if the block ends well.

    A process that dies in the block leaves the old file as it was. What it leaves of its own, a
    hidden file, the next writer of the same path removes.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path)
        yield temporary
        _sync(temporary)
        temporary.replace(path)
        _sync(path.parent)
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror or error})", where=str(path), do="Free space or choose another folder."
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def write_text(path: Path, text: str) -> None:
    """Write a small text file, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def digest(path: Path) -> str:
    """The sha256 of a file's bytes, in hex."""
    hashed = hashlib.sha256()
    with path.open("rb", buffering=0) as stream:
        while chunk := stream.read(CHUNK):
            hashed.update(chunk)
    return hashed.hexdigest()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sweep(path: Path) -> None:
    for leftover in path.parent.glob(f".{path.name}.*.tmp"):
        owner = leftover.name.removeprefix(f".{path.name}.").removesuffix(".tmp")
        if owner.isdigit() and not _alive(int(owner)):
            leftover.unlink(missing_ok=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
