"""JSON, CSV and JSON lines from others: read completely, or refused with every damaged line.

Everything but JSON may be packed (.gz). CSV and JSON lines are written as well.
"""

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

from eds.benchmarks.validate import MOST, Faults
from eds.errors import InputError
from eds.schema import TEXT

TIME = "%Y-%m-%dT%H:%M:%SZ"  # ISO 8601; Arrow writes the fraction of a second, too
EXACT = 2**53  # from here on whole numbers of files may be rounded
SHOWN = 5  # broken rows of a CSV file that are named
AGAIN = "Nothing was imported. Get the complete file again."


def read_json(file: Path, *, exact: bool = False) -> Any:
    """Return the content of a JSON file; a truncated file is reported as such.

    `exact`: NaN and Infinity, which Python writes but JSON does not know, are refused: they would count as missing.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_utf8(file, error) from error
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"cannot be read ({reason})", where=str(file), hint="Give a readable file.") from error
    try:
        return json.loads(text, parse_constant=refuse_constant if exact else None)
    except json.JSONDecodeError as error:
        position = f"line {error.lineno:,}, column {error.colno:,}"
        if _is_truncated(text, error):
            raise InputError(f"is truncated ({position})", where=str(file), hint=AGAIN) from error
        reason = f"is not JSON ({error.msg}, {position})"
        raise InputError(reason, where=str(file), hint="Correct that position.") from error
    except (ValueError, RecursionError) as error:  # a constant, a number of too many digits, lists within lists
        raise InputError(f"is not readable JSON ({error})", where=str(file), hint="Write it again.") from error


def refuse_constant(name: str) -> Any:
    """Refuse NaN and Infinity, as json's `parse_constant`."""
    raise ValueError(f"it contains {name}: give a number, or null")


def _is_truncated(text: str, error: json.JSONDecodeError) -> bool:
    """Tell whether the text only ends too early: after its last value, within a text, within an escape."""
    rest = text[error.pos :].strip()
    return not rest or error.msg.startswith("Unterminated string") or ("escape" in error.msg and len(rest) < 6)


def _not_utf8(file: Path, error: UnicodeDecodeError) -> InputError:
    return InputError(f"is not UTF-8 (byte {error.start:,})", where=str(file), hint="Save it as UTF-8.")


def plain_arrow(frame: pd.DataFrame) -> pa.Table:
    """Return the frame as Arrow, times as ISO 8601 text in UTC, text as plain strings."""
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
    """Write UTF-8 with a header by RFC 4180; missing values are empty."""
    pa_csv.write_csv(plain_arrow(frame), file, pa_csv.WriteOptions(delimiter=delimiter, eol="\r\n"))


def write_jsonl(frame: pd.DataFrame, file: Path) -> None:
    """Write one object per line; numbers with every digit."""
    with file.open("w", encoding="utf-8") as stream:
        for batch in plain_arrow(frame).to_batches(max_chunksize=20_000):
            stream.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in batch.to_pylist())


def read_csv(file: Path, delimiter: str = ",") -> pd.DataFrame:
    """Return every value as text, missing where it is empty; the row's number, from 0, is its index."""
    options = pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    try:
        data = read_bytes(file)
        names = pa_csv.open_csv(pa.BufferReader(data), parse_options=options).schema.names
        kinds = dict.fromkeys(names, pa.string())
        convert = pa_csv.ConvertOptions(
            column_types=kinds, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
        )
        table = pa_csv.read_csv(pa.BufferReader(data), parse_options=options, convert_options=convert)
        _refuse_truncated(data, file, delimiter)
    except InputError:
        raise
    except (OSError, pa.ArrowException, ValueError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        hint = "Give UTF-8 with a header and as many values in each row."
        faults = _broken_rows(file, delimiter)
        raise InputError(f"cannot be read as CSV ({reason})", where=str(file), faults=faults, hint=hint) from error
    if len(set(names)) < len(names):
        raise InputError("duplicate column names", where=str(file), hint="Rename one of them.")
    frame: pd.DataFrame = table.to_pandas().astype(object)
    return frame.where(frame.notna(), None)


def _broken_rows(file: Path, delimiter: str) -> list[str]:
    """Name the first rows that have more or fewer values than the header; none where all is unreadable."""
    found: list[str] = []

    def note(row: pa_csv.InvalidRow) -> str:
        found.append(f"line {row.number} has {row.actual_columns} values, not {row.expected_columns}")
        return "skip"

    options = pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=note)
    with contextlib.suppress(InputError, OSError, pa.ArrowException, ValueError), pa.input_stream(file) as stream:
        read_bytes(file).decode()  # in what is not UTF-8 Arrow cannot show a row, and writes a traceback instead
        pa_csv.read_csv(stream, read_options=pa_csv.ReadOptions(use_threads=False), parse_options=options)
    return found[:SHOWN]


