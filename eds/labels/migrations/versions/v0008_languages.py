"""The language that an account has chosen, and the one that a version of the guideline is written in.

Columns with defaults: no table is rebuilt, so no trigger is lost. Empty is the browser's language, and an unknown one.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("expert", sa.Column("language", sa.Text(), nullable=False, server_default=""))
    op.add_column("guideline", sa.Column("language", sa.Text(), nullable=False, server_default=""))
