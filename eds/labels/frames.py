"""The table `labels`: what other stages read of the store."""

from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels import chain
from eds.labels.bulk import fetch, frame
from eds.labels.schema import OPEN, STOPPED, WHOLE, assignment, campaign, expert, gold, item, label_event, pair, panel
from eds.labels.store import Store
from eds.labels.validation import check_name, short
from eds.labels.vote_imports import is_void, void_imports
from eds.schema import to_frame
from eds.tables import LABELS

ADJUDICATION = "adjudication"  # origin of items that a lead decided: their acts are not votes (adjudication.py)
FURTHER = ("campaign", "mode", "polarity", *chain.BESIDE)  # what an export adds to the table's columns


def labels_frame(store: Store, *, as_of: datetime | None = None, campaign: str | None = None) -> pd.DataFrame:
    """Every act so far as the labels table, oldest first; as it was at a moment; of one campaign.

    A lead's decisions on disputed pairs are not votes: they are there only if their campaign is named.
    """
    rows = store.snapshot(lambda connection: labels_arrow(connection, store.place, as_of, campaign))
    return to_frame(rows.select(LABELS.names))


def acts_frame(store: Store, *, as_of: datetime | None = None, campaign: str | None = None) -> pd.DataFrame:
    """The same with the campaign, mode and polarity of each act behind."""
    return to_frame(store.snapshot(lambda connection: labels_arrow(connection, store.place, as_of, campaign)))


def acts_after(
    store: Store, after: int, *, limit: int, until: int | None = None, campaign_name: str | None = None
) -> pd.DataFrame:
    """Return the votes behind an act's `number`, oldest first: those of the table, read in portions.

    `until` leaves out acts that are younger (microseconds since 1970). The table has these rows, and `number` stays the
    same for ever, so who asks with the last one they have misses none.
    """
    before = label_event.alias("before")
    query = (
        sa.select(
            label_event.c.id.label("number"),
            label_event.c.label_id,
            campaign.c.name.label("campaign"),
            pair.c.query_id,
            pair.c.candidate_id,
            expert.c.name.label("expert_id"),
            label_event.c.value,
            label_event.c.seconds,
            label_event.c.created_at,
            before.c.label_id.label("supersedes"),
            item.c.kind,
            label_event.c.guideline,
        )
        .select_from(label_event)
        .join(assignment, assignment.c.id == label_event.c.assignment)
        .join(item, item.c.id == assignment.c.item)
        .join(pair, pair.c.id == item.c.pair)
        .join(campaign, campaign.c.id == assignment.c.campaign)
        .join(expert, expert.c.id == assignment.c.expert)
        .outerjoin(
            before,
            sa.and_(before.c.assignment == label_event.c.assignment, before.c.sequence == label_event.c.sequence - 1),
        )
        .where(label_event.c.id > after, label_event.c.late == 0, item.c.origin != ADJUDICATION)
        .where(~is_void())
        .order_by(label_event.c.id)
        .limit(limit)
    )
    if until is not None:
        query = query.where(label_event.c.created_at <= until)
    if campaign_name is not None:
        query = query.where(campaign.c.name == campaign_name)
    return store.read(lambda connection: frame(connection, query))


def count_late(store: Store, campaign_name: str | None = None) -> int:
    """How many acts came after the grace period (judgements.GRACE): they are kept, exported and marked, not counted."""
    query = sa.select(sa.func.count()).select_from(label_event).where(label_event.c.late == 1)
    if campaign_name is not None:
        query = query.join(assignment, assignment.c.id == label_event.c.assignment)
        query = query.join(campaign, campaign.c.id == assignment.c.campaign).where(campaign.c.name == campaign_name)
    return store.read(lambda connection: connection.execute(query).scalar_one())


def labels_arrow(
    connection: sa.Connection,
    place: str,
    as_of: datetime | None = None,
    only: str | None = None,
    *,
    late: bool = False,
) -> pa.Table:
    """The same as Arrow, with FURTHER behind; with `late` also acts after the grace period, marked in a column."""
    if as_of is not None and as_of.tzinfo is None:
        raise InputError(f"{as_of} has no time zone", where="as of", hint="Give a time in UTC.")
    if only is None:
        lead = sa.select(item.c.campaign).where(item.c.origin == ADJUDICATION).distinct()
        within: sa.ColumnElement[bool] = campaign.c.id.not_in(connection.execute(lead).scalars().all())
    else:
        check_name(only, "campaign")
        if connection.execute(sa.select(campaign.c.id).where(campaign.c.name == only)).scalar() is None:
            raise InputError(f"unknown campaign {short(only)}", where="campaign", hint="See eds labels campaigns list.")
        within = campaign.c.name == only
    rows = verified_acts(connection, place, within)
    void = connection.execute(void_imports(as_of)).scalars().all()
    if void:
        acts = fetch(connection, sa.select(label_event.c.id).where(label_event.c.vote_import.in_(void)))
        rows = rows.filter(pc.invert(pc.is_in(rows["id"], acts["id"].combine_chunks())))
    if as_of is not None:
        rows = rows.filter(pc.less_equal(rows["created_at"], round(as_of.astimezone(UTC).timestamp() * 1e6)))
    if not late:
        rows = rows.filter(pc.equal(rows["late"], 0))
    moments = pa.chunked_array([pa.array(rows["created_at"].to_numpy()).cast(pa.timestamp("us", tz="UTC"))])
    result = rows.set_column(rows.column_names.index("created_at"), "created_at", moments)
    result = result.append_column("supersedes", _supersedes(rows)).append_column("expert_id", rows["expert"])
    return result.select([*LABELS.names, *FURTHER, *(["late"] if late else [])])


