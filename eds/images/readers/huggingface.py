"""A local Hugging Face dataset: shards with an Image column, or a folder of files with metadata.

Shards (Parquet, or Arrow as `save_to_disk` writes it) hold images as a struct {bytes, path}. The bytes are written
below the image root, one file per row, named after shard and row (counted from 0): a name in the dataset is never
used as a path. If `bytes` is empty, `path` is relative to the dataset, which must then lie below the image root.
`metadata.csv`, `.jsonl` or `.parquet` name images by `file_name`, relative to themselves; they must lie below the
root, too. Folders `queries` and `corpus` (MTEB's layout) define the roles; an image with the same id and content in
both is both. Shards without images are left out, with a note.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from eds.errors import ImageError, InputError
from eds.images.columns import mapping_notes, rename_columns
from eds.images.embedded import folder_name, write_image
from eds.images.readers.table import convert_types, read_table
from eds.images.shards import Shard, open_shard, shards_in
from eds.images.sources import Catalogue, Source, finish_rows, raise_faults
from eds.imaging import inside
from eds.io.files import digest, forbidden

USES = ("columns",)
METADATA = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
SIGNS = (
    (b"\xff\xd8\xff", ".jpg"),
    (b"\x89PNG", ".png"),
    (b"GIF8", ".gif"),
    (b"BM", ".bmp"),
    (b"II*\0", ".tif"),
    (b"MM\0*", ".tif"),
)
ROLES = {"queries": "query", "corpus": "candidate"}
PORTION = 64  # rows in memory at once


def read(source: Source) -> Catalogue:
    """Read the images of the dataset; images inside shards are written below the root."""
    if len(source.files) != 1:
        raise InputError(f"{len(source.files)} folders", hint="Import one dataset at a time: its folder.")
    place = source.files[0]
    tables = sorted(path for path in place.rglob("*") if path.name in METADATA) if place.is_dir() else []
    if tables:
        return _from_metadata(tables, source)
    shards = shards_in(place) if place.is_dir() else [place]
    if not shards:
        raise InputError(
            "holds neither Parquet nor Arrow nor metadata.csv, .jsonl or .parquet",
            where=str(place),
            hint="Use the folder of the dataset; eds images scan reads a plain folder of images.",
        )
    return _from_shards(shards, place if place.is_dir() else place.parent, source)


def image_columns(schema: pa.Schema) -> list[str]:
    """The columns of images: declared as such in the schema's metadata, or a struct of bytes and path."""
    features = _features(schema)
    return [
        field.name
        for field in schema
        if features.get(field.name, {}).get("_type") == "Image"
        or (pa.types.is_struct(field.type) and {part.name for part in field.type} == {"bytes", "path"})
    ]


def _from_metadata(files: list[Path], source: Source) -> Catalogue:
    parts, mappings = [], []
    for file in files:
        folder = _below_root(file.parent, source.folder)
        columns = dict(source.columns)
        if "path" not in columns:
            columns["path"] = "file_name"
        rows, mapping = rename_columns(read_table(file), columns, str(file))
        rows = convert_types(rows, str(file))
        mappings.append(mapping)
        rows["path"] = [f"{folder}/{name}" if folder and isinstance(name, str) else name for name in rows["path"]]
        parts.append(_number_rows(rows, file.relative_to(files[0].parent.parent).as_posix()))
    rows = pd.concat(parts).rename_axis("in")
    return Catalogue(finish_rows(rows, str(files[0].parent)), notes=tuple(mapping_notes(rows, mappings)))


def _from_shards(shards: list[Path], place: Path, source: Source) -> Catalogue:
    parts: list[pd.DataFrame] = []
    mappings: list[dict[str, str]] = []
    bad: list[tuple[str, str]] = []
    notes: list[str] = []
    for shard in shards:
        name = shard.relative_to(place).as_posix()
        try:
            with open_shard(shard) as file:
                column = _image_column(file.schema, source.columns.get("path"), shard)
                if not column:
                    notes.append(f"{name} holds no images: left out")
                    continue
                rows = _rows(file, column, name, place, source.folder, bad)
        except PermissionError as error:
            raise forbidden(shard) from error
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"cannot be read ({error})", where=str(shard), hint="Download the file again.") from error
        columns = {ours: theirs for ours, theirs in source.columns.items() if ours != "path"}
        rows, mapping = rename_columns(rows, {"path": "path", **columns}, str(shard))
        rows = convert_types(rows, str(shard))
        mappings.append({**mapping, "path": column})
        config = name.split("/")[0]
        if config in ROLES and "role" not in rows:
            rows["role"] = ROLES[config]
        if "phase" not in rows:
            split = re.split(r"[-.]", shard.name)[0]
            rows["phase"] = shard.parent.name if split == "data" and shard.parent != place else split
        parts.append(_number_rows(rows, name))
    if not parts:
        raise InputError("no shard holds images", where=str(place), hint="Name the column: --map path=COLUMN.")
    rows = pd.concat(parts).rename_axis("in")
    notes += mapping_notes(rows, mappings)
    return Catalogue(finish_rows(_merge_roles(rows, source.folder), str(place)), tuple(bad), tuple(notes))


