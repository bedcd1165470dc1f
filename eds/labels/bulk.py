"""Many rows at once, in and out: the only place where the two databases are spoken to differently.

PostgreSQL copies (COPY as CSV, read and written by Arrow); SQLite executes one statement for many
rows. Both take and give Arrow tables, so that a million rows never are a million objects of pandas.
"""

import io
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pc_csv
import sqlalchemy as sa
from sqlalchemy import exc
from sqlalchemy.dialects import sqlite

from eds.labels.db_errors import driver_errors
from eds.schema import to_frame

ARROW = {"BIGINT": pa.int64(), "DOUBLE": pa.float64(), "TEXT": pa.string()}
PORTION = 50_000  # rows that SQLite's driver is given at a time
TAKEN = 2_000  # and gives: few enough to stay in the processor's cache

Integers = npt.NDArray[np.int64]


def insert(connection: sa.Connection, table: sa.Table, rows: pa.Table) -> None:
    """Insert the rows of an Arrow table whose columns are columns of `table`."""
    if not len(rows):
        return
    names = ", ".join(rows.column_names)
    if connection.dialect.name == "sqlite":
        places = ", ".join("?" * len(rows.column_names))
        statement = f"INSERT INTO {table.name} ({names}) VALUES ({places})"  # noqa: S608 - names of our own schema
        for start in range(0, len(rows), PORTION):
            part = rows.slice(start, PORTION)
            connection.exec_driver_sql(
                statement, list(zip(*(column.to_pylist() for column in part.columns), strict=True))
            )
        return
    buffer = io.BytesIO()
    # Text is quoted, a null is not: so COPY can tell an empty text from none.
    pc_csv.write_csv(rows, buffer, pc_csv.WriteOptions(include_header=False, quoting_style="needed"))
    with _copying(connection, f"COPY {table.name} ({names}) FROM STDIN (FORMAT csv)") as copy:
        view = buffer.getbuffer()
        for start in range(0, len(view), 1 << 20):
            copy.write(view[start : start + (1 << 20)])


def fetch(connection: sa.Connection, query: sa.Select[Any]) -> pa.Table:
    """The rows of a query as an Arrow table; every column is a whole number, a real or a text."""
    fields = [pa.field(column.name, ARROW[_kind(column.type)]) for column in query.selected_columns]
    schema = pa.schema(fields)
    if connection.dialect.name == "sqlite":
        cursor: Any = connection.execute(query).cursor
        batches = []
        try:
            while rows := cursor.fetchmany(TAKEN):
                columns = zip(zip(*rows, strict=True), fields, strict=True)
                arrays = [pa.array(values, field.type) for values, field in columns]
                batches.append(pa.record_batch(arrays, schema))
        except (sqlite3.Error, pa.ArrowException, UnicodeError) as error:  # beside SQLAlchemy, so without its errors
            raise exc.DatabaseError(str(query), None, _damaged(error)) from error
        return pa.Table.from_batches(batches, schema).combine_chunks()
    compiled = query.compile(dialect=connection.dialect, compile_kwargs={"render_postcompile": True})
    buffer = io.BytesIO()
    with _copying(connection, f"COPY ({compiled}) TO STDOUT (FORMAT csv)", compiled.params) as copy:
        for portion in copy:
            buffer.write(portion)
    if not buffer.tell():
        return schema.empty_table()
    buffer.seek(0)
    return pc_csv.read_csv(
        buffer,
        pc_csv.ReadOptions(column_names=schema.names, block_size=1 << 24),
        pc_csv.ParseOptions(newlines_in_values=True),
        pc_csv.ConvertOptions(
            column_types=schema, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    ).combine_chunks()


def _damaged(error: Exception) -> sqlite3.Error:
    """The complaint as the driver's own: a value that cannot be read is damage, too."""
    return error if isinstance(error, sqlite3.Error) else sqlite3.DatabaseError(f"malformed value ({error})")


def frame(connection: sa.Connection, query: sa.Select[Any], *times: str) -> pd.DataFrame:
    """The rows of a query as a frame; the columns `times` (microseconds since 1970) as moments in UTC."""
    rows = fetch(connection, query)
    for name in times:
        moments = rows[name].cast(pa.timestamp("us", tz="UTC"))
        rows = rows.set_column(rows.column_names.index(name), name, moments)
    return to_frame(rows)


def reserve(connection: sa.Connection, table: sa.Table, count: int) -> Integers:
    """So many new ids of a table, ascending; no other transaction gets them."""
    if connection.dialect.name == "sqlite":
        last = connection.execute(sa.select(sa.func.coalesce(sa.func.max(table.c.id), 0))).scalar_one()
        return np.arange(last + 1, last + 1 + count, dtype=np.int64)
    series = sa.func.generate_series(1, count).alias("n")
    fresh = sa.func.nextval(_sequence(table), type_=sa.BigInteger()).label("id")
    drawn = fetch(connection, sa.select(fresh).select_from(series))
    return np.sort(drawn["id"].to_numpy())


def alone(connection: sa.Connection, table: sa.Table) -> None:
    """Let nobody else write to the table until this transaction ends (SQLite's writers are alone anyhow)."""
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql(f"LOCK TABLE {table.name} IN SHARE ROW EXCLUSIVE MODE")


def release(connection: sa.Connection, table: sa.Table) -> None:
    """After rows came in with ids of their own: go on behind the largest."""
    if connection.dialect.name != "sqlite":
        largest = sa.select(sa.func.coalesce(sa.func.max(table.c.id), 0) + 1).scalar_subquery()
        connection.execute(sa.select(sa.func.setval(_sequence(table), largest, sa.false())))


@contextmanager
def _copying(connection: sa.Connection, statement: str, parameters: Any = None) -> Iterator[Any]:
    """Give psycopg's COPY on SQLAlchemy's connection."""
    raw: Any = connection.connection
    try:
        with (
            driver_errors(connection.dialect, raw, statement),
            raw.cursor() as cursor,
            cursor.copy(statement, parameters) as copy,
        ):
            yield copy
    except exc.DBAPIError as error:
        if error.connection_invalidated:
            connection.invalidate(error)
        raise


def _sequence(table: sa.Table) -> sa.ColumnElement[str]:
    return sa.literal_column(f"'{table.name}_id_seq'")


def _kind(kind: Any) -> str:
    if isinstance(kind, (sa.Integer, sa.BigInteger, sqlite.INTEGER)):
        return "BIGINT"
    return "DOUBLE" if isinstance(kind, (sa.Float, sa.REAL, sa.Double)) else "TEXT"