def verified_acts(connection: sa.Connection, place: str, within: sa.ColumnElement[bool]) -> pa.Table:
    """All acts of some campaigns, by id: columns as chain.Said, `assignment`, `digest`; DamagedError if one differs."""
    acts = label_event.c
    chosen = sa.select(campaign.c.id).where(within)
    query = (
        sa.select(
            acts.id,
            acts.label_id,
            acts.assignment,
            acts.sequence,
            acts.value,
            acts.seconds,
            acts.created_at,
            acts.session_id,
            acts.guideline,
            acts.mode,
            acts.polarity,
            acts.late,
            acts.digest,
            assignment.c.item,
            assignment.c.expert,
            *(acts[name] for name in chain.BESIDE),
        )
        .join(assignment, assignment.c.id == acts.assignment)
        .where(assignment.c.campaign.in_(chosen))
    )
    asked_items = (
        sa.select(item.c.id, pair.c.query_id, pair.c.candidate_id, item.c.kind, item.c.campaign)
        .join(pair, pair.c.id == item.c.pair)
        .where(item.c.campaign.in_(chosen))
    )
    ends = (
        sa.select(campaign.c.name.label("campaign"), expert.c.name.label("expert"), panel.c.acts, panel.c.head)
        .join(campaign, campaign.c.id == panel.c.campaign)
        .join(expert, expert.c.id == panel.c.expert)
        .where(within)
    )
    rows = fetch(connection, query).sort_by("id")
    items = fetch(connection, asked_items)
    people = fetch(connection, sa.select(expert.c.id, expert.c.name))
    campaigns = fetch(connection, sa.select(campaign.c.id, campaign.c.name))
    requested = items.take(_rows(items["id"], rows["item"]))
    rows = rows.append_column("campaign", campaigns["name"].take(_rows(campaigns["id"], requested["campaign"])))
    for name in ("query_id", "candidate_id", "kind"):
        rows = rows.append_column(name, requested[name])
    names = people["name"].take(_rows(people["id"], rows["expert"]))
    rows = rows.set_column(rows.column_names.index("expert"), "expert", names)
    chain.verify(rows, [chain.End(*row) for row in connection.execute(ends)], place)
    return rows


def _rows(numbers: pa.ChunkedArray, wanted: pa.ChunkedArray) -> pa.Array:
    """Return the index of each wanted number in `numbers`."""
    known = numbers.to_numpy()
    if not len(known):
        return pa.nulls(len(wanted), pa.int64())
    order = np.argsort(known)
    # A number that is not there, in a damaged file, gets some row: the act's digest tells.
    return pa.array(order[np.minimum(np.searchsorted(known[order], wanted.to_numpy()), len(known) - 1)])


def _supersedes(rows: pa.Table) -> pa.ChunkedArray:
    """The label_id of the act before, of the same assignment."""
    sequence, of = rows["sequence"].to_numpy(), rows["assignment"].to_numpy()
    order = np.lexsort((sequence, of))
    before = np.full(len(rows), -1, dtype=np.int64)
    before[order[1:]] = np.where(of[order[1:]] == of[order[:-1]], order[:-1], -1)
    return rows["label_id"].take(pc.if_else(pa.array(before >= 0), pa.array(before), None))


def control_pairs(store: Store, campaign_name: str | None = None) -> pd.DataFrame:
    """The pairs that everybody judges in any case: agreement counts on these only, where asking stops early.

    Of a campaign that stops early they are its control pairs, of any other all; of several campaigns those that are
    such pairs in each of them.
    """
    always = sa.case((campaign.c.early_stop == 0, 1), else_=item.c.control)
    query = (
        sa.select(pair.c.query_id, pair.c.candidate_id)
        .join(item, item.c.pair == pair.c.id)
        .join(campaign, campaign.c.id == item.c.campaign)
        .where(*_votes_on(campaign_name))
        .group_by(pair.c.id, pair.c.query_id, pair.c.candidate_id)
        .having(sa.func.min(always) == 1)
        .order_by(pair.c.id)
    )
    return store.read(lambda connection: frame(connection, query))


