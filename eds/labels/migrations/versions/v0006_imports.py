"""Imports of votes as batches that a lead can void, and pairs that are taken back from a campaign.

New tables, and columns that may be empty: no table is rebuilt, so no trigger is lost. Acts that were imported before
belong to no batch.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import sqlite

revision = "0006"
down_revision = "0005"

WHOLE = sa.BigInteger().with_variant(sqlite.INTEGER(), "sqlite")
WITHDRAWN = sa.text("withdrawn_at IS NOT NULL")


def upgrade() -> None:
    """Make the tables, the columns and the indexes."""
    op.create_table(
        "vote_import",
        sa.Column("id", WHOLE, primary_key=True, autoincrement=True),
        sa.Column("campaign", WHOLE, sa.ForeignKey("campaign.id"), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("acts", WHOLE, nullable=False),
        sa.Column("created_at", WHOLE, nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "import_void",
        sa.Column("id", WHOLE, primary_key=True, autoincrement=True),
        sa.Column("vote_import", WHOLE, sa.ForeignKey("vote_import.id"), nullable=False),
        sa.Column("voided", WHOLE, nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("created_at", WHOLE, nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.CheckConstraint("voided IN (0, 1)", name="voided"),
        sqlite_strict=True,
    )
    op.add_column("label_event", sa.Column("vote_import", WHOLE, nullable=True))
    op.create_index("ix_label_event_vote_import", "label_event", ["vote_import"])
    op.add_column("item", sa.Column("withdrawn_at", WHOLE, nullable=True))
    op.create_index("ix_item_withdrawn", "item", ["campaign"], sqlite_where=WITHDRAWN, postgresql_where=WITHDRAWN)
    op.add_column("campaign", sa.Column("withdrawn_at", WHOLE, nullable=True))
