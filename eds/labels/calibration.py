"""Calibration: a short round of pairs with known answers, with feedback after each, before the first session.

What an expert answers here is never a vote: it is kept, append-only, in tables of its own. A round asks the
examples of the guideline in force and gold pairs that neither this campaign asks nor another one has planted for this
expert (an expert who has seen the answer must not meet the pair again as hidden gold: see also gold.py). Its pairs are
stored when it begins, so a reload goes on where it stopped. A round that falls short of what the lead asks for is
followed by another one.
"""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels import audit
from eds.labels.bulk import insert
from eds.labels.calibration_draw import candidates, chosen
from eds.labels.experts import known
from eds.labels.judgements import NotYoursError
from eds.labels.permissions import check_lead
from eds.labels.schema import (
    calibration_answer,
    calibration_plan,
    calibration_round,
    calibration_task,
    campaign,
    expert,
    pair,
    panel,
)
from eds.labels.store import Store
from eds.labels.validation import MOST_SECONDS, check, check_name, short

MOST = 200  # pairs of a round


@dataclass(frozen=True)
class Round:
    """How far an expert is with a round, and how well it went so far."""

    round: int  # its number in the store
    number: int  # 1, 2, ... of this expert
    guideline: str
    size: int
    answered: int
    counted: int  # answered ones that have a right answer
    right: int
    needed: float

    @property
    def finished(self) -> bool:
        """Whether every pair is answered."""
        return self.answered == self.size

    @property
    def share(self) -> float | None:
        """Right ones of those counted; nothing where none counts."""
        return self.right / self.counted if self.counted else None

    @property
    def passed(self) -> bool:
        """Whether it ended as well as the lead asks for."""
        return self.finished and self.right >= self.needed * self.counted


@dataclass(frozen=True)
class CalibrationTask:
    """A pair of a round; the expected answer is shown only after the expert's."""

    task: int
    query_id: str
    candidate_id: str
    place: int  # from 1


@dataclass(frozen=True)
class Feedback:
    """What an answer was worth."""

    query_id: str
    candidate_id: str
    value: int | None
    expected: int | None  # None: either is right
    note: str

    @property
    def right(self) -> bool | None:
        """Whether the answer was right, None where either is right. Unsure is wrong."""
        return None if self.expected is None else self.value == self.expected


def plan_calibration(store: Store, name: str, size: int, needed: float = 0.8, *, by: str = "") -> None:
    """Let each expert of a campaign begin with a round of `size` pairs (0: no more), of which a share must be right."""
    if type(size) is not int or not 0 <= size <= MOST:
        raise InputError(f"size is {size!r}", where="calibration", hint=f"Give a number of pairs from 0 to {MOST}.")
    if not 0 <= needed <= 1:
        raise InputError(f"needed is {needed!r}", where="calibration", hint="Give a share from 0 to 1.")

    def act(connection: sa.Connection) -> None:
        check_lead(connection, store, by, "plan a calibration")
        number = campaign_row(connection, name).id
        if size and not candidates(connection, number):
            raise InputError(
                "there is nothing to calibrate with",
                where="calibration",
                hint="Save a guideline with examples and put it in force, or add gold pairs first.",
            )
        connection.execute(sa.delete(calibration_plan).where(calibration_plan.c.campaign == number))
        if size:
            connection.execute(sa.insert(calibration_plan).values(campaign=number, size=size, needed=float(needed)))
        audit.note(connection, store.now(), by, "plan calibration", name, size=size, needed=needed)

    store.write(act)


def planned(store: Store, name: str) -> tuple[int, float] | None:
    """The size and the needed share of a campaign's rounds; None if it has none."""

    def find(connection: sa.Connection) -> tuple[int, float] | None:
        query = sa.select(calibration_plan.c.size, calibration_plan.c.needed)
        row = connection.execute(query.where(calibration_plan.c.campaign == campaign_row(connection, name).id)).first()
        return None if row is None else (row.size, row.needed)

    return store.read(find)


def due(store: Store, name: str, expert_name: str) -> bool:
    """Whether this expert must calibrate before the campaign's own pairs: planned, and the last round is not passed."""
    if planned(store, name) is None:
        return False
    rounds = rounds_of(store, name, expert_name)
    return not (rounds and rounds[-1].passed)


