"""Connections to SQLite and PostgreSQL, set up so that a commit is durable and writers wait in line.

SQLite: BEGIN IMMEDIATE for writers (a deferred one fails at once where it should wait), a full sync at
every commit, readers with snapshots of their own. PostgreSQL: synchronous commit, whatever its default.
"""

import shutil
import sqlite3
import tempfile
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event, pool

from eds.errors import ConfigError, ReplacedError
from eds.labels.db_errors import shown

UNWRITABLE = ("readonly", "unable to open", "disk I/O", "full")  # what SQLite says where it cannot write
WAIT = 30  # seconds a writer waits for another before it gives up


def parse(url: str | Path) -> sa.URL:
    """The address of a store: a path, sqlite:///path, or postgresql://user:password@host/name."""
    if isinstance(url, Path):
        return sa.URL.create("sqlite", database=str(url))
    try:
        result = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError) as error:
        raise ConfigError(
            "invalid URL", where="labels.url", hint="Write sqlite:///PATH or postgresql://USER@HOST/NAME."
        ) from error
    if "@" in f"{result.host}{result.database}" and result.get_backend_name() != "sqlite":
        raise ConfigError(
            "invalid URL: the password holds a character that means something in a URL",
            where="labels.url",
            hint="Leave the password out and set PGPASSWORD or PGPASSFILE, or percent-encode it (@ is %40, / is %2F).",
        )
    kind = result.get_backend_name()
    if kind == "sqlite" and result.database not in (None, "", ":memory:"):
        return result.set(drivername="sqlite")
    if kind == "postgresql":
        return result.set(drivername="postgresql+psycopg")
    raise ConfigError(
        f"labels cannot be kept in {shown(result)}",
        where="labels.url",
        hint="Write sqlite:///PATH (a file) or postgresql://USER@HOST/NAME.",
    )


def address(url: str, default: Path) -> str | Path:
    """Where a project's labels are: `default`, unless `url` says else; a relative file counts from beside `default`."""
    if not url or parse(url).get_backend_name() != "sqlite":
        return url or default
    return default.parent / str(parse(url).database)


class _Connection(sqlite3.Connection):
    """A connection that knows which files it has open, by device and inode; None for a log that is not there yet."""

    opened: tuple[tuple[int, int] | None, tuple[int, int] | None] = (None, None)


def verify_file(connection: sa.Connection, path: Path) -> None:
    """Raise ReplacedError if the path no longer leads to the file, and to the log, that this connection has open.

    A file that is deleted or replaced stays writable for those who have it open: what they commit then is lost.
    """
    if is_replaced(connection, path):
        raise _replaced(path)


def is_replaced(connection: sa.Connection, path: Path) -> bool:
    """Return whether the path leads to another file, or log, than the one that this connection has open."""
    raw = connection.connection.dbapi_connection
    if not isinstance(raw, _Connection):
        return False
    now = _files(path)
    if raw.opened[1] is None:  # the first transaction makes the log
        raw.opened = raw.opened[0], now[1]
    return now != raw.opened


def _replaced(path: Path) -> ReplacedError:
    return ReplacedError(
        "the label database was deleted or replaced while it was open; nothing of this act was stored",
        where=str(path),
        hint="Put the file back if it is missing, then try again.",
    )


def _files(path: Path) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
    """Device and inode of a database file and of its write-ahead log."""

    def identity(file: Path) -> tuple[int, int] | None:
        try:
            status = file.stat()
        except FileNotFoundError:
            return None
        return status.st_dev, status.st_ino

    return identity(path), identity(path.with_name(f"{path.name}-wal"))


def sqlite_engine(
    path: Path, *, begin: str, size: int, setup: tuple[str, ...] = (), only_read: bool = False
) -> sa.Engine:
    """An engine on an existing SQLite file (never makes one), whose transactions open with `begin`.

    `only_read`: where nothing can be written, on a full or read-only disk, it still reads.
    """
    address = f"{path.resolve().as_uri()}?mode=rw"
    settings = (f"busy_timeout={WAIT * 1000}", "synchronous=FULL", "foreign_keys=ON", "recursive_triggers=ON", *setup)

    def connect() -> sqlite3.Connection:
        while True:
            before, memory = _files(path)[0], path.with_name(f"{path.name}-shm")
            if before is None:
                raise _replaced(path)
            in_use = memory.exists()
            made = _open(address)
            try:
                for pragma in settings:
                    made.execute(f"PRAGMA {pragma}")
                _use_wal(made)
            except sqlite3.OperationalError as error:
                made.close()
                if not only_read or not any(words in str(error) for words in UNWRITABLE):
                    raise
                if not in_use:  # made just now, in vain
                    with suppress(OSError):
                        memory.unlink(missing_ok=True)
                made = _open_unwritable(path, error)
            except BaseException:
                made.close()
                raise
            made.opened = _files(path)
            if made.opened[0] == before:
                return made
            made.close()  # it was replaced just now: nobody knows which of the two is open

    engine = sa.create_engine(
        "sqlite://",
        creator=connect,
        poolclass=pool.QueuePool,
        pool_size=size,
        max_overflow=64,
        pool_timeout=WAIT,
    )
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
    event.listen(engine, "commit", lambda connection: verify_file(connection, path))
    return engine


def _open(address: str) -> _Connection:
    return sqlite3.connect(
        address, uri=True, timeout=WAIT, check_same_thread=False, isolation_level=None, factory=_Connection
    )


def _open_unwritable(path: Path, reason: sqlite3.OperationalError) -> _Connection:
    """A connection that reads a file beside which SQLite cannot make its shared memory.

    If that memory is there, another program has the file open, and it is used as it is. Else nobody writes: the file is
    read without locks, or, if acts are in its log, which SQLite would leave out then, a copy of both is.
    """
    uri, log, memory = path.resolve().as_uri(), *(path.with_name(f"{path.name}-{end}") for end in ("wal", "shm"))
    if memory.exists():
        made = _open(f"{uri}?mode=ro")
        try:
            made.execute("SELECT count(*) FROM sqlite_master")
        except sqlite3.Error:
            made.close()
            raise reason from None
        return made
    if not log.exists() or not log.stat().st_size:
        return _open(f"{uri}?mode=ro&immutable=1")
    folder = Path(tempfile.mkdtemp(prefix="eds-labels-"))
    try:
        for file in (path, log):
            shutil.copy(file, folder / file.name)
        made = _open((folder / path.name).as_uri())
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise sqlite3.OperationalError(f"{reason}; a copy cannot be made either: {error.strerror}") from error
    weakref.finalize(made, shutil.rmtree, folder, ignore_errors=True)
    return made


def postgresql_engine(url: sa.URL, **options: Any) -> sa.Engine:
    """An engine on a PostgreSQL server."""
    return sa.create_engine(
        url,
        pool_size=16,
        max_overflow=48,
        pool_timeout=WAIT,
        connect_args={
            "options": "-c synchronous_commit=on -c lock_timeout=30s -c idle_in_transaction_session_timeout=60s",
            "connect_timeout": 10,
            "application_name": "eds",
        },
        **options,
    )


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch to a write-ahead log, once in a file's life; while others hold the file this can fail for a moment."""
    deadline = time.monotonic() + WAIT
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
