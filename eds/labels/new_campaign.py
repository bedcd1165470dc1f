"""A campaign in the making: its tasks are written in portions, and nobody sees it before the last one is there.

A row of `campaign` whose `withdrawn_at` is its `created_at` stands for one that is being made, or whose making was
interrupted. It has no panel yet, so nobody is asked its tasks, and no pair waits for them. Who makes a campaign of
the same name takes away what an interrupted one left.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels.assign import open_tasks
from eds.labels.bulk import insert, reserve
from eds.labels.pairs import numbered_in_portions
from eds.labels.portions import ROWS, in_portions, insert_in_portions
from eds.labels.schema import UNFINISHED, assignment, campaign, item
from eds.labels.store import Store
from eds.labels.validation import short

TRIES = 20  # to remove a campaign whose maker commits a last portion meanwhile


@dataclass(frozen=True)
class Made:
    """A campaign that is being made by this program."""

    id: int
    name: str
    created_at: int

    @property
    def row(self) -> "sa.ColumnElement[bool]":
        """Its row, unless another program took it away; SQLite gives a number again, so the moment counts, too."""
        return sa.and_(campaign.c.id == self.id, campaign.c.created_at == self.created_at, UNFINISHED)

    def check(self, connection: sa.Connection) -> None:
        """Raise InputError if another program makes a campaign of this name now."""
        if connection.execute(sa.select(campaign.c.id).where(self.row)).first() is None:
            raise _taken(self.name)


def check_free(connection: sa.Connection, name: str) -> None:
    """Raise InputError if there is a campaign of this name."""
    if connection.execute(sa.select(campaign.c.id).where(campaign.c.name == name, ~UNFINISHED)).first():
        raise _taken(name)


def begin(store: Store, values: dict[str, Any], check: Callable[[sa.Connection], object]) -> Made:
    """Enter a campaign without tasks; what an interrupted making of the same name left is removed before."""
    name = str(values["name"])
    query = sa.select(campaign.c.id, campaign.c.created_at).where(campaign.c.name == name, UNFINISHED)
    for number, created_at in store.read(lambda connection: connection.execute(query).all()):
        _remove(store, Made(number, name, created_at))

    def act(connection: sa.Connection) -> Made:
        check(connection)
        now = store.now()
        moments = {"created_at": now, "closed_at": now, "withdrawn_at": now}
        insertion = sa.insert(campaign).values(**values, **moments).returning(campaign.c.id)
        return Made(int(connection.execute(insertion).scalar_one()), name, now)

    try:
        return store.write(act)
    except sa.exc.IntegrityError as error:  # two at the same moment: the database let one through
        raise _taken(name) from error


def fill(store: Store, made: Made, items: pa.Table, tasks: pa.Table) -> None:
    """Enter items (as mix_gold.py plans them, with an id from 0 up) and the tasks on them."""
    numbers = numbered_in_portions(store, items.select(["query_id", "candidate_id"]))["pair"]
    items = items.set_column(items.column_names.index("pair"), "pair", numbers)

    def enter(connection: sa.Connection, *, start: int, rows: int) -> pa.Table:
        made.check(connection)
        return enter_items(connection, items.slice(start, rows), made.id)["id"]

    try:
        ids = [part.to_numpy() for part in in_portions(store, len(items), enter)]
        if ids and len(tasks):
            tasks = tasks.set_column(0, "item", pa.array(np.concatenate(ids)[tasks["item"].to_numpy()]))
            insert_in_portions(store, assignment, open_tasks(tasks, made.id), made.check)
    except sa.exc.IntegrityError as error:  # another program took the campaign away just now
        raise _taken(made.name) from error


def enter_items(connection: sa.Connection, items: pa.Table, number: int) -> pa.Table:
    """Enter items into a campaign; the same with their ids."""
    ids = pa.array(reserve(connection, item, len(items)), pa.int64())
    items = items.set_column(items.column_names.index("id"), "id", ids)
    rows = items.append_column("campaign", pa.array(np.full(len(items), number), pa.int64()))
    insert(connection, item, rows.select(["id", "campaign", "pair", "kind", "origin", "control"]))
    return items


def finish(connection: sa.Connection, made: Made) -> Any:
    """Let a campaign begin whose tasks are all there; its row. What comes next, its panel, makes it seen."""
    made.check(connection)
    change = sa.update(campaign).where(made.row).values(closed_at=None, withdrawn_at=None)
    connection.execute(change)
    return connection.execute(sa.select(campaign).where(campaign.c.id == made.id)).one()


def _remove(store: Store, left: Made) -> None:
    """Take an unfinished campaign away from its maker, then remove all that it has, in portions."""
    now = store.now()
    claim = sa.update(campaign).where(left.row).values(created_at=now, withdrawn_at=now)
    if not store.write(lambda connection: connection.execute(claim).rowcount):
        return  # another program took it
    made = Made(left.id, left.name, now)
    of_it = sa.exists().where(made.row)
    for _ in range(TRIES):  # its maker may be about to commit a last portion
        with suppress(sa.exc.IntegrityError):
            for table in (assignment, item):
                some = sa.select(table.c.id).where(table.c.campaign == made.id, of_it).limit(ROWS)
                deletion = sa.delete(table).where(table.c.id.in_(some))
                while store.write(lambda connection, deletion=deletion: connection.execute(deletion).rowcount):  # type: ignore[misc]
                    pass
            store.write(lambda connection: connection.execute(sa.delete(campaign).where(made.row)))
            return
    raise _taken(left.name)


def _taken(name: str) -> InputError:
    return InputError(f"there is a campaign {short(name)} already", where="campaign")
