"""What programs use: tokens of the API, and webhooks. New tables only."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import sqlite

revision = "0010"
down_revision = "0009"

WHOLE = sa.BigInteger().with_variant(sqlite.INTEGER(), "sqlite")


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "api_token",
        sa.Column("id", WHOLE, primary_key=True, autoincrement=True),
        sa.Column("expert", WHOLE, sa.ForeignKey("expert.id"), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("created_at", WHOLE, nullable=False),
        sa.Column("expires_at", WHOLE, nullable=False),
        sa.Column("revoked_at", WHOLE, nullable=True),
        sa.UniqueConstraint("token_hash"),
        sqlite_strict=True,
    )
    op.create_index("ix_api_token_expert", "api_token", ["expert"])
    op.create_table(
        "webhook",
        sa.Column("id", WHOLE, primary_key=True, autoincrement=True),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("events", sa.Text(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", WHOLE, nullable=False),
        sa.Column("delivered", WHOLE, nullable=False),
        sa.Column("failures", WHOLE, nullable=False, server_default="0"),
        sa.Column("next_at", WHOLE, nullable=False, server_default="0"),
        sa.Column("problem", sa.Text(), nullable=False, server_default=""),
        sqlite_strict=True,
    )
    op.create_table(
        "webhook_finished",
        sa.Column("webhook", WHOLE, sa.ForeignKey("webhook.id"), primary_key=True),
        sa.Column("campaign", WHOLE, sa.ForeignKey("campaign.id"), primary_key=True),
        sqlite_strict=True,
    )
