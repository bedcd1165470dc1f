"""Several tables of a project written together: all of them, or none."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

from eds.errors import ProjectError

if TYPE_CHECKING:
    import pandas as pd

    from eds.tables import Provenance
    from eds.workspace import Project


def write_together(
    project: "Project",
    frames: "Mapping[str, pd.DataFrame]",
    made_by: "Provenance",
    last: Callable[[], None] | None = None,
) -> None:
    """Write the tables, in their order; if one of them cannot be written, the project is as it was.

    A model's table is named `neighbors/MODEL`. `last` is done when all tables are in their places; if it fails, they
    are taken back, so that what it does (one transaction of a database) and the tables come together or not at all.

    All are first written in full beside the project's own, and only then moved into their places, one right after the
    other. Whatever fails on the way is undone; a process that is killed between two of the moves leaves the earlier
    tables new and the later ones old, so that the table everything hangs on belongs at the end.
    """
    from eds import tables

    stage = project.root / ".eds" / "together"
    rmtree(stage, ignore_errors=True)
    try:
        for name, frame in frames.items():
            tables.write(frame, tables.TABLES[name.partition("/")[0]], _staged(stage, name), made_by)
        _move({_staged(stage, name): project.path(*_parts(name)) for name in frames}, stage / "before", last)
    finally:
        rmtree(stage, ignore_errors=True)


def refuse_others(project: "Project", names: "tuple[str, ...]", command: str, replace: bool) -> None:
    """Refuse to write over tables that another command made, unless that is asked for; all told at once."""
    states = [project.state(*_parts(name)) for name in names]
    others = [
        f"{state.path} was made by {state.made_by or 'something unreadable'}"
        for state in states
        if state.condition != "absent" and not state.made_by.startswith(command)
    ]
    if others and not replace:
        raise ProjectError(
            "the project has tables of its own",
            where=str(project.root),
            do="Import into a fresh project (eds init), or say --replace.",
            faults=others,
        )


def _parts(name: str) -> list[str]:
    """A table's name, and behind a stroke its model's."""
    return name.split("/", 1)


def _staged(stage: Path, name: str) -> Path:
    return stage / f"{name.replace('/', '@')}.parquet"


def _move(places: Mapping[Path, Path], before: Path, last: Callable[[], None] | None = None) -> None:
    before.mkdir()
    done: list[tuple[Path, Path]] = []
    try:
        for new, place in places.items():
            if place.exists():
                (before / new.name).hardlink_to(place)
        for new, place in places.items():
            place.parent.mkdir(exist_ok=True)
            new.replace(place)
            done.append((new, place))
        if last is not None:
            last()
    except BaseException:
        for new, place in done:
            old = before / new.name
            with suppress(OSError):
                old.replace(place) if old.exists() else place.unlink()
        raise
