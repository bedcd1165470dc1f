"""Declarations of tables, and the check of a frame against them.

A `Table` declares columns; `to_arrow` checks a frame and converts it to Arrow, `to_frame` converts it
back. All faults are found in one pass over whole columns and reported together, with row and value.
Not here: the seven tables and their files (eds.tables).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from eds.errors import TableError

Kind = Literal["text", "integer", "real", "flag", "time"]

ARROW: Mapping[Kind, pa.DataType] = {
    "text": pa.string(),
    "integer": pa.int64(),
    "real": pa.float64(),
    "flag": pa.bool_(),
    "time": pa.timestamp("us", tz="UTC"),
}
TEXT = pd.Series(["text"]).dtype  # pandas 3: str, pandas 2: object
SHOWN = 3  # examples shown for each fault
SHORTEST = 60  # characters of a value that a message shows


@dataclass(frozen=True)
class Column:
    """One column: its kind, its meaning, and its allowed values.

    `default` fills the column when a file written before the column existed is read; a nullable column
    without one is filled with missing values.
    """

    name: str
    kind: Kind
    meaning: str
    nullable: bool = False
    allowed: tuple[str | int, ...] = ()
    low: float | None = None
    high: float | None = None
    default: str | int | float | None = None


@dataclass(frozen=True)
class Table:
    """One table: what a row is, its columns, and its key."""

    name: str
    row: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    further: bool = False  # may the user's own columns follow the declared ones?
    version: int = 1

    @property
    def names(self) -> list[str]:
        """The names of the declared columns, in order."""
        return [column.name for column in self.columns]

    def is_required(self, column: Column) -> bool:
        """True if a file must hold this column, because nothing can fill it."""
        return column.name in self.key or (column.default is None and not column.nullable)

    def empty(self) -> pd.DataFrame:
        """The table without rows, each column of its kind."""
        return to_frame(_schema(self).empty_table())


def to_arrow(frame: pd.DataFrame, table: Table, where: str = "") -> pa.Table:
    """Convert the frame to Arrow, declared columns first, then the user's; or raise a TableError with all faults.

    A declared column that the frame lacks holds its default or missing values; keys and columns without either must
    be there.
    """
    arrays, _ = _checked(frame, table, where)
    schema = _schema(table)
    for name in frame.columns:
        if name not in arrays:
            try:
                arrays[str(name)] = pa.array(frame[name], from_pandas=True)
            except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
                raise _refusal([f"column {name} holds values of several kinds"], table, where) from error
            schema = schema.append(pa.field(str(name), arrays[str(name)].type))
    return pa.table(arrays, schema=schema)


def fill_columns(arrow: pa.Table, table: Table, names: Sequence[str]) -> pa.Table:
    """The columns called `names`, in that order; declared ones that `arrow` lacks hold their default."""
    declared = {column.name: column for column in table.columns}
    fields, arrays = [], []
    for name in names:
        if name in arrow.column_names:
            fields.append(arrow.schema.field(name))
            arrays.append(arrow.column(name))
        else:
            fields.append(pa.field(name, ARROW[declared[name].kind], declared[name].nullable))
            arrays.append(_filled(declared[name], arrow.num_rows))
    return pa.table(arrays, schema=pa.schema(fields))


def to_codes(frame: pd.DataFrame, table: Table, where: str = "") -> dict[str, pa.Array]:
    """The declared columns, checked like `to_arrow`; text columns as codes into their distinct values.

    The check computes the codes, and encoding text again is expensive: eds.pairs uses them as they are.
    """
    arrays, coded = _checked(frame, table, where)
    return {**arrays, **coded}


def _checked(
    frame: pd.DataFrame, table: Table, where: str
) -> tuple[dict[str, pa.Array], dict[str, pa.DictionaryArray]]:
    """The declared columns, and the text columns also as codes; or raise a TableError with all faults."""
    faults = _column_faults(frame, table)
    arrays: dict[str, pa.Array] = {}
    coded: dict[str, pa.DictionaryArray] = {}
    for column in table.columns:
        occurs = list(frame.columns).count(column.name)
        if occurs == 0 and not table.is_required(column):
            arrays[column.name] = _filled(column, len(frame))
            if column.kind == "text":
                coded[column.name] = arrays[column.name].dictionary_encode(null_encoding="encode")
        if occurs != 1:
            continue
        try:
            arrays[column.name] = _as_kind(frame[column.name], column.kind)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            faults.append(_kind_fault(frame[column.name], column))
        else:
            if column.kind == "text":
                coded[column.name] = arrays[column.name].dictionary_encode(null_encoding="encode")
            faults += _value_faults(arrays[column.name], column, coded.get(column.name), column.name in table.key)
    if all(name in coded for name in table.key):
        faults += _key_faults([coded[name] for name in table.key], table.key)
    if faults:
        raise _refusal(faults, table, where)
    return arrays, coded


def to_frame(arrow: pa.Table) -> pd.DataFrame:
    """Convert Arrow to a frame; nullable integers and flags get pandas' nullable types."""
    nullable = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    columns = {}
    for field in arrow.schema:  # with a mapper, text would convert a hundred times more slowly
        mapped = nullable.get if field.nullable and field.type in nullable else None
        columns[field.name] = arrow.column(field.name).to_pandas(types_mapper=mapped)
    texts = {field.name: TEXT for field in arrow.schema if field.type == ARROW["text"]}
    return pd.DataFrame(columns, columns=list(arrow.schema.names)).astype(texts)


