"""The tables of the label store, the same on SQLite and PostgreSQL.

    store (the name of the whole)
    expert ─┬─ invitation, session, passkey   campaign ─┬─ panel (which experts), calibration_plan
            │                                           └─ item (which pair, planted or not) ── pair, gold
            ├──────────── assignment (item x expert: the queue) ────────────┘
            │                  └─ label_event (append-only), flag          audit (append-only)  attempt
            └─ calibration_round ── calibration_task ── calibration_answer    guideline ── example (all append-only)

Times are whole microseconds since 1970 in UTC: exact and alike on both databases. Order never
depends on them but on `sequence`, since clocks go backwards. The label in force of an assignment is its last event that
did not come late (in_force). migrations/ creates the tables; triggers.py makes acts
append-only.
"""

from typing import get_args

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from eds.choices import JudgingMode, Polarity, Role

WHOLE = sa.BigInteger().with_variant(sqlite.INTEGER(), "sqlite")
REAL: sa.types.TypeEngine[float] = sa.Double().with_variant(sqlite.REAL(), "sqlite")
TEXT = sa.Text()

ROLES: tuple[str, ...] = get_args(Role)
MODES: tuple[str, ...] = get_args(JudgingMode)
POLARITIES: tuple[str, ...] = get_args(Polarity)
KINDS = ("normal", "gold", "repeat")
EXAMPLES = ("positive", "negative", "border")
OPEN, DONE, ASIDE, STOPPED = 0, 1, 2, 3  # an assignment waits, is judged, was flagged twice, or is decided without it
LONGEST_ID = 1000  # bytes of UTF-8 in an id: PostgreSQL indexes no more than 2,700 bytes a row
LONGEST_TEXT = 10_000  # bytes of a reason, a guideline, a detail

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
metadata = sa.MetaData(naming_convention=NAMING)


def _table(name: str, *parts: sa.schema.SchemaItem) -> sa.Table:
    return sa.Table(name, metadata, *parts, sqlite_strict=True)


def _key() -> sa.Column[int]:
    return sa.Column("id", WHOLE, primary_key=True, autoincrement=True)


def _to(table: str, name: str = "") -> sa.Column[int]:
    return sa.Column(name or table, WHOLE, sa.ForeignKey(f"{table}.id"), nullable=False)


def _text(name: str, *, null: bool = False, default: str | None = None) -> sa.Column[str]:
    return sa.Column(name, TEXT, nullable=null, server_default=default)


def _whole(name: str, *, null: bool = False, default: str | None = None) -> sa.Column[int]:
    return sa.Column(name, WHOLE, nullable=null, server_default=default)


def _among(column: str, values: tuple[str, ...]) -> sa.CheckConstraint:
    return sa.CheckConstraint(f"{column} IN ({', '.join(repr(value) for value in values)})", name=column)


