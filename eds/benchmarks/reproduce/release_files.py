"""Which file of a release belongs to which task: as given, else by its shape and by the task its path names.

The release does not fix file names. A file is told by what it holds; it belongs to a task if the task's name stands in
its path below the root. Metadata that name no task serve all tasks; other files that name none serve only the one task
that was asked for. What cannot be decided is asked, never guessed.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from eds.benchmarks.formats.vsd import Files
from eds.benchmarks.json_files import read_json
from eds.benchmarks.reproduce.paper import TASKS
from eds.errors import InputError

KINDS = ("metadata", "annotations", "seeds", "manifest")
DEPTH = 3  # folders below the root that are looked into; pictures lie deeper


def find_files(
    root: Path | None,
    tasks: Sequence[str],
    given: Mapping[str, Path],
    kind_of: Callable[[Any], str],
    leave: Path | None = None,
) -> tuple[dict[str, Files], dict[str, str]]:
    """By task its files; and by task that has none, why. Every fault at once.

    `given` are files named by hand (kind -> file), `kind_of` tells the kind of a file's content, `leave` is a folder
    that is not looked into (where results are written).
    """
    if len(tasks) > 1 and (own := [kind for kind in given if kind != "metadata"]):
        raise InputError(
            f"{' and '.join(f'--{kind}' for kind in own)} belong to one task, {len(tasks)} are asked for",
            where="option --task", do=f"Name it: --task {' or '.join(tasks)}.",
        )  # fmt: skip
    found = _found(root, kind_of, leave) if root is not None and len(given) < len(KINDS) else {}
    files, gone, faults = {}, {}, []
    for task in tasks:
        chosen: dict[str, Path] = dict(given)
        for kind in KINDS:
            if kind in chosen:
                continue
            mine, told = _of_task(found.get(kind, []), task, root, shared=kind == "metadata" or len(tasks) == 1)
            faults += [f"{task}: {len(mine)} files of {kind} ({', '.join(map(str, mine))})"] if len(mine) > 1 else []
            faults += [f"{kind}: which task {told} belongs to cannot be told"] if told else []
            chosen |= {kind: mine[0]} if len(mine) == 1 else {}
        lacking = [kind for kind in ("metadata", "annotations") if kind not in chosen]
        if lacking:
            gone[task] = f"no file of {' or '.join(lacking)}"
        else:
            files[task] = Files(*(chosen.get(kind) for kind in KINDS))  # type: ignore[arg-type]
    if faults or not files:
        listed = [f"found {kind}: {file}" for kind, one in found.items() for file in one]
        told_gone = [f"{task}: {why}" for task, why in gone.items()]
        raise InputError(
            "the files of the tasks cannot be told apart" if faults else "there are no files of any task",
            where=str(root or "options --metadata, --annotations"),
            do="Name the task and its files (--task, --metadata, --annotations, --seeds, --manifest), or put each"
            f" task's files into a folder of its name: {', '.join(TASKS)}.",
            faults=[*dict.fromkeys(faults or told_gone), *(listed if not faults else [])],
        )
    return files, gone


def _found(root: Path, kind_of: Callable[[Any], str], leave: Path | None) -> dict[str, list[Path]]:
    """The JSON files near the root, by their kind."""
    found: dict[str, list[Path]] = {}
    barred = leave.resolve() if leave is not None else None
    for depth in range(DEPTH):
        for file in sorted(root.glob("*/" * depth + "*.json")):
            if barred is not None and file.resolve().is_relative_to(barred):
                continue
            if kind := kind_of(read_json(file)):
                found.setdefault(kind, []).append(file)
    return found


def _of_task(files: Sequence[Path], task: str, root: Path | None, *, shared: bool) -> tuple[list[Path], str]:
    """The files of one kind that belong to the task; and the first that names no task where that does not do."""
    place = Path(root.resolve().name if root is not None else "")
    named = {file: next((one for one in TASKS if one in str(place / file.relative_to(root or file.parent))), "")
             for file in files}  # fmt: skip
    mine = [file for file, name in named.items() if name == task]
    free = [file for file, name in named.items() if not name]
    if mine or not free:
        return mine, ""
    return (free, "") if shared else ([], str(free[0]))
