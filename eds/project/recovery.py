"""What a killed import left: put right by the next command, before it does anything else.

The journal says what was being put in place (eds.project.transaction). While it is there nothing counts, and everything
goes back; only where votes went into a label store that was there does the store decide: its transaction came last.

A journal comes with its project, perhaps from a stranger, and so does images.root: nothing outside the project's own
folder is ever touched. Pictures that an import put outside are told, and taken as they are when it is begun again.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from glob import escape
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from eds.errors import EdsError, LockedError, ProjectError

if TYPE_CHECKING:
    from eds.project import Project

STAGE = Path(".eds") / "together"
JOURNAL, PICTURES, BEFORE = "journal.json", "pictures", "before"
MOVE = {"staged": str, "place": str, "before": bool, "sha256": str}  # what is told of a file that is moved
SHOWN = 10  # files that are named; of more, how many


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
    left = [] if done else undo(project, stage, told["moves"])
    (stage / JOURNAL).unlink()
    rmtree(stage, ignore_errors=True)
    return (
        "An import was interrupted when all of it was stored: it is complete."
        if done
        else "An import was interrupted: what it had begun to write is taken back; import again." + _told(left)
    )


def read_journal(stage: Path) -> dict[str, Any]:
    """What the journal tells; nothing where there is none, and refused where no import can have written it."""
    file = stage / JOURNAL
    try:
        told = json.loads(file.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(file, f"it cannot be read: {error}") from error
    if not isinstance(told, dict) or not _has(told, {"token": str, "store": bool, "moves": list}):
        raise _damaged(file, "it lacks token, store or moves")
    if wrong := [number for number, move in enumerate(told["moves"]) if not _has(move, MOVE)]:
        raise _damaged(file, f"of move {wrong[0]} it lacks {' or '.join(MOVE)}")
    return told


def undo(project: "Project", stage: Path, moves: Iterable[Mapping[str, Any]]) -> list[Path]:
    """Put back every file that was moved; may be done again, and leaves alone what others have written meanwhile.

    Pictures that lie outside the project stay, whoever named them: which these are is the answer. Where what was there
    before lies outside (.eds, or a folder within, is a link), nothing is put back and everything is kept.
    """
    from eds.files import digest

    root, left, moves = project.root, [], list(moves)
    olds = [stage / BEFORE / Path(move["staged"]).name for move in moves if move["before"]]
    if any(old.is_file() and not _within(old, root) for old in olds):
        raise ProjectError(
            f"an import was interrupted, and what it replaced lies outside the project: {(stage / BEFORE).resolve()}",
            where=str(stage),
            do=f"Put the files of {BEFORE} back by hand, where {JOURNAL} says; then move {stage} away and import"
            " again.",
        )
    for move in moves:
        place, old = root / move["place"], stage / BEFORE / Path(move["staged"]).name
        if not _within(place, root) or not place.is_file() or digest(place) != move["sha256"]:
            continue  # not moved yet, or put back already
        if not move["before"]:
            place.unlink()
        elif old.is_file() and _within(old, root):
            old.replace(place)
    for file in _pictures(stage, root):
        with suppress(OSError, ValueError):
            files = [one for one in (file, *file.parent.glob(f".{escape(file.name)}.*.tmp")) if one.is_file()]
            left += [one for one in files if not _within(one, root)]
            for one in files:
                if _within(one, root):
                    one.unlink()
    return left


def _pictures(stage: Path, root: Path) -> Iterator[Path]:
    """The pictures that were about to be written; a line that is not whole names none."""
    with suppress(FileNotFoundError):
        for line in (stage / PICTURES).read_bytes().splitlines():
            with suppress(ValueError, TypeError, RecursionError):
                yield root / json.loads(line)  # a path that leaves the project is absolute


def _within(file: Path, root: Path) -> bool:
    """Whether the file lies in the project, by its name and, where it is a link, by what it leads to."""
    home = root.resolve()
    return file.parent.resolve().is_relative_to(home) and file.resolve().is_relative_to(home)


def _told(left: list[Path]) -> str:
    """Which files that the journal names stay, for they lie outside the project."""
    if not left:
        return ""
    named = ", ".join(map(repr, map(str, left[:SHOWN]))) + (f" and {len(left) - SHOWN} more" if left[SHOWN:] else "")
    return f" Outside the project nothing is removed: {named}. A picture of the same content is taken as it is."


def _has(found: Any, kinds: Mapping[str, type]) -> bool:
    return isinstance(found, dict) and all(
        isinstance(found.get(name), kind) and "\0" not in str(found[name]) for name, kind in kinds.items()
    )


def _damaged(file: Path, why: str) -> ProjectError:
    return ProjectError(
        f"the journal of an interrupted import is damaged, or no import wrote it ({why})", where=str(file),
        do=f"Move the folder {file.parent} away: what an import replaced is in its folder {BEFORE}; then import again.",
    )  # fmt: skip


def _store_holds(project: "Project", token: str) -> bool:
    """Whether the votes were stored; a store that cannot be asked is told, and nothing is decided."""
    from eds.project.label_store import opened

    try:
        with opened(project) as store:
            from eds.labels.audit import noted

            return noted(store, "import votes", token)
    except EdsError as error:
        raise ProjectError(
            "an import was interrupted, and the label store cannot be asked whether its votes were stored",
            where=str(project.root), do="Make the store reachable, then try again.", faults=[str(error)],
        ) from error  # fmt: skip