STORE = _table(
    "store",
    _text("store_id"),  # random: one store, whatever its file is called, and whichever database it moves to
    _whole("created_at"),
)
expert = _table(
    "expert",
    _key(),
    _text("name"),
    _text("role"),
    _text("password", null=True),  # argon2 hash; none until an invitation was accepted
    _whole("created_at"),
    _whole("disabled_at", null=True),
    sa.Column("language", TEXT, nullable=False, server_default=""),  # of the pages; "": the browser's
    sa.UniqueConstraint("name"),
    _among("role", ROLES),
)
invitation = _table(
    "invitation",
    _key(),
    _to("expert"),
    _text("token_hash"),
    _whole("created_at"),
    _whole("expires_at"),
    _whole("used_at", null=True),
    sa.UniqueConstraint("token_hash"),
)
session = _table(
    "session",
    _key(),
    _to("expert"),
    _text("token_hash"),
    _text("former_hash", null=True),  # before the last rotation: requests under way still come with it
    _whole("created_at"),
    _whole("rotated_at"),
    _whole("seen_at"),
    _whole("expires_at"),
    _whole("ended_at", null=True),
    sa.Column("way", TEXT, nullable=False, server_default=""),  # how it was opened: password, passkey, proxy, OpenID
    sa.UniqueConstraint("token_hash"),
    sa.Index(None, "former_hash"),
    sa.Index(None, "expert"),
)
attempt = _table(  # failed sign-ins by what is counted (guessing.py), kept as a digest
    "attempt",
    sa.Column("who", TEXT, primary_key=True),
    _whole("failures"),
    _whole("not_before"),
    sa.Index(None, "not_before"),
)
passkey = _table(
    "passkey",
    _key(),
    _to("expert"),
    _text("credential"),
    _text("public_key"),
    _whole("sign_count"),
    _text("label"),
    _whole("created_at"),
    _whole("used_at", null=True),
    sa.UniqueConstraint("credential"),
    sa.Index(None, "expert"),
)
campaign = _table(
    "campaign",
    _key(),
    _text("name"),
    _text("mode"),
    _text("polarity", null=True),
    _text("guideline"),  # the version in force
    _whole("seed"),
    sa.Column("gold_share", REAL, nullable=False),
    sa.Column("repeat_share", REAL, nullable=False),
    _whole("early_stop"),
    sa.Column("control_share", REAL, nullable=False),
    _whole("created_at"),
    _whole("closed_at", null=True),
    _whole("experts_per_pair", null=True),  # how many of the panel judge each pair; none: all
    _whole("withdrawn_at", null=True),  # it was undone: what nobody had judged is not asked; or UNFINISHED
    _text("form", default=""),  # what its page asks and shows (form.py)
    _whole("adaptive", default="0"),  # 1: further experts are asked only where the label is unsure (early_stop.py)
    sa.UniqueConstraint("name"),
    _among("mode", MODES),
    _among("polarity", POLARITIES),
)
# A campaign that is being made, or whose making was interrupted (new_campaign.py); no other is withdrawn as it begins.
UNFINISHED = sa.and_(campaign.c.withdrawn_at.is_not(None), campaign.c.withdrawn_at == campaign.c.created_at)
panel = _table(
    "panel",
    sa.Column("campaign", WHOLE, sa.ForeignKey("campaign.id"), primary_key=True),
    sa.Column("expert", WHOLE, sa.ForeignKey("expert.id"), primary_key=True),
    _whole("joined_at"),
    _whole("left_at", null=True),
    _whole("acts", default="0"),  # how many acts the expert gave in the campaign, and the digest of the last one:
    _text("head", default=""),  # the end of their chain (chain.py)
)
pair = _table(
    "pair",
    _key(),
    _text("query_id"),
    _text("candidate_id"),
    sa.UniqueConstraint("query_id", "candidate_id"),
    sa.CheckConstraint("query_id <> candidate_id", name="two_images"),
)
gold = _table(
    "gold",
    sa.Column("pair", WHOLE, sa.ForeignKey("pair.id"), primary_key=True, autoincrement=False),
    _whole("value"),
    _text("note", null=True),
    sa.CheckConstraint("value IN (0, 1)", name="value"),
)
item = _table(
    "item",
    _key(),
    _to("campaign"),
    _to("pair"),
    _text("kind"),
    _text("origin"),
    _whole("control"),  # 1: always fully voted, for agreement
    _whole("withdrawn_at", null=True),  # it was taken back: nobody is asked it, answers on their way are kept
    _whole("lead_similar", null=True),  # adaptive: votes by which similar must lead; none: early_stop.LEAD
    _whole("lead_different", null=True),
    sa.UniqueConstraint("campaign", "pair", "kind"),
    _among("kind", KINDS),
    sa.Index(
        "ix_item_withdrawn",
        "campaign",
        sqlite_where=sa.text("withdrawn_at IS NOT NULL"),
        postgresql_where=sa.text("withdrawn_at IS NOT NULL"),
    ),
)
assignment = _table(
    "assignment",
    _key(),
    _to("campaign"),
    _to("item"),
    _to("expert"),
    _whole("position"),
    _whole("state"),
    _whole("events"),  # how many acts there are; the last is in force
    _whole("returned"),  # 1: was unsure or flagged, waits at the end
    sa.UniqueConstraint("item", "expert"),
    sa.CheckConstraint("state BETWEEN 0 AND 3", name="state"),
    sa.Index(None, "campaign", "expert"),
    sa.Index(
        "ix_assignment_open",
        "campaign",
        "expert",
        "position",
        sqlite_where=sa.text("state = 0"),
        postgresql_where=sa.text("state = 0"),
    ),
)
label_event = _table(
    "label_event",
    _key(),
    _text("label_id"),  # the act's name and its idempotency key
    _to("assignment"),
    _whole("sequence"),
    _whole("value", null=True),
    sa.Column("seconds", REAL, nullable=True),
    _whole("created_at"),
    _text("session_id", null=True),
    _text("mode"),
    _text("polarity", null=True),
    _text("guideline", null=True),
    _whole("late", default="0"),  # 1: given after the grace period of a closed campaign, or of an expert who left
    _text("digest", default=""),  # of what the act says, chained to the expert's act before it (chain.py)
    _whole("vote_import", null=True),  # the import that brought it
    _text("aspects", null=True),  # named by the expert, with commas between
    _whole("grade", null=True),  # 0 to 3, where the campaign asks for it
    _text("note", null=True),
    sa.UniqueConstraint("label_id"),
    sa.UniqueConstraint("assignment", "sequence"),
    sa.Index(None, "vote_import"),
    sa.CheckConstraint("value IN (0, 1)", name="value"),
    sa.CheckConstraint("seconds >= 0", name="seconds"),
    sa.CheckConstraint("sequence >= 1", name="sequence"),
)
vote_import = _table(
    "vote_import",
    _key(),
    _to("campaign"),
    _text("source"),  # the file
    _whole("acts"),
    _whole("created_at"),
    _text("created_by"),
)
import_void = _table(  # the last row of an import says whether its votes count
    "import_void",
    _key(),
    _to("vote_import"),
    _whole("voided"),
    _text("note"),
    _whole("created_at"),
    _text("created_by"),
    sa.CheckConstraint("voided IN (0, 1)", name="voided"),
)
api_token = _table(
    "api_token",
    _key(),
    _to("expert"),
    _text("label"),  # what it is for
    _text("token_hash"),
    _whole("created_at"),
    _whole("expires_at"),
    _whole("revoked_at", null=True),
    sa.UniqueConstraint("token_hash"),
    sa.Index(None, "expert"),
)
webhook = _table(
    "webhook",
    _key(),
    _text("url"),
    _text("events"),  # with commas between
    _text("secret"),  # signs what is sent, so it is kept as it is
    _text("created_by"),
    _whole("created_at"),
    _whole("delivered"),  # the last label_event that was delivered
    _whole("failures", default="0"),  # since the last delivery
    _whole("next_at", default="0"),  # not tried before that
    _text("problem", default=""),  # of the last try
)
webhook_finished = _table(  # campaigns whose end was delivered
    "webhook_finished",
    sa.Column("webhook", WHOLE, sa.ForeignKey("webhook.id"), primary_key=True),
    sa.Column("campaign", WHOLE, sa.ForeignKey("campaign.id"), primary_key=True),
)
flag = _table(
    "flag",
    _key(),
    _text("token"),
    _to("assignment"),
    _text("reason"),
    _whole("created_at"),
    _whole("resolved_at", null=True),
    _text("resolved_by", null=True),
    sa.UniqueConstraint("token"),
    sa.Index(None, "assignment"),
)
audit = _table(
    "audit",
    _key(),
    _whole("created_at"),
    _text("actor"),
    _text("act"),
    _text("subject"),
    _text("detail"),
)
guideline = _table(
    "guideline",
    _key(),
    _text("version"),  # its name, which campaigns and labels store
    _text("content"),  # Markdown
    _whole("created_at"),
    _text("created_by"),
    sa.Column("language", TEXT, nullable=False, server_default=""),  # of the text; "": unknown
    sa.UniqueConstraint("version"),
)
example = _table(
    "example",
    _key(),
    _to("guideline"),
    _to("pair"),
    _whole("position"),
    _text("kind"),
    _whole("value", null=True),  # none: at the border, either answer may stand
    _text("note"),
    sa.UniqueConstraint("guideline", "pair"),
    _among("kind", EXAMPLES),
    sa.CheckConstraint("value IN (0, 1)", name="value"),
)
calibration_plan = _table(
    "calibration_plan",
    sa.Column("campaign", WHOLE, sa.ForeignKey("campaign.id"), primary_key=True, autoincrement=False),
    _whole("size"),
    sa.Column("needed", REAL, nullable=False),  # the share of right answers that ends calibration
)
calibration_round = _table(
    "calibration_round",
    _key(),
    _to("campaign"),
    _to("expert"),
    _whole("number"),  # 1, 2, ... of this expert in this campaign
    _text("guideline"),
    sa.Column("needed", REAL, nullable=False),
    _whole("created_at"),
    sa.UniqueConstraint("campaign", "expert", "number"),
)
calibration_task = _table(
    "calibration_task",
    _key(),
    _to("calibration_round", "round"),
    _to("pair"),
    _whole("position"),
    _whole("expected", null=True),
    _text("note"),
    sa.UniqueConstraint("round", "pair"),
    sa.CheckConstraint("expected IN (0, 1)", name="expected"),
)
calibration_answer = _table(
    "calibration_answer",
    _key(),
    _to("calibration_task", "task"),
    _text("token"),
    _whole("value", null=True),
    sa.Column("seconds", REAL, nullable=True),
    _whole("created_at"),
    sa.UniqueConstraint("task"),
    sa.UniqueConstraint("token"),
    sa.CheckConstraint("value IN (0, 1)", name="value"),
    sa.CheckConstraint("seconds >= 0", name="seconds"),
)

APPEND_ONLY = (
    "label_event",
    "audit",
    "vote_import",
    "import_void",
    "guideline",
    "example",
    "calibration_round",
    "calibration_task",
    "calibration_answer",
)


def in_force() -> sa.ColumnElement[bool]:
    """Join `label_event` to `assignment`: the label in force, which is the last act that did not come late."""
    newer, act = label_event.alias("newer"), label_event.c
    last = ~sa.exists().where(newer.c.assignment == act.assignment, newer.c.late == 0, newer.c.sequence > act.sequence)
    given = sa.and_(act.assignment == assignment.c.id, act.late == 0)
    return sa.and_(given, sa.or_(act.sequence == assignment.c.events, last))
