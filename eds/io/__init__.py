"""Local files and remote objects by one address: a path, `file://` and a path, or `s3://bucket/key`.

A local address never touches fsspec: it is a path, and costs what a path costs. A remote one is read in ranges and
written whole; requests are repeated while the storage is busy or the connection breaks. Credentials come from the
environment alone.
"""

import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from eds.io import copies, files, objects
from eds.io.addresses import Address, checked, is_remote, join, local_path, name_of, parent_of
from eds.io.objects import Item
from eds.io.retries import AbsentError, StorageError, TruncatedError

__all__ = [
    "AbsentError",
    "Address",
    "Item",
    "StorageError",
    "TruncatedError",
    "checked",
    "digest",
    "exists",
    "fetched",
    "is_remote",
    "join",
    "listing",
    "local_path",
    "look",
    "name_of",
    "open_reading",
    "parent_of",
    "put",
    "read",
    "replacing",
    "size",
]


def look(address: Address) -> Item:
    """Size and version of a file or object; AbsentError where there is none."""
    if is_remote(address):
        return objects.look(str(checked(address)))
    path = local_path(address)
    try:
        found = path.stat()
    except FileNotFoundError as error:
        raise AbsentError("there is no such file", where=str(path), hint="Look at its name.") from error
    except OSError as error:
        raise _unreadable(path, error) from error
    return Item(str(path), found.st_size, found.st_mtime_ns)


def exists(address: Address) -> bool:
    """Whether it exists; what cannot be decided (permission, no bucket, no connection) is an error, not a no."""
    try:
        look(address)
    except AbsentError:
        return False
    return True


def size(address: Address) -> int:
    """The bytes of a file or object."""
    return look(address).size


def listing(address: Address) -> Iterator[Item]:
    """Every file or object below, at any depth, names relative to `address`, in the order of their bytes.

    A missing folder is an error; a prefix without objects is empty, since buckets have no folders. Unfinished writes
    are not listed.
    """
    if is_remote(address):
        yield from objects.listing(str(checked(address)))
        return
    root = local_path(address)
    if not root.is_dir():
        raise AbsentError("there is no such folder", where=str(root), hint="Look at its name.")
    every = (Path(folder, name) for folder, _, names in os.walk(root) for name in names)
    inner = (path for path in every if not files.UNFINISHED.fullmatch(path.name))
    for name in sorted((path.relative_to(root).as_posix() for path in inner), key=os.fsencode):
        yield look(root / name)._replace(name=name)


def read(address: Address, first: int = 0, count: int | None = None) -> bytes:
    """The bytes, or `count` of them from byte `first` on; a file that ends before is truncated, and refused."""
    if is_remote(address):
        place = str(checked(address))
        return objects.read_rest(place, first) if count is None else objects.read_range(place, first, count)
    path = local_path(address)
    try:
        with path.open("rb") as stream:
            stream.seek(first)
            data = stream.read(-1 if count is None else count)
    except FileNotFoundError as error:
        raise AbsentError("there is no such file", where=str(path), hint="Look at its name.") from error
    except OSError as error:
        raise _unreadable(path, error) from error
    if count is not None and len(data) != count:
        raise TruncatedError(
            f"the file is truncated: {len(data):,} of {count:,} bytes from byte {first:,} on",
            where=str(path),
            hint="Write it again.",
        )
    return data


def open_reading(address: Address) -> io.BufferedReader:
    """A file or object as an open stream of bytes, with seek; the caller closes it."""
    if is_remote(address):
        return copies.stream(str(checked(address)))
    path = local_path(address)
    try:
        return path.open("rb")
    except FileNotFoundError as error:
        raise AbsentError("there is no such file", where=str(path), hint="Look at its name.") from error
    except OSError as error:
        raise _unreadable(path, error) from error


def fetched(address: Address, folder: Path, sha256: str = "") -> Path:
    """A local file with the content: the file itself, or a copy in `folder` that is fetched once.

    A fetched copy is compared with `sha256` if that is given. A local file is not read.
    """
    if is_remote(address):
        return copies.fetched(str(checked(address)), folder, sha256)
    look(address)
    return local_path(address)


def digest(address: Address) -> str:
    """The sha256 of a file's or object's bytes, in hex."""
    if is_remote(address):
        return copies.digest(str(checked(address)))
    look(address)
    return files.digest(local_path(address))


def put(address: Address, data: bytes) -> str:
    """Write these bytes, whole or not at all; gives their sha256."""
    if is_remote(address):
        objects.put_bytes(str(checked(address)), data)
    else:
        with files.replacing(local_path(address)) as temporary:
            temporary.write_bytes(data)
    return hashlib.sha256(data).hexdigest()


def replacing(address: Address) -> AbstractContextManager[Path]:
    """Give a temporary path to write to; it becomes the file or object when the block ends without an error."""
    if is_remote(address):
        return copies.replacing(str(checked(address)))
    return files.replacing(local_path(address))


def _unreadable(path: Path, error: OSError) -> StorageError:
    return StorageError(f"cannot be read ({error.strerror or error})", where=str(path), hint="Look at its permissions.")
