"""Export folders: complete or absent, with SHA256SUMS to check that every file arrived."""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from eds.benchmarks.files import read_lines
from eds.benchmarks.validate import Faults, check_path
from eds.errors import InputError
from eds.io.files import abandoned, digest, unfinished

SUMS = "SHA256SUMS"


@contextmanager
def export_folder(target: Path, *, replace: bool = False) -> Iterator[Path]:
    """Give a hidden folder beside `target`; when the block succeeds it gets its checksums and becomes `target`.

    An existing folder is refused, except an earlier export with `replace`, which stays until the new one is complete.
    """
    target = target.resolve()
    check_target(target, replace=replace)
    building = unfinished(target)
    old = building.with_suffix(".old")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        for leftover in abandoned(target):
            shutil.rmtree(leftover, ignore_errors=True)
        building.mkdir()
        yield building
        _write_sums(building)
        if target.exists():
            target.rename(old)
        try:
            building.rename(target)
        except OSError:
            if old.exists():
                old.rename(target)
            raise
    except OSError as error:
        hint = "Free space or choose another folder; nothing was left there."
        raise InputError(f"cannot be written ({error.strerror or error})", where=str(target), hint=hint) from error
    finally:
        shutil.rmtree(building, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def check_target(target: Path, *, replace: bool) -> None:
    """Refuse a folder that an export may not replace."""
    if target.exists() and not replace:
        raise InputError("exists already", where=str(target), hint="Name a new folder, or use --replace.")
    if target.exists() and not (target / SUMS).is_file():
        raise InputError(f"is not an export: it has no {SUMS}", where=str(target), hint="Name a new folder.")


def verify_checksums(paths: Iterable[Path | None]) -> list[str]:
    """Check files and folders against the SHA256SUMS beside or in them; return notes on what they do not cover.

    In a folder every named file must exist. Of a single file only those files beside it are checked that exist: its
    reader knows which of them it needs. Each folder is read once.
    """
    given = [path for path in paths if path is not None]
    folders = {path.resolve() for path in given if path.is_dir()}
    checked: dict[Path, set[str] | None] = {}
    notes: list[str] = []
    for path in given:
        folder = (path if path.is_dir() else path.parent).resolve()
        if path.is_file() and folder in folders:
            continue
        if folder not in checked:
            checked[folder] = _check_sums(path)
        notes += _notes(path, checked[folder])
    return list(dict.fromkeys(notes))


def _check_sums(path: Path) -> set[str] | None:
    """Return the files that a folder's checksums name, after checking them; None where there are no checksums."""
    folder = path if path.is_dir() else path.parent
    sums = folder / SUMS
    if not sums.is_file():
        return None
    faults, named = Faults(), set()
    for number, line in enumerate((text.removesuffix("\r") for text in read_lines(sums)), 1):
        if not line:
            continue
        expected, gap, name = line.partition("  ")
        if not gap or len(expected) != 64 or check_path(name):
            faults.add(sums, [f"line {number} is not a checksum with a path below the folder"])
        elif not (folder / name).is_file():
            faults.add(folder / name, [f"is missing ({SUMS} line {number})"] if path.is_dir() else [])
        elif digest(folder / name) != expected.lower():
            faults.add(folder / name, [f"does not match {SUMS} line {number}: truncated or changed"])
        named.add(name)
    faults.raise_any("the export is incomplete", "Nothing was imported. Copy or export it again:")
    return named


def _notes(path: Path, named: set[str] | None) -> list[str]:
    folder = path if path.is_dir() else path.parent
    if named is None:
        return [f"{folder} has no {SUMS}: its completeness cannot be checked"] if path.is_dir() else []
    files = [Path(path.name)]
    if path.is_dir():
        files = [file.relative_to(folder) for file in folder.rglob("*") if file.is_file()]
    visible = (file.as_posix() for file in files if not any(part.startswith(".") for part in file.parts))
    unnamed = sorted(set(visible) - named - {SUMS})
    if not unnamed:
        return []
    example = f"as {unnamed[0]}: their completeness cannot be checked"
    return [f"{folder / SUMS} does not name {len(unnamed):,} of its files, {example}"]


def _write_sums(folder: Path) -> None:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    lines = [f"{digest(path)}  {path.relative_to(folder).as_posix()}\n" for path in files]
    with (folder / SUMS).open("w", encoding="utf-8") as stream:
        stream.writelines(lines)
        stream.flush()
        os.fsync(stream.fileno())