def ask_again(store: Store, name: str, expert_name: str, *, by: str = "") -> Round:
    """Begin another round for an expert, who must pass it before going on; an open round stays as it is."""

    def act(connection: sa.Connection) -> None:
        check_lead(connection, store, by, "ask for calibration")
        audit.note(connection, store.now(), by, "ask for calibration", name, expert=expert_name)

    store.read(lambda connection: campaign_row(connection, name))
    made = begin_round(store, name, expert_name)
    store.write(act)
    return made


def rounds_of(store: Store, name: str, expert_name: str) -> list[Round]:
    """Every round of an expert in a campaign, oldest first."""

    def find(connection: sa.Connection) -> list[Round]:
        number, person = campaign_row(connection, name).id, known(connection, expert_name)
        return _rounds(connection, number, person)

    return store.read(find)


def begin_round(store: Store, name: str, expert_name: str) -> Round:
    """Return this expert's open round, or begin a new one."""

    def act(connection: sa.Connection) -> Round:
        result, person = campaign_row(connection, name), known(connection, expert_name)
        member = sa.select(panel.c.expert).where(
            panel.c.campaign == result.id, panel.c.expert == person, panel.c.left_at.is_(None)
        )
        if connection.execute(member).first() is None:
            raise InputError(f"{short(expert_name)} is not on the panel", where="calibration", hint="Ask your lead.")
        rounds = _rounds(connection, result.id, person)
        if rounds and not rounds[-1].finished:
            return rounds[-1]
        plan = connection.execute(sa.select(calibration_plan).where(calibration_plan.c.campaign == result.id)).first()
        if plan is None:
            raise InputError("the campaign has no calibration", where="calibration", hint="Begin with its pairs.")
        number = len(rounds) + 1
        drawn = chosen(connection, result, expert_name, person, number, plan.size)
        if not drawn:
            raise InputError("there is nothing to calibrate with", where="calibration", hint="Ask your lead for gold.")
        values = {
            "campaign": result.id,
            "expert": person,
            "number": number,
            "guideline": result.guideline,
            "needed": plan.needed,
            "created_at": store.now(),
        }
        made = sa.insert(calibration_round).values(values).returning(calibration_round.c.id)
        of = connection.execute(made).scalar_one()
        total = {name: pa.array([row[name] for row in drawn], pa.int64()) for name in ("pair", "expected")}
        total |= {"round": pa.array([of] * len(drawn), pa.int64()), "position": pa.array(range(1, len(drawn) + 1))}
        notes = pa.array([row["note"] for row in drawn], pa.string())
        insert(connection, calibration_task, pa.table({**total, "note": notes}))
        return _rounds(connection, result.id, person)[-1]

    try:
        return store.write(act)
    except sa.exc.IntegrityError:  # two tabs at the same moment: the other one's round is there now
        return store.write(act)


def open_tasks(store: Store, round_number: int, expert_name: str) -> list[CalibrationTask]:
    """The pairs of this expert's round that are not answered, in order."""
    query = (
        sa.select(calibration_task.c.id, pair.c.query_id, pair.c.candidate_id, calibration_task.c.position)
        .join(calibration_round, calibration_round.c.id == calibration_task.c.round)
        .join(expert, expert.c.id == calibration_round.c.expert)
        .join(pair, pair.c.id == calibration_task.c.pair)
        .outerjoin(calibration_answer, calibration_answer.c.task == calibration_task.c.id)
        .where(calibration_round.c.id == round_number, expert.c.name == expert_name, calibration_answer.c.id.is_(None))
        .order_by(calibration_task.c.position)
    )
    return [CalibrationTask(*row) for row in store.read(lambda connection: connection.execute(query).all())]


def next_task(store: Store, round_number: int, expert_name: str) -> CalibrationTask | None:
    """The first pair of this expert's round that is not answered; None when it is finished."""
    return next(iter(open_tasks(store, round_number, expert_name)), None)


