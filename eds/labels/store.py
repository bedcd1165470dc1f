"""The store: opened, made or refused; and its two verbs, `read` and `write`, each a transaction.

    store = open_store("sqlite:////project/labels.db")
    store.write(lambda connection: ...)     # durable when it returns, or it raised and nothing happened

Anything above this file knows neither which database there is nor how its connections fail.
"""

import copy
import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import event, exc

from eds.errors import EdsError, ProjectError, ReplacedError
from eds.labels import database, migrate
from eds.labels.commit_queue import CommitQueue, queue_of
from eds.labels.db_errors import corrupt, driver_errors, passing, shown, translated_errors, undone
from eds.labels.schema import STORE

T = TypeVar("T")
PATIENCE = 30.0  # seconds that lost connections are tried again
SLOWEST = 2.0  # longest pause between tries


@dataclass
class _Opened:
    """Which store is open, and how often it was reopened because its file was replaced."""

    store_id: str = ""
    times: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


class Store:
    """An open label store. Threads may share it; processes open their own."""

    def __init__(self, url: sa.URL, *, patience: float = PATIENCE) -> None:
        self.url, self.patience = url, patience
        self.accounts_only = False  # whether every change must name an account that has the right (permissions.py)
        self.sqlite = url.get_backend_name() == "sqlite"
        self.place = str(self.path) if self.sqlite else shown(url)
        self._opened = _Opened()
        if self.sqlite:
            self._writer = database.sqlite_engine(self.path, begin="BEGIN IMMEDIATE", size=1)
            self._reader = database.sqlite_engine(
                self.path, begin="BEGIN", size=32, setup=("query_only=ON",), only_read=True
            )
            self._queue: CommitQueue | None = queue_of(str(self.path.resolve()))
            event.listen(self._writer, "commit", self._verify)
        else:
            self._writer = database.postgresql_engine(url)
            event.listen(self._writer, "connect", lambda raw, _: self._verify_id(raw))
            self._reader = self._writer.execution_options(isolation_level="AUTOCOMMIT")
            self._queue = None

    def for_accounts(self) -> "Store":
        """The same store, for pages: every change must name an account that has the right to it."""
        result = copy.copy(self)
        result.accounts_only = True
        return result

    @property
    def path(self) -> Path:
        """The SQLite file."""
        return Path(self.url.database or "")

    @property
    def store_id(self) -> str:
        """The random name that the store got when it was made; its backups and copies keep it."""
        return self._opened.store_id

    def now(self) -> int:
        """Microseconds since 1970, by this machine's clock."""
        return time.time_ns() // 1000

    def read(self, action: Callable[[sa.Connection], T]) -> T:
        """Run an action that only reads; after a lost connection it runs again."""
        return self._look(self._reader, action)

    def write(self, action: Callable[[sa.Connection], T], *, again: bool = False) -> T:
        """Run an action in one transaction: committed durably when this returns, undone when it raises.

        `again` says that the action may run twice (its tokens make the second time a no-op), so that a
        connection lost at the commit, whose outcome is unknown, is handled here.
        """

        def attempt() -> T:
            if self._queue is not None:
                result: T = self._queue.run(self._writer, action)
                return result
            with self._writer.begin() as connection:
                return action(connection)

        if not again and not self.sqlite:
            self.read(
                lambda connection: connection.exec_driver_sql("SELECT 1")
            )  # leaves no dead connection in the pool
        times = self._opened.times
        try:
            return self._patiently(attempt, again=again)
        except ReplacedError:  # what this was about may be another thing in the file that is there now
            with suppress(EdsError):
                self._open_again(times)
            raise

    def snapshot(self, action: Callable[[sa.Connection], T]) -> T:
        """Run an action to which everything looks as of one moment, while others go on writing."""
        engine = self._reader
        if not self.sqlite:
            engine = self._writer.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)

        return self._look(engine, action)

    def check(self, *, create: bool = False) -> None:
        """Raise an error unless this program can use the store as it is; may make a new one."""
        self._patiently(lambda: migrate.check(self._reader, self._writer, self.place, create=create), again=True)
        if not self._opened.store_id:
            self._opened.store_id = self.read(lambda held: held.execute(sa.select(STORE.c.store_id)).scalar_one())

    def close(self) -> None:
        """Give every connection back."""
        self._writer.dispose()
        self._reader.dispose()

    def _look(self, engine: sa.Engine, action: Callable[[sa.Connection], T]) -> T:
        """Run an action that only reads; in the file that the path leads to now, should it have been replaced."""

        def attempt() -> T:
            with engine.connect() as connection:
                if self.sqlite:
                    self._verify(connection)
                return action(connection)

        times = self._opened.times
        try:
            return self._patiently(attempt, again=True)
        except ReplacedError:
            self._open_again(times)
            return self._patiently(attempt, again=True)

    def _verify(self, connection: sa.Connection) -> None:
        """Raise ReplacedError unless the connection has the file open that is there now, and the same store."""
        database.verify_file(connection, self.path)
        self._verify_id(connection.connection.dbapi_connection)

    def _verify_id(self, raw: Any) -> None:
        """The same in a driver's words, since it is done at every commit (PostgreSQL: for every new connection)."""
        if self._opened.store_id:
            query = "SELECT store_id FROM store"
            with driver_errors(self._writer.dialect, raw, query):
                found = raw.execute(query).fetchone()
                if not self.sqlite:
                    raw.rollback()
            if found is None or found[0] != self._opened.store_id:
                raise ReplacedError(
                    "another label store was put in the place of the open one; nothing of this act was stored",
                    where=self.place,
                    hint="Put the former one back, or end this program and start it again.",
                )

    def _open_again(self, times: int) -> None:
        """Let go of a file that the path leads to no more, keep a copy of it, and open what is there now."""
        with self._opened.lock:
            if self._opened.times == times:
                self._keep_former()
                self._writer.dispose()
                self._reader.dispose()
                self._opened.times += 1
        if not self.path.exists():
            raise ReplacedError(
                "the label database was deleted while it was open",
                where=self.place,
                hint=f"Put the file back (a copy is kept in {self.path.name}.removed-*), or restore a backup.",
            )
        self.check()

    def _keep_former(self) -> None:
        """Save what the former file holds, which ends with the last connection to it; as far as that is possible."""
        kept = self.path.with_name(f"{self.path.name}.removed-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}")
        with suppress(exc.SQLAlchemyError, sqlite3.Error, OSError), self._reader.connect() as connection:
            raw: Any = connection.connection.dbapi_connection
            if not kept.exists() and database.is_replaced(connection, self.path):
                os.close(os.open(kept, os.O_CREAT | os.O_WRONLY, 0o600))
                with sqlite3.connect(kept) as target:
                    raw.backup(target)
                target.close()

    def _patiently(self, attempt: Callable[[], T], *, again: bool) -> T:
        deadline, pause = time.monotonic() + self.patience, 0.05
        with translated_errors(self.place):
            while True:
                try:
                    return attempt()
                except exc.DBAPIError as error:
                    if not (undone(error) or (again and passing(error))) or time.monotonic() + pause > deadline:
                        raise
                time.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - spreads the tries, guards nothing
                pause = min(2 * pause, SLOWEST)


def open_store(url: str | Path, *, create: bool = True, patience: float = PATIENCE) -> Store:
    """Open the store at this address; make it where there is none; refuse what this program must not touch."""
    address = database.parse(url)
    if address.get_backend_name() == "sqlite":
        path = Path(address.database or "")
        if not path.exists():
            if not create:
                raise ProjectError(
                    "there are no labels yet", where=str(path), hint="Begin with eds labels experts add."
                )
            migrate.create_file(path)
        if path.stat().st_size == 0:
            raise corrupt(str(path), "the file is empty")
    store = Store(address, patience=patience)
    try:
        store.check(create=create and not store.sqlite)
    except BaseException:
        store.close()
        raise
    return store
