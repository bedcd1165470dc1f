"""Objects in buckets, through fsspec and s3fs: look, list, read in ranges, put.

Both are imported when the first remote address is used. A short range and a broken
listing are errors; nothing is skipped. Only this module knows s3fs.
"""

import hashlib
import importlib
import logging
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from eds.distribution import install
from eds.errors import MissingExtraError
from eds.io.addresses import Key, key_of
from eds.io.retries import AGAIN, AbsentError, Result, StorageError, TruncatedError, no_bucket, patiently

REQUEST_ATTEMPTS = 2  # of s3fs by itself, at once; the patient attempts are in eds.io.retries
CONNECTIONS = 64  # at once, to one server
QUIET = ("botocore", "aiobotocore", "s3fs", "fsspec", "aiohttp")  # at DEBUG they write signatures and tokens
_systems: dict[tuple[int, str], Any] = {}
_buckets: set[tuple[str, str]] = set()  # seen to be there
_lock = threading.Lock()


class Item(NamedTuple):
    """A file or an object: its name (relative to what was listed, or its address), size, and a number for its version.

    The number is the time of change in nanoseconds for a file, made from the ETag for an object.
    """

    name: str
    size: int
    version: int


def look(address: str) -> Item:
    """Size and version of an object; AbsentError where there is none, StorageError where that cannot be decided."""
    key = key_of(address)

    def ask() -> Item:
        try:
            found = _system().call_s3("head_object", Bucket=key.bucket, Key=key.path)
        except FileNotFoundError:
            _refuse_missing_bucket(key, address)
            raise
        return Item(address, int(found["ContentLength"]), _version(found))

    return patiently(ask, address)


def listing(address: str) -> Iterator[Item]:
    """Every object below a prefix, by name in the order of its bytes, page by page; names relative to the prefix."""
    key = key_of(address)
    prefix = f"{key.path}/" if key.path else ""
    more: dict[str, str] = {}
    while True:
        page = _page(key, prefix, more, address)
        for found in page.get("Contents", []):
            name = found["Key"].removeprefix(prefix)
            if name and not name.endswith("/"):  # such are marks that some tools leave for empty folders
                yield Item(name, int(found["Size"]), _version(found))
        if not page.get("IsTruncated"):
            return
        more = {"ContinuationToken": page["NextContinuationToken"]}


def read_range(address: str, first: int, count: int) -> bytes:
    """`count` bytes of an object from byte `first` on; fewer are a fault, more cannot be."""
    if count == 0:
        return b""
    key = key_of(address)
    data = patiently(lambda: _system().cat_file(_path(key), start=first, end=first + count), address)
    if len(data) != count:
        raise TruncatedError(
            f"the object is truncated: {len(data):,} of {count:,} bytes came from byte {first:,} on",
            where=address,
            hint=AGAIN,
        )
    return bytes(data)


def read_rest(address: str, first: int = 0) -> bytes:
    """All bytes of an object from byte `first` on, by one request; a connection that breaks is noticed."""
    key = key_of(address)
    try:
        return bytes(patiently(lambda: _system().cat_file(_path(key), start=first, end=None), address))
    except TruncatedError:
        if look(address).size == first:  # an empty range cannot be asked for
            return b""
        raise


def put_bytes(address: str, data: bytes) -> None:
    """Make an object of these bytes; it is there whole or not at all."""
    key = key_of(address)
    _patient(lambda: _system().pipe_file(_path(key), data), address, len(data))


def put_file(address: str, file: Path) -> None:
    """Make an object of a file; large ones in parts, which become the object when the last has come."""
    key = key_of(address)
    _patient(lambda: _system().put_file(str(file), _path(key)), address, file.stat().st_size)


def _patient(act: Callable[[], Result], address: str, size: int) -> None:
    patiently(act, address)
    there = look(address).size
    if there != size:
        raise StorageError(
            f"{there:,} bytes are there, {size:,} were put", where=address, hint="Somebody else writes there: look who."
        )


def _page(key: Key, prefix: str, more: dict[str, str], address: str) -> Any:
    return patiently(lambda: _system().call_s3("list_objects_v2", Bucket=key.bucket, Prefix=prefix, **more), address)


def _refuse_missing_bucket(key: Key, address: str) -> None:
    """An object that is not there may mean that its bucket is not; ask once for each bucket."""
    seen = (_place(), key.bucket)
    if seen in _buckets:
        return
    try:
        _system().call_s3("head_bucket", Bucket=key.bucket)
    except FileNotFoundError as error:
        raise no_bucket(address) from error
    except PermissionError:
        return  # who may read objects need not be allowed to look at the bucket
    _buckets.add(seen)


def _path(key: Key) -> str:
    if not key.path or "?versionId=" in key.path:
        what = "the address names no object" if not key.path else "such a name cannot be read"
        raise StorageError(what, where=f"s3://{key.bucket}/{key.path}", hint="Write s3://bucket/prefix/name.")
    return f"{key.bucket}/{key.path}"


def _version(found: dict[str, Any]) -> int:
    """A number that differs when the object does: 60 bits of its ETag, or the time where a server gives none."""
    tag = str(found.get("ETag") or found.get("LastModified") or "").strip('"')
    return int(hashlib.sha256(tag.encode()).hexdigest()[:15], 16)


def _system() -> Any:
    """The one file system of this process and its AWS_* variables; made again after a fork or a change of them."""
    here = (os.getpid(), _place())
    with _lock:
        if here not in _systems:
            _systems[here] = _made()
        return _systems[here]


def _place() -> str:
    """What tells one environment from another; a digest, because secrets are in it."""
    given = sorted(item for item in os.environ.items() if item[0].startswith(("AWS_", "FSSPEC_S3_")))
    return hashlib.sha256(repr(given).encode()).hexdigest()


def _made() -> Any:
    try:
        fsspec = importlib.import_module("fsspec")
        importlib.import_module("s3fs")
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"addresses of the kind s3:// need the package {error.name}, which is not installed",
            hint=f"Run: {install('scale')}.",
        ) from error
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    config = {"retries": {"total_max_attempts": 1, "mode": "standard"}, "max_pool_connections": CONNECTIONS}
    system = fsspec.filesystem("s3", config_kwargs=config, use_listings_cache=False, skip_instance_cache=True)
    system.retries = REQUEST_ATTEMPTS
    return system


__all__ = ["AbsentError", "Item", "listing", "look", "put_bytes", "put_file", "read_range", "read_rest"]
