"""Several tables of a project, votes and pictures written together: all of them or none, also after a kill.

    .eds/transaction/journal.json   what is being moved, written before the first move
                     *.parquet      the tables, written completely, then moved one after the other
                     before/        the files that they replace
                     pictures       a line for each picture that is about to be written

While the journal exists, nothing counts: opening the project takes everything back. Removing the journal ends the
transaction. Votes for an existing label store come last, in one transaction of the store that records the journal's
token: if the store holds the token, everything was written and only the journal was left to remove.

A journal comes with its project, perhaps from a stranger, and so does images.root: nothing outside the project's own
folder is ever removed. Pictures that an import wrote outside are named, and accepted when it is repeated.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from glob import escape
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Annotated, TextIO

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from eds.errors import EdsError, LockedError, ProjectError
from eds.io.files import digest, write_text

if TYPE_CHECKING:
    import pandas as pd

    from eds.labels.store import Store
    from eds.project import Project
    from eds.tables import Provenance

STAGE = Path(".eds") / "transaction"
JOURNAL, PICTURES, BEFORE = "journal.json", "pictures", "before"
SHOWN = 10  # files that are named; of more, how many

AddVotes = Callable[["Store", str], None]  # puts votes into a store, in one transaction that records the token


def _no_null(text: str) -> str:
    if "\0" in text:
        raise ValueError("contains a null character")
    return text


Text = Annotated[str, AfterValidator(_no_null)]


class Move(BaseModel):
    """A file that goes from the stage to its place."""

    model_config = ConfigDict(strict=True, frozen=True)

    staged: Text
    target: Text  # relative to the project
    replaces: bool
    sha256: Text


class Journal(BaseModel):
    """What a transaction is about to do."""

    model_config = ConfigDict(strict=True, frozen=True)

    token: Text
    store: bool  # an existing label store gets votes, and so decides
    moves: tuple[Move, ...]


class Transaction:
    """Changes that take effect together: what is staged, and what was moved."""

    def __init__(self, project: "Project") -> None:
        self.project, self.stage = project, project.root / STAGE
        self.journal = Journal(token=os.urandom(16).hex(), store=False, moves=())
        self.store_used = False  # the existing label store was given the votes
        self._pictures: TextIO | None = None

    def note_picture(self, file: Path) -> None:
        """Note a file that is about to be written, so that it is removed if the transaction fails."""
        if self._pictures is None:
            self._pictures = (self.stage / PICTURES).open("a", encoding="utf-8", buffering=1)
        home, file = self.project.root.resolve(), file.resolve()  # relative: the project may be copied as it is
        self._pictures.write(json.dumps(str(file.relative_to(home) if file.is_relative_to(home) else file)) + "\n")

    def put(
        self,
        frames: "Mapping[str, pd.DataFrame]",
        made_by: "Provenance",
        add_votes: AddVotes | None = None,
        excluded: Iterable[str] | None = None,
    ) -> None:
        """Write the tables (a model's is named `neighbors/MODEL`), and the votes.

        `excluded` are images that the source names and the catalogue excludes (eds.project.excluded_images).
        """
        from eds import tables
        from eds.project.excluded_images import FILE, excluded_text

        project, moves = self.project, []
        labels = project.path("labels")
        for name, frame in frames.items():
            staged = self.stage / f"{name.replace('/', '@')}.parquet"
            tables.write(frame, tables.TABLES[name.partition("/")[0]], staged, made_by)
            moves.append(self._plan(staged, project.path(*parts_of(name))))
        if excluded is not None:
            write_text(self.stage / "excluded.json", excluded_text(self.stage / "images.parquet", excluded))
            moves.append(self._plan(self.stage / "excluded.json", project.root / FILE))
        store_exists = bool(project.config.labels.url) or labels.exists()
        if add_votes is not None and not store_exists:
            _fill_store(self.stage / "labels.db", add_votes, self.journal.token)
            moves.append(self._plan(self.stage / "labels.db", labels))
        use_store = add_votes is not None and store_exists
        self.journal = self.journal.model_copy(update={"store": use_store, "moves": tuple(moves)})
        with _open_store(project) if use_store else nullcontext() as store:  # before a move: it may not answer
            self.write_journal()
            for move in moves:
                staged, target = self.stage / move.staged, project.root / move.target
                target.parent.mkdir(exist_ok=True)
                if target == labels:  # fails if somebody has begun to judge meanwhile
                    target.hardlink_to(staged)
                else:
                    staged.replace(target)
            _sync({(project.root / move.target).parent for move in moves})
            if store is not None and add_votes is not None:
                self.store_used = True
                add_votes(store, self.journal.token)

    def write_journal(self) -> None:
        """Write what is about to be moved; from now on, opening the project recovers from a kill."""
        _sync({self.stage / BEFORE})
        write_text(self.stage / JOURNAL, self.journal.model_dump_json(indent=1))

    def end(self) -> None:
        """Remove the journal, which makes everything count, then the stage."""
        (self.stage / JOURNAL).unlink(missing_ok=True)
        _sync({self.stage})
        rmtree(self.stage, ignore_errors=True)

    def close(self) -> None:
        """Close what is open."""
        if self._pictures is not None:
            self._pictures.close()

    def _plan(self, staged: Path, target: Path) -> Move:
        replaces = target.exists()
        if replaces:
            (self.stage / BEFORE / staged.name).hardlink_to(target)
        relative = target.relative_to(self.project.root).as_posix()
        return Move(staged=staged.name, target=relative, replaces=replaces, sha256=digest(staged))


@contextmanager
def transaction(project: "Project") -> Iterator[Transaction]:
    """Begin a transaction; any failure in the block undoes it. The caller holds the project."""
    stage = project.root / STAGE
    finish_interrupted(project)
    rmtree(stage, ignore_errors=True)
    (stage / BEFORE).mkdir(parents=True)
    work = Transaction(project)
    work.write_journal()
    try:
        yield work
    except BaseException:
        if work.store_used:  # only the store knows whether it is too late
            finish_interrupted(project)
        else:
            _undo(project, stage, work.journal.moves)
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
        f"{state.path} was made by {state.made_by or 'an unreadable operation'}"
        for state in states
        if state.condition != "absent" and not state.operation.startswith(kind)
    ]
    if others and not replace:
        hint = "Import into a new project (eds init), or use --replace."
        raise ProjectError("the project has tables of its own", where=str(project.root), hint=hint, faults=others)


def parts_of(name: str) -> list[str]:
    """Split `neighbors/MODEL` into table and model."""
    return name.split("/", 1)


def recover(project: "Project") -> str:
    """Undo or finish an interrupted import, as the project's one writer; return what was done, empty if nothing."""
    if not (project.root / STAGE / JOURNAL).exists():
        return ""
    try:
        with project.writing("recovery of an interrupted import"):
            return finish_interrupted(project)
    except LockedError:
        journal = read_journal(project.root / STAGE)
        if journal is not None and journal.moves:
            raise  # the tables are being changed at this moment
        return ""


def finish_interrupted(project: "Project") -> str:
    """Do the same where the caller holds the project."""
    stage = project.root / STAGE
    journal = read_journal(stage)
    if journal is None:
        return ""
    complete = journal.store and _store_holds(project, journal.token)
    outside = [] if complete else _undo(project, stage, journal.moves)
    (stage / JOURNAL).unlink()
    rmtree(stage, ignore_errors=True)
    if complete:
        return "An import was interrupted after everything was stored: it is complete."
    text = "An import was interrupted: its changes are undone; import again."
    if outside:
        more = f" and {len(outside) - SHOWN} more" if len(outside) > SHOWN else ""
        names = ", ".join(repr(str(file)) for file in outside[:SHOWN]) + more
        text += f" Files outside the project are not removed: {names}. A picture of the same content is accepted."
    return text


def read_journal(stage: Path) -> Journal | None:
    """Return the journal, None where there is none; one that no import can have written is refused."""
    file = stage / JOURNAL
    try:
        return Journal.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        reason = str(error)
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False, include_input=False)[0]
            reason = f"{'.'.join(map(str, first['loc'])) or 'journal'}: {first['msg']}"
        raise ProjectError(
            f"the journal of an interrupted import is damaged, or no import wrote it ({reason})",
            where=str(file),
            hint=f"Move the folder {stage} away: what an import replaced is in its folder {BEFORE}; then import again.",
        ) from error


