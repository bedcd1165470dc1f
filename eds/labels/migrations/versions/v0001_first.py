"""The first schema.

A migration is a record of what happened: it is never changed, and does not read today's schema.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import sqlite

revision = "0001"
down_revision = None

WHOLE = sa.BigInteger().with_variant(sqlite.INTEGER(), "sqlite")
REAL: sa.types.TypeEngine[float] = sa.Double().with_variant(sqlite.REAL(), "sqlite")


def _whole(name: str, *, null: bool = False, to: str = "") -> sa.Column[int]:
    return sa.Column(name, WHOLE, *([sa.ForeignKey(f"{to}.id")] if to else []), nullable=null)


def _text(name: str, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=null)


def _real(name: str, *, null: bool = False) -> sa.Column[float]:
    return sa.Column(name, REAL, nullable=null)


def _make(name: str, *parts: sa.schema.SchemaItem, key: bool = True) -> None:
    first = [sa.Column("id", WHOLE, primary_key=True, autoincrement=True)] if key else []
    op.create_table(name, *first, *parts, sqlite_strict=True)


def upgrade() -> None:
    """Make every table."""
    _make(
        "expert",
        _text("name"),
        _text("role"),
        _text("password", null=True),
        _whole("created_at"),
        _whole("disabled_at", null=True),
        sa.UniqueConstraint("name"),
        sa.CheckConstraint("role IN ('expert', 'lead', 'administrator')", name="role"),
    )
    _make(
        "invitation",
        _whole("expert", to="expert"),
        _text("token_hash"),
        _whole("created_at"),
        _whole("expires_at"),
        _whole("used_at", null=True),
        sa.UniqueConstraint("token_hash"),
    )
    _make(
        "session",
        _whole("expert", to="expert"),
        _text("token_hash"),
        _text("former_hash", null=True),
        _whole("created_at"),
        _whole("rotated_at"),
        _whole("seen_at"),
        _whole("expires_at"),
        _whole("ended_at", null=True),
        sa.UniqueConstraint("token_hash"),
    )
    op.create_index(None, "session", ["former_hash"])
    op.create_index(None, "session", ["expert"])
    _make(
        "attempt",
        sa.Column("who", sa.Text(), primary_key=True),
        _whole("failures"),
        _whole("not_before"),
        key=False,
    )
    _make(
        "campaign",
        _text("name"),
        _text("mode"),
        _text("polarity", null=True),
        _text("guideline"),
        _whole("seed"),
        _real("gold_share"),
        _real("repeat_share"),
        _whole("early_stop"),
        _real("control_share"),
        _whole("created_at"),
        _whole("closed_at", null=True),
        sa.UniqueConstraint("name"),
        sa.CheckConstraint("mode IN ('pair', 'grid')", name="mode"),
        sa.CheckConstraint("polarity IN ('similar', 'different')", name="polarity"),
    )
    _make(
        "panel",
        sa.Column("campaign", WHOLE, sa.ForeignKey("campaign.id"), primary_key=True),
        sa.Column("expert", WHOLE, sa.ForeignKey("expert.id"), primary_key=True),
        _whole("joined_at"),
        _whole("left_at", null=True),
        key=False,
    )
    _make(
        "pair",
        _text("query_id"),
        _text("candidate_id"),
        sa.UniqueConstraint("query_id", "candidate_id"),
        sa.CheckConstraint("query_id <> candidate_id", name="two_images"),
    )
    _make(
        "gold",
        sa.Column("pair", WHOLE, sa.ForeignKey("pair.id"), primary_key=True, autoincrement=False),
        _whole("value"),
        _text("note", null=True),
        sa.CheckConstraint("value IN (0, 1)", name="value"),
        key=False,
    )
    _make(
        "item",
        _whole("campaign", to="campaign"),
        _whole("pair", to="pair"),
        _text("kind"),
        _text("origin"),
        _whole("control"),
        sa.UniqueConstraint("campaign", "pair", "kind"),
        sa.CheckConstraint("kind IN ('normal', 'gold', 'repeat')", name="kind"),
    )
    _make(
        "assignment",
        _whole("campaign", to="campaign"),
        _whole("item", to="item"),
        _whole("expert", to="expert"),
        _whole("position"),
        _whole("state"),
        _whole("events"),
        _whole("returned"),
        sa.UniqueConstraint("item", "expert"),
        sa.CheckConstraint("state BETWEEN 0 AND 3", name="state"),
    )
    waiting = sa.text("state = 0")
    op.create_index(
        "ix_assignment_open",
        "assignment",
        ["campaign", "expert", "position"],
        sqlite_where=waiting,
        postgresql_where=waiting,
    )
    _make(
        "label_event",
        _text("label_id"),
        _whole("assignment", to="assignment"),
        _whole("sequence"),
        _whole("value", null=True),
        _real("seconds", null=True),
        _whole("created_at"),
        _text("session_id", null=True),
        _text("mode"),
        _text("polarity", null=True),
        _text("guideline", null=True),
        sa.UniqueConstraint("label_id"),
        sa.UniqueConstraint("assignment", "sequence"),
        sa.CheckConstraint("value IN (0, 1)", name="value"),
        sa.CheckConstraint("seconds >= 0", name="seconds"),
        sa.CheckConstraint("sequence >= 1", name="sequence"),
    )
    _make(
        "flag",
        _text("token"),
        _whole("assignment", to="assignment"),
        _text("reason"),
        _whole("created_at"),
        _whole("resolved_at", null=True),
        _text("resolved_by", null=True),
        sa.UniqueConstraint("token"),
    )
    op.create_index(None, "flag", ["assignment"])
    _make(
        "audit",
        _whole("created_at"),
        _text("actor"),
        _text("act"),
        _text("subject"),
        _text("detail"),
    )
