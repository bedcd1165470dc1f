"""Group commit: writers of one SQLite file in one process queue up, and those that wait share one commit.

SQLite lets one transaction write at a time, and each durable commit waits for the disk. So the first writer of the
queue takes the others along: one transaction, each action in a savepoint of its own, one commit for all. No writer
returns before that commit. First come, first served: SQLite's own busy waiting starves some writers.
"""

import threading
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from sqlalchemy import exc

from eds.errors import ProjectError

MOST = 64  # actions in one transaction

Action = Callable[[sa.Connection], Any]


class _Entry:
    """One action in the queue, and later its result."""

    def __init__(self, action: Action) -> None:
        self.action = action
        self.turn = threading.Event()
        self.done = False
        self.result: Any = None
        self.error: BaseException | None = None

    def attempt(self, run: Callable[[Action], Any]) -> None:
        try:
            self.result, self.error = run(self.action), None
        except Exception as error:  # noqa: BLE001 - the thread whose action it is raises it
            self.error = error


class CommitQueue:
    """The queue of one file."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._waiting: list[_Entry] = []
        self._busy = False

    def run(self, engine: sa.Engine, action: Action) -> Any:
        """Return the action's result once it is committed; or raise its error, and nothing is stored."""
        entry = _Entry(action)
        with self._mutex:
            self._waiting.append(entry)
            first, self._busy = not self._busy, True
        if not first:
            entry.turn.wait()
        if not entry.done:
            self._lead(engine)
        if entry.error is not None:
            raise entry.error
        return entry.result

    def _lead(self, engine: sa.Engine) -> None:
        with self._mutex:
            batch, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
        try:
            _commit_batch(engine, batch)
        finally:
            with self._mutex:
                following = self._waiting[0] if self._waiting else None
                self._busy = following is not None
            for entry in batch:
                entry.done = True
                entry.turn.set()
            if following is not None:
                following.turn.set()


_QUEUES: dict[str, CommitQueue] = {}
_QUEUES_LOCK = threading.Lock()


def queue_of(file: str) -> CommitQueue:
    """Return the queue that all stores of one file in this process share."""
    with _QUEUES_LOCK:
        return _QUEUES.setdefault(file, CommitQueue())


def _commit_batch(engine: sa.Engine, batch: list[_Entry]) -> None:
    def alone(action: Action) -> Any:
        with engine.begin() as connection:
            return action(connection)

    if len(batch) == 1:
        batch[0].attempt(alone)
        return
    committing = False
    try:
        with engine.begin() as connection:

            def nested(action: Action) -> Any:
                with connection.begin_nested():
                    return action(connection)

            for entry in batch:
                entry.attempt(nested)
                if isinstance(entry.error, exc.DBAPIError) and not isinstance(entry.error, exc.IntegrityError):
                    raise entry.error  # the database may have undone everything: begin again, one by one
            committing = True
    except Exception as error:  # noqa: BLE001 - every action that it undid reports it
        for entry in batch:
            if committing:
                entry.error = entry.error or error
            else:
                entry.attempt(alone)
    except BaseException:  # this thread is interrupted: the others must not return as if stored
        for entry in batch:
            entry.error = ProjectError(
                "the program is ending; it is unknown whether this was stored", hint="Send it again."
            )
        raise
