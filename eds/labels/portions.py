"""Many rows written in portions, each a short transaction of its own, so that nobody who judges waits for all of them.

SQLite lets one writer in at a time. So a portion is short, and as long as somebody judges, the others have more time
after it than it took. Who writes in portions sees to it that nothing counts before the last one is there
(new_campaign.py).
"""

import time
from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

import pyarrow as pa
import sqlalchemy as sa

from eds.labels.bulk import insert
from eds.labels.schema import label_event
from eds.labels.store import Store

T_co = TypeVar("T_co", covariant=True)
ROWS = 300  # in a transaction; some 3 ms
SHARE = 0.25  # of the time in which the lock is held for portions, while somebody judges
PAUSE = 0.2  # seconds, at most, between two portions
JUDGING = 2.0  # seconds after an act, in which more are expected


class Portion(Protocol[T_co]):
    """What is done with the rows `start` to `start + rows`, perhaps twice."""

    def __call__(self, connection: sa.Connection, *, start: int, rows: int) -> T_co:
        """Do it in one transaction."""


def in_portions(store: Store, count: int, act: Portion[T_co]) -> Iterator[T_co]:
    """Run `act` for one portion of `count` rows after the other; yields what each returns."""
    last: int | None = None
    quiet_at = 0.0

    def portion(connection: sa.Connection) -> tuple[T_co, int]:
        acts = connection.execute(sa.select(sa.func.coalesce(sa.func.max(label_event.c.id), 0))).scalar_one()
        return act(connection, start=start, rows=min(ROWS, count - start)), int(acts)

    for start in range(0, count, ROWS):
        begun = time.monotonic()
        result, acts = store.write(portion)
        ended = time.monotonic()
        yield result
        if last is not None and acts != last:
            quiet_at = ended + JUDGING
        last = acts
        if store.sqlite and start + ROWS < count and ended < quiet_at:
            time.sleep(min((ended - begun) * (1 / SHARE - 1), PAUSE))


def insert_in_portions(
    store: Store, table: sa.Table, content: pa.Table, check: Callable[[sa.Connection], object] = lambda _: None
) -> None:
    """Insert the rows of an Arrow table; `check` raises in the transaction of a portion that must not come in."""

    def act(connection: sa.Connection, *, start: int, rows: int) -> None:
        check(connection)
        insert(connection, table, content.slice(start, rows))

    for _ in in_portions(store, len(content), act):
        pass
