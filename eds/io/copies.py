"""Local copies of remote objects: fetched in parts, named by their content, uploaded whole."""

import hashlib
import io
import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from eds.io import files, objects
from eds.io.addresses import name_of
from eds.io.retries import AGAIN, StorageError, TruncatedError

PART = 1 << 24  # bytes fetched at once: a broken connection costs at most so many
AT_ONCE = 4  # parts
AHEAD = 1 << 20  # bytes that a reader of a stream fetches beyond what is asked


def fetched(address: str, folder: Path, sha256: str) -> Path:
    """A copy of the object in `folder`, fetched unless it is there already, and compared with its digest when fetched.

    The copy is named by the digest, or where none is known by address and version, so that another content is
    another file, and none is ever there in part.
    """
    found = objects.look(address)
    name = sha256 or hashlib.sha256(f"{address} {found.version}".encode()).hexdigest()
    copy = folder / f"{name}{Path(name_of(address)).suffix}"
    if copy.is_file() and copy.stat().st_size == found.size:
        return copy
    with files.replacing(copy) as temporary:
        _fetch(address, found.size, temporary)
        if sha256 and (there := files.digest(temporary)) != sha256:
            raise TruncatedError(
                f"the object is not the one that was written: its sha256 is {there[:12]}…, not {sha256[:12]}…",
                where=address,
                hint=AGAIN,
            )
        if objects.look(address) != found:
            raise StorageError("the object changed while it was read", where=address, hint="Try again.")
    return copy


def digest(address: str) -> str:
    """The sha256 of an object, in hex, read part by part."""
    hashed, size = hashlib.sha256(), objects.look(address).size
    for first in range(0, size, PART):
        hashed.update(objects.read_range(address, first, min(PART, size - first)))
    return hashed.hexdigest()


@contextmanager
def replacing(address: str) -> Iterator[Path]:
    """A temporary file here, which becomes the object if the block ends well."""
    with tempfile.TemporaryDirectory(prefix="eds-put-") as folder:
        temporary = Path(folder) / name_of(address)
        yield temporary
        objects.put_file(address, temporary)


def stream(address: str) -> io.BufferedReader:
    """The object as a file that is open for reading, with seek; each read is a range, tried again as any other."""
    return io.BufferedReader(_Ranges(address), AHEAD)


class _Ranges(io.RawIOBase):
    """An object as a raw stream."""

    def __init__(self, address: str) -> None:
        self._address, self._size, self._at = address, objects.look(address).size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        if start + offset < 0:
            raise ValueError("a place before the beginning")
        self._at = start + offset
        return self._at

    def readall(self) -> bytes:
        parts = range(self._at, self._size, PART)
        data = b"".join(objects.read_range(self._address, first, min(PART, self._size - first)) for first in parts)
        self._at += len(data)
        return data

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        count = max(0, min(len(buffer), self._size - self._at))
        buffer[:count] = objects.read_range(self._address, self._at, count)
        self._at += count
        return count


def _fetch(address: str, size: int, file: Path) -> None:
    """Fetch an object's parts, a few at once, each into its place."""
    with file.open("wb") as stream, ThreadPoolExecutor(AT_ONCE) as pool:
        stream.truncate(size)

        def part(first: int) -> None:
            data = objects.read_range(address, first, min(PART, size - first))
            os.pwrite(stream.fileno(), data, first)

        for done in [pool.submit(part, first) for first in range(0, size, PART)]:
            done.result()
