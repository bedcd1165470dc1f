"""From what a reader found to the table `images` of a project: look at the files, give the roles, write.

What is not in the table is in lists beside it, below `.eds/scan`: bad.csv, exact.csv, near.csv.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from eds.choices import FileCheck
from eds.errors import ImageError, ProjectError
from eds.images.roles import assign_roles
from eds.images.scan import Scan, scan
from eds.images.sources import Catalogue
from eds.io.files import write_text
from eds.project import Project

SHOWN = 10  # bad files told in an error


@dataclass(frozen=True)
class Choices:
    """How the table is made; None leaves it to eds.toml (on_bad) or to the reader (queries)."""

    queries: Literal["all"] | int | float | None = None
    wild_phases: tuple[str, ...] = ()
    on_bad: str | None = None
    check: FileCheck = "full"
    near: int | None = 4
    workers: int = 0
    look: bool = True  # False: leave the image files aside


@dataclass(frozen=True)
class Kept:
    """What was written, and what was found besides."""

    images: pd.DataFrame
    bad: pd.DataFrame  # path, reason
    seen: Scan | None
    lists: Path
    notes: tuple[str, ...]


def keep(
    project: Project,
    found: Catalogue,
    operation: str,
    params: Mapping[str, Any],
    choices: Choices,
    files: Sequence[Path] = (),
    progress: Callable[[int, int], None] | None = None,
) -> Kept:
    """Write the project's table `images`, or refuse, leaving the old one."""
    seen = None
    notes = [*found.notes]
    images, bad = found.images, pd.DataFrame(list(found.bad), columns=["path", "reason"], dtype=object)
    if choices.look:
        seen = scan(
            images,
            project.pictures,
            check=choices.check,
            near=choices.near,
            cache=project.root / ".eds" / "scan.parquet",
            workers=choices.workers,
            progress=progress,
        )
        images = seen.images
        notes += seen.notes
        bad = pd.concat([bad, seen.bad[["path", "reason"]].astype(object)], ignore_index=True)
    lists = _written(project, bad, seen)
    _refuse(project, images, bad, choices, lists)
    settings: dict[str, Any] = {"images.root": project.config.images.root}
    if choices.on_bad is None:
        settings["images.on_bad"] = project.config.images.on_bad
    if choices.queries is not None or choices.wild_phases:
        seed = project.config.project.seed
        settings["project.seed"] = seed
        wanted = "all" if choices.queries is None else choices.queries
        assigned = assign_roles(images, queries=wanted, wild_phases=choices.wild_phases, seed=seed)
        if choices.queries is not None and images["role"].nunique() > 1:
            notes.append("the roles that the list gives were replaced, as queries were asked for")
        if len(assigned) < len(images):
            notes.append(f"{len(images) - len(assigned):,} images of the wild phases were not drawn: left out")
        images = assigned
    project.write(images, "images", project.provenance(operation, settings, _parents(project, files), params=params))
    return Kept(images, bad, seen, lists, tuple(notes))


def may_replace(project: Project, verb: str, replace: bool) -> None:
    """Return where a scan would replace a scan or an import an import; anything else must be asked for."""
    state = project.state("images")
    if replace or state.condition == "absent" or state.operation == f"images.{verb}":
        return
    raise ProjectError(
        f"images.parquet was made by {state.made_by or 'something unreadable'}",
        where=str(project.root),
        do="Say --replace to make it anew from here.",
    )


def _parents(project: Project, files: Sequence[Path]) -> list[Path]:
    """The imported files that lie in the project: when one changes, the table is stale."""
    home = project.root.resolve()
    inner = [file.resolve() for file in files if file.is_file()]
    return [project.root / file.relative_to(home) for file in inner if file.is_relative_to(home)]


def _written(project: Project, bad: pd.DataFrame, seen: Scan | None) -> Path:
    lists = project.root / ".eds" / "scan"
    write_text(lists / "bad.csv", bad.to_csv(index=False))
    if seen is not None:
        write_text(lists / "exact.csv", seen.exact.to_csv(index=False))
        write_text(lists / "near.csv", seen.near.to_csv(index=False))
    return lists


def _refuse(project: Project, images: pd.DataFrame, bad: pd.DataFrame, choices: Choices, lists: Path) -> None:
    faults = [f"{path}: {reason}" for path, reason in zip(bad["path"][:SHOWN], bad["reason"], strict=False)]
    if not len(images):
        raise ImageError(
            f"not one of {len(bad):,} images can be used",
            where=str(project.pictures),
            do="Mend the files or images.root; an import can leave the files aside: --without-files.",
            faults=faults,
        )
    if len(bad) and (choices.on_bad or project.config.images.on_bad) == "fail":
        raise ImageError(
            f"{len(bad):,} files cannot be used",
            where=str(project.pictures),
            do=f"Mend them, or leave them out: --on-bad skip. All are in {lists / 'bad.csv'}.",
            faults=faults,
        )
