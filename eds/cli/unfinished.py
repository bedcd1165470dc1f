"""What a killed import left: put right by the next command, before it does anything else.

The journal says what was being put in place (eds.cli.together). While it is there nothing counts, and everything goes
back; only where votes went into a label store that was there does the store decide: its transaction came last.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from glob import escape
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from eds.errors import EdsError, LockedError, ProjectError

if TYPE_CHECKING:
    from eds.workspace import Project

STAGE = Path(".eds") / "together"
JOURNAL, PICTURES, BEFORE = "journal.json", "pictures", "before"


def recover(project: "Project") -> str:
    """Put right what an interrupted import left, as the project's one writer; what was done, empty if nothing."""
    if not (project.root / STAGE / JOURNAL).exists():
        return ""
    try:
        with project.writing("recovery of an interrupted import"):
            return put_right(project)
    except LockedError:
        if read_journal(project.root / STAGE).get("moves"):
            raise  # the tables are being changed at this moment
        return ""


def put_right(project: "Project") -> str:
    """The same, for whoever holds the project."""
    stage = project.root / STAGE
    told = read_journal(stage)
    if not told:
        return ""
    done = bool(told["store"]) and _store_holds(project, told["token"])
    if not done:
        undo(project, stage, told["moves"])
    (stage / JOURNAL).unlink()
    rmtree(stage, ignore_errors=True)
    return (
        "An import was interrupted when all of it was stored: it is complete."
        if done
        else "An import was interrupted: what it had begun to write is taken back; import again."
    )


def read_journal(stage: Path) -> dict[str, Any]:
    """What the journal tells; nothing where there is none."""
    try:
        told: dict[str, Any] = json.loads((stage / JOURNAL).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return told


def undo(project: "Project", stage: Path, moves: Iterable[Mapping[str, Any]]) -> None:
    """Put back every file that was moved; may be done again, and leaves alone what others have written meanwhile.

    A journal comes with its project, perhaps from a stranger: what lies outside is not touched, whatever it says.
    """
    from eds.files import digest

    root, homes = project.root, _homes(project)
    for move in moves:
        place, old = root / move["place"], stage / BEFORE / Path(move["staged"]).name
        if not _within(place, homes[:1]) or not place.exists() or digest(place) != move["sha256"]:
            continue  # not moved yet, or put back already
        if not move["before"]:
            place.unlink()
        elif old.exists():
            old.replace(place)
    with suppress(FileNotFoundError):
        for line in (stage / PICTURES).read_text(encoding="utf-8").splitlines():
            with suppress(OSError, ValueError):
                file = root / json.loads(line)  # a path that leaves the project is absolute
                if not _within(file, homes):
                    continue
                for one in (file, *file.parent.glob(f".{escape(file.name)}.*.tmp")):
                    one.unlink(missing_ok=True)


def _homes(project: "Project") -> list[Path]:
    """Where an import writes: the project, and the folder of its pictures."""
    from eds.storage import is_remote

    pictures = [] if is_remote(project.pictures) else [project.image_root.resolve()]
    return [project.root.resolve(), *pictures]


def _within(file: Path, homes: Iterable[Path]) -> bool:
    return any(file.resolve().is_relative_to(home) for home in homes)


def _store_holds(project: "Project", token: str) -> bool:
    """Whether the votes were stored; a store that cannot be asked is told, and nothing is decided."""
    from eds.cli.label_store import opened

    try:
        with opened(project) as store:
            from eds.labels.audit import noted

            return noted(store, "import votes", token)
    except EdsError as error:
        raise ProjectError(
            "an import was interrupted, and the label store cannot be asked whether its votes were stored",
            where=str(project.root), do="Make the store reachable, then try again.", faults=[str(error)],
        ) from error  # fmt: skip
