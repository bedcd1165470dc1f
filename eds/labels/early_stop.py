"""Asking no further when a pair's majority is certain, whatever the others would say; adaptive: when it is sure enough.

The rule is the specification's (2.1), restated here because stages are strangers: `eds.truth` decides
truth, this file only which questions are still worth asking. Control items are never stopped. How sure is enough
comes with each item, as the votes by which one answer must lead (`eds.truth.adaptive_votes`).
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from eds.labels import schema
from eds.labels.bulk import fetch
from eds.labels.schema import ASIDE, DONE, OPEN, STOPPED, WHOLE, assignment, expert, item, label_event, panel

Integers = npt.NDArray[np.int64]
LEAD = 2  # adaptive: votes by which an answer must lead where nothing is known of the pair


def decided(yes: Integers, no: Integers, left: Integers) -> npt.NDArray[np.bool_]:
    """Whether `left` further answers cannot change the majority (a tie is negative, a skip is not a vote).

    >>> decided(np.array([2, 0, 1]), np.array([0, 2, 1]), np.array([1, 1, 1])).tolist()
    [True, True, False]
    """
    lead = yes - no
    sure: npt.NDArray[np.bool_] = (lead > left) | ((yes + no >= 1) & (lead + left <= 0))
    return sure


def held_back(tasks: pa.Table, items: pa.Table) -> pa.Table:
    """The tasks of a new adaptive campaign, with the state of each: LEAD experts are asked a pair, the others not yet.

    Those are asked first in whose order the pair comes first: each expert gets an even share, query by query.
    """
    rows = tasks.select(["item", "position"]).to_pandas()
    rank = rows.groupby("item")["position"].rank(method="first").to_numpy()
    free = pc.and_(pc.equal(items["kind"], "normal"), pc.equal(items["control"], 0))
    waits = np.isin(rows["item"].to_numpy(), items.filter(free)["id"].to_numpy()) & (rank > LEAD)
    return tasks.append_column("state", pa.array(np.where(waits, STOPPED, OPEN), pa.int64()))


def settle(connection: sa.Connection, *, items: Sequence[int] = (), campaign: int | None = None) -> None:
    """Stop the open assignments of decided items, and open stopped ones that a revision made undecided again.

    An item of an adaptive campaign is decided, too, once one answer leads by the votes that the item says; until then
    only as many experts are asked as could bring that about.
    """
    of_it = schema.campaign
    within = item.c.campaign == campaign if campaign is not None else item.c.id.in_(sorted(items))
    active = sa.case((sa.and_(panel.c.left_at.is_(None), expert.c.disabled_at.is_(None)), 1), else_=0)
    query = (
        sa.select(
            assignment.c.id,
            assignment.c.item,
            assignment.c.state,
            assignment.c.events,
            assignment.c.position,
            label_event.c.value,
            sa.cast(active, assignment.c.id.type).label("active"),
            of_it.c.adaptive,
            sa.func.coalesce(item.c.lead_similar, LEAD, type_=WHOLE).label("lead_similar"),
            sa.func.coalesce(item.c.lead_different, LEAD, type_=WHOLE).label("lead_different"),
        )
        .join(item, item.c.id == assignment.c.item)
        .join(of_it, of_it.c.id == item.c.campaign)
        .join(expert, expert.c.id == assignment.c.expert)
        .join(panel, sa.and_(panel.c.campaign == assignment.c.campaign, panel.c.expert == assignment.c.expert))
        .outerjoin(label_event, schema.in_force())
        .where(within, item.c.kind == "normal", item.c.control == 0)
    )
    if campaign is not None:
        found = fetch(connection, query).to_pandas()
    else:
        found = pd.DataFrame(connection.execute(query).all(), columns=[one.name for one in query.selected_columns])
    rows = {name: pd.to_numeric(found[name]).fillna(-1).to_numpy(np.int64) for name in found.columns}
    names, first, index = np.unique(rows["item"], return_index=True, return_inverse=True)
    state, active_now = rows["state"], rows["active"] == 1
    answered = np.isin(state, (DONE, ASIDE)) & (rows["events"] > 0)
    waiting = np.isin(state, (OPEN, STOPPED))

    def count(which: npt.NDArray[np.bool_]) -> Integers:
        return np.bincount(index[which], minlength=len(names))

    left = count(waiting & active_now)
    yes, no = count(answered & (rows["value"] == 1)), count(answered & (rows["value"] == 0))
    sure = decided(yes, no, left)
    adaptive = rows["adaptive"][first] == 1
    similar, different = rows["lead_similar"][first] - (yes - no), rows["lead_different"][first] + (yes - no)
    sure |= adaptive & ((similar <= 0) | (different <= 0))
    wanted = np.where(sure, 0, np.where(adaptive, np.minimum(similar, different), left))
    order = np.lexsort((rows["position"], state != OPEN, ~(waiting & active_now), index))
    turn = np.empty(len(order), np.int64)
    starts = np.searchsorted(index[order], np.arange(len(names)))
    turn[order] = np.arange(len(order)) - starts[index[order]]
    asked = np.where(active_now, turn < wanted[index], ~sure[index] & ~adaptive[index])
    for before, after, which in ((OPEN, STOPPED, ~asked), (STOPPED, OPEN, asked)):
        change = sa.update(assignment).where(assignment.c.id == sa.bindparam("number")).values(state=after)
        chosen = rows["id"][which & (state == before)].tolist()
        if chosen:
            connection.execute(change, [{"number": entry} for entry in chosen])
