"""A project on disk: which file holds which table, who may write, and what is stale.

    eds.toml  images.parquet  embeddings/<model>/  neighbors/<model>.parquet
    suspects.parquet  labels.db  truth.parquet  scores.parquet  report.html

A file is stale when what it was made from, or a setting that shaped it, differs from what its provenance says. Parents
are identified by their digests; the labels, which may be in a database elsewhere, by their acts.
"""

import copy
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import filelock
import pandas as pd

from eds import config, tables
from eds import io as storage
from eds.distribution import VERSION
from eds.errors import EdsError, InputError, LockedError, MissingExtraError, ProjectError, UnknownNameError
from eds.io.files import digest, forbidden
from eds.project.reporter import SILENT, Progress, Reporter
from eds.project.results import to_jsonable
from eds.schema import Table
from eds.tables import MODEL_NAME, check_model_name

if TYPE_CHECKING:
    from eds.labels.store import Store
    from eds.project.price import Price
    from eds.project.rehearsal import Action, Change

PER_MODEL = ("embeddings", "neighbors")
IDS = "ids.parquet"  # table embeddings, in the folder of a model


Condition = Literal["absent", "empty", "fresh", "stale", "damaged", "unreadable"]  # unreadable: not by the caller


@dataclass(frozen=True)
class State:
    """The condition of one table (of one model)."""

    table: str
    model: str | None
    path: str  # relative to the project
    condition: Condition
    rows: int | None = None
    made_by: str = ""  # the commands that make it
    reasons: tuple[str, ...] = ()
    operation: str = ""  # that made it
    params: Mapping[str, Any] = field(default_factory=dict)  # of that operation
    notes: Mapping[str, Any] = field(default_factory=dict)  # what was measured when it was made


