"""Imports of votes as batches: listed, and voided or counted again by a lead.

Nothing is deleted: that an import is void is an act of its own, and its last one holds. Votes of a void import are in
no table of labels, so neither truth nor agreement counts them; a backup keeps them.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels import audit, early_stop, schema
from eds.labels.bulk import frame
from eds.labels.permissions import check_lead
from eds.labels.schema import DONE, OPEN, WHOLE, assignment, campaign, import_void, label_event, vote_import
from eds.labels.store import Store
from eds.labels.validation import check_long, short

OLDER = "they cannot be voided; eds truth decide --campaign NAME decides without them"


@dataclass(frozen=True)
class Voided:
    """An import after it was voided, or counted again."""

    number: int
    campaign: str
    source: str
    acts: int
    changed: bool  # False: it was so before


def void_imports(as_of: datetime | None = None) -> "sa.Select[int]":
    """The numbers of the imports that are void, or were at a moment."""
    last = sa.select(sa.func.max(import_void.c.id)).group_by(import_void.c.vote_import)
    if as_of is not None:
        last = last.where(import_void.c.created_at <= round(as_of.astimezone(UTC).timestamp() * 1e6))
    return sa.select(import_void.c.vote_import).where(import_void.c.id.in_(last), import_void.c.voided == 1)


def is_void() -> sa.ColumnElement[bool]:
    """Whether an act came with an import that is void."""
    return sa.and_(label_event.c.vote_import.is_not(None), label_event.c.vote_import.in_(void_imports()))


def begin_import(connection: sa.Connection, number: int, source: str, now: int, by: str, acts: int) -> int:
    """Enter an import of votes into a campaign; its number."""
    values = {"campaign": number, "source": source, "acts": acts, "created_at": now, "created_by": by}
    insertion = sa.insert(vote_import).values(values).returning(vote_import.c.id)
    return int(connection.execute(insertion).scalar_one())


def list_imports(store: Store) -> pd.DataFrame:
    """Every import, oldest first: number, campaign, source, votes, created_at, created_by, void, note."""
    note = (
        sa.select(import_void.c.note)
        .where(import_void.c.vote_import == vote_import.c.id)
        .order_by(import_void.c.id.desc())
        .limit(1)
    )
    query = (
        sa.select(
            vote_import.c.id.label("number"),
            campaign.c.name.label("campaign"),
            vote_import.c.source,
            vote_import.c.acts.label("votes"),
            vote_import.c.created_at,
            vote_import.c.created_by,
            sa.cast(sa.case((vote_import.c.id.in_(void_imports()), 1), else_=0), WHOLE).label("void"),
            note.scalar_subquery().label("note"),
        )
        .join(campaign, campaign.c.id == vote_import.c.campaign)
        .order_by(vote_import.c.id)
    )
    result = store.read(lambda connection: frame(connection, query, "created_at"))
    return result.assign(void=result["void"] == 1)


def void_import(store: Store, number: int, *, void: bool = True, note: str = "", by: str = "") -> Voided:
    """Let the votes of an import count no more, or (not `void`) again; nothing is deleted.

    Tasks that only these votes answered are open again for experts who are on the panel.
    """
    check_long(note, "note")

    def act(connection: sa.Connection) -> Voided:
        check_lead(connection, store, by, "void an import")
        row = _import(connection, number)
        now = store.now()
        before = number in connection.execute(void_imports()).scalars().all()
        result = Voided(number, row.name, row.source, row.acts, before != void)
        if not result.changed:
            return result
        values = {"vote_import": number, "voided": int(void), "note": note, "created_at": now, "created_by": by}
        connection.execute(sa.insert(import_void).values(values))
        _reopen(connection, row.campaign)
        if row.early_stop:
            early_stop.settle(connection, campaign=row.campaign)
        word = "void import" if void else "count import again"
        audit.note(connection, now, by, word, row.name, number=number, votes=row.acts, source=row.source, note=note)
        return result

    return store.write(act)


def _import(connection: sa.Connection, number: int) -> Any:
    query = sa.select(
        vote_import.c.campaign, vote_import.c.source, vote_import.c.acts, campaign.c.name, campaign.c.early_stop
    ).join(campaign, campaign.c.id == vote_import.c.campaign)
    row = connection.execute(query.where(vote_import.c.id == number)).first()
    if row is None:
        older = connection.execute(_older()).scalar_one()
        raise InputError(
            f"there is no import {short(str(number))}",
            where="imports",
            hint="See eds labels imports list."
            + (f" {older:,} votes were imported before imports were numbered: {OLDER}." if older else ""),
        )
    return row


def count_older(store: Store) -> int:
    """How many votes were imported before imports were batches: they belong to none, and cannot be voided."""
    return int(store.read(lambda connection: connection.execute(_older()).scalar_one()))


def _older() -> Any:
    """Counts the acts without a batch, and from no page, in campaigns that imported votes."""
    log = schema.audit.c
    said = sa.exists().where(log.act == "import votes", log.subject == campaign.c.name)
    return (
        sa.select(sa.func.count())
        .select_from(label_event)
        .join(assignment, assignment.c.id == label_event.c.assignment)
        .join(campaign, campaign.c.id == assignment.c.campaign)
        .where(label_event.c.vote_import.is_(None), label_event.c.session_id.is_(None), said)
    )


def _reopen(connection: sa.Connection, number: int) -> None:
    """Open the tasks of a campaign whose every act is void, and close those whose act counts again."""
    mine = sa.and_(assignment.c.campaign == number, assignment.c.events > 0)
    counts = sa.exists().where(label_event.c.assignment == assignment.c.id, ~is_void())
    brought = sa.exists().where(label_event.c.assignment == assignment.c.id, label_event.c.vote_import.is_not(None))
    change = sa.update(assignment)
    connection.execute(change.where(mine, assignment.c.state == DONE, ~counts).values(state=OPEN))
    connection.execute(change.where(mine, assignment.c.state == OPEN, counts, brought).values(state=DONE))
