"""The runs of training in a project: `training/<name>/`, each locked by itself, with its record and its split.

A run's record (run.json) names what was trained and the digest of the weights, by which the models that come of it are
known: their scores tell queries that were trained on from others.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import filelock

from eds import tables
from eds.errors import EdsError, InputError, LockedError
from eds.io.files import write_text
from eds.project.results import Result, to_jsonable
from eds.tables import SPLITS, Provenance, check_model_name

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project

RECORD, SPLIT, LOCK, LOG = "run.json", "splits.parquet", "lock", "log.csv"
PREPARED = ("pixels.npy", "pixels.npy.sha256")  # of eds.training.pictures, which imports torch


@dataclass(frozen=True)
class Run:
    """A run of training, as its folder tells."""

    folder: Path
    record: dict[str, Any] = field(repr=False)

    @property
    def name(self) -> str:
        """The run's name."""
        return self.folder.name

    @cached_property
    def seen(self) -> "frozenset[str]":
        """The images that it was trained on, or chose its weights by."""
        if not (self.folder / SPLIT).exists():
            return frozenset()
        split = tables.read(self.folder / SPLIT, SPLITS)
        return frozenset(split.loc[split["part"].isin(["train", "validation"]), "image_id"])


@dataclass(frozen=True)
class RunState(Result):
    """The condition of a run."""

    name: str
    state: str  # running, finished, or interrupted: the same command resumes it
    kind: str
    base: str
    objective: str
    labels: str | None
    bits: int | None
    epochs: int
    planned: int
    score: float | None  # on the test queries
    measure: str | None


@dataclass(frozen=True)
class RunsResult(Result):
    """Every run of the project."""

    runs: list[RunState]


def run_folder(project: "Project", name: str) -> Path:
    """The folder of a run."""
    return project.root / "training" / check_model_name(name)


@contextmanager
def holding(folder: Path, otherwise: str) -> Iterator[None]:
    """Hold a folder against other processes; LockedError with this text if one holds it."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout as error:
        raise LockedError(otherwise, where=str(folder), hint="Wait, or take another name.") from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def running(project: "Project", name: str, what: str, *, codes: bool = False) -> Iterator[Path]:
    """Hold the folder of a run: it alone, so that the project stays open to others while a model is trained.

    A dry run ends here: `what` is trained, and `codes` of all images are written in the end.
    """
    folder = run_folder(project, name)
    if project.dry_run:
        _rehearse(project, folder, what, codes=codes)
    with holding(folder, f"{name} is being trained by another process"):
        try:
            yield folder
        except InputError:  # the pictures that were prepared for a run that is refused serve no other
            if {file.name for file in folder.iterdir()} <= {LOCK, RECORD, *PREPARED}:
                for file in PREPARED:
                    (folder / file).unlink(missing_ok=True)
            raise
        finally:
            if {file.name for file in folder.iterdir()} <= {LOCK, RECORD}:  # refused before anything began
                for file in (LOCK, RECORD):
                    (folder / file).unlink(missing_ok=True)
                folder.rmdir()


def _rehearse(project: "Project", folder: Path, what: str, *, codes: bool) -> None:
    from eds.project.models import record

    project.would("change" if folder.exists() else "make", folder, what)
    if codes:
        target = project.path("embeddings", folder.name)
        project.would("replace" if target.exists() else "make", target, "codes of all images")
        record(project, folder.name)
    project.end_rehearsal()


def begin_record(folder: Path, record: dict[str, Any]) -> None:
    """Write what is being trained; the record of an earlier run stays until this one has finished."""
    if not (folder / RECORD).exists():
        _write(folder, record)


def finish_record(folder: Path, record: dict[str, Any], splits: "pd.DataFrame") -> None:
    """Write what was trained, with the digest of its weights, and on which images."""
    tables.write(splits, SPLITS, folder / SPLIT, Provenance("training.split"))
    _write(folder, record)


def trained_runs(project: "Project") -> list[Run]:
    """The finished runs of the project that have a record."""
    found = []
    for file in sorted((project.root / "training").glob(f"*/{RECORD}")):
        record = _read(file)
        if record.get("weights_sha256"):
            found.append(Run(file.parent, record))
    return found


def list_runs(project: "Project") -> RunsResult:
    """Every run and its condition; see `Project.training_runs`."""
    states = []
    for folder in sorted(path for path in (project.root / "training").glob("*") if path.is_dir()):
        record = _read(folder / RECORD) if (folder / RECORD).exists() else {}
        log = folder / LOG
        epochs = max(0, len(log.read_text(encoding="utf-8").splitlines()) - 1) if log.exists() else 0
        if not record and not log.exists():
            continue
        finished = bool(record.get("weights_sha256"))
        state = "running" if _is_held(folder) else "finished" if finished else "interrupted"
        states.append(
            RunState(
                folder.name,
                state,
                record.get("kind", "unknown"),
                record.get("base", "unknown"),
                record.get("objective", "unknown"),
                record.get("labels"),
                record.get("bits"),
                epochs,
                record.get("epochs", epochs),
                record.get("score"),
                record.get("measure"),
            )
        )
    return RunsResult(states)


def _is_held(folder: Path) -> bool:
    if not (folder / LOCK).exists():
        return False
    lock = filelock.FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        return True
    except OSError:  # a folder that may only be read: nobody trains in it
        return False
    lock.release()
    return False


def _write(folder: Path, record: dict[str, Any]) -> None:
    write_text(folder / RECORD, json.dumps(to_jsonable(record), indent=1, sort_keys=True))


def _read(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EdsError(
            f"the record of the run is damaged ({error})", where=str(file), hint="Train it again: --replace."
        ) from error
    return found if isinstance(found, dict) else {}
