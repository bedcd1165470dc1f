"""A name for the store, acts chained by digests, and acts that came late.

Columns are added, no table is rebuilt, so no trigger is lost; the one that refuses changes of acts is dropped while
their digests are written, and comes back with all others after the upgrade (eds.labels.migrate). The digests are
computed by eds.labels.chain as it is now: acts that a later version reads must have the digests that it expects.
"""

import secrets
import time
from typing import Any

import pyarrow as pa
import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import sqlite

from eds.labels import bulk, chain

revision = "0003"
down_revision = "0002"

WHOLE = sa.BigInteger().with_variant(sqlite.INTEGER(), "sqlite")
QUERY = """
    SELECT e.id, e.label_id, e.sequence, e.value, e.seconds, e.created_at, e.session_id, e.mode, e.polarity,
           e.guideline, e.late, i.kind, p.query_id, p.candidate_id, c.name AS campaign, x.name AS expert
    FROM label_event e
    JOIN assignment a ON a.id = e.assignment JOIN item i ON i.id = a.item JOIN pair p ON p.id = i.pair
    JOIN campaign c ON c.id = a.campaign JOIN expert x ON x.id = a.expert
    ORDER BY e.id
"""
NUMBERS = ("id", "sequence", "value", "created_at", "late")


def upgrade() -> None:
    """Make the store's name, the columns of chain and lateness, and the digests of the acts that are there."""
    connection = op.get_bind()
    store = op.create_table(
        "store",
        sa.Column("store_id", sa.Text(), nullable=False),
        sa.Column("created_at", WHOLE, nullable=False),
        sqlite_strict=True,
    )
    connection.execute(sa.insert(store).values(store_id=secrets.token_hex(16), created_at=time.time_ns() // 1000))
    op.add_column("panel", sa.Column("acts", WHOLE, nullable=False, server_default="0"))
    op.add_column("panel", sa.Column("head", sa.Text(), nullable=False, server_default=""))
    op.add_column("label_event", sa.Column("late", WHOLE, nullable=False, server_default="0"))
    op.add_column("label_event", sa.Column("digest", sa.Text(), nullable=False, server_default=""))
    if connection.execute(sa.text("SELECT 1 FROM label_event LIMIT 1")).first() is not None:
        _chain(connection)


def _chain(connection: sa.Connection) -> None:
    types: dict[str, sa.types.TypeEngine[Any]] = {"seconds": sa.Double()}
    types.update(dict.fromkeys(NUMBERS, WHOLE))
    said = [name for name in chain.Said._fields if name not in ("seconds", *chain.BESIDE)]  # those came later
    names = ("id", "seconds", *said)
    read = [sa.column(name, types.get(name, sa.Text())) for name in names]
    acts = bulk.fetch(connection, sa.select(*read).select_from(sa.text(f"({QUERY}) AS acts")))
    heads: dict[chain.Chain, str] = {}
    digests = chain.links(acts.sort_by("id"), heads)
    on = " ON label_event" if connection.dialect.name == "postgresql" else ""
    connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS label_event_no_update{on}")
    columns = sa.Column("id", WHOLE, primary_key=True), sa.Column("digest", sa.Text())
    new = sa.Table("new_digest", sa.MetaData(), *columns, prefixes=["TEMPORARY"])
    new.create(connection)
    bulk.insert(connection, new, pa.table({"id": acts.sort_by("id")["id"], "digest": pa.array(digests, pa.string())}))
    connection.exec_driver_sql("UPDATE label_event SET digest = n.digest FROM new_digest n WHERE n.id = label_event.id")
    new.drop(connection)
    counts = acts.group_by(["campaign", "expert"]).aggregate([([], "count_all")]).to_pylist()
    change = sa.text(
        "UPDATE panel SET acts = :acts, head = :head WHERE campaign = (SELECT id FROM campaign WHERE name = :campaign) "
        "AND expert = (SELECT id FROM expert WHERE name = :expert)"
    )
    rows = [{**row, "acts": row["count_all"], "head": heads[row["campaign"], row["expert"]]} for row in counts]
    connection.execute(change, rows)
