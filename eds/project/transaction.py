"""Several tables of a project, votes and pictures that come together: all of them or none, also after a kill.

    .eds/together/journal.json   what is being put in place, written before the first move
                  *.parquet      the tables, written in full, then moved, one right after the other
                  before/        the files that they take the place of
                  pictures       a line for each picture that is about to be written

While the journal is there, nothing counts: the next command puts everything back (eds.project.recovery). What ends the
work is that the journal goes. Votes that come into a label store that is there come last, in one transaction of the
store, which notes the journal's token: if the store holds it, the work was done, and only the journal had still to go.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any, TextIO

from eds.errors import ProjectError
from eds.project.recovery import BEFORE, JOURNAL, PICTURES, STAGE, put_right, undo

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import pandas as pd

    from eds.labels.store import Store
    from eds.project import Project
    from eds.tables import Provenance

TakeIn = Callable[["Store", str], None]  # puts votes into a store, in one transaction that notes the token


@dataclass
class Together:
    """Work that ends as a whole: what it has staged, and what it has moved."""

    project: "Project"
    stage: Path
    token: str = field(default_factory=lambda: os.urandom(16).hex())
    moves: list[dict[str, Any]] = field(default_factory=list)
    store: bool = False  # whether a label store that is there takes votes, and so decides
    asked: bool = False  # whether it was given them
    _pictures: TextIO | None = None

    def picture(self, file: Path) -> None:
        """Note a file that is about to be made, so that it goes again if the work is not ended."""
        if self._pictures is None:
            self._pictures = (self.stage / PICTURES).open("a", encoding="utf-8", buffering=1)
        home, file = self.project.root.resolve(), file.resolve()  # told from the project, which may be copied as it is
        self._pictures.write(json.dumps(str(file.relative_to(home) if file.is_relative_to(home) else file)) + "\n")

    def put(
        self,
        frames: "Mapping[str, pd.DataFrame]",
        made_by: "Provenance",
        take_in: TakeIn | None = None,
        left_out: Iterable[str] | None = None,
    ) -> None:
        """Write the tables (a model's is named `neighbors/MODEL`), and the votes that `take_in` brings.

        `left_out` are images that the catalogue names and the project leaves out (eds.project.excluded_images).
        """
        from eds import tables
        from eds.files import write_text
        from eds.project.excluded_images import LIST, left_out_text

        project = self.project
        for name, frame in frames.items():
            staged = self.stage / f"{name.replace('/', '@')}.parquet"
            tables.write(frame, tables.TABLES[name.partition("/")[0]], staged, made_by)
            self._plan(staged, project.path(*parts_of(name)))
        if left_out is not None:
            write_text(self.stage / "left_out.json", left_out_text(self.stage / "images.parquet", left_out))
            self._plan(self.stage / "left_out.json", project.root / LIST)
        new_store = take_in is not None and not (project.config.labels.url or project.path("labels").exists())
        if take_in is not None and new_store:
            _fill(self.stage / "labels.db", take_in, self.token)
            self._plan(self.stage / "labels.db", project.path("labels"))
        self.store = take_in is not None and not new_store
        with _opened(project) if self.store else nullcontext() as store:  # before a move: it may not answer
            self.write_journal()
            for move in self.moves:
                staged, place = self.stage / move["staged"], project.root / move["place"]
                place.parent.mkdir(exist_ok=True)
                if place == project.path("labels"):  # fails if somebody has begun to judge meanwhile
                    place.hardlink_to(staged)
                else:
                    staged.replace(place)
            _sync({(project.root / move["place"]).parent for move in self.moves})
            if store is not None and take_in is not None:
                self.asked = True
                take_in(store, self.token)

    def write_journal(self) -> None:
        """Say what is about to be moved; from now on a kill is put right by the next command."""
        from eds.files import write_text

        _sync({self.stage / BEFORE})
        told = {"token": self.token, "store": self.store, "moves": self.moves}
        write_text(self.stage / JOURNAL, json.dumps(told, indent=1))

    def end(self) -> None:
        """The journal goes first, and with it everything counts."""
        (self.stage / JOURNAL).unlink(missing_ok=True)
        _sync({self.stage})
        rmtree(self.stage, ignore_errors=True)

    def close(self) -> None:
        """Close what is open."""
        if self._pictures is not None:
            self._pictures.close()

    def _plan(self, staged: Path, place: Path) -> None:
        from eds.files import digest

        there = place.exists()
        if there:
            (self.stage / BEFORE / staged.name).hardlink_to(place)
        self.moves.append({
            "staged": staged.name, "place": place.relative_to(self.project.root).as_posix(), "before": there,
            "sha256": digest(staged),
        })  # fmt: skip


@contextmanager
def together(project: "Project") -> Iterator[Together]:
    """Begin such work; whatever fails in the block undoes it. The caller holds the project."""
    stage = project.root / STAGE
    put_right(project)
    rmtree(stage, ignore_errors=True)
    (stage / BEFORE).mkdir(parents=True)
    work = Together(project, stage)
    work.write_journal()
    try:
        yield work
    except BaseException:
        if work.asked:  # only the store knows whether it is too late
            put_right(project)
        else:
            undo(project, stage, work.moves)
            work.end()
        raise
    else:
        work.end()
    finally:
        work.close()


def refuse_others(project: "Project", names: "tuple[str, ...]", operation: str, replace: bool) -> None:
    """Refuse to replace tables that another kind of operation made, unless `replace` says so; names them all."""
    kind = operation.rsplit(".", 1)[0] if operation.startswith("benchmarks.import.") else operation
    states = [project.state(*parts_of(name)) for name in names]
    others = [
        f"{state.path} was made by {state.made_by or 'something unreadable'}"
        for state in states
        if state.condition != "absent" and not state.operation.startswith(kind)
    ]
    if others and not replace:
        raise ProjectError(
            "the project has tables of its own",
            where=str(project.root),
            do="Import into a fresh project (eds init), or say --replace.",
            faults=others,
        )


def parts_of(name: str) -> list[str]:
    """A table's name, and behind a stroke its model's."""
    return name.split("/", 1)


def _opened(project: "Project") -> "AbstractContextManager[Store]":
    from eds.project.label_store import opened

    return opened(project, create=True)


def _fill(file: Path, take_in: TakeIn, token: str) -> None:
    """A new store with the votes in it, closed, in one file."""
    from eds.project.label_store import needed

    with needed():
        from eds.labels.store import open_store
    store = open_store(file, create=True)
    try:
        take_in(store, token)
    finally:
        store.close()
    if file.with_name(f"{file.name}-wal").exists():
        raise ProjectError("the new label store could not be closed", where=str(file), do="Import again.")


def _sync(folders: Iterable[Path]) -> None:
    for folder in folders:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
