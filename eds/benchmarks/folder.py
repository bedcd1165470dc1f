"""An export is a folder that is there whole or not at all, and that tells by SHA256SUMS whether it arrived whole."""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from eds.benchmarks.json_files import Faults
from eds.benchmarks.rows import path_faults
from eds.benchmarks.text_files import lines
from eds.errors import InputError
from eds.files import abandoned, digest, unfinished

SUMS = "SHA256SUMS"


@contextmanager
def whole_folder(target: Path, *, replace: bool = False) -> Iterator[Path]:
    """Give a hidden folder beside `target`; when the block ends well it gets its checksums and becomes `target`.

    An existing folder is refused, but for an earlier export with `replace`: that one is there until the new is whole.
    """
    target = target.resolve()
    if target.exists() and not (replace and (target / SUMS).is_file()):
        raise InputError("is there already" if not replace else f"is no export: it holds no {SUMS}", where=str(target),
                         do="Name a new folder" + (", or say --replace." if not replace else "."))  # fmt: skip
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
        raise InputError(f"cannot be written ({error.strerror or error})", where=str(target),
                         do="Free space or choose another folder; nothing was left there.") from error  # fmt: skip
    finally:
        shutil.rmtree(building, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def verified(place: Path) -> tuple[str, ...]:
    """Hold every file against the checksums of its folder; notes where they tell nothing, an error where one differs.

    Of a folder every file must be there. A file alone is held with those beside it that are there: which of them it
    needs its reader knows.
    """
    return _notes(place, _held(place))


def _held(place: Path) -> set[str] | None:
    """The files that the checksums of a folder name, all of them held against it; nothing where there are none."""
    folder = place if place.is_dir() else place.parent
    sums = folder / SUMS
    if not sums.is_file():
        return None
    faults, named = Faults(), set()
    for number, line in enumerate((one.removesuffix("\r") for one in lines(sums)), 1):
        if not line:
            continue
        expected, gap, name = line.partition("  ")
        if not gap or len(expected) != 64 or path_faults(name):
            faults.add(sums, [f"line {number} is no checksum with a path below the folder"])
        elif not (folder / name).is_file():
            faults.add(folder / name, [f"is missing ({SUMS} line {number})"] if place.is_dir() else [])
        elif digest(folder / name) != expected.lower():
            faults.add(folder / name, [f"is not as {SUMS} says (line {number}): cut off or changed"])
        named.add(name)
    faults.refuse("the export is not whole", "Nothing was imported. Copy or export it again:")
    return named


def _notes(place: Path, named: set[str] | None) -> tuple[str, ...]:
    folder = place if place.is_dir() else place.parent
    if named is None:
        return (f"{folder} has no {SUMS}: whether it is whole cannot be told",) if place.is_dir() else ()
    there = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()] if place.is_dir() else [
        Path(place.name)]  # fmt: skip
    strange = sorted(path.as_posix() for path in there if path.as_posix() not in {*named, SUMS}
                     and not any(part.startswith(".") for part in path.parts))  # fmt: skip
    if not strange:
        return ()
    return (f"{folder / SUMS} does not name {len(strange):,} files that lie there, as {strange[0]}: whether they are"
            " whole cannot be told",)  # fmt: skip


def all_verified(places: Iterable[Path | None]) -> list[str]:
    """The same of several files and folders, each folder held once; the notes, each once."""
    given = [one for one in places if one is not None]
    folders = {one.resolve() for one in given if one.is_dir()}
    held: dict[Path, set[str] | None] = {}
    notes: list[str] = []
    for one in given:
        folder = (one if one.is_dir() else one.parent).resolve()
        if one.is_file() and folder in folders:
            continue
        if folder not in held:
            held[folder] = _held(one)
        notes += _notes(one, held[folder])
    return list(dict.fromkeys(notes))


def _write_sums(folder: Path) -> None:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    lines = [f"{digest(path)}  {path.relative_to(folder).as_posix()}\n" for path in files]
    with (folder / SUMS).open("w", encoding="utf-8") as stream:
        stream.writelines(lines)
        stream.flush()
        os.fsync(stream.fileno())
