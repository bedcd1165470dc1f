"""What an address is: a plain path, `file://` and a path, or `s3://bucket/key`; and how addresses are joined.

An address is a text that goes into tables, messages and logs. It never holds a secret: one with a user or a
password in it is refused, and the refusal does not repeat it.
"""

import os
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from eds.errors import InputError

Address = str | Path
REMOTE = ("s3",)
CREDENTIALS = "Credentials come from the environment alone: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY."


class Key(NamedTuple):
    """An object of a bucket, or with an empty or unfinished `path` what begins like it."""

    bucket: str
    path: str


def is_remote(address: Address) -> bool:
    """Whether the address names remote objects; InputError if its scheme is unknown."""
    if isinstance(address, Path) or "://" not in address:
        return False
    scheme = address.partition("://")[0]
    if scheme == "file":
        return False
    if scheme not in REMOTE:
        shown = scheme if scheme.isalnum() else "such an address"
        raise InputError(f"{shown}:// cannot be read", hint="Give a path, file:///a/path or s3://bucket/prefix.")
    return True


def local_path(address: Address) -> Path:
    """The path that a plain or `file://` address names.

    >>> local_path("file:///data/a%20shop").as_posix()
    '/data/a shop'
    """
    if isinstance(address, Path) or not address.startswith("file://"):
        return Path(address)
    host, slash, path = address.removeprefix("file://").partition("/")
    if host not in ("", "localhost") or not slash:
        raise InputError("file:// names another machine", where=address, hint="Write file:///a/path or the plain path.")
    return Path("/" + unquote(path))


def key_of(address: str) -> Key:
    """Bucket and path of a remote address; refused if it holds a secret or is not whole.

    >>> key_of("s3://shop/pictures/")
    Key(bucket='shop', path='pictures')
    """
    bucket, _, path = address.partition("://")[2].partition("/")
    if "@" in bucket or "X-Amz-Signature" in address or "?" in bucket:
        kept = bucket.rpartition("@")[2].partition("?")[0]
        raise InputError("the address holds a user or a secret", where=f"s3://…@{kept}", hint=CREDENTIALS)
    if not bucket:
        raise InputError("the address names no bucket", where=address, hint="Write s3://bucket/prefix.")
    if ".." in path.split("/") or "\0" in path:
        raise InputError("the address leaves its bucket", where=address, hint="Write it without '..'.")
    return Key(bucket, path.strip("/"))


def checked(address: Address) -> Address:
    """The address in its one form: remote ones without a slash at their end, `file://` as the path it names."""
    if not is_remote(address):
        return local_path(address)
    bucket, path = key_of(str(address))
    return f"s3://{bucket}/{path}".rstrip("/")


def join(base: Address, *names: str) -> Address:
    """The address of something below `base`: a text where that is remote, else a path.

    >>> join("s3://shop/vectors/", "dino", "00000.npy")
    's3://shop/vectors/dino/00000.npy'
    """
    if not is_remote(base):
        return local_path(base).joinpath(*names)
    return checked("/".join([str(base).rstrip("/"), *names]))


def parent_of(address: Address) -> Address:
    """The address that something lies below.

    >>> parent_of("s3://shop/vectors/00000.npy")
    's3://shop/vectors'
    """
    return str(checked(address)).rpartition("/")[0] if is_remote(address) else local_path(address).parent


def name_of(address: Address) -> str:
    """The last part of an address.

    >>> name_of("s3://shop/vectors/00000.npy")
    '00000.npy'
    """
    return str(address).rstrip("/" + os.sep).rpartition("/")[2] if is_remote(address) else local_path(address).name
