"""The store: opened, made or refused; and its two verbs, `read` and `write`, each a transaction.

    store = open_store("sqlite:////project/labels.db")
    store.write(lambda connection: ...)     # durable when it returns, or it raised and nothing happened

Anything above this file knows neither which database there is nor how its connections fail.
"""

import copy
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy import exc

from eds.errors import ProjectError
from eds.labels import database, migrate
from eds.labels.commit_queue import CommitQueue, queue_of
from eds.labels.db_errors import corrupt, passing, shown, translated_errors, undone

T = TypeVar("T")
PATIENCE = 30.0  # seconds that lost connections are tried again
SLOWEST = 2.0  # longest pause between tries


class Store:
    """An open label store. Threads may share it; processes open their own."""

    def __init__(self, url: sa.URL, *, patience: float = PATIENCE) -> None:
        self.url, self.patience = url, patience
        self.accounts_only = False  # whether every change must name an account that has the right (permissions.py)
        self.sqlite = url.get_backend_name() == "sqlite"
        self.place = str(self.path) if self.sqlite else shown(url)
        if self.sqlite:
            self._writer = database.sqlite_engine(self.path, begin="BEGIN IMMEDIATE", size=1)
            self._reader = database.sqlite_engine(self.path, begin="BEGIN", size=32, setup=("query_only=ON",))
            self._queue: CommitQueue | None = queue_of(str(self.path.resolve()))
        else:
            self._writer = database.postgresql_engine(url)
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

    def now(self) -> int:
        """Microseconds since 1970, by this machine's clock."""
        return time.time_ns() // 1000

    def read(self, action: Callable[[sa.Connection], T]) -> T:
        """Run an action that only reads; after a lost connection it runs again."""

        def attempt() -> T:
            with self._reader.connect() as connection:
                return action(connection)

        return self._patiently(attempt, again=True)

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
        return self._patiently(attempt, again=again)

    def snapshot(self, action: Callable[[sa.Connection], T]) -> T:
        """Run an action to which everything looks as of one moment, while others go on writing."""
        engine = self._reader
        if not self.sqlite:
            engine = self._writer.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)

        def attempt() -> T:
            with engine.connect() as connection:
                return action(connection)

        return self._patiently(attempt, again=True)

    def close(self) -> None:
        """Give every connection back."""
        self._writer.dispose()
        self._reader.dispose()

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
        store._patiently(
            lambda: migrate.check(store._reader, store._writer, store.place, create=create and not store.sqlite),
            again=True,
        )
    except BaseException:
        store.close()
        raise
    return store
