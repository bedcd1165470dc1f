"""Several tables of a project written together: all of them, or none."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

from eds.errors import ProjectError

if TYPE_CHECKING:
    import pandas as pd

    from eds.tables import Provenance
    from eds.workspace import Project


def write_together(project: "Project", frames: "Mapping[str, pd.DataFrame]", made_by: "Provenance") -> None:
    """Write the tables, in their order; if one of them cannot be written, the project is as it was.

    All are first written in full beside the project's own, and only then moved into their places, one right after the
    other. Whatever fails on the way is undone; a process that is killed between two of the moves leaves the earlier
    tables new and the later ones old, so that the table everything hangs on belongs at the end.
    """
    from eds import tables

    stage = project.root / ".eds" / "together"
    rmtree(stage, ignore_errors=True)
    try:
        for name, frame in frames.items():
            tables.write(frame, tables.TABLES[name], stage / f"{name}.parquet", made_by)
        _move({stage / f"{name}.parquet": project.path(name) for name in frames}, stage / "before")
    finally:
        rmtree(stage, ignore_errors=True)


def refuse_others(project: "Project", names: "tuple[str, ...]", command: str, replace: bool) -> None:
    """Refuse to write over tables that another command made, unless that is asked for; all told at once."""
    states = [project.state(name) for name in names]
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


def _move(places: Mapping[Path, Path], before: Path) -> None:
    before.mkdir()
    done: list[Path] = []
    try:
        for place in places.values():
            if place.exists():
                (before / place.name).hardlink_to(place)
        for new, place in places.items():
            new.replace(place)
            done.append(place)
    except BaseException:
        for place in done:
            old = before / place.name
            with suppress(OSError):
                old.replace(place) if old.exists() else place.unlink()
        raise
