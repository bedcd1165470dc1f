"""Campaigns that ask further experts only where the label is unsure, and by how many votes each pair must lead.

Columns with a default or that may be empty: no table is rebuilt, so no trigger is lost.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import sqlite

revision = "0009"
down_revision = "0008"

WHOLE = sa.BigInteger().with_variant(sqlite.INTEGER(), "sqlite")


def upgrade() -> None:
    """Add the columns."""
    op.add_column("campaign", sa.Column("adaptive", WHOLE, nullable=False, server_default="0"))
    op.add_column("item", sa.Column("lead_similar", WHOLE, nullable=True))
    op.add_column("item", sa.Column("lead_different", WHOLE, nullable=True))
