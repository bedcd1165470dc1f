"""What a command takes where a path or an address may stand, and how it fetches what lies elsewhere."""

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from eds import io as storage

if TYPE_CHECKING:
    from eds.project import Project

FETCHED = ".eds/fetched"


class AddressType(click.ParamType):  # type: ignore[type-arg]
    """A path, `file://` and a path, or `s3://bucket/key`, in its one form; if here, it may have to be there."""

    name = "path|url"

    def __init__(self, *, there: bool = False) -> None:
        self.there = there

    def convert(self, value: "str | Path", param: click.Parameter | None, ctx: click.Context | None) -> storage.Address:
        """The address; a secret in it, or a kind that is not known, is refused."""
        address = storage.checked(value)
        if isinstance(address, Path) and self.there and not address.exists():
            self.fail(f"{str(address)!r} does not exist.", param, ctx)
        return address


ADDRESS, THERE = AddressType(), AddressType(there=True)


@contextmanager
def fetching(project: "Project") -> Iterator[Path]:
    """A folder of the project for copies of what lies elsewhere, which goes when the work is done.

    After a failure it stays, so that the next attempt fetches only what is missing.
    """
    folder = project.root / FETCHED
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def here(address: storage.Address, folder: Path) -> Path:
    """A file, or a model's folder of vectors, as it lies here: itself, or fetched into `folder` under its own name."""
    if not storage.is_remote(address):
        return storage.local_path(address)
    beside = folder / hashlib.sha256(str(address).encode()).hexdigest()[:16]
    named = beside / storage.name_of(address)
    try:
        fetched = storage.fetched(address, beside)
    except storage.AbsentError:
        if not storage.exists(storage.join(address, "model.json")):
            raise
        from eds.vectors import copy_remote

        return copy_remote(address, named)
    named.unlink(missing_ok=True)
    named.hardlink_to(fetched)
    return named