def _undo(project: "Project", stage: Path, moves: Iterable[Move]) -> list[Path]:
    """Put back every file that was moved; may be repeated, and leaves alone what others have written meanwhile.

    Returns pictures outside the project, which stay. Where the replaced files lie outside (.eds, or a folder within,
    is a link), nothing is put back and everything is kept.
    """
    root, outside, moves = project.root, [], list(moves)
    olds = [stage / BEFORE / Path(move.staged).name for move in moves if move.replaces]
    if any(old.is_file() and not _is_within(old, root) for old in olds):
        raise ProjectError(
            f"an import was interrupted, and what it replaced lies outside the project: {(stage / BEFORE).resolve()}",
            where=str(stage),
            hint=f"Put the files of {BEFORE} back by hand, as {JOURNAL} says; then move {stage} away and import again.",
        )
    for move in moves:
        target, old = root / move.target, stage / BEFORE / Path(move.staged).name
        if not _is_within(target, root) or not target.is_file() or digest(target) != move.sha256:
            continue  # not moved yet, or put back already
        if not move.replaces:
            target.unlink()
        elif old.is_file() and _is_within(old, root):
            old.replace(target)
    for picture in _noted_pictures(stage, root):
        with suppress(OSError, ValueError):
            partial = picture.parent.glob(f".{escape(picture.name)}.*.tmp")
            for file in [file for file in (picture, *partial) if file.is_file()]:
                if _is_within(file, root):
                    file.unlink()
                else:
                    outside.append(file)
    return outside