class ProjectFiles:
    """The folder of a project, its settings and its tables."""

    def __init__(self, root: Path, settings: config.Config, reporter: Reporter = SILENT) -> None:
        self.root, self.config, self.reporter = root, settings, reporter
        self._writer: int | None = None  # the thread inside a block of `writing`
        self.actor = "Python"  # who the audit log of the label store names
        self.store: Store | None = None  # a label store that a server keeps open
        self.executor: str | None = None  # plain, serial, pool or ray, instead of the setting
        self.dry_run = False  # whether verbs compute their results and write nothing
        self.planned: list[Change] = []  # what they would write (eds.project.rehearsal)
        self.approve: Callable[[Price], None] = _agree  # asked before judgements are added; raises DeclinedError

    def agree(self, price: "Price") -> None:
        """Ask whether judgements may be added, where somebody can be asked; DeclinedError if they may not."""
        if price.judgements and not self.dry_run:
            self.approve(price)

    @property
    def asks(self) -> bool:
        """Whether somebody is asked before judgements are added, so that a price is worth computing first."""
        return self.approve is not _agree and not self.dry_run

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written to the project's folder: answers are given, and not stored."""
        return not os.access(self.root, os.W_OK)

    def rehearsal(self, dry_run: bool = True, *, again: bool = False) -> Self:
        """Return the same project in which verbs write nothing; with `dry_run` off the project itself.

        What they would write is added to `planned`; `again` begins a new list where this is a rehearsal already.
        """
        if not dry_run or (self.dry_run and not again):
            return self
        project = copy.copy(self)
        project.dry_run, project.planned = True, []
        return project

    def would(self, action: "Action", what: str | Path, detail: str = "") -> bool:
        """Whether this is a dry run, which then records the change instead of making it."""
        if self.dry_run:
            from eds.project.rehearsal import Change

            self.planned.append(Change(action, self._named(what), detail))
        return self.dry_run

    def would_write(self, path: storage.Address, detail: str = "") -> bool:
        """The same of a file that would be made or replaced."""
        return self.would("replace" if self.dry_run and storage.exists(path) else "make", str(path), detail)

    def would_begin(self, action: "Action", what: str | Path, detail: str = "") -> None:
        """Record work that takes long; a dry run ends here."""
        if self.would(action, what, detail):
            self.end_rehearsal()

    def end_rehearsal(self) -> None:
        """End a verb here if this is a dry run: what follows would have nothing to work on."""
        if self.dry_run:
            from eds.project.rehearsal import RehearsedError

            raise RehearsedError

    def _named(self, what: str | Path) -> str:
        path, home = Path(what), self.root.resolve()
        if "://" in str(what) or (not path.is_absolute() and not path.is_relative_to(self.root)):
            return str(what)
        inner = path.resolve()
        return inner.relative_to(home).as_posix() if inner.is_relative_to(home) else str(what)

    def say(self, message: str) -> None:
        """Report a message through the project's reporter."""
        self.reporter.say(message)

    def progress(self, label: str, unit: str = "") -> AbstractContextManager[Progress]:
        """Report the progress of a task: call the function that this gives with (done, total)."""
        return self.reporter.progress(label, unit)

    @property
    def pictures(self) -> storage.Address:
        """What every image path is relative to: a folder, or where the pictures lie elsewhere their address."""
        root = storage.checked(self.config.images.root)
        return root if isinstance(root, str) else self.root / root

    @property
    def image_root(self) -> Path:
        """The folder of the pictures, for those who need one; refused where they lie elsewhere."""
        place = self.pictures
        if isinstance(place, str):
            raise ProjectError(
                f"the pictures are at {place}, and this needs them in a folder here",
                where=str(self.root),
                hint="Copy them, and set images.root to the folder; eds/io/README.md says what reads addresses.",
            )
        return place

    def find_modules(self) -> None:
        """Let Python find modules in the project's folder, behind all others: backbones written as module:object."""
        folder = str(self.root.resolve())
        if folder not in sys.path:
            sys.path.append(folder)

    def path(self, table: str, model: str | None = None) -> Path:
        """Where a table is kept; `embeddings` is a folder, `labels` a database."""
        if table in PER_MODEL:
            name = check_model_name(model or "")
            return self.root / table / (name if table == "embeddings" else f"{name}.parquet")
        return self.root / {"labels": "labels.db"}.get(table, f"{table}.parquet")

    def models(self, table: str) -> list[str]:
        """The models that have a file of this table, by name."""
        pattern = "*/model.json" if table == "embeddings" else "*.parquet"
        found = (self.root / table).glob(pattern)
        names = (path.parent.name if table == "embeddings" else path.stem for path in found)
        return sorted(name for name in names if MODEL_NAME.fullmatch(name))

    def read(self, table: str, model: str | None = None, *, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Read a table of the project, or only some of its columns: of millions of rows the others take memory.

        `embeddings` and `neighbors` have a file for each model. Table embeddings lists the images that have a vector;
        the vectors are in `eds.Vectors.open(project.path("embeddings", model))`.
        """
        if table not in tables.DECLARED:
            raise UnknownNameError(f"unknown table {table!r}", hint=f"Known: {', '.join(tables.DECLARED)}.")
        if table in PER_MODEL and model is None:
            known = ", ".join(self.models(table)) or "none"
            raise InputError(f"table {table} has a file for each model", hint=f"Name a model; there are {known}.")
        path = self.path(table, model)
        return tables.read(path / IDS if table == "embeddings" else path, tables.DECLARED[table], columns)

    def write(self, frame: pd.DataFrame, table: str, made_by: tables.Provenance, model: str | None = None) -> None:
        """Write a table of the project, whole or not at all; in a dry run nothing."""
        path = self.path(table, model)
        if not self.would_write(path, f"{len(frame):,} rows{self._instead_of(table, model)}"):
            tables.write(frame, tables.DECLARED[table], path, made_by)

    def _instead_of(self, table: str, model: str | None) -> str:
        if not self.dry_run or (rows := self.state(table, model).rows) is None:
            return ""
        return f" instead of {rows:,}"

    def provenance(
        self,
        operation: str,
        settings: Mapping[str, Any],
        parents: list[Path],
        *,
        params: Mapping[str, Any] | None = None,
        notes: Mapping[str, Any] | None = None,
    ) -> tables.Provenance:
        """The provenance of a table about to be written.

        `settings` are the values taken from eds.toml (`section.key`), `params` what the caller gave; None and empty
        lists count as not given. Files in `parents` are identified by their digests, `path("labels")` by the acts in
        the store.
        """
        acts, labels = "labels", self.path("labels")
        digests = {path.relative_to(self.root).as_posix(): _fingerprint(path) for path in parents if path != labels}
        if labels in parents:
            digests[acts] = self._acts()
        return tables.Provenance(
            operation,
            dict(settings),
            digests,
            VERSION,
            params={key: to_jsonable(value) for key, value in (params or {}).items() if value not in (None, (), [])},
            notes=dict(notes or {}),
        )

    def states(self) -> list[State]:
        """The condition of every table, in the order of the flow."""
        found = []
        for name in tables.TABLES:
            if name == "labels":
                found.append(self._state_of_labels())
                continue
            models = self.models(name) if name in PER_MODEL else [None]
            found += [self.state(name, model) for model in models]
            if not models:
                found.append(State(name, None, name, "absent"))
        return [*found, *([self.state("splits")] if self.path("splits").exists() else [])]

    def _state_of_labels(self) -> State:
        """The condition of the label store; a store that holds no judgement yet is empty."""
        shown = "labels" if self.config.labels.url else "labels.db"
        if not (self.path("labels").exists() or self.config.labels.url):
            return State("labels", None, shown, "absent")
        from eds.project.label_store import explain_missing_package

        try:
            with explain_missing_package():
                from eds.labels.fingerprints import holds_acts
            judged = holds_acts(self.config.labels.url, self.path("labels"))
        except MissingExtraError as error:
            return State("labels", None, shown, "unreadable", reasons=(str(error),))
        except EdsError as error:
            condition: Condition = "unreadable" if self.config.labels.url else "damaged"
            if isinstance(error.__cause__, PermissionError):
                condition = "unreadable"
            return State("labels", None, shown, condition, reasons=(str(error),))
        reasons = () if judged else ("nobody has judged yet",)
        return State("labels", None, shown, "fresh" if judged else "empty", None if judged else 0, reasons=reasons)

    def state(self, table: str, model: str | None = None) -> State:
        """The condition of one table, and why it is stale if it is."""
        path = self.path(table, model)
        shown = path.relative_to(self.root).as_posix()
        if not _evidence(path).exists():
            return State(table, model, shown, "absent")
        try:
            made_by, rows = self._made_by(path, tables.DECLARED[table])
        except EdsError as error:
            forbidden_to_us = isinstance(error.__cause__, PermissionError)
            return State(table, model, shown, "unreadable" if forbidden_to_us else "damaged", reasons=(str(error),))
        reasons = (*self._changed_parents(made_by), *self._changed_settings(made_by))
        return State(
            table,
            model,
            shown,
            "stale" if reasons else "fresh",
            rows,
            made_by.command,
            reasons,
            made_by.operation,
            made_by.params,
            made_by.notes,
        )

    @contextmanager
    def writing(self, operation: str) -> Iterator[None]:
        """Hold the project for writing: one process at a time. A block within a block holds it once."""
        if self.dry_run or self._writer == threading.get_ident():
            yield
            return
        folder = self.root / ".eds"
        holder = folder / "holder.json"
        lock = filelock.FileLock(folder / "lock")
        held = {"process": os.getpid(), "command": operation, "since": time.strftime("%H:%M:%S")}
        try:
            folder.mkdir(exist_ok=True)
            lock.acquire(timeout=0)
            holder.write_text(json.dumps(held))
        except filelock.Timeout as error:
            raise LockedError(
                f"another process is writing to this project{_describe_holder(holder)}",
                where=str(self.root),
                hint="Wait until it has ended, then try again.",
            ) from error
        except OSError as error:
            lock.release()
            raise ProjectError(
                f"the project cannot be written to ({error.strerror or error})",
                where=str(error.filename or folder),
                hint="Ask its owner for the right to write, or free space; or work on a copy.",
            ) from error
        self._writer = threading.get_ident()
        try:
            yield
        finally:
            self._writer = None
            holder.unlink(missing_ok=True)
            lock.release()

    def close(self) -> None:
        """Close the label store, if it is kept open."""
        if self.store is not None:
            self.store.close()
            self.store = None

    def _made_by(self, path: Path, table: Table) -> tuple[tables.Provenance, int]:
        if table.name == "embeddings":
            return _read_description(path / "model.json")
        return tables.read_provenance(path, table)

    def _changed_parents(self, made_by: tables.Provenance) -> Iterator[str]:
        for name, expected in made_by.parents.items():
            if name == "labels":
                yield from self._changed_acts(expected)
                continue
            path = self.root / name
            try:
                if not _evidence(path).exists():
                    yield f"{name} is gone"
                elif _fingerprint(path) != expected:
                    yield f"{name} has changed since"
            except EdsError as error:
                yield f"{name} cannot be compared: {error}"

    def _changed_acts(self, expected: str) -> Iterator[str]:
        try:
            if self._acts() != expected:
                yield "labels have changed since"
        except EdsError as error:
            yield f"labels cannot be compared: {error}"

    def _acts(self) -> str:
        """The fingerprint of the acts in the label store; asks the database."""
        from eds.project.label_store import explain_missing_package

        with explain_missing_package():
            from eds.labels.fingerprints import of_project
        return of_project(self.config.labels.url, self.path("labels"))

    def _changed_settings(self, made_by: tables.Provenance) -> Iterator[str]:
        for name, used in made_by.settings.items():
            now = self.config.value(name)
            if now != used:
                yield f"{name} was {used}, {config.FILE} says {now}"


def _agree(price: "Price") -> None:
    """Ask nobody: in Python a call is the decision, and the result has its price."""


def _read_description(file: Path) -> tuple[tables.Provenance, int]:
    """What made the vectors that a model.json describes, and how many there are."""
    try:
        described = json.loads(file.read_text(encoding="utf-8"))
        return tables.Provenance.from_json(json.dumps(described["provenance"])), int(described["rows"])
    except PermissionError as error:
        raise forbidden(file) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise InputError(f"the description is damaged ({reason})", where=str(file), hint="Restore a copy.") from error


def _evidence(path: Path) -> Path:
    """The file whose digest stands for the whole: a folder of vectors is identified by its model.json."""
    return path / "model.json" if path.parent.name == "embeddings" else path


def _fingerprint(path: Path) -> str:
    """The digest that tells one content from another; acts that a database keeps in its log count, too."""
    found = digest(_evidence(path))
    log = path.with_name(f"{path.name}-wal")
    return f"{found}+{digest(log)}" if log.is_file() and log.stat().st_size else found


def _describe_holder(holder: Path) -> str:
    try:
        held = json.loads(holder.read_text())
        return f": process {held['process']}, {held['command']}, since {held['since']}"
    except (OSError, ValueError, KeyError):
        return ""
