"""A lead's decision on a pair that experts dispute, were unsure of or flagged: kept beside the votes, never among them.

A decision is an act of the lead in a campaign of its own, NAME (adjudicated), which is closed, so nobody is asked for
it. So it is as durable and append-only as a vote, yet `labels_frame` leaves it out unless that campaign is named: raw
votes do not change, and `truth decide` chooses whether decisions count.
"""

import json
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels import audit, chain
from eds.labels.bulk import frame
from eds.labels.frames import ADJUDICATION
from eds.labels.judgements import Receipt
from eds.labels.permissions import LEADS
from eds.labels.schema import DONE, assignment, campaign, expert, item, label_event, pair, panel
from eds.labels.schema import audit as log
from eds.labels.store import Store
from eds.labels.validation import check, check_long, check_name, short

SUFFIX = " (adjudicated)"
ACT = "adjudicate"


def adjudicate(
    store: Store,
    campaign_name: str,
    query_id: str,
    candidate_id: str,
    value: int | None,
    *,
    by: str,
    token: str,
    note: str = "",
) -> Receipt:
    """Store a lead's decision on a pair that the campaign asks: 1 similar, 0 not, None takes an earlier one back.

    The same token again answers "already". Of several decisions by any lead the last one counts.
    """
    check(token, "token")
    check_long(note, "note")
    check_name(f"{check_name(campaign_name, 'campaign')}{SUFFIX}", "campaign")
    if not (value is None or (type(value) is int and value in (0, 1))):
        raise InputError(f"value is {value!r}, not 1, 0 or nothing", where=ACT)

    def act(connection: sa.Connection) -> Receipt:
        lead = _lead(connection, by)
        requested = _asked(connection, campaign_name, query_id, candidate_id)
        number = _assignment(connection, store.now(), campaign_name, requested, lead)
        earlier = connection.execute(
            sa.select(label_event.c.assignment, label_event.c.value).where(label_event.c.label_id == token)
        ).first()
        if earlier is not None:
            if tuple(earlier) != (number, value):
                raise InputError(f"token {short(token)} names another act", where=ACT, hint="Give a token of its own.")
            return Receipt(token, already=True)
        last = sa.select(sa.func.count(), sa.func.max(label_event.c.created_at))
        count, latest = connection.execute(last.where(label_event.c.assignment == number)).one()
        at = max(store.now(), (latest or 0) + 1)  # a clock that went back changes no order
        said = chain.Said(
            campaign=f"{campaign_name}{SUFFIX}",
            expert=by,
            query_id=query_id,
            candidate_id=candidate_id,
            kind="normal",
            label_id=token,
            sequence=count + 1,
            value=value,
            seconds=None,
            created_at=at,
            session_id=None,
            mode="pair",
            polarity=None,
            guideline=requested.guideline,
            late=0,
        )
        _store(connection, said, number, lead.id)
        text = {"query_id": query_id, "candidate_id": candidate_id, "value": value, "token": token, "note": note}
        audit.note(connection, at, by, ACT, campaign_name, **text)
        return Receipt(token, already=False)

    try:
        return store.write(act, again=True)
    except sa.exc.IntegrityError:  # two at the same moment: now the other's is there to be seen
        return store.write(act, again=True)


def adjudications(store: Store, campaign_name: str | None = None, *, as_of: datetime | None = None) -> pd.DataFrame:
    """The decisions in force: campaign, query_id, candidate_id, value, expert, created_at, label_id, note; by pair.

    A pair that was decided in several campaigns has the last decision of all.
    """
    query = (
        sa.select(
            campaign.c.name.label("campaign"),
            pair.c.query_id,
            pair.c.candidate_id,
            label_event.c.value,
            expert.c.name.label("expert"),
            label_event.c.created_at,
            label_event.c.label_id,
        )
        .join(assignment, assignment.c.id == label_event.c.assignment)
        .join(expert, expert.c.id == assignment.c.expert)
        .join(item, item.c.id == assignment.c.item)
        .join(pair, pair.c.id == item.c.pair)
        .join(campaign, campaign.c.id == item.c.campaign)
        .where(item.c.origin == ADJUDICATION)
        .order_by(label_event.c.id)
    )
    if campaign_name is not None:
        query = query.where(campaign.c.name == f"{check_name(campaign_name, 'campaign')}{SUFFIX}")
    if as_of is not None:
        if as_of.tzinfo is None:
            raise InputError(f"{as_of} has no time zone", where="as of", hint="Give a time in UTC.")
        query = query.where(label_event.c.created_at <= round(as_of.astimezone(UTC).timestamp() * 1e6))
    notes = sa.select(log.c.detail).where(log.c.act == ACT)

    def act(connection: sa.Connection) -> tuple[pd.DataFrame, list[str]]:
        return frame(connection, query, "created_at"), list(connection.execute(notes).scalars())

    result, details = store.snapshot(act)
    note_of = {text["token"]: text["note"] for text in map(json.loads, details)}
    key = ["query_id", "candidate_id"]
    last = result.drop_duplicates(key, keep="last")
    last = last[last["value"].notna()].sort_values(key, ignore_index=True)
    return last.assign(
        campaign=last["campaign"].str.removesuffix(SUFFIX), note=last["label_id"].map(note_of), value=last["value"]
    )


