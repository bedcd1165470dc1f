"""A label store whose writes are taken back: one transaction, seen by the rehearsal alone, that is never committed."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import sqlalchemy as sa

from eds.labels import schema
from eds.labels.db_errors import translated_errors
from eds.labels.store import Store

T = TypeVar("T")


@dataclass(frozen=True)
class StoreChanges:
    """What a rehearsal wrote, before it was taken back."""

    written: bool
    acts: list[tuple[str, str]] = field(default_factory=list)  # of the audit log: act, subject
    rows: dict[str, int] = field(default_factory=dict)  # by table, rows more or fewer


class Rehearsal(Store):
    """An open store, written to in a transaction that `end` takes back. What it wrote, it reads."""

    def __init__(self, store: Store) -> None:
        vars(self).update(vars(store))
        self._held: sa.Connection | None = None  # from the first write on
        self._before: dict[str, int] = {}
        self._last_act = 0

    def read(self, action: Callable[[sa.Connection], T]) -> T:
        """Run an action that only reads."""
        return super().read(action) if self._held is None else self._within(self._held, action)

    def snapshot(self, action: Callable[[sa.Connection], T]) -> T:
        """Run an action to which everything looks as of one moment."""
        return super().snapshot(action) if self._held is None else self._within(self._held, action)

    def write(self, action: Callable[[sa.Connection], T], *, again: bool = False) -> T:
        """Run an action whose changes are taken back in the end, or at once where it raises."""
        if self._held is None:
            with translated_errors(self.place):
                self._held = self._writer.connect()
                self._held.begin()
                self._before = self._count(self._held)
                self._last_act = self._held.execute(sa.select(sa.func.max(schema.audit.c.id))).scalar() or 0
        with translated_errors(self.place), self._held.begin_nested():
            return action(self._held)

    def changes(self) -> StoreChanges:
        """What was written so far."""
        if self._held is None:
            return StoreChanges(False)
        acts = self._held.execute(
            sa.select(schema.audit.c.act, schema.audit.c.subject)
            .where(schema.audit.c.id > self._last_act)
            .order_by(schema.audit.c.id)
        )
        now = self._count(self._held)
        rows = {name: now[name] - self._before[name] for name in now if now[name] != self._before[name]}
        rows.pop(schema.audit.name, None)
        return StoreChanges(True, [(str(act), str(subject)) for act, subject in acts], rows)

    def end(self) -> None:
        """Take everything back; the store itself stays open."""
        if self._held is not None:
            held, self._held = self._held, None
            held.rollback()
            held.close()

    def _within(self, held: sa.Connection, action: Callable[[sa.Connection], T]) -> T:
        with translated_errors(self.place):
            return action(held)

    @staticmethod
    def _count(held: sa.Connection) -> dict[str, int]:
        tables = schema.metadata.sorted_tables
        return {
            table.name: int(held.execute(sa.select(sa.func.count()).select_from(table)).scalar_one())
            for table in tables
        }
