"""Flags that experts set on tasks: what is open, and a lead's word that it is dealt with.

Set by `events.flag_task`. A resolved flag stays, with who resolved it and when. Resolving changes no label; with
`again` the question goes back to the expert, for whom a task that was flagged twice would else never come back.
"""

import pandas as pd
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels import audit, early_stop
from eds.labels.bulk import frame
from eds.labels.permissions import check_lead
from eds.labels.schema import ASIDE, OPEN, assignment, campaign, expert, flag, in_force, item, label_event, pair
from eds.labels.store import Store
from eds.labels.validation import check_name


def open_flags(store: Store, campaign_name: str | None = None) -> pd.DataFrame:
    """Return the flags that are not resolved, oldest first.

    Columns: flag, campaign, query_id, candidate_id, kind, expert, reason, created_at, judged (whether that expert gave
    an answer all the same), value (the answer; missing: unsure or none).
    """
    judged = sa.case((label_event.c.id.is_not(None), 1), else_=0)
    query = (
        sa.select(
            flag.c.id.label("flag"),
            campaign.c.name.label("campaign"),
            pair.c.query_id,
            pair.c.candidate_id,
            item.c.kind,
            expert.c.name.label("expert"),
            flag.c.reason,
            flag.c.created_at,
            judged.label("judged"),
            label_event.c.value,
        )
        .join(assignment, assignment.c.id == flag.c.assignment)
        .join(expert, expert.c.id == assignment.c.expert)
        .join(item, item.c.id == assignment.c.item)
        .join(pair, pair.c.id == item.c.pair)
        .join(campaign, campaign.c.id == item.c.campaign)
        .outerjoin(label_event, in_force())
        .where(flag.c.resolved_at.is_(None))
        .order_by(flag.c.id)
    )
    if campaign_name is not None:
        query = query.where(campaign.c.name == check_name(campaign_name, "campaign"))
    result = store.read(lambda connection: frame(connection, query, "created_at"))
    return result.assign(judged=result["judged"] == 1)


def resolve_flag(store: Store, number: int, *, by: str, again: bool = False) -> bool:
    """Resolve a flag; False if it was resolved before. `again` asks the expert once more."""
    check_name(by, "by")

    def act(connection: sa.Connection) -> bool:
        check_lead(connection, store, by, "resolve a flag")
        wanted = sa.select(flag.c.resolved_at, flag.c.assignment).where(flag.c.id == number)
        row = connection.execute(wanted).first() if 0 < number < 2**63 else None
        if row is None:
            raise InputError(f"unknown flag {number}", where="flag", hint="See eds labels flags list.")
        now = store.now()
        change = sa.update(flag).where(flag.c.id == number, flag.c.resolved_at.is_(None))
        if connection.execute(change.values(resolved_at=now, resolved_by=by)).rowcount == 0:
            return False
        if again:
            _ask_again(connection, row.assignment)
        audit.note(connection, now, by, "resolve flag", str(number), again=again)
        return True

    return store.write(act)


def _ask_again(connection: sa.Connection, number: int) -> None:
    """Reopen a task that was set aside; with early stop it may be decided by now."""
    of = connection.execute(
        sa.select(item.c.id, campaign.c.early_stop)
        .join(assignment, assignment.c.item == item.c.id)
        .join(campaign, campaign.c.id == item.c.campaign)
        .where(assignment.c.id == number)
        .with_for_update(of=item, key_share=True)
    ).one()
    aside = sa.and_(assignment.c.id == number, assignment.c.state == ASIDE)
    connection.execute(sa.update(assignment).where(aside).values(state=OPEN))
    if of.early_stop:
        early_stop.settle(connection, items=[of.id])