def _noted_pictures(stage: Path, root: Path) -> Iterator[Path]:
    """Yield the pictures that were about to be written; an incomplete line names none."""
    with suppress(FileNotFoundError):
        for line in (stage / PICTURES).read_bytes().splitlines():
            with suppress(ValueError, TypeError, RecursionError):
                yield root / json.loads(line)  # a path that leaves the project is absolute


def _is_within(file: Path, root: Path) -> bool:
    """Tell whether the file lies in the project, by its name and, where it is a link, by its target."""
    home = root.resolve()
    return file.parent.resolve().is_relative_to(home) and file.resolve().is_relative_to(home)


def _store_holds(project: "Project", token: str) -> bool:
    """Tell whether the votes were stored; a store that does not answer is an error, and nothing is decided."""
    from eds.project.label_store import opened

    try:
        with opened(project) as store:
            from eds.labels.audit import noted

            return noted(store, "import votes", token)
    except EdsError as error:
        raise ProjectError(
            "an import was interrupted, and the label store does not say whether its votes were stored",
            where=str(project.root),
            hint="Make the store reachable, then try again.",
            faults=[str(error)],
        ) from error


@contextmanager
def _open_store(project: "Project") -> "Iterator[Store]":
    from eds.project.label_store import opened

    with opened(project, create=True) as store:
        yield store


def _fill_store(file: Path, add_votes: AddVotes, token: str) -> None:
    """Make a new store with the votes in it, closed, in one file."""
    from eds.project.label_store import explain_missing_package

    with explain_missing_package():
        from eds.labels.store import open_store
    store = open_store(file, create=True)
    try:
        add_votes(store, token)
    finally:
        store.close()
    if file.with_name(f"{file.name}-wal").exists():
        raise ProjectError("the new label store could not be closed", where=str(file), hint="Import again.")


def _sync(folders: Iterable[Path]) -> None:
    for folder in folders:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