def answer(
    store: Store, expert_name: str, task: int, value: int | None, token: str, *, seconds: float | None = None
) -> Feedback:
    """Keep the first answer to a task of this expert, and say what was expected. A second one changes nothing.

    One transaction with one question, since the expert waits for it: who has left the panel is refused by it, too.
    """
    check(token, "token")
    if not (value is None or (type(value) is int and value in (0, 1))):
        raise InputError(f"value is {value!r}, not 1, 0 or nothing", where="calibration", hint="Give one of these.")
    if seconds is not None and not (isinstance(seconds, (int, float)) and 0 <= seconds <= MOST_SECONDS):
        raise InputError("seconds is out of range", where="calibration", hint=f"Give 0 to {MOST_SECONDS:.0e}.")
    if type(task) is not int or not 0 < task < 2**63:
        raise InputError("the task's number is out of range", where="calibration", hint="Reload the page.")

    def act(connection: sa.Connection) -> Feedback:
        result = connection.execute(
            _FEEDBACK.where(expert.c.name == expert_name, calibration_task.c.id == task)
        ).first()
        if result is None:
            raise InputError(
                f"{task} is not a task of {short(expert_name)}", where="calibration", hint="Begin a round."
            )
        if result.disabled_at is not None:
            raise InputError(f"expert {short(expert_name)} is disabled", where="expert", hint="Ask your lead.")
        if result.member is None:
            raise NotYoursError(f"{short(expert_name)} is not on the panel", where="calibration", hint="Ask your lead.")
        values = value
        if result.answer is not None:
            values = result.value
        else:
            connection.execute(
                sa.insert(calibration_answer).values(
                    task=task, token=token, value=value, seconds=seconds, created_at=store.now()
                )
            )
        return Feedback(result.query_id, result.candidate_id, values, result.expected, result.note)

    try:
        return store.write(act, again=True)
    except sa.exc.IntegrityError as error:
        if store.read(lambda connection: connection.execute(_TOKEN, {"token": token, "number": task}).first()):
            raise InputError(
                f"token {short(token)} names another act", where="calibration", hint="Give another."
            ) from error
        return store.write(act, again=True)  # answered at the same moment elsewhere


def feedback(store: Store, round_number: int, expert_name: str) -> list[Feedback]:
    """Everything answered so far in this expert's round, in order."""
    query = _FEEDBACK.where(expert.c.name == expert_name, calibration_round.c.id == round_number)
    query = query.where(calibration_answer.c.id.is_not(None)).order_by(calibration_task.c.position)
    rows = store.read(lambda connection: connection.execute(query).all())
    return [Feedback(row.query_id, row.candidate_id, row.value, row.expected, row.note) for row in rows]


_FEEDBACK = (
    sa.select(
        pair.c.query_id,
        pair.c.candidate_id,
        calibration_task.c.expected,
        calibration_task.c.note,
        calibration_answer.c.value,
        calibration_answer.c.id.label("answer"),
        expert.c.disabled_at,
        panel.c.expert.label("member"),
    )
    .select_from(calibration_task)
    .join(calibration_round, calibration_round.c.id == calibration_task.c.round)
    .join(expert, expert.c.id == calibration_round.c.expert)
    .join(pair, pair.c.id == calibration_task.c.pair)
    .outerjoin(calibration_answer, calibration_answer.c.task == calibration_task.c.id)
    .outerjoin(
        panel,
        sa.and_(
            panel.c.campaign == calibration_round.c.campaign,
            panel.c.expert == calibration_round.c.expert,
            panel.c.left_at.is_(None),
        ),
    )
)
_TOKEN = sa.select(calibration_answer.c.id).where(
    calibration_answer.c.token == sa.bindparam("token"), calibration_answer.c.task != sa.bindparam("number")
)


def campaign_row(connection: sa.Connection, name: str) -> Any:
    """Return the row of this campaign; InputError if the name is unknown."""
    check_name(name, "campaign")
    row = connection.execute(sa.select(campaign).where(campaign.c.name == name)).first()
    if row is None:
        raise InputError(f"unknown campaign {short(name)}", where="campaign", hint="See eds labels campaigns list.")
    return row


def _rounds(connection: sa.Connection, number: int, person: int) -> list[Round]:
    right = sa.and_(calibration_answer.c.value == calibration_task.c.expected)
    counted = sa.and_(calibration_answer.c.id.is_not(None), calibration_task.c.expected.is_not(None))

    def count(condition: "sa.ColumnElement[bool]") -> "sa.ColumnElement[int]":
        return sa.func.sum(sa.case((condition, 1), else_=0))

    of = calibration_round.c
    query = (
        sa.select(
            of.id,
            of.number,
            of.guideline,
            sa.func.count(),
            count(calibration_answer.c.id.is_not(None)),
            count(counted),
            count(right),
            of.needed,
        )
        .join(calibration_task, calibration_task.c.round == of.id)
        .outerjoin(calibration_answer, calibration_answer.c.task == calibration_task.c.id)
        .where(of.campaign == number, of.expert == person)
        .group_by(of.id, of.number, of.guideline, of.needed)
        .order_by(of.number)
    )
    result = connection.execute(query).all()
    return [Round(row[0], row[1], row[2], int(row[3]), int(row[4]), int(row[5]), int(row[6]), row[7]) for row in result]
