"""The audit log: who did which administrative act to whom. Append-only; holds no secrets."""

import json
from typing import Any

import pandas as pd
import sqlalchemy as sa

from eds.labels import schema
from eds.labels.bulk import frame
from eds.labels.store import Store


def note(connection: sa.Connection, at: int, actor: str, act: str, subject: str, **detail: Any) -> None:
    """Write one act into the log, in the transaction of the act itself."""
    connection.execute(
        sa.insert(schema.audit).values(
            created_at=at, actor=actor, act=act, subject=subject, detail=json.dumps(detail, ensure_ascii=False)
        )
    )


def read_audit(store: Store) -> pd.DataFrame:
    """The whole log, oldest first: created_at, actor, act, subject, detail (JSON)."""
    table = schema.audit
    query = sa.select(table.c.created_at, table.c.actor, table.c.act, table.c.subject, table.c.detail).order_by(
        table.c.id
    )
    return store.read(lambda connection: frame(connection, query, "created_at"))


def noted(store: Store, act: str, token: str) -> bool:
    """Return whether an act with this token is in the log: after an interruption it says whether the act was done."""
    table = schema.audit
    text = table.c.detail.contains(f'"token": "{token}"', autoescape=True)
    query = sa.select(table.c.id).where(table.c.act == act, text).limit(1)
    return store.read(lambda connection: connection.execute(query).first() is not None)
