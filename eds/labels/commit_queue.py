"""Writers of one SQLite file in one process stand in line, and those that wait share one commit.

SQLite lets one transaction write at a time, and each durable commit waits for the disk. So whoever is
first in line takes the others with it: one transaction, each action in a savepoint of its own, one
commit for all. Nobody is told "stored" before that commit. First come, first served: SQLite's own way of waiting
lets some starve.
"""

import threading
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from sqlalchemy import exc

from eds.errors import ProjectError

MOST = 64  # actions in one transaction

Action = Callable[[sa.Connection], Any]


class _Place:
    """One action in the line, and later what came of it."""

    def __init__(self, action: Action) -> None:
        self.action = action
        self.turn = threading.Event()
        self.done = False
        self.result: Any = None
        self.error: BaseException | None = None

    def attempt(self, run: Callable[[Action], Any]) -> None:
        try:
            self.result, self.error = run(self.action), None
        except Exception as error:  # noqa: BLE001 - it is handed to the thread whose action it is
            self.error = error


class Line:
    """The line of one file."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._waiting: list[_Place] = []
        self._busy = False

    def run(self, engine: sa.Engine, action: Action) -> Any:
        """The action's result, once it is committed; or its error, and nothing of it was stored."""
        place = _Place(action)
        with self._mutex:
            self._waiting.append(place)
            first, self._busy = not self._busy, True
        if not first:
            place.turn.wait()
        if not place.done:
            self._lead(engine)
        if place.error is not None:
            raise place.error
        return place.result

    def _lead(self, engine: sa.Engine) -> None:
        with self._mutex:
            together, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
        try:
            _commit_together(engine, together)
        finally:
            with self._mutex:
                following = self._waiting[0] if self._waiting else None
                self._busy = following is not None
            for place in together:
                place.done = True
                place.turn.set()
            if following is not None:
                following.turn.set()


_LINES: dict[str, Line] = {}
_LINES_LOCK = threading.Lock()


def line_of(file: str) -> Line:
    """The line that all stores of one file in this process share."""
    with _LINES_LOCK:
        return _LINES.setdefault(file, Line())


def _commit_together(engine: sa.Engine, together: list[_Place]) -> None:
    def alone(action: Action) -> Any:
        with engine.begin() as connection:
            return action(connection)

    if len(together) == 1:
        together[0].attempt(alone)
        return
    committing = False
    try:
        with engine.begin() as connection:

            def nested(action: Action) -> Any:
                with connection.begin_nested():
                    return action(connection)

            for place in together:
                place.attempt(nested)
                if isinstance(place.error, exc.DBAPIError) and not isinstance(place.error, exc.IntegrityError):
                    raise place.error  # the database may have undone everything: begin again, one by one
            committing = True
    except Exception as error:  # noqa: BLE001 - told to everyone whose action it undid
        for place in together:
            if committing:
                place.error = place.error or error
            else:
                place.attempt(alone)
    except BaseException:  # the leader's thread is interrupted: the others must not believe that all is well
        for place in together:
            place.error = ProjectError(
                "the program is ending; it is unknown whether this was stored", do="Send it again."
            )
        raise