def _number_rows(rows: pd.DataFrame, file: str) -> pd.DataFrame:
    """The rows with an index that names file and row, for messages."""
    return rows.set_axis([f"{file} row {number}" for number in rows.index], axis=0)


def _image_column(schema: pa.Schema, wanted: str | None, shard: Path) -> str:
    columns = image_columns(schema)
    if wanted is not None:
        if wanted not in columns and columns:
            raise InputError(f"column {wanted} holds no images", where=str(shard), hint=f"Known: {', '.join(columns)}.")
        return wanted if wanted in columns else ""
    if len(columns) > 1:
        raise InputError(
            f"{len(columns)} columns hold images: {', '.join(columns)}",
            where=str(shard),
            hint="Choose one: --map path=COLUMN.",
        )
    return columns[0] if columns else ""


def _rows(shard: Shard, column: str, name: str, place: Path, root: Path, bad: list[tuple[str, str]]) -> pd.DataFrame:
    """The shard's rows with `path` instead of the images, which are written below the root."""
    features = _features(shard.schema)
    folder = folder_name(name.removesuffix(Path(name).suffix))
    parts = []
    number = 0
    for batch in shard.batches(PORTION):
        rows = batch.drop_columns([column]).to_pandas()
        paths: list[str | None] = []
        for picture in batch.column(column).to_pylist():
            picture = picture or {}
            if picture.get("bytes"):
                data = picture["bytes"]
                paths.append(write_image(data, f"{folder}/{number:08d}{_suffix(data)}", root))
            elif picture.get("path"):
                below = _below_root(place, root)
                paths.append(f"{below}/{picture['path']}" if below else str(picture["path"]))
            else:
                bad.append((f"{name} row {number + 1}", "neither bytes nor path"))
                paths.append(None)
            number += 1
        rows["path"] = paths
        rows.index = pd.RangeIndex(number - len(rows) + 1, number + 1)
        parts.append(rows[rows["path"].notna()])
    rows = pd.concat(parts) if parts else pd.DataFrame({"path": []})
    for label, feature in features.items():
        names = feature.get("names")
        if feature.get("_type") == "ClassLabel" and isinstance(names, list) and label in rows:
            rows[label] = [
                names[code] if 0 <= code < len(names) else None for code in rows[label].fillna(-1).astype(int)
            ]
    return rows


def _suffix(data: bytes) -> str:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return ".webp"
    return next((suffix for sign, suffix in SIGNS if data.startswith(sign)), ".img")


def _merge_roles(rows: pd.DataFrame, root: Path) -> pd.DataFrame:
    """Merge rows of an image that is in `queries` and in `corpus` with the same content into one row that is both."""
    if "image_id" not in rows or "role" not in rows:
        return rows
    again = rows[rows["image_id"].duplicated(keep=False).to_numpy()]
    dropped: list[Any] = []
    faults: list[str] = []
    rows = rows.copy()
    for name, same in again.groupby("image_id", sort=False):
        if sorted(same["role"]) != ["candidate", "query"]:
            continue  # `finish_rows` reports it as a contradiction
        if len({digest(inside(root, path)) for path in same["path"]}) > 1:
            faults.append(f"image {name!r} is one image in queries and another in corpus")
        first, second = same.index
        rows.loc[first, "role"] = "both"
        dropped.append(second)
    raise_faults(faults, str(root), "Use different ids in queries and corpus.")
    return rows.drop(index=dropped)


def _features(schema: pa.Schema) -> dict[str, dict[str, Any]]:
    try:
        notes = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))
        features = notes.get("info", {}).get("features", {})
    except (ValueError, AttributeError):
        return {}
    return {name: feature for name, feature in features.items() if isinstance(feature, dict)}


def _below_root(folder: Path, root: Path) -> str:
    home, place = os.path.realpath(root), os.path.realpath(folder)
    if place == home:
        return ""
    if not place.startswith(home + os.sep):
        raise ImageError(
            "the files lie outside the image root", where=place, hint=f"Set images.root to that folder; it is {home}."
        )
    return Path(place).relative_to(home).as_posix()
