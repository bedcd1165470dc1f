"""Atomic files: written whole or not at all; and digests of their content."""

import errno
import hashlib
import os
import re
import secrets
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from glob import escape
from pathlib import Path

from eds.errors import InputError

CHUNK = 1 << 20
UNFINISHED = re.compile(
    r"\.(.+)\.([0-9a-f]{8})-(\d+)-[0-9a-f]{8}\.tmp"
)  # the file; machine and process of who writes it
DAY = 86400.0  # seconds without a write, after which what another machine began counts as abandoned


@contextmanager
def replacing(path: Path, *, durable: bool = True) -> Iterator[Path]:
    """Give a temporary path beside `path`; move it there, durably, if the block ends well.

    A process that dies in the block leaves the old file as it was. What it leaves of its own, a
    hidden file, the next writer of the same path removes. Writers of one path, on one machine or on
    several that share the folder, do not interfere: the last one to finish wins. One of many files
    that can be made again need not be `durable`: neither is it synced, nor its folder searched.
    """
    temporary = unfinished(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for leftover in abandoned(path) if durable else ():
            leftover.unlink(missing_ok=True)
        yield temporary
        if durable:
            _sync(temporary)
        temporary.replace(path)
        if durable:
            _sync(path.parent)
    except OSError as error:
        reason = error.strerror or _lacking_space(path.parent) or error
        raise InputError(
            f"cannot be written ({reason})", where=str(path), hint="Free space or choose another folder."
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def write_text(path: Path, text: str) -> None:
    """Write a small text file, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def unfinished(path: Path) -> Path:
    """A hidden name beside `path` for an unfinished file; unique among all processes and machines."""
    return path.with_name(f".{path.name}.{_machine()}-{os.getpid()}-{secrets.token_hex(4)}.tmp")


def abandoned(path: Path) -> list[Path]:
    """What writers of `path` left when they died.

    On this machine by their process numbers; of other machines, whose processes are not visible, a day after the last
    write.
    """
    found = []
    for leftover in path.parent.glob(f".{escape(path.name)}.*.tmp"):
        match = UNFINISHED.fullmatch(leftover.name)
        if match is None or match[1] != path.name:  # of another path, whose name begins like this one's
            continue
        with suppress(FileNotFoundError):
            here = match[2] == _machine()
            if not _alive(int(match[3])) if here else time.time() - leftover.stat().st_mtime > DAY:
                found.append(leftover)
    return found


def digest(path: Path) -> str:
    """The sha256 of a file's bytes, in hex."""
    hashed = hashlib.sha256()
    try:
        with path.open("rb", buffering=0) as stream:
            while chunk := stream.read(CHUNK):
                hashed.update(chunk)
    except PermissionError as error:
        raise forbidden(path) from error
    except IsADirectoryError as error:
        raise InputError("it is a folder, not a file", where=str(path), hint="Move it away.") from error
    return hashed.hexdigest()


def forbidden(path: Path, kind: type[InputError] = InputError) -> InputError:
    """The error for a file that may not be read; it may be whole, so the advice is not to restore or delete it."""
    hint = "Ask its owner, or who looks after this machine, for the right to read it."
    return kind("it may not be read (permission denied)", where=str(path), hint=hint)


def _lacking_space(folder: Path) -> str:
    """The message that the disk is full, if it is: numpy says only how many numbers it could not write."""
    with suppress(OSError):
        if shutil.disk_usage(folder).free < CHUNK:
            return os.strerror(errno.ENOSPC)
    return ""


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@cache
def _machine() -> str:
    """An identity of this machine's process numbers: its name, boot and container."""
    parts = [socket.gethostname()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text())
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:8]


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
