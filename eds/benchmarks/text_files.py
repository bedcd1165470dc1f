"""CSV and JSON lines: written from frames, read as text with every damaged line told; .gz is read, too."""

import contextlib
import csv
import gzip
import io
import json
import zlib
from collections import deque
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from eds.benchmarks.json_files import Faults, no_number
from eds.errors import InputError
from eds.schema import TEXT

TIME = "%Y-%m-%dT%H:%M:%SZ"  # ISO 8601; Arrow writes the fraction of a second, too
MOST = 5  # broken rows that are named


def arrow_of(frame: pd.DataFrame) -> pa.Table:
    """The frame as Arrow, moments as ISO 8601 text in UTC, text as plain strings."""
    columns: dict[str, pa.Array] = {}
    for name in frame.columns:
        array = pa.array(frame[name], from_pandas=True)
        array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
        if pa.types.is_timestamp(array.type):
            array = pc.strftime(array, format=TIME)
        if pa.types.is_large_string(array.type) or pa.types.is_null(array.type):
            array = array.cast(pa.string())
        columns[str(name)] = array
    return pa.table(columns)


def write_csv(frame: pd.DataFrame, file: Path, delimiter: str = ",") -> None:
    """UTF-8, a header, RFC 4180; nothing stands for missing."""
    pa_csv.write_csv(arrow_of(frame), file, pa_csv.WriteOptions(delimiter=delimiter, eol="\r\n"))


def write_jsonl(frame: pd.DataFrame, file: Path) -> None:
    """One object a line; numbers with every digit."""
    with file.open("w", encoding="utf-8") as stream:
        for batch in arrow_of(frame).to_batches(max_chunksize=20_000):
            stream.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in batch.to_pylist())


def _broken_rows(file: Path, delimiter: str) -> list[str]:
    """The first rows that have another number of values than the header, by line; none where all is unreadable."""
    found: list[str] = []

    def note(row: pa_csv.InvalidRow) -> str:
        found.append(f"line {row.number} has {row.actual_columns} values, not {row.expected_columns}")
        return "skip"

    options = pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=note)
    with contextlib.suppress(OSError, pa.ArrowException, ValueError), pa.input_stream(file) as stream:
        pa_csv.read_csv(stream, read_options=pa_csv.ReadOptions(use_threads=False), parse_options=options)
    return found[:MOST]


def read_csv(file: Path, delimiter: str = ",") -> pd.DataFrame:
    """Every value as text, missing where nothing stands; the row's number is its index, from 0."""
    options = pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    try:
        data = unpacked(file)
        names = pa_csv.open_csv(pa.BufferReader(data), parse_options=options).schema.names
        kinds = dict.fromkeys(names, pa.string())
        convert = pa_csv.ConvertOptions(
            column_types=kinds, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
        )
        table = pa_csv.read_csv(pa.BufferReader(data), parse_options=options, convert_options=convert)
        _refuse_cut(data, file, delimiter)
    except InputError:
        raise
    except (OSError, pa.ArrowException, ValueError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError(f"cannot be read as CSV ({reason})", where=str(file), faults=_broken_rows(file, delimiter),
                         do="Give UTF-8 with a header and as many values in each row.") from error  # fmt: skip
    if len(set(names)) < len(names):
        raise InputError("two columns have one name", where=str(file), do="Rename one of them.")
    frame: pd.DataFrame = table.to_pandas().astype(object)
    return frame.where(frame.notna(), None)


def _refuse_cut(data: bytes, file: Path, delimiter: str) -> None:
    """Refuse a file that ends within quotation marks, or with a line that has neither a last value nor an end.

    A whole last line may lack its end: many programs write none.
    """
    line = data.count(b"\n") + 1
    if data.count(b'"') % 2 and _open_quotes(data, delimiter):
        told = "its last quotation mark is not closed"
    elif data.endswith(delimiter.encode()):
        told = f"line {line:,} has no line end, and its last value is empty"
    else:
        return
    do = "Nothing was imported. Get the whole file again; if it is whole, end its last line."
    raise InputError(f"was cut off: {told}", where=str(file), do=do)


def _open_quotes(data: bytes, delimiter: str) -> bool:
    rows = csv.reader(io.StringIO(data.decode("utf-8", "replace"), newline=""), delimiter=delimiter, strict=True)
    try:
        deque(rows, 0)
    except csv.Error as error:
        return "end of data" in str(error)
    return False


def read_jsonl(file: Path) -> pd.DataFrame:
    """One object a line as a row; lines that are no object are told, empty ones passed over."""
    rows, numbers, faults = [], [], Faults()
    for number, line in enumerate(lines(file)):
        if not line.strip():
            continue
        try:
            row: Any = json.loads(line, parse_constant=no_number)
            told = "" if isinstance(row, dict) else "is no JSON object"
        except json.JSONDecodeError:
            told = "is no JSON object"
        except (ValueError, RecursionError) as error:
            told = f"cannot be read: {error}"
        if told:
            faults.add(file, [f"line {number + 1} {told}"])
        else:
            rows.append(row)
            numbers.append(number)
    faults.refuse("is not whole, or no JSON lines", "Nothing was imported. Write one object a line:")
    return pd.DataFrame(rows, index=numbers, dtype=object)


def unpacked(file: Path) -> bytes:
    """What a file holds, packed (.gz) or not."""
    try:
        return gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"is damaged or cut off ({error})", where=str(file),
                         do="Nothing was imported. Get the whole file again.") from error  # fmt: skip


def lines(file: Path) -> list[str]:
    """The lines of a text file, packed or not."""
    try:
        return unpacked(file).decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 (byte {error.start:,})", where=str(file), do="Save it as UTF-8.") from error


def as_kinds(frame: pd.DataFrame, kinds: dict[str, str], file: Path, faults: Faults, unit: str = "row") -> pd.DataFrame:
    """Text columns as the kinds of a table (integer, real, flag, text); what does not parse is told by row."""
    changed: dict[str, Any] = {}
    for name, kind in kinds.items():
        given = frame[name] if name in frame else pd.Series([None] * len(frame), index=frame.index, dtype=object)
        if kind == "text":
            changed[name] = given.where(given.isna(), given.astype(str)).astype(TEXT)
            continue
        given = given.where(given != "", None)
        if kind == "flag":
            meaning = {"true": True, "false": False, "1": True, "0": False}
            found: pd.Series[Any] = given.astype(str).str.lower().map(meaning).astype("boolean")
        else:
            found = pd.to_numeric(given, errors="coerce")
            if kind == "integer":
                whole = found.isna() | (found % 1 == 0)
                found = found.where(whole).astype("Int64")
        bad = found.isna() & given.notna()
        faults.add(
            file, (f"{unit} {row} has {name} {value!r}: give {kind}" for row, value in given[bad].head(200).items())
        )
        changed[name] = found
    return frame.assign(**changed)
