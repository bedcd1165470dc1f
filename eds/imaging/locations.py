"""The file of a picture: where it is below the image root, and its bytes; or why that cannot be.

A root is a folder here, where nothing may lie outside of it, or an address elsewhere (eds.io).
"""

import errno
import os
import stat
import threading
from pathlib import Path, PureWindowsPath
from typing import NamedTuple, TypeVar

from eds import io as storage
from eds.errors import ImageError
from eds.io import Address

Root = TypeVar("Root", Path, Address)
MAX_BYTES = 1 << 29  # of a file
ELSEWHERE = 16  # threads where pictures come over a network: they wait more than they work
PLAINLY = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
NO_LINKS = getattr(os, "O_NOFOLLOW", 0)  # 0 where the system does not know it
MISSING = os.strerror(errno.ENOENT)


def inside(root: Root, relative: str) -> Root:
    """The file `relative` below `root`, links followed; ImageError when it would lie anywhere else.

    Below an address elsewhere it is the address of the object; nothing is asked of the storage.
    """
    parts = PureWindowsPath(relative)  # knows both separators, drives and shares
    if not relative or "\0" in relative:
        raise ImageError(f"{relative!r} is not a path", where=str(root), hint="Give a path below the image root.")
    if parts.anchor or ".." in parts.parts:
        raise ImageError(f"path {relative!r} leaves the image root", where=str(root), hint="Give a path below it.")
    if storage.is_remote(root):
        return storage.join(root, relative)  # type: ignore[return-value] # a path is never elsewhere
    home = os.path.realpath(root)
    file = os.path.realpath(os.path.join(home, relative))  # noqa: PTH118 - Path would fold the path before it is checked
    if not file.startswith(home.rstrip(os.sep) + os.sep):
        raise ImageError(
            f"path {relative!r} leaves the image root by a link", where=str(root), hint="Put the file itself below it."
        )
    return Path(file)


class Folders:
    """What `inside` does, for many files of one root: each folder is checked once, then only links need all of it."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._good = {"": os.path.realpath(root)}

    def located(self, path: str) -> str:
        """The file behind the path."""
        return self.file(path)[0]

    def file(self, path: str) -> tuple[str, os.stat_result]:
        """The file behind the path, and its status; strings, as a Path for each file costs as much as its digest."""
        folder, _, name = path.rpartition("/")
        if not _odd(path, name) and (place := self._place(folder)):
            file = f"{place}/{name}"
            found = os.lstat(file)
            if not stat.S_ISLNK(found.st_mode):
                return file, found
        file = str(inside(self._root, path))
        return file, os.stat(file)  # noqa: PTH116

    def read(self, path: str) -> tuple[bytes, os.stat_result]:
        """The file's bytes, as `read_bytes`, and its status; the system refuses a link, which is then looked at."""
        folder, _, name = path.rpartition("/")
        if NO_LINKS and not _odd(path, name) and (place := self._place(folder)):
            try:
                return _opened(f"{place}/{name}", NO_LINKS)
            except _LinkError:
                pass
        file, found = self.file(path)
        return read_bytes(file), found

    def _place(self, folder: str) -> str:
        """Where a folder is, if neither it nor one above it is a link; else nothing."""
        if folder not in self._good:
            above, _, name = folder.rpartition("/")
            place = "" if _odd(folder, name) else self._place(above)
            linked = place and stat.S_ISLNK(os.lstat(f"{place}/{name}").st_mode)
            self._good[folder] = f"{place}/{name}" if place and not linked else ""
        return self._good[folder]


class Status(NamedTuple):
    """Of an object what `os.stat_result` tells of a file; the version stands for the time of change."""

    st_size: int
    st_mtime_ns: int


class Objects:
    """What `Folders` does, for a root elsewhere: sizes and versions come from one list of all that is below it."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._there: dict[str, Status] | None = None
        self._listing = threading.Lock()

    def located(self, path: str) -> str:
        """The address of the object behind the path; the storage is not asked."""
        return str(inside(self._root, path))

    def file(self, path: str) -> tuple[str, Status]:
        """The address of the object behind the path, and its status."""
        address = self.located(path)
        with self._listing:
            if self._there is None:
                self._there = {one.name: Status(one.size, one.version) for one in storage.listing(self._root)}
        found = self._there.get(path)
        if found is None:
            raise ImageError(MISSING, where=address, hint="Look at its name.")
        if found.st_size > MAX_BYTES:
            raise ImageError(f"file of {found.st_size:,} bytes, more than {MAX_BYTES:,}", where=address)
        return address, found

    def read(self, path: str) -> tuple[bytes, Status]:
        """The object's bytes and its status."""
        file, found = self.file(path)
        return read_bytes(file), found


def folders_of(root: Address) -> Folders | Objects:
    """The files below a root, here or elsewhere."""
    return Objects(str(root)) if storage.is_remote(root) else Folders(storage.local_path(root))


def _odd(path: str, name: str) -> bool:
    """Whether a path needs the whole check."""
    return name in ("", ".", "..") or "\\" in path or ":" in path or "\0" in path or path[0] == "/"


def read_bytes(path: Address) -> bytes:
    """The file's bytes; ImageError when it is missing, empty, forbidden, too large or not a regular file.

    Of an object that is missing, empty or cut, too; a storage that refuses or cannot be reached is no fault of a
    picture, and goes on as the StorageError that it is.
    """
    if storage.is_remote(path):
        return _object(path)
    return _opened(str(path), 0)[0]


def _opened(path: str, flags: int) -> tuple[bytes, os.stat_result]:
    try:
        handle = os.open(path, PLAINLY | flags)
        try:
            data, found = _all_of(handle, path)
        finally:
            os.close(handle)
    except (OSError, ValueError) as error:
        if isinstance(error, ImageError):
            raise
        if isinstance(error, OSError) and error.errno == errno.ELOOP and flags:
            raise _LinkError from error
        raise ImageError(describe_error(error), where=path) from error
    if not data:
        raise ImageError("file is empty", where=path, hint="Fetch the file again.")
    return data, found


class _LinkError(Exception):
    """The last part of a path is a link."""


def _object(address: Address) -> bytes:
    try:
        data = storage.read(address)
    except storage.AbsentError as error:
        raise ImageError(MISSING, where=str(address)) from error
    except storage.TruncatedError as error:
        raise ImageError(error.what, where=str(address), hint=error.hint) from error
    if not data:
        raise ImageError("file is empty", where=str(address), hint="Put it there again.")
    return data


def _all_of(handle: int, where: str) -> tuple[bytes, os.stat_result]:
    """What an open file holds, and its status; plain system calls, because a scan opens every picture there is."""
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "not a regular file"
        raise ImageError(kind, where=where, hint="Give the file of a picture.")
    if found.st_size > MAX_BYTES:
        raise ImageError(f"file of {found.st_size:,} bytes, more than {MAX_BYTES:,}", where=where)
    data = os.read(handle, found.st_size)
    while len(data) < found.st_size and (more := os.read(handle, found.st_size - len(data))):
        data += more  # a large file comes in several pieces
    return data, found


def describe_error(error: BaseException) -> str:
    """What went wrong, in one line."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error) or type(error).__name__
    return reason.splitlines()[0].rstrip(".")
