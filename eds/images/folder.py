"""A folder tree of images: which files are images by name, and what the folders mean.

    tree       category/product/picture, and deeper: the first folders are the category, the last the product
    category   category/picture
    product    product/picture
    flat       the folders mean nothing
    auto       flat or tree if that is clear; otherwise an error asks for the layout

The tree may be remote (`s3://bucket/prefix`): then prefixes of names are the folders, and there are no links.
Links to files are followed if they stay below the root, links to folders never.
"""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from eds import choices
from eds.errors import ImageError, InputError
from eds.images.detect import detect_arrays
from eds.images.sources import Catalogue, Source, finish_rows
from eds.imaging import extra_formats, inside
from eds.io import Address, is_remote, listing, local_path

SUFFIXES = (
    frozenset(
        f".{name}"
        for names in ("avif bmp dib gif jfif jp2 jpe jpeg jpg mpo", "pbm pgm png pnm ppm tga tif tiff webp")
        for name in names.split()
    )
    | extra_formats.readable_suffixes()
)
SHOWN = 3


def read(source: Source) -> Catalogue:
    """Read every image below the root, by its path; unusable files are listed with the reason."""
    root = source.root
    if is_remote(root):
        files = _list_objects(root)
    elif local_path(root).is_dir():
        files = _list_folder(local_path(root), "")
    else:
        raise InputError("folder not found", where=str(root), hint="Name the folder of the images.")
    paths: list[str] = []
    bad: list[tuple[str, str]] = []
    ignored: list[str] = []
    for path, reason in files:
        if reason:
            bad.append((path, reason))
        elif os.path.splitext(path)[1].lower() in SUFFIXES:  # noqa: PTH122 - 50,000 Path objects cost half a second
            paths.append(path)
        else:
            ignored.append(path)
    if not paths:
        if not is_remote(root) and (name := detect_arrays([local_path(root)])):
            raise InputError(
                f"the folder contains no image files, but a dataset ({name})",
                where=str(root),
                hint=f"Import it: eds images import {root} --root FOLDER, a folder to write the images to.",
            )
        raise InputError(
            f"the folder contains no images ({len(ignored):,} other files, {len(bad):,} unusable)",
            where=str(root),
            hint=f"Images are recognised by their suffix: {' '.join(sorted(SUFFIXES))}.",
            faults=[f"{path}: {reason}" for path, reason in bad[:SHOWN]],
        )
    paths.sort()
    frame = finish_rows(_describe(paths, source.layout, str(root)), str(root))
    return Catalogue(frame, tuple(sorted(bad)), _describe_ignored(ignored))


def _describe_ignored(paths: list[str]) -> tuple[str, ...]:
    """What was left out, by suffix, pictures that an extra package reads first."""
    if not paths:
        return ()
    counts = Counter(os.path.splitext(path)[1].lower() or "no suffix" for path in paths)  # noqa: PTH122
    pictures = {suffix: count for suffix, count in counts.items() if suffix in extra_formats.picture_suffixes()}
    listed = ", ".join(f"{count:,} {suffix}" for suffix, count in counts.most_common())
    notes = [f"{len(paths):,} files left out by their suffix: {listed}"]
    if pictures:
        known = " and ".join(f"{count:,} {suffix}" for suffix, count in sorted(pictures.items()))
        notes.append(f"{known} are pictures that an extra package reads. {extra_formats.INSTALL}")
    return tuple(notes)


def _list_folder(root: Path, below: str) -> Iterator[tuple[str, str]]:
    """Yield each file's path relative to the root, and why it is unusable (or nothing)."""
    try:
        entries = sorted(os.scandir(root / below), key=lambda entry: entry.name)
    except OSError as error:
        yield below or ".", f"the folder cannot be read: {error.strerror}"
        return
    for entry in entries:
        path = f"{below}/{entry.name}" if below else entry.name
        if entry.name.startswith("."):
            continue
        if not _is_text(path):
            yield path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"), "name is not UTF-8"
        elif entry.is_symlink():
            yield path, _link_fault(root, path)
        elif entry.is_dir(follow_symlinks=False):
            if os.path.splitext(path)[1].lower() in SUFFIXES:  # noqa: PTH122
                yield path, "a folder with the name of an image; it was not entered"
            else:
                yield from _list_folder(root, path)
        else:
            yield path, ""


def _list_objects(root: Address) -> Iterator[tuple[str, str]]:
    """Yield each object's name below the root, and why it is unusable (or nothing); hidden ones are ignored."""
    for found in listing(root):
        parts = found.name.split("/")
        if any(part.startswith(".") and part != ".." for part in parts):
            continue
        odd = "" in parts or ".." in parts or "\\" in found.name
        yield found.name, "its name is not a valid path" if odd else ""


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _link_fault(root: Path, path: str) -> str:
    try:
        target = inside(root, path)
    except ImageError as error:
        return error.what
    return "a link to a folder; it was not entered" if target.is_dir() else ""


def _describe(paths: list[str], layout: str, where: str) -> pd.DataFrame:
    """The rows of the files, with product and category from their folders."""
    depths = {path.count("/") for path in paths}
    choices.check(choices.Layout, layout, "layout")
    if layout == "auto":
        if depths != {0} and min(depths) < 2:
            shallow = [path for path in paths if path.count("/") < 2]
            raise InputError(
                f"the folders are neither flat nor category/product/picture: {', '.join(shallow[:SHOWN])}",
                where=where,
                hint="Say what the folders mean: --layout tree, category, product or flat.",
            )
        layout = "flat" if depths == {0} else "tree"
    needed = {"tree": 2, "category": 1, "product": 1, "flat": 0}[layout]
    shallow = [path for path in paths if path.count("/") < needed]
    if shallow:
        raise InputError(
            f"layout {layout} needs pictures deeper in folders than {len(shallow):,} are: {', '.join(shallow[:SHOWN])}",
            where=where,
            hint="Move them into folders, or choose another --layout.",
        )
    rows = pd.DataFrame({"path": paths})
    folders = [path.rpartition("/")[0] for path in paths]
    if layout in ("tree", "product"):
        rows["product_id"] = folders
    if layout in ("tree", "category"):
        rows["category"] = [folder.rpartition("/")[0] for folder in folders] if layout == "tree" else folders
    return rows
