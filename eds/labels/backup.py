"""Backups: the whole store as one file, the same for both databases, so a backup is also the way between them.

A zip with one Parquet file a table and a manifest (schema version, rows and SHA-256 of each). It is read
from one snapshot, so experts go on working meanwhile. Left out: open sessions and failed sign-ins, since
everybody signs in again after a restore. It holds password hashes: keep it as you keep the database.
"""

import hashlib
import io
import json
import os
import sqlite3
import time
import zipfile
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
import sqlalchemy as sa
from pydantic import BaseModel, Field, NonNegativeInt

from eds.errors import InputError, ProjectError
from eds.io.files import replacing
from eds.io.reading import reading, shaped
from eds.labels import database, migrate
from eds.labels.bulk import fetch, insert, release
from eds.labels.db_errors import corrupt, shown, translated_errors
from eds.labels.frames import verified_acts
from eds.labels.schema import STORE
from eds.labels.store import Store, open_store

FORMAT = "eds labels backup"
VERSION = 1
LEFT_OUT = ("session", "attempt", "api_token", "webhook", "webhook_finished")


@dataclass(frozen=True)
class Part:
    """A table's file in a backup."""

    rows: NonNegativeInt
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What a backup holds."""

    schema: str
    made_at: str
    tables: dict[str, Part]

    @property
    def labels(self) -> int:
        """How many acts it keeps."""
        return self.tables["label_event"].rows


class _Written(BaseModel):
    """manifest.json, as the file has it."""

    format: Literal["eds labels backup"]
    version: int
    made_at: str
    tables: dict[str, Part]
    schema_: str = Field(alias="schema")


def back_up(store: Store, path: Path) -> Manifest:
    """Write a backup to `path`, whole or not at all; a damaged database is an error, not copied."""
    return store.snapshot(lambda connection: dump(connection, path, store.place))


def dump(connection: sa.Connection, path: Path, place: str) -> Manifest:
    """The backup of what a connection sees, in whatever schema version it is."""
    if connection.dialect.name == "sqlite":
        result = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
        if result != "ok":
            raise corrupt(place, str(result))
    version = migrate.revision(connection)
    if version is None:
        raise ProjectError("there are no labels to back up", where=place)
    seen = sa.MetaData()
    seen.reflect(connection)
    if "digest" in seen.tables["label_event"].c:
        verified_acts(connection, place, sa.true())
    tables = {}
    with replacing(path) as temporary:
        os.close(os.open(temporary, os.O_CREAT | os.O_WRONLY, 0o600))
        with zipfile.ZipFile(temporary, "w") as archive:
            for table in seen.sorted_tables:
                if table.name in (*LEFT_OUT, "alembic_version"):
                    continue
                rows = fetch(connection, sa.select(table).order_by(*table.primary_key))
                buffer = io.BytesIO()
                pq.write_table(rows, buffer, compression="zstd")
                archive.writestr(f"{table.name}.parquet", buffer.getvalue())
                digest = hashlib.sha256(buffer.getvalue()).hexdigest()
                tables[table.name] = Part(rows=len(rows), sha256=digest)
            made = Manifest(version, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), tables)
            parts = {name: asdict(part) for name, part in tables.items()}
            content = {"format": FORMAT, "version": VERSION, **vars(made), "tables": parts}
            archive.writestr("manifest.json", json.dumps(content, indent=2))
    return made


def check_backup(path: Path) -> Manifest:
    """Verify every file of a backup against its manifest; InputError if anything differs."""
    _, manifest = _read(path)
    return manifest


def restore(path: Path, url: str | Path, *, replace: bool = False) -> Manifest:
    """Make the store at `url` from a backup.

    Never into a store that holds something: an old SQLite file is moved aside with `replace`, a PostgreSQL
    database must be empty.
    """
    tables, manifest = _read(path)
    if manifest.schema not in migrate.versions():
        migrate.verify_version(manifest.schema, str(path))
    address = database.parse(url)
    with reading(path, "the backup cannot be restored", "Take another one."):
        if address.get_backend_name() != "sqlite":
            _restore_postgresql(address, tables, manifest)
        else:
            _restore_sqlite(Path(address.database or ""), tables, manifest, replace=replace)
    with closing(open_store(url, create=False)) as store:
        store.snapshot(lambda connection: verified_acts(connection, store.place, sa.true()))
    return manifest


def upgrade_store(url: str | Path, backup: Path) -> str:
    """Bring an older store to the schema of this program, after a backup; the version it had."""
    address = database.parse(url)
    engine, index = _engine(address)
    try:
        with translated_errors(index):
            with engine.connect() as connection:
                result = migrate.revision(connection)
                if result is None:
                    raise ProjectError("there are no labels to upgrade", where=index)
                if result not in migrate.versions():
                    migrate.verify_version(result, index)
                dump(connection, backup, index)
            migrate.upgrade(engine)
    finally:
        engine.dispose()
    open_store(url, create=False).close()
    return result


def _engine(address: sa.URL) -> tuple[sa.Engine, str]:
    if address.get_backend_name() != "sqlite":
        return database.postgresql_engine(address), shown(address)
    path = Path(address.database or "")
    if not path.exists():
        raise ProjectError("there are no labels yet", where=str(path))
    return database.sqlite_engine(path, begin="BEGIN IMMEDIATE", size=1), str(path)


def _restore_postgresql(address: sa.URL, tables: dict[str, pa.Table], manifest: Manifest) -> None:
    engine, index = _engine(address)
    try:
        with translated_errors(index):
            with engine.connect() as connection:
                if names := sa.inspect(connection).get_table_names():
                    raise ProjectError(
                        f"the database is not empty: it has {', '.join(sorted(names)[:5])}",
                        where=index,
                        hint="Restore into a fresh database.",
                    )
            _fill(engine, tables, manifest)
    finally:
        engine.dispose()


def _restore_sqlite(path: Path, tables: dict[str, pa.Table], manifest: Manifest, *, replace: bool) -> None:
    if path.exists() and not replace:
        raise ProjectError(
            "there are labels already; nothing was touched",
            where=str(path),
            hint="Add --replace: the file is kept under another name.",
        )
    if path.exists() and path.stat().st_size:  # an empty file is not a database yet, and must not become one here
        _refuse_in_use(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.restored")
    try:
        migrate.create_file(temporary, manifest.schema)
        engine = database.sqlite_engine(temporary, begin="BEGIN IMMEDIATE", size=1)
        with translated_errors(str(path)):
            _fill(engine, tables, manifest, made=True)
        engine.dispose()
        _move_aside(path)
        if not migrate.place(temporary, path):
            raise ProjectError("another program made labels there just now; nothing was restored", where=str(path))
    finally:
        for suffix in ("", "-wal", "-shm"):
            temporary.with_name(temporary.name + suffix).unlink(missing_ok=True)


def _fill(engine: sa.Engine, tables: dict[str, pa.Table], manifest: Manifest, *, made: bool = False) -> None:
    """Make the schema of the backup's time, put the rows in, and bring it to today's."""
    if not made:
        migrate.upgrade(engine, manifest.schema)
    with engine.begin() as connection:
        seen = sa.MetaData()
        seen.reflect(connection)
        for table in seen.sorted_tables:
            if table.name in tables:
                if table.name == STORE.name:  # made with the file just now: it is the store of the backup
                    connection.execute(table.delete())
                insert(connection, table, tables[table.name])
                if "id" in table.c:
                    release(connection, table)
        for name, rows in tables.items():
            count = connection.execute(sa.select(sa.func.count()).select_from(seen.tables[name])).scalar_one()
            if count != len(rows):
                raise ProjectError(f"{len(rows):,} rows of {name} were to be restored, {count:,} came in")
    migrate.upgrade(engine)


def _refuse_in_use(path: Path) -> None:
    """A program that has the file open would go on writing to the one moved aside: its labels would be lost."""
    engine = database.sqlite_engine(path, begin="BEGIN", size=1)
    try:
        with engine.connect() as connection:
            raw: Any = connection.connection.dbapi_connection
            raw.execute("PRAGMA busy_timeout=500")
            raw.execute("PRAGMA journal_mode=DELETE")  # works only for a sole user; puts everything into one file
    except (sqlite3.DatabaseError, sa.exc.DatabaseError) as error:
        if "locked" in str(error):
            raise ProjectError(
                "another program has the labels open; nothing was touched",
                where=str(path),
                hint="Stop the server, then restore.",
            ) from error
        # Anything else says that the file is damaged: it is moved aside as it is.
    finally:
        engine.dispose()


def _move_aside(path: Path) -> None:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for suffix in ("", "-wal", "-shm"):
        old = path.with_name(path.name + suffix)
        if old.exists():
            number, aside = 0, path.with_name(f"{path.name}.before-{stamp}{suffix}")
            while aside.exists():
                number += 1
                aside = path.with_name(f"{path.name}.before-{stamp}.{number}{suffix}")
            old.rename(aside)


def _read(path: Path) -> tuple[dict[str, pa.Table], Manifest]:
    with reading(path, "the backup cannot be read", "Take another one."), zipfile.ZipFile(path) as archive:
        content = json.loads(archive.read("manifest.json"))
        unknown = not isinstance(content, dict) or content.get("format") != FORMAT
        if unknown or (isinstance(content.get("version"), int) and content["version"] > VERSION):
            raise InputError(
                "not a backup of labels that this version of eds knows", where=str(path), hint="Upgrade eds."
            )
        written = shaped(_Written, content, path, "Take another one.")
        manifest = Manifest(written.schema_, written.made_at, written.tables)
        tables, faults = {}, [] if "label_event" in manifest.tables else ["it holds no table of acts"]
        for name, about in manifest.tables.items():
            file = archive.read(f"{name}.parquet")
            if hashlib.sha256(file).hexdigest() != about.sha256:
                faults.append(f"{name} is not what was written")
                continue
            tables[name] = pq.read_table(io.BytesIO(file))
            if len(tables[name]) != about.rows:
                faults.append(f"{name} has {len(tables[name]):,} rows, not {about.rows:,}")
    if faults:
        raise InputError("the backup is damaged", where=str(path), hint="Take another one.", faults=faults)
    return tables, manifest
