"""Detect which reader fits the files; if that is ambiguous, the user must name it."""

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq

from eds.errors import InputError
from eds.images.readers import deepfashion, huggingface, vsd
from eds.io.reading import reading
from eds.registry import READERS

TABLES = (".csv", ".tsv", ".jsonl", ".ndjson")


def detect(files: Sequence[Path]) -> str:
    """The name of the reader for these files or this folder."""
    for file in files:
        if not file.exists():
            raise InputError("file not found", where=str(file), hint="Correct the path.")
    if name := detect_arrays(files):
        return name
    first = files[0]
    if first.is_dir() or first.name.startswith("list_"):
        return _deepfashion(files) or _folder(first)
    suffix = first.suffix.lower()
    if suffix == ".json":
        return _json(files)
    if suffix == ".parquet":
        with reading(first, "cannot be read as Parquet", "Use another copy of the file."):
            return "huggingface" if huggingface.image_columns(pq.read_schema(first)) else "table"
    if suffix == ".arrow":
        return "huggingface"
    if suffix in TABLES:
        return "table"
    raise _unknown(first)


def detect_arrays(files: Sequence[Path]) -> str:
    """The reader that knows these files by its own test `fits`, as those of arrays do; empty if none does."""
    known = ((name, getattr(READERS.load(name), "fits", None)) for name in READERS)
    return next((name for name, fits in known if fits is not None and fits(files)), "")


def _deepfashion(files: Sequence[Path]) -> str:
    lists = {} if _is_plain(files) else deepfashion.lists(files)
    return "deepfashion" if deepfashion.PARTITION in lists else ""


def _is_plain(files: Sequence[Path]) -> bool:
    """True for a folder without these lists."""
    return len(files) == 1 and files[0].is_dir() and next(files[0].rglob(deepfashion.PARTITION), None) is None


def _folder(folder: Path) -> str:
    if any(next(folder.rglob(name), None) for name in ("*.parquet", "*.arrow", *huggingface.METADATA)):
        return "huggingface"
    raise InputError(
        "the folder holds no list, no Parquet, no Arrow and no metadata",
        where=str(folder),
        hint="eds images scan reads a folder of images.",
    )


def _json(files: Sequence[Path]) -> str:
    contents = []
    for file in files:
        with reading(file, "cannot be read as JSON", "Correct the file."):
            contents.append(json.loads(file.read_text(encoding="utf-8-sig")))
    kinds = [vsd.kind(content) for content in contents]
    if len(files) > 1:
        return "vsd"
    if kinds == ["metadata"] and all(isinstance(one, dict) and "phase" in one for one in contents[0]["images"]):
        return "vsd"  # there `id` is the product; without a phase it may also be the image, so the user must decide
    if kinds == ["metadata"]:
        raise InputError(
            "could be VSD metadata (id is the product) or a plain list of images",
            where=str(files[0]),
            hint="Choose one: --format vsd or --format table.",
        )
    return "table"


def _unknown(file: Path) -> InputError:
    known = f"Read are folders, CIFAR, IDX, {', '.join(TABLES)}, .json, .parquet and .arrow: save a table as CSV."
    return InputError(f"unknown format {file.suffix or '(no suffix)'}", where=str(file), hint=known)
