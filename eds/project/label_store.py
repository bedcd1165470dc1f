"""What the commands about labels share: the project's label store, moments, and how frames are told."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from eds.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from eds.labels.store import Store
    from eds.project import Project

BY = "command line"  # recorded in the audit log
PATIENCE = 3.0  # seconds that somebody at a terminal waits for a server that does not answer


@contextmanager
def opened(project: "Project", *, create: bool = False) -> "Iterator[Store]":
    """The same, for whoever has the project."""
    with needed():
        from eds.labels.store import open_store

    store = open_store(address(project), create=create, patience=PATIENCE)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def needed() -> Iterator[None]:
    """Say what to install where a package that only labels need is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "eds":
            raise
        raise MissingExtraError(
            f"labels need the package {error.name}, which is not installed", do='Run: pip install "eds[labels]".'
        ) from error


def address(project: "Project") -> str | Path:
    """Where the project's labels are: a file, or a database's address."""
    with needed():
        from eds.labels.database import address as of

    return of(project.config.labels.url, project.path("labels"))


def moment(text: str | None) -> datetime | None:
    """The moment that --as-of names; UTC unless it says else."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{text!r} is no moment", where="--as-of", do="Write it as 2026-05-01T12:00:00Z.") from error
    return found if found.tzinfo else found.replace(tzinfo=UTC)
