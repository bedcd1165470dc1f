"""How many experts of a campaign's panel judge each pair; older campaigns ask all of them.

A column that may be empty is added in place: no table is rebuilt, so no trigger is lost. The index counts one
expert's tasks, which are no longer as many as the campaign has items.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import sqlite

revision = "0004"
down_revision = "0003"

WHOLE = sa.BigInteger().with_variant(sqlite.INTEGER(), "sqlite")


def upgrade() -> None:
    """Add the column and the index."""
    op.add_column("campaign", sa.Column("experts_per_pair", WHOLE, nullable=True))
    op.create_index("ix_assignment_campaign_expert", "assignment", ["campaign", "expert"])
