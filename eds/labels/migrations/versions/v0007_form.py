"""What a campaign's page asks beside the vote, and what experts say there: aspects, a grade, a note of an act.

Columns with defaults or that may be empty: no table is rebuilt, so no trigger is lost. An act that says nothing more
keeps its digest (chain.py).
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import sqlite

revision = "0007"
down_revision = "0006"

WHOLE = sa.BigInteger().with_variant(sqlite.INTEGER(), "sqlite")


def upgrade() -> None:
    """Add the columns."""
    op.add_column("campaign", sa.Column("form", sa.Text(), nullable=False, server_default=""))
    op.add_column("label_event", sa.Column("aspects", sa.Text(), nullable=True))
    op.add_column("label_event", sa.Column("grade", WHOLE, nullable=True))
    op.add_column("label_event", sa.Column("note", sa.Text(), nullable=True))
