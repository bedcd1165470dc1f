"""CSV, TSV, Parquet, JSON or JSON Lines with one row per image, and a map from our columns to the file's.

Columns that the map does not name are taken if they have the names of ours; all others pass through
unchanged. In CSV every field is text (so that 007 stays 007) and an empty field is missing.
"""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from eds import tables
from eds.errors import InputError
from eds.images.sources import Catalogue, Source, as_integers, as_text, column_notes, finish_rows
from eds.io.files import forbidden

USES = ("columns",)
SHORT = {"id": "image_id", "product": "product_id"}  # short names that a map may use


def read(source: Source) -> Catalogue:
    """Read the images of one file."""
    if len(source.files) != 1:
        raise InputError(f"{len(source.files)} files", hint="Import one table of images at a time.")
    file = source.files[0]
    rows = rename_columns(read_table(file), source.columns, str(file))
    return Catalogue(finish_rows(convert_types(rows, str(file)), str(file)), notes=tuple(column_notes(rows)))


def rename_columns(rows: pd.DataFrame, columns: Mapping[str, str], where: str) -> pd.DataFrame:
    """Rename the file's columns to ours; raise InputError if the map names columns that do not exist."""
    wanted = {SHORT.get(ours, ours): theirs for ours, theirs in columns.items()}
    there = list(map(str, rows.columns))
    full = [SHORT.get(ours, ours) for ours in columns]
    faults = [f"{ours} is mapped twice, also by its short name" for ours in wanted if full.count(ours) > 1]
    faults += [f"images has no column {ours}" for ours in wanted if ours not in tables.IMAGES.names]
    faults += [
        f"the file has no column {theirs!r} (for {ours})" for ours, theirs in wanted.items() if theirs not in there
    ]
    if not faults and "path" not in wanted and "path" not in there:
        faults.append("no column holds the path: name it with --map path=COLUMN")
    if faults:
        raise InputError(
            "the column map does not fit",
            where=where,
            hint=f"The file's columns: {', '.join(there)}. Those of images: {', '.join(tables.IMAGES.names)}.",
            faults=faults,
        )
    taken = pd.DataFrame({ours: rows[theirs] for ours, theirs in wanted.items()}, index=rows.index)
    left = [name for name in rows.columns if name not in wanted.values() and name not in taken.columns]
    return pd.concat([taken, rows[left]], axis=1)


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
        reader = csv.reader(stream, delimiter=separator, strict=True)
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
    return pd.DataFrame(rows, columns=header, dtype=object)
