"""Passkeys, how a session was opened, and an index for forgetting failed sign-ins.

A new table and a column with a default: no table is rebuilt, so no trigger is lost.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import sqlite

revision = "0005"
down_revision = "0004"

WHOLE = sa.BigInteger().with_variant(sqlite.INTEGER(), "sqlite")


def upgrade() -> None:
    """Make the table, the column and the index."""
    op.add_column("session", sa.Column("way", sa.Text(), nullable=False, server_default=""))
    op.create_index("ix_attempt_not_before", "attempt", ["not_before"])
    op.create_table(
        "passkey",
        sa.Column("id", WHOLE, primary_key=True, autoincrement=True),
        sa.Column("expert", WHOLE, sa.ForeignKey("expert.id"), nullable=False),
        sa.Column("credential", sa.Text(), nullable=False),
        sa.Column("public_key", sa.Text(), nullable=False),
        sa.Column("sign_count", WHOLE, nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("created_at", WHOLE, nullable=False),
        sa.Column("used_at", WHOLE, nullable=True),
        sa.UniqueConstraint("credential"),
        sqlite_strict=True,
    )
    op.create_index("ix_passkey_expert", "passkey", ["expert"])
