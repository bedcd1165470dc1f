"""The label store of a project: opened for one operation, or kept open by a server."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from eds.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from eds.labels.store import Store
    from eds.project import Project

PATIENCE = 3.0  # seconds to wait for a database server that does not answer


@contextmanager
def opened(project: "Project", *, create: bool = False) -> "Iterator[Store]":
    """Open the project's label store for a block; a store that a server keeps open is used as it is."""
    if project.store is not None:
        yield project.store
        return
    with explain_missing_package():
        from eds.labels.store import open_store

    store = open_store(address(project), create=create, patience=PATIENCE)
    try:
        yield store
    finally:
        store.close()


def keep_open(project: "Project", *, patience: float = 30.0) -> None:
    """Open the label store for as long as the project is used, as a server does; `close` closes it."""
    with explain_missing_package():
        from eds.labels.store import open_store

    project.store = open_store(address(project), create=False, patience=patience)


@contextmanager
def explain_missing_package() -> Iterator[None]:
    """Say what to install where a package that only labels need is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "eds":
            raise
        raise MissingExtraError(
            f"labels need the package {error.name}, which is not installed", hint='Run: pip install "eds[labels]".'
        ) from error


def address(project: "Project") -> str | Path:
    """Where the project's labels are: a file, or the address of a database."""
    with explain_missing_package():
        from eds.labels.database import address as of

    return of(project.config.labels.url, project.path("labels"))


def exists(project: "Project") -> bool:
    """Whether the project has a label store."""
    return project.path("labels").exists() or bool(project.config.labels.url)


def parse_time(text: str | datetime | None) -> datetime | None:
    """The time that an ISO 8601 text names; UTC unless it says otherwise."""
    if text is None:
        return None
    try:
        time = text if isinstance(text, datetime) else datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"invalid time {text!r}", where="--as-of", hint="Write it as 2026-05-01T12:00:00Z.") from error
    return time if time.tzinfo else time.replace(tzinfo=UTC)
