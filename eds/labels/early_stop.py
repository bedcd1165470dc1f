"""Asking no further when a pair's majority is certain, whatever the others would say.

The rule is the specification's (2.1), restated here because stages are strangers: `eds.truth` decides
truth, this file only which questions are still worth asking. Control items are never stopped.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from eds.labels.bulk import fetch
from eds.labels.schema import ASIDE, DONE, OPEN, STOPPED, assignment, expert, item, label_event, panel

Integers = npt.NDArray[np.int64]


def decided(yes: Integers, no: Integers, left: Integers) -> npt.NDArray[np.bool_]:
    """Whether `left` further answers cannot change the majority (a tie is negative, a skip is no vote).

    >>> decided(np.array([2, 0, 1]), np.array([0, 2, 1]), np.array([1, 1, 1])).tolist()
    [True, True, False]
    """
    lead = yes - no
    sure: npt.NDArray[np.bool_] = (lead > left) | ((yes + no >= 1) & (lead + left <= 0))
    return sure


def settle(connection: sa.Connection, *, items: Sequence[int] = (), campaign: int | None = None) -> None:
    """Stop the open assignments of decided items, and open stopped ones that a revision made undecided again."""
    within = item.c.campaign == campaign if campaign is not None else item.c.id.in_(sorted(items))
    active = sa.case((sa.and_(panel.c.left_at.is_(None), expert.c.disabled_at.is_(None)), 1), else_=0)
    query = (
        sa.select(
            assignment.c.id,
            assignment.c.item,
            assignment.c.state,
            assignment.c.events,
            label_event.c.value,
            sa.cast(active, assignment.c.id.type).label("active"),
        )
        .join(item, item.c.id == assignment.c.item)
        .join(expert, expert.c.id == assignment.c.expert)
        .join(panel, sa.and_(panel.c.campaign == assignment.c.campaign, panel.c.expert == assignment.c.expert))
        .outerjoin(
            label_event,
            sa.and_(
                label_event.c.assignment == assignment.c.id,
                label_event.c.sequence == assignment.c.events,
                label_event.c.late == 0,
            ),
        )
        .where(within, item.c.kind == "normal", item.c.control == 0)
    )
    rows = fetch(connection, query) if campaign is not None else None
    if rows is not None:
        columns = [rows[name].to_numpy() for name in ("id", "item", "state", "events", "active")]
        value = rows["value"].to_pandas().fillna(-1).to_numpy().astype(np.int64)
    else:
        result = connection.execute(query).all()
        columns = [np.array([row[index] for row in result], dtype=np.int64) for index in (0, 1, 2, 3, 5)]
        value = np.array([-1 if row[4] is None else row[4] for row in result], dtype=np.int64)
    number, of, state, events, active_now = columns
    names, index = np.unique(of, return_inverse=True)
    answered = np.isin(state, (DONE, ASIDE)) & (events > 0)

    def count(which: npt.NDArray[np.bool_]) -> Integers:
        return np.bincount(index[which], minlength=len(names))

    waiting = np.isin(state, (OPEN, STOPPED))
    sure = decided(count(answered & (value == 1)), count(answered & (value == 0)), count(waiting & (active_now == 1)))[
        index
    ]
    for before, after, which in ((OPEN, STOPPED, sure), (STOPPED, OPEN, ~sure)):
        change = sa.update(assignment).where(assignment.c.id == sa.bindparam("number")).values(state=after)
        chosen = number[which & (state == before)].tolist()
        if chosen:
            connection.execute(change, [{"number": entry} for entry in chosen])
