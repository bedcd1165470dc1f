"""Guidelines as versions with examples, and calibration rounds.

Only new tables: none of the old ones is rebuilt, so no trigger is lost. Those of the new ones are made,
with all others, after the upgrade (eds.labels.migrate).
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import sqlite

revision = "0002"
down_revision = "0001"

WHOLE = sa.BigInteger().with_variant(sqlite.INTEGER(), "sqlite")
REAL: sa.types.TypeEngine[float] = sa.Double().with_variant(sqlite.REAL(), "sqlite")


def _whole(name: str, *, null: bool = False, to: str = "") -> sa.Column[int]:
    return sa.Column(name, WHOLE, *([sa.ForeignKey(f"{to}.id")] if to else []), nullable=null)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False)


def _real(name: str, *, null: bool = False) -> sa.Column[float]:
    return sa.Column(name, REAL, nullable=null)


def _make(name: str, *parts: sa.schema.SchemaItem, key: bool = True) -> None:
    first = [sa.Column("id", WHOLE, primary_key=True, autoincrement=True)] if key else []
    op.create_table(name, *first, *parts, sqlite_strict=True)


def upgrade() -> None:
    """Make the tables of guidelines and of calibration."""
    _make(
        "guideline",
        _text("version"),
        _text("content"),
        _whole("created_at"),
        _text("created_by"),
        sa.UniqueConstraint("version"),
    )
    _make(
        "example",
        _whole("guideline", to="guideline"),
        _whole("pair", to="pair"),
        _whole("position"),
        _text("kind"),
        _whole("value", null=True),
        _text("note"),
        sa.UniqueConstraint("guideline", "pair"),
        sa.CheckConstraint("kind IN ('positive', 'negative', 'border')", name="kind"),
        sa.CheckConstraint("value IN (0, 1)", name="value"),
    )
    _make(
        "calibration_plan",
        sa.Column("campaign", WHOLE, sa.ForeignKey("campaign.id"), primary_key=True, autoincrement=False),
        _whole("size"),
        _real("needed"),
        key=False,
    )
    _make(
        "calibration_round",
        _whole("campaign", to="campaign"),
        _whole("expert", to="expert"),
        _whole("number"),
        _text("guideline"),
        _real("needed"),
        _whole("created_at"),
        sa.UniqueConstraint("campaign", "expert", "number"),
    )
    _make(
        "calibration_task",
        _whole("round", to="calibration_round"),
        _whole("pair", to="pair"),
        _whole("position"),
        _whole("expected", null=True),
        _text("note"),
        sa.UniqueConstraint("round", "pair"),
        sa.CheckConstraint("expected IN (0, 1)", name="expected"),
    )
    _make(
        "calibration_answer",
        _whole("task", to="calibration_task"),
        _text("token"),
        _whole("value", null=True),
        _real("seconds", null=True),
        _whole("created_at"),
        sa.UniqueConstraint("task"),
        sa.UniqueConstraint("token"),
        sa.CheckConstraint("value IN (0, 1)", name="value"),
        sa.CheckConstraint("seconds >= 0", name="seconds"),
    )
