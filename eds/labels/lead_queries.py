"""Queries of the lead's pages beyond the table `labels`: gold, flags, calibration."""

import pandas as pd
import sqlalchemy as sa

from eds.labels.bulk import frame
from eds.labels.calibration import campaign_row
from eds.labels.frames import ADJUDICATION
from eds.labels.queue import list_campaigns
from eds.labels.schema import (
    OPEN,
    WHOLE,
    assignment,
    calibration_answer,
    calibration_round,
    calibration_task,
    campaign,
    expert,
    flag,
    gold,
    item,
    pair,
)
from eds.labels.store import Store
from eds.labels.validation import check_name


def campaigns_of_experts(store: Store) -> pd.DataFrame:
    """The campaigns that experts judge, oldest first, as `list_campaigns`; not those that keep leads' decisions."""
    decided = sa.select(campaign.c.name).join(item, item.c.campaign == campaign.c.id)
    decided = decided.where(item.c.origin == ADJUDICATION).distinct()
    apart = store.read(lambda connection: connection.execute(decided).scalars().all())
    result = list_campaigns(store)
    return result[~result["name"].isin(apart)].reset_index(drop=True)


def count_acts(store: Store, name: str) -> int:
    """How many acts a campaign has: what is computed from them holds as long as this stays."""
    check_name(name, "campaign")
    query = (
        sa.select(sa.func.coalesce(sa.func.sum(assignment.c.events), 0))
        .join(campaign, campaign.c.id == assignment.c.campaign)
        .where(campaign.c.name == name)
    )
    return int(store.read(lambda connection: connection.execute(query).scalar_one()))


def asked_pairs(store: Store, name: str) -> pd.DataFrame:
    """The pairs that a campaign asks: query_id, candidate_id."""
    query = (
        sa.select(pair.c.query_id, pair.c.candidate_id)
        .join(item, item.c.pair == pair.c.id)
        .join(campaign, campaign.c.id == item.c.campaign)
        .where(campaign.c.name == name)
        .distinct()
    )
    return store.read(lambda connection: frame(connection, query))


def judged_pairs(store: Store) -> pd.DataFrame:
    """The pairs that some campaign has judged to its end: query_id, candidate_id."""
    query = (
        sa.select(pair.c.query_id, pair.c.candidate_id)
        .join(item, item.c.pair == pair.c.id)
        .join(assignment, assignment.c.item == item.c.id)
        .where(item.c.kind == "normal", item.c.origin != ADJUDICATION)
        .group_by(item.c.id, pair.c.query_id, pair.c.candidate_id)
        .having(
            sa.func.sum(assignment.c.events) > 0,
            sa.func.sum(sa.case((assignment.c.state == OPEN, 1), else_=0)) == 0,
        )
    )
    return store.read(lambda connection: frame(connection, query)).drop_duplicates()


def gold_answers(store: Store) -> pd.DataFrame:
    """Every pair whose answer is known: query_id, candidate_id, value, note (why)."""
    query = sa.select(pair.c.query_id, pair.c.candidate_id, gold.c.value, gold.c.note).join(
        pair, pair.c.id == gold.c.pair
    )
    return store.read(lambda connection: frame(connection, query.order_by(gold.c.pair)))


def planted(store: Store, name: str) -> dict[str, int]:
    """How many pairs of each kind a campaign asks: normal, gold, repeat; and control, a part of the normal ones."""

    def find(connection: sa.Connection) -> pd.DataFrame:
        query = sa.select(item.c.kind, item.c.control, sa.cast(sa.func.count(), WHOLE).label("items"))
        query = query.where(item.c.campaign == campaign_row(connection, name).id)
        return frame(connection, query.group_by(item.c.kind, item.c.control))

    rows = store.read(find)
    result = {kind: int(rows.loc[rows["kind"] == kind, "items"].sum()) for kind in ("normal", "gold", "repeat")}
    return {**result, "control": int(rows.loc[(rows["kind"] == "normal") & (rows["control"] == 1), "items"].sum())}


def flags(store: Store, name: str) -> pd.DataFrame:
    """Every flag of a campaign, oldest first: query_id, candidate_id, expert, reason, created_at, resolved_at."""

    def find(connection: sa.Connection) -> pd.DataFrame:
        query = (
            sa.select(
                pair.c.query_id,
                pair.c.candidate_id,
                expert.c.name.label("expert"),
                flag.c.reason,
                flag.c.created_at,
                flag.c.resolved_at,
            )
            .select_from(flag)
            .join(assignment, assignment.c.id == flag.c.assignment)
            .join(item, item.c.id == assignment.c.item)
            .join(pair, pair.c.id == item.c.pair)
            .join(expert, expert.c.id == assignment.c.expert)
            .where(assignment.c.campaign == campaign_row(connection, name).id)
            .order_by(flag.c.id)
        )
        return frame(connection, query, "created_at", "resolved_at")

    return store.read(find)


def calibration_results(store: Store, name: str) -> pd.DataFrame:
    """Each round of each expert: expert, number, size, answered, counted, right, needed, median_seconds."""

    def find(connection: sa.Connection) -> pd.DataFrame:
        query = (
            sa.select(
                expert.c.name.label("expert"),
                calibration_round.c.number,
                calibration_round.c.needed,
                calibration_task.c.expected,
                calibration_answer.c.id.label("answer"),
                calibration_answer.c.value,
                calibration_answer.c.seconds,
            )
            .join(calibration_round, calibration_round.c.id == calibration_task.c.round)
            .join(expert, expert.c.id == calibration_round.c.expert)
            .outerjoin(calibration_answer, calibration_answer.c.task == calibration_task.c.id)
            .where(calibration_round.c.campaign == campaign_row(connection, name).id)
            .order_by(calibration_round.c.id, calibration_task.c.position)
        )
        return frame(connection, query)

    rows = store.read(find)
    answered = rows["answer"].notna()
    counted = answered & rows["expected"].notna()
    right = counted & (rows["value"].fillna(-1) == rows["expected"].fillna(-2))
    rows = rows.assign(size=1, answered=answered, counted=counted, right=right)
    grouped = rows.groupby(["expert", "number"], sort=False)
    result = grouped[["size", "answered", "counted", "right"]].sum().astype("int64")
    return result.assign(needed=grouped["needed"].first(), median_seconds=grouped["seconds"].median()).reset_index()