def _store(connection: sa.Connection, said: chain.Said, number: int, lead: int) -> None:
    """Store a decision as the next act of the lead's chain."""
    of = sa.select(assignment.c.campaign).where(assignment.c.id == number).scalar_subquery()
    mine = sa.and_(panel.c.campaign == of, panel.c.expert == lead)
    head = connection.execute(sa.select(panel.c.head).where(mine).with_for_update(key_share=True)).scalar_one()
    digest = chain.link(head, said)
    values = {name: value for name, value in said._asdict().items() if name in label_event.c}
    connection.execute(sa.insert(label_event).values(**values, assignment=number, digest=digest))
    connection.execute(sa.update(panel).where(mine).values(acts=panel.c.acts + 1, head=digest))
    connection.execute(sa.update(assignment).where(assignment.c.id == number).values(events=said.sequence))


def _lead(connection: sa.Connection, name: str) -> Any:
    """The row of an expert who may decide."""
    check_name(name, "expert")
    row = connection.execute(sa.select(expert).where(expert.c.name == name)).first()
    if row is None:
        raise InputError(f"unknown expert {short(name)}", where="expert", hint="See eds labels experts list.")
    if row.role not in LEADS or row.disabled_at is not None:
        state = "disabled" if row.disabled_at is not None else f"{row.role}, not lead"
        raise InputError(f"{short(name)} is {state}", where="expert", hint="Only leads and administrators decide.")
    return row


def _asked(connection: sa.Connection, name: str, query_id: str, candidate_id: str) -> Any:
    """pair, guideline and seed of a pair that a campaign asks."""
    row = connection.execute(
        sa.select(item.c.pair, campaign.c.guideline, campaign.c.seed)
        .join(campaign, campaign.c.id == item.c.campaign)
        .join(pair, pair.c.id == item.c.pair)
        .where(
            campaign.c.name == name,
            item.c.kind == "normal",
            item.c.origin != ADJUDICATION,
            pair.c.query_id == check(query_id, "query_id"),
            pair.c.candidate_id == check(candidate_id, "candidate_id"),
        )
    ).first()
    if row is None:
        raise InputError(
            f"campaign {short(name)} does not ask {short(query_id)} {short(candidate_id)}",
            where=ACT,
            hint="Name a campaign (eds labels campaigns list) and a pair of it.",
        )
    return row


def _assignment(connection: sa.Connection, now: int, name: str, asked: Any, lead: Any) -> int:
    """The lead's own task in the campaign of decisions; whatever of it is missing is made."""
    plan = {
        "mode": "pair",
        "guideline": "",
        "seed": asked.seed,
        "gold_share": 0.0,
        "repeat_share": 0.0,
        "early_stop": 0,
        "control_share": 0.1,
        "created_at": now,
        "closed_at": now,
    }
    held = sa.select(campaign.c.id).where(campaign.c.name == f"{name}{SUFFIX}").with_for_update(key_share=True)
    number = connection.execute(held).scalar()
    if number is None:
        insertion = sa.insert(campaign).values(name=f"{name}{SUFFIX}", **plan).returning(campaign.c.id)
        number = connection.execute(insertion).scalar_one()
    foreign = sa.select(item.c.id).where(item.c.campaign == number, item.c.origin != ADJUDICATION)
    if connection.execute(foreign.limit(1)).first() is not None:
        raise InputError(f"{short(name + SUFFIX)} is a campaign of its own already", where="campaign")
    member = {"campaign": number, "expert": lead.id}
    if connection.execute(sa.select(panel.c.expert).filter_by(**member)).first() is None:
        connection.execute(sa.insert(panel).values(**member, joined_at=now, left_at=now))
    of = _found(
        connection,
        item,
        {"campaign": number, "pair": asked.pair, "kind": "normal"},
        {"origin": ADJUDICATION, "control": 0},
    )
    return _found(
        connection,
        assignment,
        {"item": of, "expert": lead.id},
        {"campaign": number, "position": 0, "state": DONE, "events": 0, "returned": 0},
    )


def _found(connection: sa.Connection, table: sa.Table, key: dict[str, Any], rest: dict[str, Any]) -> int:
    """Return the id of the row with that key; insert it if it is missing."""
    result = connection.execute(sa.select(table.c.id).filter_by(**key)).scalar()
    if result is None:
        result = connection.execute(sa.insert(table).values(**key, **rest).returning(table.c.id)).scalar_one()
    return int(result)