def _refuse_truncated(data: bytes, file: Path, delimiter: str) -> None:
    """Refuse a file that ends within quotation marks, or in a line with neither a last value nor a line end.

    A complete last line may lack its end: many programs write none.
    """
    line = data.count(b"\n") + 1
    if data.count(b'"') % 2 and _has_open_quote(data, delimiter):
        reason = "its last quotation mark is not closed"
    elif data.endswith(delimiter.encode()):
        reason = f"line {line:,} has no line end, and its last value is empty"
    else:
        return
    raise InputError(f"is truncated: {reason}", where=str(file), hint=f"{AGAIN} If it is complete, end its last line.")


def _has_open_quote(data: bytes, delimiter: str) -> bool:
    rows = csv.reader(io.StringIO(data.decode("utf-8", "replace"), newline=""), delimiter=delimiter, strict=True)
    try:
        deque(rows, 0)
    except csv.Error as error:
        return "end of data" in str(error)
    return False


def read_jsonl(file: Path) -> pd.DataFrame:
    """Return each line's object as a row; other lines are faults, empty ones are skipped."""
    rows, numbers, faults = [], [], Faults()
    for number, line in enumerate(read_lines(file)):
        if not line.strip():
            continue
        fault = ""
        try:
            row: Any = json.loads(line, parse_constant=refuse_constant)
        except json.JSONDecodeError:
            row = None
        except (ValueError, RecursionError) as error:
            fault = f"cannot be read: {error}"
        if not fault and isinstance(row, dict):
            rows.append(row)
            numbers.append(number)
        else:
            faults.add(file, [f"line {number + 1} {fault or 'is not a JSON object'}"])
    faults.raise_any("is incomplete, or not JSON lines", "Nothing was imported. Write one object per line:")
    return pd.DataFrame(rows, index=numbers, dtype=object)


def read_bytes(file: Path) -> bytes:
    """Return the content of a file, packed (.gz) or not."""
    try:
        return gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"is damaged or truncated ({error})", where=str(file), hint=AGAIN) from error


def read_lines(file: Path) -> list[str]:
    """Return the lines of a text file, packed or not."""
    try:
        return read_bytes(file).decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise _not_utf8(file, error) from error


def convert_columns(
    frame: pd.DataFrame, kinds: dict[str, str], file: Path, faults: Faults, unit: str = "row"
) -> pd.DataFrame:
    """Convert text columns to the kinds of a table (integer, real, flag, text); what does not parse is a fault."""
    changed: dict[str, Any] = {}
    for name, kind in kinds.items():
        column = frame[name] if name in frame else pd.Series([None] * len(frame), index=frame.index, dtype=object)
        if kind == "text":
            changed[name] = column.where(column.isna(), column.astype(str)).astype(TEXT)
            continue
        column = column.where(column != "", None)
        if kind == "flag":
            meaning = {"true": True, "false": False, "1": True, "0": False}
            values: pd.Series[Any] = column.astype(str).str.lower().map(meaning).astype("boolean")
        else:
            values = pd.to_numeric(column, errors="coerce")
            if kind == "integer":
                whole = values.isna() | ((values % 1 == 0) & (values.abs() < EXACT))
                values = values.where(whole).astype("Int64")
        bad = column[values.isna() & column.notna()].head(MOST)
        faults.add(file, (f"{unit} {row} has {name} {value!r}: give {kind}" for row, value in bad.items()))
        changed[name] = values
    return frame.assign(**changed)
