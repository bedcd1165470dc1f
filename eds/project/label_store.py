"""The label store of a project: opened for one operation, or kept open by a server."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from eds.distribution import install
from eds.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from eds.labels.rehearsal import Rehearsal
    from eds.labels.store import Store
    from eds.project import Project

PATIENCE = 3.0  # seconds to wait for a database server that does not answer


@contextmanager
def opened(project: "Project", *, create: bool = False) -> "Iterator[Store]":
    """Open the project's label store for a block; a store that a server keeps open is used as it is.

    In a dry run what the block writes is recorded and taken back.
    """
    if not project.dry_run:
        with _opened(project, address(project), create=create) as store:
            yield store
        return
    with rehearsed(project, create=create) as rehearsal:
        yield rehearsal
        from eds.project.rehearsal import store_changes

        project.planned += store_changes(project.config.labels.url or "labels.db", rehearsal.changes())


@contextmanager
def rehearsed(project: "Project", *, create: bool = False) -> "Iterator[Rehearsal]":
    """Open the store for a block whose writes are taken back; one that is not there yet is made elsewhere."""
    place = address(project)
    with explain_missing_package(), ExitStack() as stack:
        from eds.labels.rehearsal import Rehearsal

        if create and isinstance(place, Path) and not place.exists():
            place = Path(stack.enter_context(TemporaryDirectory(prefix="eds-labels-"))) / "labels.db"
        else:
            create = False
        rehearsal = Rehearsal(stack.enter_context(_opened(project, place, create=create)))
        stack.callback(rehearsal.end)
        yield rehearsal


@contextmanager
def _opened(project: "Project", place: str | Path, *, create: bool) -> "Iterator[Store]":
    if project.store is not None:
        yield project.store
        return
    with explain_missing_package():
        from eds.labels.store import open_store

    store = open_store(place, create=create, patience=PATIENCE)
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
            f"labels need the package {error.name}, which is not installed", hint=f"Run: {install('labels')}."
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
