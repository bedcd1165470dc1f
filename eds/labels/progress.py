"""How far one expert is in one campaign: what the judging page shows beside the pair. Reads only.

`left` and `total` come from two index ranges, so that they can be asked with every batch of a large campaign.
"""

import re
from dataclasses import dataclass

import sqlalchemy as sa

from eds.errors import InputError
from eds.labels.form import PLAIN, Form
from eds.labels.schema import (
    OPEN,
    STOPPED,
    assignment,
    calibration_round,
    calibration_task,
    campaign,
    expert,
    item,
    panel,
)
from eds.labels.store import Store
from eds.labels.validation import check_name, short

_OPEN: sa.ColumnElement[int] = sa.literal_column(str(OPEN))  # in the text, so that the index of open rows is used
_NAME: sa.BindParameter[str] = sa.bindparam("name")
_PERSON = sa.select(expert.c.id).where(expert.c.name == sa.bindparam("expert")).scalar_subquery()
_LEFT = (
    sa.select(sa.func.count())
    .where(assignment.c.campaign == campaign.c.id, assignment.c.expert == _PERSON, assignment.c.state == _OPEN)
    .scalar_subquery()
)
_WITHDRAWN = (  # tasks of pairs that were taken back: usually none, and an index of their own
    sa.select(sa.func.count())
    .select_from(item.join(assignment, assignment.c.item == item.c.id))
    .where(
        item.c.campaign == campaign.c.id,
        item.c.withdrawn_at.is_not(None),
        assignment.c.expert == _PERSON,
        assignment.c.state == _OPEN,
    )
)
_UNASKED = _WITHDRAWN.where(assignment.c.events == 0).scalar_subquery()
_SHOWN = (  # gold whose answer calibration showed this expert, so it is not asked: few, looked up one by one
    sa.select(sa.func.count())
    .where(
        item.c.campaign == campaign.c.id,
        item.c.kind == "gold",
        item.c.pair.in_(
            sa.select(calibration_task.c.pair)
            .join(calibration_round, calibration_round.c.id == calibration_task.c.round)
            .where(calibration_round.c.expert == _PERSON)
        ),
        ~sa.exists().where(assignment.c.item == item.c.id, assignment.c.expert == _PERSON),
    )
    .scalar_subquery()
)
_TOTAL = sa.select(sa.func.count()).where(item.c.campaign == campaign.c.id).scalar_subquery()
_MINE = sa.select(sa.func.count()).where(assignment.c.campaign == campaign.c.id, assignment.c.expert == _PERSON)
_OWN = _MINE.scalar_subquery()  # where an expert is asked some of the pairs
_ASKED = _MINE.where(sa.or_(assignment.c.state != STOPPED, assignment.c.events > 0)).scalar_subquery()  # adaptive
_MEMBER = sa.exists().where(
    panel.c.campaign == campaign.c.id,
    panel.c.expert == _PERSON,
    panel.c.left_at.is_(None),
)
_PROGRESS = sa.select(
    campaign.c.id,
    campaign.c.name,
    campaign.c.mode,
    campaign.c.polarity,
    campaign.c.guideline,
    campaign.c.created_at,
    campaign.c.closed_at,
    campaign.c.form,
    _MEMBER.label("member"),
    (_LEFT - _WITHDRAWN.scalar_subquery()).label("left"),
    (
        sa.case(
            (campaign.c.adaptive == 1, _ASKED), (campaign.c.experts_per_pair.is_(None), _TOTAL - _SHOWN), else_=_OWN
        )
        - _UNASKED
    ).label("total"),
).where(campaign.c.name == _NAME)


@dataclass(frozen=True)
class ExpertProgress:
    """One expert's view of one campaign."""

    handle: str  # the campaign in an address; never reused, even in a new database
    name: str
    mode: str
    polarity: str | None  # grid: what an untouched candidate means
    guideline: str  # the version in force
    closed: bool
    member: bool  # of the panel, and not left
    left: int  # still to be judged
    total: int  # of the whole campaign, as this expert is asked
    form: Form = PLAIN  # what the page asks

    @property
    def done(self) -> int:
        """No longer asked: judged, left to the lead, or decided without."""
        return self.total - self.left


def expert_progress(store: Store, campaign_name: str, expert_name: str) -> ExpertProgress:
    """Return how far this expert is in this campaign; InputError if the campaign is unknown."""
    requested = {"name": check_name(campaign_name, "campaign"), "expert": check_name(expert_name, "expert")}
    row = store.read(lambda connection: connection.execute(_PROGRESS, requested).first())
    if row is None:
        raise InputError(
            f"unknown campaign {short(campaign_name)}", where="campaign", hint="See your list of campaigns."
        )
    closed, member = row.closed_at is not None, bool(row.member)
    return ExpertProgress(
        handle=_handle(row.id, row.created_at),
        name=row.name,
        mode=row.mode,
        polarity=row.polarity,
        guideline=row.guideline,
        closed=closed,
        member=member,
        left=row.left if member and not closed else 0,
        total=row.total,
        form=Form.of(row.form),
    )


def find_campaign(store: Store, handle: str) -> str | None:
    """Return the name of the campaign with this handle, None if it is unknown."""
    if not re.fullmatch(r"[0-9a-f]{1,15}-[0-9a-f]{1,15}", handle):
        return None
    number, created = (int(part, 16) for part in handle.split("-"))
    query = sa.select(campaign.c.name).where(campaign.c.id == number, campaign.c.created_at == created)
    result = store.read(lambda connection: connection.execute(query).scalar())
    return None if result is None else str(result)


def _handle(number: int, created_at: int) -> str:
    return f"{number:x}-{created_at:x}"
