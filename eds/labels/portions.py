"""Many rows written in portions, each a short transaction of its own, so that nobody who judges waits for all of them.

SQLite lets one writer in at a time. So a portion is short, and after it the others have more time than it took. Who
writes in portions sees to it that nothing counts before the last one is there (new_campaign.py).
"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol, TypeVar

import pyarrow as pa
import sqlalchemy as sa

from eds.labels.bulk import insert
from eds.labels.store import Store

T_co = TypeVar("T_co", covariant=True)
ROWS = 300  # in a transaction; some 3 ms
SHARE = 0.25  # of the time in which one who writes in portions holds the lock
PAUSE = 0.2  # seconds, at most, between two portions


class Portion(Protocol[T_co]):
    """What is done with the rows `start` to `start + rows`, perhaps twice."""

    def __call__(self, connection: sa.Connection, *, start: int, rows: int) -> T_co:
        """Do it in one transaction."""


def in_portions(store: Store, count: int, act: Portion[T_co]) -> Iterator[T_co]:
    """Run `act` for one portion of `count` rows after the other; yields what each returns."""
    for start in range(0, count, ROWS):
        rows, begun = min(ROWS, count - start), time.monotonic()
        result = store.write(partial(act, start=start, rows=rows))
        took = time.monotonic() - begun
        yield result
        if store.sqlite and start + rows < count:
            time.sleep(min(took * (1 / SHARE - 1), PAUSE))


def insert_in_portions(
    store: Store, table: sa.Table, content: pa.Table, check: Callable[[sa.Connection], object] = lambda _: None
) -> None:
    """Insert the rows of an Arrow table; `check` raises in the transaction of a portion that must not come in."""

    def act(connection: sa.Connection, *, start: int, rows: int) -> None:
        check(connection)
        insert(connection, table, content.slice(start, rows))

    for _ in in_portions(store, len(content), act):
        pass