def _filled(column: Column, rows: int) -> pa.Array:
    """The column where nothing gives its values: its default, or missing values."""
    return pa.repeat(pa.scalar(column.default, ARROW[column.kind]), rows)


def _schema(table: Table) -> pa.Schema:
    return pa.schema([pa.field(column.name, ARROW[column.kind], column.nullable) for column in table.columns])


def _as_kind(series: "pd.Series[Any]", kind: Kind) -> pa.Array:
    """Convert the series to an Arrow array of exactly this kind; nothing is parsed or rounded."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.astype(series.cat.categories.dtype)
    array = pa.array(series, from_pandas=True)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    wanted = ARROW[kind]
    if array.type == wanted:
        return array
    fits = {
        "text": pa.types.is_large_string(array.type) or pa.types.is_string_view(array.type),
        "integer": pa.types.is_integer(array.type) or pa.types.is_floating(array.type),
        "real": pa.types.is_integer(array.type) or pa.types.is_floating(array.type),
        "flag": False,
        "time": pa.types.is_timestamp(array.type) and array.type.tz is not None,
    }[kind]
    if not (fits or pa.types.is_null(array.type)):
        raise TypeError(f"{array.type} is not {kind}")
    return array.cast(wanted)  # raises if a fraction would be lost or an integer would overflow


def _column_faults(frame: pd.DataFrame, table: Table) -> list[str]:
    present = [str(name) for name in frame.columns]
    faults = [
        f"column {column.name} is missing ({column.meaning})"
        for column in table.columns
        if column.name not in present and table.is_required(column)
    ]
    faults += [
        f"column {name} occurs {present.count(name)} times"
        for name in dict.fromkeys(present)
        if present.count(name) > 1
    ]
    if not table.further:
        known = ", ".join(table.names)
        faults += [f"column {name} is unknown; {table.name} has {known}" for name in present if name not in table.names]
    return faults


def _kind_fault(series: "pd.Series[Any]", column: Column) -> str:
    accepted: dict[str, Any] = {
        "text": str,
        "integer": (int, np.integer),
        "real": (int, float, np.number),
        "flag": (bool, np.bool_),
    }
    kind = accepted.get(column.kind)
    wrong = [
        (row, value)
        for row, value in enumerate(series)
        if kind is not None
        and not pd.isna(value)
        and (not isinstance(value, kind) or (column.kind != "flag" and isinstance(value, bool)))
    ]
    needs = f"column {column.name} needs {column.kind}"
    if not wrong:
        return f"{needs}, but holds {series.dtype}" + (" (use times with a time zone)" if column.kind == "time" else "")
    return f"{needs}: {_examples([row for row, _ in wrong], [value for _, value in wrong])}"


def _value_faults(array: pa.Array, column: Column, coded: pa.DictionaryArray | None, in_key: bool) -> list[str]:
    faults = []
    if array.null_count and not column.nullable:
        faults.append(_fault(array, pc.is_null(array), f"column {column.name} may not be empty"))
    if coded is not None:
        faults += _text_faults(array, column, coded, in_key)
    if column.kind == "real":
        infinite = pc.is_inf(array)
        faults.append(_fault(array, infinite, f"column {column.name} must be finite"))
    if column.allowed and column.kind != "text":
        outside = pc.invert(pc.is_in(array, value_set=pa.array([*column.allowed, None], ARROW[column.kind])))
        faults.append(_fault(array, outside, f"column {column.name} may hold {_options(column)}"))
    if column.low is not None:
        faults.append(_fault(array, pc.less(array, column.low), f"column {column.name} must be at least {column.low}"))
    if column.high is not None:
        faults.append(
            _fault(array, pc.greater(array, column.high), f"column {column.name} must be at most {column.high}")
        )
    return [fault for fault in faults if fault]


def _text_faults(array: pa.Array, column: Column, coded: pa.DictionaryArray, in_key: bool) -> list[str]:
    """Faults of a text column, found in its distinct values: ids repeat, and scanning text is expensive."""
    faults = []
    rules = [(pc.match_substring(coded.dictionary, "\0"), "may not contain the character NUL")]
    if in_key and not column.nullable:
        rules.append((pc.equal(coded.dictionary, ""), "may not be empty text"))
    if column.allowed:
        known = pc.is_in(coded.dictionary, value_set=pa.array(column.allowed, pa.string()))
        rules.append((pc.invert(known), f"may hold {_options(column)}"))
    for bad, rule in rules:
        if pc.any(bad).as_py():
            faults.append(_fault(array, pc.take(bad, coded.indices), f"column {column.name} {rule}"))
    return faults


def _key_faults(coded: Sequence[pa.DictionaryArray], key: Sequence[str]) -> list[str]:
    """Rows with a duplicate key. Each key column is small integers, so a row becomes one integer."""
    combined = np.zeros(len(coded[0]), dtype=np.int64)
    for column in coded:
        if combined.max(initial=0) > (2**62) // max(len(column.dictionary), 1):
            combined = np.unique(combined, return_inverse=True)[1]
        combined = combined * max(len(column.dictionary), 1) + column.indices.to_numpy()
    rows = np.flatnonzero(pd.Series(combined).duplicated().to_numpy()).tolist()
    if not rows:
        return []
    values = [" ".join(str(column[row]) for column in coded) for row in rows[:SHOWN]]
    return [f"key {', '.join(key)} must be unique: {_examples(rows, values)}"]


def _fault(array: pa.Array, bad: pa.Array, rule: str) -> str:
    rows = np.flatnonzero(pc.fill_null(bad, False).to_numpy(zero_copy_only=False))
    return (
        f"{rule}: {_examples(rows.tolist(), [array[row].as_py() for row in rows[:SHOWN].tolist()])}"
        if len(rows)
        else ""
    )


def _examples(rows: list[int], values: list[Any]) -> str:
    shown = ", ".join(f"row {row} has {_short(value)}" for row, value in zip(rows[:SHOWN], values[:SHOWN], strict=True))
    return shown + (f" and {len(rows) - SHOWN:,} more" if len(rows) > SHOWN else "")


def _short(value: Any) -> str:
    if value is None:
        return "no value"
    text = repr(value)
    return text if len(text) <= SHORTEST else f"{text[:SHORTEST]}… ({len(text):,} characters)"


def _options(column: Column) -> str:
    return ", ".join(map(str, column.allowed)) + (" or no value" if column.nullable else "")


def _refusal(faults: list[str], table: Table, where: str) -> TableError:
    place = where or f"table {table.name}"
    advice = f"Rows count from 0; a row of {table.name} is {table.row}"
    if len(faults) == 1:
        return TableError(faults[0], where=place, hint=f"{advice}.")
    return TableError(f"{len(faults)} faults", where=place, hint=f"{advice}.", faults=faults)
