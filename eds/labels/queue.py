"""What an expert judges next. Reads only: handing out writes nothing, and asking twice gives the same.

A task says nothing of model, rank, origin or other experts' votes, nor whether it is gold.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby

import pandas as pd
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels.bulk import frame
from eds.labels.schema import (
    DONE,
    OPEN,
    STOPPED,
    UNFINISHED,
    WHOLE,
    assignment,
    campaign,
    expert,
    flag,
    in_force,
    item,
    label_event,
    pair,
    panel,
)
from eds.labels.store import Store
from eds.labels.validation import check_name, short


@dataclass(frozen=True)
class Task:
    """One question to one expert."""

    assignment: int
    query_id: str
    candidate_id: str
    mode: str  # as it is to be shown: a repeat of a grid is shown as a pair
    returned: bool  # was unsure or flagged before


@dataclass(frozen=True)
class Answer:
    """What an expert said to a task, as now in force."""

    task: Task
    value: int | None
    label_id: str
    seconds: float | None  # of a grid page the same for all that was answered at once
    at: int = 0  # microseconds since 1970


_CAMPAIGN = sa.select(campaign.c.id).where(campaign.c.name == sa.bindparam("campaign")).scalar_subquery()
_EXPERT = sa.select(expert.c.id).where(expert.c.name == sa.bindparam("expert")).scalar_subquery()
_MODE = sa.case((item.c.kind == "repeat", "pair"), else_=campaign.c.mode)
_OPEN: sa.ColumnElement[int] = sa.literal_column(
    str(OPEN)
)  # in the statement's text, so that the index of open rows is used
_SHOWN = (assignment.c.id, pair.c.query_id, pair.c.candidate_id, _MODE.label("mode"), assignment.c.returned)
_JOINED = (
    assignment.join(item, item.c.id == assignment.c.item)
    .join(pair, pair.c.id == item.c.pair)
    .join(campaign, campaign.c.id == assignment.c.campaign)
)
_NEXT = (
    sa.select(*_SHOWN)
    .select_from(_JOINED)
    .where(
        assignment.c.campaign == _CAMPAIGN,
        assignment.c.expert == _EXPERT,
        assignment.c.state == _OPEN,
        item.c.withdrawn_at.is_(None),
        campaign.c.closed_at.is_(None),
        sa.exists().where(expert.c.id == assignment.c.expert, expert.c.disabled_at.is_(None)),
        sa.exists().where(
            panel.c.campaign == assignment.c.campaign,
            panel.c.expert == assignment.c.expert,
            panel.c.left_at.is_(None),
        ),
    )
    .order_by(assignment.c.position, assignment.c.id)
    .limit(sa.bindparam("count"))
)
_LAST = (
    sa.select(*_SHOWN, label_event.c.value, label_event.c.label_id, label_event.c.seconds, label_event.c.created_at)
    .select_from(_JOINED.join(label_event, label_event.c.assignment == assignment.c.id))
    .where(
        assignment.c.campaign == _CAMPAIGN,
        assignment.c.expert == _EXPERT,
        label_event.c.sequence == assignment.c.events,
    )
    .order_by(label_event.c.id.desc())
    .limit(sa.bindparam("count"))
)


def next_batch(
    store: Store, campaign_name: str, expert_name: str, count: int = 20, *, skip: Collection[int] = ()
) -> list[Task]:
    """The next tasks in this expert's order, without those of `skip` (which the page holds already)."""
    if count < 1:
        raise InputError(f"count is {count}", where="next batch", hint="Ask for at least 1.")
    requested = {**_names(campaign_name, expert_name), "count": count + len(skip)}
    rows = store.read(lambda connection: connection.execute(_NEXT, requested).all())
    if not rows:
        _refuse_strangers(store, campaign_name, expert_name)
    tasks = [Task(row[0], row[1], row[2], row[3], bool(row[4])) for row in rows if row[0] not in skip]
    return tasks[:count]


def next_pages(
    store: Store, campaign_name: str, expert_name: str, pages: int = 3, size: int = 30, *, skip: Collection[int] = ()
) -> list[list[Task]]:
    """The next pages of a grid: each one query's tasks of one mode and round, at most `size` of them."""
    room = pages * size
    tasks = next_batch(store, campaign_name, expert_name, room + size, skip=skip)
    result = [
        group[start : start + size]
        for group in (list(part) for _, part in groupby(tasks, lambda task: (task.query_id, task.mode, task.returned)))
        for start in range(0, len(group), size)
    ]
    if len(tasks) == room + size and len(result) > 1:
        result.pop()  # its query may go on behind the batch
    return result[:pages]


