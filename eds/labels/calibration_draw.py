"""Which pairs a calibration round asks: such as have a known answer, and as nothing else asks this expert about."""

from typing import Any

import pyarrow as pa
import sqlalchemy as sa

from eds.labels.schema import (
    assignment,
    calibration_round,
    calibration_task,
    campaign,
    example,
    gold,
    guideline,
    item,
    pair,
)
from eds.labels.shuffle import item_words


def candidates(connection: sa.Connection, number: int) -> list[dict[str, Any]]:
    """What may be asked: the examples of the guideline in force, and gold that the campaign does not ask."""
    version = sa.select(campaign.c.guideline).where(campaign.c.id == number).scalar_subquery()
    shown = (
        sa.select(pair.c.id, pair.c.query_id, pair.c.candidate_id, example.c.value, example.c.note)
        .join(pair, pair.c.id == example.c.pair)
        .join(guideline, guideline.c.id == example.c.guideline)
        .where(guideline.c.version == version)
    )
    requested = sa.exists().where(item.c.campaign == number, item.c.pair == pair.c.id)
    hidden = (
        sa.select(pair.c.id, pair.c.query_id, pair.c.candidate_id, gold.c.value, gold.c.note)
        .join(pair, pair.c.id == gold.c.pair)
        .where(~requested)
    )
    result = {}
    for query in (hidden, shown):  # of a pair that is both, the guideline's words count
        for row in connection.execute(query):
            names = ("pair", "query_id", "candidate_id", "expected", "note")
            result[row[0]] = dict(zip(names, (*row[:4], row[4] or ""), strict=True))
    return list(result.values())


def chosen(
    connection: sa.Connection, found: Any, expert_name: str, person: int, number: int, size: int
) -> list[dict[str, Any]]:
    """The pairs of a round: such as were asked least, of each answer alike many, in an order of the expert's own."""
    elsewhere = (
        sa.select(item.c.pair)
        .join(assignment, assignment.c.item == item.c.id)
        .where(assignment.c.expert == person, item.c.kind == "gold")
    )
    planted = set(connection.execute(elsewhere).scalars())  # in whatever campaign
    rows = [row for row in candidates(connection, found.id) if row["pair"] not in planted]
    if not rows:
        return []
    before = (
        sa.select(calibration_task.c.pair, sa.func.count())
        .join(calibration_round, calibration_round.c.id == calibration_task.c.round)
        .where(calibration_round.c.campaign == found.id, calibration_round.c.expert == person)
        .group_by(calibration_task.c.pair)
    )
    seen: dict[int, int] = {row[0]: row[1] for row in connection.execute(before)}
    queries, others = (pa.array([row[name] for row in rows], pa.string()) for name in ("query_id", "candidate_id"))
    purpose = f"{found.seed}/{expert_name}/calibration/{number}"
    draw, order = item_words(queries, others, f"{purpose}/draw"), item_words(queries, others, f"{purpose}/order")
    ranked = sorted(range(len(rows)), key=lambda row: (seen.get(rows[row]["pair"], 0), int(draw[row])))
    turn: dict[int | None, int] = {}
    rank = {}
    for row in ranked:  # the first of each answer, then the second of each, and so on
        rank[row] = turn[rows[row]["expected"]] = turn.get(rows[row]["expected"], -1) + 1
    by_turn = sorted(ranked, key=lambda row: (seen.get(rows[row]["pair"], 0), rank[row], int(draw[row])))
    return [rows[row] for row in sorted(by_turn[:size], key=lambda row: int(order[row]))]
