"""CSV, TSV, Parquet, JSON or JSON Lines with one row per image, and a map from our columns to the file's.

`eds.images.columns` says which column is which; all others pass through unchanged. In CSV every field is text (so that
007 stays 007), an empty field is missing, and semicolons or tabs may separate the fields.
"""

import csv
import json
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from eds import tables
from eds.errors import InputError
from eds.images.columns import mapping_notes, rename_columns
from eds.images.sources import Catalogue, Source, as_integers, as_text, finish_rows
from eds.io import Address, is_remote, local_path
from eds.io.files import forbidden

USES = ("columns",)


def read(source: Source) -> Catalogue:
    """Read the images of one file, or of several: then an image without a phase has its file's name as its phase."""
    parts, mappings, notes = [], [], []
    for file in source.files:
        raw = read_table(file)
        rows, mapping = rename_columns(raw, source.columns, str(file))
        rows = convert_types(rows, str(file))
        rows["path"] = [_below(path, source.root) for path in rows["path"]]
        if len(source.files) > 1:
            phase = rows["phase"] if "phase" in rows else pd.Series(None, rows.index, dtype=object)
            image_id = rows["image_id"] if "image_id" in rows else rows["path"]
            rows = rows.assign(phase=phase.where(phase.notna(), file.stem), image_id=image_id)
            rows = rows.set_axis([f"{file.name} row {number}" for number in rows.index], axis=0)
        parts.append(rows)
        mappings.append(mapping)
        if raw.attrs:
            notes.append(f"{file.name}: fields are separated by {raw.attrs['separator']!r}")
    rows = parts[0] if len(parts) == 1 else pd.concat(parts).rename_axis("in")
    where = ", ".join(map(str, source.files))
    return Catalogue(finish_rows(rows, where), notes=(*mapping_notes(rows, mappings), *notes))


def _below(path: Any, root: Address) -> Any:
    """The path relative to the image root, where it is absolute and lies below it; else as it is."""
    if is_remote(root) or not isinstance(path, str) or not path.startswith("/"):
        return path
    home = local_path(root).resolve()
    for folder in (home, local_path(root).absolute()):
        if PurePosixPath(path).is_relative_to(folder):
            return PurePosixPath(path).relative_to(folder).as_posix()
    return path


def convert_types(rows: pd.DataFrame, where: str) -> pd.DataFrame:
    """Convert the declared columns to text or integers; the user's own stay as they are."""
    declared = {column.name: column.kind for column in tables.IMAGES.columns}
    convert = {"text": lambda values: as_text(values), "integer": lambda values: as_integers(values, where)}
    return pd.DataFrame(
        {str(name): convert[declared[name]](rows[name]) if name in declared else rows[name] for name in rows.columns},
        index=rows.index,
    )


def records(file: Path) -> list[dict[str, Any]]:
    """Read the objects of a JSON file (a list, or {"images": [...]}) or of JSON Lines."""
    try:
        text = file.read_text(encoding="utf-8-sig")
        if file.suffix.lower() in (".jsonl", ".ndjson"):
            values = [json.loads(line) for line in text.splitlines() if line.strip()]
        else:
            values = json.loads(text)
    except PermissionError as error:
        raise forbidden(file) from error
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read as JSON ({error})", where=str(file), hint="Correct the file.") from error
    if isinstance(values, dict):
        values = values.get("images")
    if not isinstance(values, list) or not all(isinstance(one, dict) for one in values):
        raise InputError("is not a list of objects", where=str(file), hint='Use [{...}, ...] or {"images": [{...}]}.')
    return values


def read_table(file: Path) -> pd.DataFrame:
    """Read the rows of the file unchanged, counted from 1."""
    suffix = file.suffix.lower()
    try:
        if suffix == ".parquet":
            rows: pd.DataFrame = pq.read_table(file).to_pandas()
        elif suffix in (".csv", ".tsv"):
            rows = _csv(file, "\t" if suffix == ".tsv" else ",")
        elif suffix in (".json", ".jsonl", ".ndjson"):
            rows = pd.DataFrame(records(file), dtype=object)
        else:
            raise InputError(
                f"suffix {suffix or '(none)'} is unknown", where=str(file), hint="Use CSV, Parquet or JSON."
            )
    except PermissionError as error:
        raise forbidden(file) from error
    except (OSError, UnicodeDecodeError, pa.ArrowException, csv.Error) as error:
        raise InputError(
            f"cannot be read ({error})", where=str(file), hint="Correct the file; text must be UTF-8."
        ) from error
    rows.index = pd.RangeIndex(1, len(rows) + 1, name="row")
    return rows


def _csv(file: Path, separator: str) -> pd.DataFrame:
    """Read CSV strictly: a row with more or fewer fields than the header is an error that names its line."""
    with file.open(encoding="utf-8-sig", newline="") as stream:
        first = stream.readline()
        used = next((sign for sign in ";\t" if sign in first and separator not in first), separator)
        stream.seek(0)
        reader = csv.reader(stream, delimiter=used, strict=True)
        header = next(reader, [])
        if len(set(header)) != len(header) or not header:
            raise InputError(
                "the header is empty or names a column twice", where=str(file), hint="Correct the first line."
            )
        rows = []
        for fields in reader:
            if fields and len(fields) != len(header):
                raise InputError(
                    f"line {reader.line_num} has {len(fields)} fields, the header {len(header)}",
                    where=str(file),
                    hint="Correct that line.",
                )
            if fields:
                rows.append([field or None for field in fields])
    table = pd.DataFrame(rows, columns=header, dtype=object)
    table.attrs = {} if used == separator else {"separator": used}
    return table
