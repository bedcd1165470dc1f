"""Which file of a release belongs to which task: as given, else by its content and by the task its path names.

The release does not fix file names. A file's kind shows in its content; it belongs to a task if the task's name occurs
in its path below the root. Metadata that name no task serve all tasks; other files that name none serve only a single
requested task. What cannot be decided is refused, never guessed.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from eds.benchmarks.files import read_json
from eds.benchmarks.formats.vsd import Files
from eds.benchmarks.reproduce.paper import TASKS
from eds.errors import InputError

KINDS = ("metadata", "annotations", "seeds", "manifest")
DEPTH = 3  # levels of folders below the root that are searched; pictures lie deeper


def find_files(
    root: Path | None,
    tasks: Sequence[str],
    given: Mapping[str, Path],
    kind_of: Callable[[Any], str],
    skip: Path | None = None,
) -> tuple[dict[str, Files], dict[str, str]]:
    """Return the files of each task; and for each task without files the reason. One error has every fault.

    `given` are files named explicitly (kind -> file), `kind_of` returns the kind of a file's content, `skip` is a
    folder that is not searched (where results are written).
    """
    if len(tasks) > 1 and (own := [kind for kind in given if kind != "metadata"]):
        what = f"{' and '.join(f'--{kind}' for kind in own)} belong to one task, {len(tasks)} are requested"
        raise InputError(what, where="option --task", hint=f"Name it: --task {' or '.join(tasks)}.")
    found = _search(root, kind_of, skip) if root is not None and len(given) < len(KINDS) else {}
    files, missing, faults = {}, {}, []
    for task in tasks:
        chosen: dict[str, Path] = dict(given)
        for kind in KINDS:
            if kind in chosen:
                continue
            shared = kind == "metadata" or len(tasks) == 1
            own_files, unclear = _of_task(found.get(kind, []), task, root, shared=shared)
            if len(own_files) > 1:
                faults.append(f"{task}: {len(own_files)} files of {kind} ({', '.join(map(str, own_files))})")
            faults += [f"{kind}: the task of {unclear} is unclear"] if unclear else []
            chosen |= {kind: own_files[0]} if len(own_files) == 1 else {}
        lacking = [kind for kind in ("metadata", "annotations") if kind not in chosen]
        if lacking:
            missing[task] = f"no file of {' or '.join(lacking)}"
        else:
            files[task] = Files(*(chosen.get(kind) for kind in KINDS))  # type: ignore[arg-type]
    if faults or not files:
        listed = [f"found {kind}: {file}" for kind, some in found.items() for file in some]
        reasons = [f"{task}: {why}" for task, why in missing.items()]
        raise InputError(
            "the files of the tasks are ambiguous" if faults else "there are no files of any task",
            where=str(root or "options --metadata, --annotations"),
            hint="Name the task and its files (--task, --metadata, --annotations, --seeds, --manifest), or put each"
            f" task's files into a folder of its name: {', '.join(TASKS)}.",
            faults=[*dict.fromkeys(faults or reasons), *(listed if not faults else [])],
        )
    return files, missing


def _search(root: Path, kind_of: Callable[[Any], str], skip: Path | None) -> dict[str, list[Path]]:
    """Return the JSON files near the root, by their kind."""
    found: dict[str, list[Path]] = {}
    skipped = skip.resolve() if skip is not None else None
    for depth in range(DEPTH):
        for file in sorted(root.glob("*/" * depth + "*.json")):
            if skipped is not None and file.resolve().is_relative_to(skipped):
                continue
            if kind := kind_of(read_json(file)):
                found.setdefault(kind, []).append(file)
    return found


def _of_task(files: Sequence[Path], task: str, root: Path | None, *, shared: bool) -> tuple[list[Path], str]:
    """Return the files of one kind that belong to the task; and the first that names no task where one is needed."""
    base = Path(root.resolve().name if root is not None else "")
    paths = {file: str(base / file.relative_to(root or file.parent)) for file in files}
    named = {file: next((name for name in TASKS if name in path), "") for file, path in paths.items()}
    own = [file for file, name in named.items() if name == task]
    free = [file for file, name in named.items() if not name]
    if own or not free:
        return own, ""
    return (free, "") if shared else ([], str(free[0]))