@dataclass(frozen=True)
class Panels:
    """Who is asked: `sizes` by pair, campaign and wave, `members` by campaign.

    `sizes`: query_id, candidate_id, campaign, wave, panel, stopped. `panel` counts the experts who answered and those
    who still will (not those who left, were disabled or flagged the pair twice; votes of a void import are not
    answers); `stopped` those of them who are not asked since the pair was decided without them. Where a campaign
    is adaptive, who is not asked is not of the pair's panel. `members`: campaign, expert_id, wave. Experts who joined a
    campaign at the same time are one wave, counted from 0; where each pair is asked of some of the experts, or of as
    many as it needs, there are no waves, since who joins takes over work of the others.
    """

    sizes: pd.DataFrame
    members: pd.DataFrame


def panels(store: Store, campaign_name: str | None = None) -> Panels:
    """The panels of one campaign, or of all but those of leads' decisions."""
    active = sa.and_(panel.c.left_at.is_(None), expert.c.disabled_at.is_(None))
    waits = sa.and_(assignment.c.events == 0, assignment.c.state == STOPPED, active)
    other = label_event.alias()
    void = sa.and_(other.c.vote_import.is_not(None), other.c.vote_import.in_(void_imports()))
    counted = sa.exists().where(other.c.assignment == label_event.c.assignment, other.c.late == 0, ~void)
    apart = sa.select(label_event.c.assignment).where(sa.or_(label_event.c.late == 1, is_void()), ~counted)
    answered = sa.and_(assignment.c.events > 0, assignment.c.id.not_in(apart))
    judged = assignment.alias()
    asked = sa.or_(item.c.withdrawn_at.is_(None), sa.exists().where(judged.c.item == item.c.id, judged.c.events > 0))
    # Who is not asked in an adaptive campaign is not of the pair's panel.
    waited = sa.or_(assignment.c.state == OPEN, sa.and_(assignment.c.state == STOPPED, campaign.c.adaptive == 0))
    counts = sa.or_(answered, sa.and_(waited, active))
    whole = sa.and_(campaign.c.experts_per_pair.is_(None), campaign.c.adaptive == 0)
    joined = sa.case((whole, panel.c.joined_at), else_=0)
    key = (pair.c.query_id, pair.c.candidate_id, campaign.c.name.label("campaign"), joined.label("joined"))
    sizes = (
        sa.select(
            *key,
            sa.cast(sa.func.count(), WHOLE).label("panel"),
            sa.cast(sa.func.sum(sa.case((waits, 1), else_=0)), WHOLE).label("stopped"),
        )
        .join(item, item.c.pair == pair.c.id)
        .join(campaign, campaign.c.id == item.c.campaign)
        .join(assignment, assignment.c.item == item.c.id)
        .join(expert, expert.c.id == assignment.c.expert)
        .join(panel, sa.and_(panel.c.campaign == assignment.c.campaign, panel.c.expert == assignment.c.expert))
        .where(*_votes_on(campaign_name), counts, asked)
        .group_by(pair.c.id, pair.c.query_id, pair.c.candidate_id, campaign.c.id, campaign.c.name, joined)
        .order_by(pair.c.id, campaign.c.id, joined)
    )
    members = sa.select(campaign.c.name.label("campaign"), expert.c.name.label("expert_id"), joined.label("joined"))
    members = members.join(campaign, campaign.c.id == panel.c.campaign).join(expert, expert.c.id == panel.c.expert)
    if campaign_name is not None:
        members = members.where(campaign.c.name == campaign_name)

    def act(connection: sa.Connection) -> tuple[pd.DataFrame, pd.DataFrame]:
        return frame(connection, sizes), frame(connection, members)

    found, people = store.snapshot(act)
    people["wave"] = people.groupby("campaign")["joined"].rank("dense").astype("int64") - 1
    waves = people[["campaign", "joined", "wave"]].drop_duplicates()
    found = found.merge(waves, how="left", on=["campaign", "joined"])
    columns = ["query_id", "candidate_id", "campaign", "wave", "panel", "stopped"]
    return Panels(found[columns], people[["campaign", "expert_id", "wave"]])


def gold_pairs(store: Store) -> pd.DataFrame:
    """The pairs whose answer is known: query_id, candidate_id, value."""
    query = sa.select(pair.c.query_id, pair.c.candidate_id, gold.c.value).join(gold, gold.c.pair == pair.c.id)
    return store.read(lambda connection: frame(connection, query.order_by(pair.c.id)))


def _votes_on(campaign_name: str | None) -> list[sa.ColumnElement[bool]]:
    """The items whose acts vote: of one campaign, or of all but adjudications."""
    if campaign_name is None:
        return [item.c.kind == "normal", item.c.origin != ADJUDICATION]
    return [item.c.kind == "normal", campaign.c.name == check_name(campaign_name, "campaign")]