def last_answers(
    store: Store, campaign_name: str, expert_name: str, count: int = 20, *, only: int | None = None
) -> list[Answer]:
    """What this expert judged last, latest first: for undo after a reload; `only` one assignment."""
    requested = {**_names(campaign_name, expert_name), "count": count}
    query = _LAST if only is None else _LAST.where(assignment.c.id == only)
    rows = store.read(lambda connection: connection.execute(query, requested).all())
    return [Answer(Task(row[0], row[1], row[2], row[3], bool(row[4])), *row[5:]) for row in rows]


def progress(store: Store, campaign_name: str | None = None) -> pd.DataFrame:
    """For each campaign and expert: total, done, left, stopped (decided without), unsure, flagged, left_panel.

    Who left the panel has nothing left, and nobody has pairs left that were taken back; `total` counts what was judged
    or set aside before.
    """

    def count(condition: "sa.ColumnElement[bool]", name: str) -> "sa.Label[int]":
        return sa.cast(sa.func.sum(sa.case((condition, 1), else_=0)), WHOLE).label(name)

    asked = sa.and_(panel.c.left_at.is_(None), item.c.withdrawn_at.is_(None))
    counted = sa.or_(assignment.c.events > 0, assignment.c.state != OPEN, asked)
    flagged = sa.exists().where(flag.c.assignment == assignment.c.id, flag.c.resolved_at.is_(None))
    query = (
        sa.select(
            campaign.c.name.label("campaign"),
            expert.c.name.label("expert"),
            count(sa.and_(assignment.c.id.is_not(None), counted), "total"),
            count(assignment.c.state == DONE, "done"),
            count(sa.and_(assignment.c.state == OPEN, asked), "left"),
            count(assignment.c.state == STOPPED, "stopped"),
            count(sa.and_(label_event.c.id.is_not(None), label_event.c.value.is_(None)), "unsure"),
            count(flagged, "flagged"),
            sa.cast(sa.func.max(sa.case((panel.c.left_at.is_(None), 0), else_=1)), WHOLE).label("left_panel"),
        )
        .select_from(panel)
        .join(campaign, campaign.c.id == panel.c.campaign)
        .join(expert, expert.c.id == panel.c.expert)
        .outerjoin(assignment, sa.and_(assignment.c.campaign == campaign.c.id, assignment.c.expert == expert.c.id))
        .outerjoin(item, item.c.id == assignment.c.item)
        .outerjoin(label_event, in_force())
        .group_by(campaign.c.id, campaign.c.name, expert.c.id, expert.c.name)
        .order_by(campaign.c.id, expert.c.id)
    )
    if campaign_name is not None:
        query = query.where(campaign.c.name == check_name(campaign_name, "campaign"))
    return store.read(lambda connection: frame(connection, query))


def list_campaigns(store: Store) -> pd.DataFrame:
    """Every campaign: its plan, created_at, closed_at, items and experts."""
    asked = sa.and_(item.c.campaign == campaign.c.id, item.c.withdrawn_at.is_(None))
    items = sa.select(sa.func.count()).where(asked).scalar_subquery()
    experts = sa.select(sa.func.count()).where(panel.c.campaign == campaign.c.id, panel.c.left_at.is_(None))
    plan = [column for column in campaign.c if column.name != "id"]
    query = sa.select(
        *plan, sa.cast(items, WHOLE).label("items"), sa.cast(experts.scalar_subquery(), WHOLE).label("experts")
    )
    query = query.where(~UNFINISHED).order_by(campaign.c.id)
    result = store.read(lambda connection: frame(connection, query, "created_at", "closed_at", "withdrawn_at"))
    return result.assign(early_stop=result["early_stop"] == 1, adaptive=result["adaptive"] == 1)


def _names(campaign_name: str, expert_name: str) -> dict[str, str]:
    return {"campaign": check_name(campaign_name, "campaign"), "expert": check_name(expert_name, "expert")}


def _refuse_strangers(store: Store, campaign_name: str, expert_name: str) -> None:
    """Nothing to do is an answer; an unknown name is a mistake."""
    names: Sequence[tuple[str, str, sa.Table]] = (
        (campaign_name, "campaign", campaign),
        (expert_name, "expert", expert),
    )
    for name, kind, table in names:
        query = sa.select(table.c.id).where(table.c.name == name)
        if store.read(lambda connection, query=query: connection.execute(query).first()) is None:  # type: ignore[misc]
            raise InputError(f"unknown {kind} {short(name)}", where=kind, hint=f"See eds labels {kind}s list.")
