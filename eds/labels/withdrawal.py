"""Pairs taken back from the campaigns that ask them, and given back; nothing that was judged is touched.

An item that is taken back is in nobody's queue. Its tasks stay, so that a judgement that is on its way, from a page
without a network, is stored as ever. A pair that some of its panel have judged waits for the others, also while it is
taken back: their votes are kept, and decide once it is given back and judged.
"""

from dataclasses import dataclass

import pandas as pd
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels import audit
from eds.labels.bulk import frame
from eds.labels.permissions import check_lead
from eds.labels.schema import OPEN, WHOLE, assignment, campaign, item, pair
from eds.labels.store import Store
from eds.labels.validation import check_name, short

KEY = ["query_id", "candidate_id", "kind"]
PAIR = ["query_id", "candidate_id"]


@dataclass(frozen=True)
class Withdrawal:
    """What a campaign's undoing takes back."""

    withdrawn: int  # pairs that nobody has judged
    begun: int  # pairs that somebody has judged: they stay, and are asked on
    tasks: int  # judgements that are not asked any more


def judged_pairs(store: Store) -> pd.DataFrame:
    """Every pair with an act: query_id, candidate_id."""
    judged = sa.exists().where(item.c.pair == pair.c.id, assignment.c.item == item.c.id, assignment.c.events > 0)
    query = sa.select(pair.c.query_id, pair.c.candidate_id).where(judged).order_by(pair.c.id)
    return store.read(lambda connection: frame(connection, query))


def withdraw_pairs(store: Store, pairs: pd.DataFrame, *, begun: bool = False, by: str = "") -> int:
    """Take pairs (query_id, candidate_id, kind) back from every open campaign; how many tasks are asked no more.

    Pairs that somebody has judged stay in the queue of the others, unless `begun`.
    """

    def act(connection: sa.Connection) -> int:
        check_lead(connection, store, by, "take pairs back")
        asked = _asked(connection, campaign.c.closed_at.is_(None))
        asked = asked[(asked["withdrawn"] == 0) & (asked["open"] > 0)].merge(pairs[KEY].drop_duplicates(), on=KEY)
        chosen = asked if begun else asked[asked["acts"] == 0]
        _mark(connection, chosen, store.now())
        _note(connection, store, by, "take pairs back", chosen)
        return int(chosen["open"].sum())

    return store.write(act)


def give_back(store: Store, pairs: pd.DataFrame, *, by: str = "") -> int:
    """Ask pairs (query_id, candidate_id, kind) again that were taken back; how many tasks are open again."""

    def act(connection: sa.Connection) -> int:
        check_lead(connection, store, by, "ask pairs again")
        live = sa.and_(campaign.c.closed_at.is_(None), campaign.c.withdrawn_at.is_(None))
        asked = _asked(connection, sa.and_(live, item.c.withdrawn_at.is_not(None)))
        chosen = asked.merge(pairs[KEY].drop_duplicates(), on=KEY)
        _mark(connection, chosen, None)
        _note(connection, store, by, "ask pairs again", chosen)
        return int(chosen["open"].sum())

    return store.write(act)


def undo_campaign(store: Store, name: str, *, by: str = "") -> Withdrawal:
    """Ask no more what nobody has judged in a campaign; without any judgement it is closed."""
    check_name(name, "campaign")

    def act(connection: sa.Connection) -> Withdrawal:
        check_lead(connection, store, by, "undo a campaign")
        found = sa.select(campaign).where(campaign.c.name == name).with_for_update(key_share=True)
        row = connection.execute(found).first()
        if row is None:
            raise InputError(f"unknown campaign {short(name)}", where="campaign", hint="See eds labels campaigns list.")
        asked = _asked(connection, campaign.c.id == row.id)
        acts = asked.groupby(PAIR)["acts"].transform("sum")
        free = asked[(acts == 0) & (asked["withdrawn"] == 0)]
        begun = len(asked.loc[acts > 0, PAIR].drop_duplicates())
        result = Withdrawal(len(free[PAIR].drop_duplicates()), begun, int(free["open"].sum()))
        now = store.now()
        _mark(connection, free, now)
        values = {"withdrawn_at": now, **({} if begun or row.closed_at else {"closed_at": now})}
        connection.execute(sa.update(campaign).where(campaign.c.id == row.id).values(values))
        audit.note(connection, now, by, "undo campaign", name, pairs=result.withdrawn, judged=begun)
        return result

    return store.write(act)


def _asked(connection: sa.Connection, within: "sa.ColumnElement[bool]") -> pd.DataFrame:
    """The items: id, campaign, query_id, candidate_id, kind, withdrawn, acts, open (tasks)."""
    is_open = sa.case((assignment.c.state == OPEN, 1), else_=0)
    query = (
        sa.select(
            item.c.id,
            campaign.c.name.label("campaign"),
            pair.c.query_id,
            pair.c.candidate_id,
            item.c.kind,
            sa.cast(sa.case((item.c.withdrawn_at.is_(None), 0), else_=1), WHOLE).label("withdrawn"),
            sa.cast(sa.func.coalesce(sa.func.sum(assignment.c.events), 0), WHOLE).label("acts"),
            sa.cast(sa.func.coalesce(sa.func.sum(is_open), 0), WHOLE).label("open"),
        )
        .join(campaign, campaign.c.id == item.c.campaign)
        .join(pair, pair.c.id == item.c.pair)
        .outerjoin(assignment, assignment.c.item == item.c.id)
        .where(within)
        .group_by(item.c.id, campaign.c.name, pair.c.query_id, pair.c.candidate_id, item.c.kind, item.c.withdrawn_at)
        .order_by(item.c.id)
    )
    return frame(connection, query)


def _mark(connection: sa.Connection, chosen: pd.DataFrame, moment: int | None) -> None:
    change = sa.update(item).where(item.c.id == sa.bindparam("number")).values(withdrawn_at=moment)
    if len(chosen):
        connection.execute(change, [{"number": number} for number in chosen["id"].tolist()])


def _note(connection: sa.Connection, store: Store, by: str, act: str, chosen: pd.DataFrame) -> None:
    for name, part in chosen.groupby("campaign"):
        audit.note(connection, store.now(), by, act, str(name), pairs=len(part[PAIR].drop_duplicates()))
