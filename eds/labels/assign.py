"""Who is asked which item: everybody on the panel, or k of its experts; and what changes when the panel changes.

Where k of n are asked, a pair keeps its experts, whatever kinds of items ask it. Who leaves hands over the pairs that
are not judged yet; who joins takes over part of what the others have left, from the end of their queues.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from eds.labels import early_stop
from eds.labels.bulk import fetch, insert
from eds.labels.deal import Pages, deal, page_size
from eds.labels.gold import told_to
from eds.labels.pairs import as_strings
from eds.labels.schema import ASIDE, OPEN, assignment, campaign, expert, flag, item, pair, panel
from eds.labels.shuffle import item_words, positions

Flags = npt.NDArray[np.bool_]
KEPT = 100  # tasks at the head of a queue that nobody takes over: the expert's page may show them already


def assign(
    connection: sa.Connection, found: Any, items: pa.Table | None = None, only: Sequence[str] | None = None
) -> None:
    """Enter the assignments of new items (id, pair, query_id, candidate_id, kind), or of new experts (`only`).

    Gold whose answer an expert saw in calibration is not asked of that expert.
    """
    if found.experts_per_pair is None:
        _assign_all(connection, found, _items(connection, found) if items is None else items, only)
    else:
        _assign_some(connection, found, items)
        if only is not None:
            _even_out(connection, found, only)
    analyze(connection)


def planned(connection: sa.Connection, plan: Any, items: pa.Table, people: Mapping[str, int]) -> pa.Table:
    """What a campaign that is yet to be made asks of whom: item, expert, position; `people` are the panel's numbers."""
    if plan.experts_per_pair is None:
        shares: Iterable[tuple[int, str, pa.Table]] = ((number, name, items) for name, number in people.items())
    else:
        members = pd.DataFrame({"number": people.values(), "name": people.keys(), "active": True})
        members = members.astype({"number": "int64"}).sort_values("number", ignore_index=True)
        none = pd.DataFrame({"item": [0], "member": [0], "waited": [False], "open": [False]}).head(0)
        shares = _dealt(plan, items, members, none, np.ones(len(items), dtype=np.bool_), new=True)
    none_yet = _tasks(connection, plan.seed, items.slice(0, 0), 0, "")
    parts = (_tasks(connection, plan.seed, part, number, name) for number, name, part in shares)
    return pa.concat_tables([none_yet, *parts])


def lacking(connection: sa.Connection, found: Any, people: Mapping[str, int]) -> pa.Table:
    """What experts lack who come to a campaign that asks everybody everything: item, expert, position."""
    items = _items(connection, found)
    parts = [_tasks(connection, found.seed, items.slice(0, 0), 0, "")]
    if found.experts_per_pair is None:
        for name, number in people.items():
            part = _without_task(connection, found, items, number)
            parts.append(_tasks(connection, found.seed, part, number, name))
    return pa.concat_tables(parts)


def analyze(connection: sa.Connection) -> None:
    """After many rows came in: let PostgreSQL look at them before it plans queries."""
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql("ANALYZE assignment, item, pair")


def open_tasks(tasks: pa.Table, number: int) -> pa.Table:
    """The rows of `assignment` for tasks (item, expert, position, perhaps state) of a campaign; open by default."""
    zeros = pa.array(np.zeros(len(tasks), np.int64))
    rest = {"campaign": pa.array(np.full(len(tasks), number), pa.int64()), "events": zeros}
    if "state" not in tasks.column_names:
        rest["state"] = zeros
    return pa.table({**dict(zip(tasks.column_names, tasks.columns, strict=True)), **rest, "returned": zeros})


def hand_over(connection: sa.Connection, found: Any) -> None:
    """Give the unjudged pairs of those who left to others, where each pair is asked of some of the panel."""
    if found.experts_per_pair is not None:
        _assign_some(connection, found, None)


def forget_unjudged(connection: sa.Connection, found: Any, number: int) -> None:
    """Take back the unjudged tasks of an expert who comes back: others may have them by now."""
    if found.experts_per_pair is None:
        return
    mine = sa.and_(assignment.c.campaign == found.id, assignment.c.expert == number)
    flagged = sa.exists().where(flag.c.assignment == assignment.c.id)
    connection.execute(sa.delete(assignment).where(mine, assignment.c.events == 0, ~flagged))


def suspend(connection: sa.Connection, number: int) -> None:
    """Hand over the open work of an expert whose account is locked, in every campaign that is open."""
    for row in _open_campaigns(connection, number):
        hand_over(connection, row)
        if row.early_stop:
            early_stop.settle(connection, campaign=row.id)


def resume(connection: sa.Connection, number: int, name: str, now: int) -> None:
    """Reopen an expert's account: they join their open campaigns again, as of now."""
    for row in _open_campaigns(connection, number):
        mine = sa.and_(panel.c.campaign == row.id, panel.c.expert == number)
        connection.execute(sa.update(panel).where(mine).values(joined_at=now))
        forget_unjudged(connection, row, number)
        assign(connection, row, only=[name])
        if row.early_stop:
            early_stop.settle(connection, campaign=row.id)


def _open_campaigns(connection: sa.Connection, number: int) -> Sequence[Any]:
    """The open campaigns whose panel this expert has not left."""
    query = sa.select(campaign).join(panel, panel.c.campaign == campaign.c.id).order_by(campaign.c.id)
    query = query.where(panel.c.expert == number, panel.c.left_at.is_(None), campaign.c.closed_at.is_(None))
    return connection.execute(query).all()


def _items(connection: sa.Connection, found: Any) -> pa.Table:
    query = sa.select(item.c.id, item.c.pair, pair.c.query_id, pair.c.candidate_id, item.c.kind)
    query = query.join(pair, pair.c.id == item.c.pair).where(item.c.campaign == found.id)
    return fetch(connection, query.order_by(item.c.id))


def _members(connection: sa.Connection, found: Any) -> pd.DataFrame:
    """number, name and active of everybody who is or was on the panel."""
    active = sa.and_(panel.c.left_at.is_(None), expert.c.disabled_at.is_(None))
    query = sa.select(expert.c.id, expert.c.name, sa.case((active, 1), else_=0).label("active"))
    query = query.join(panel, panel.c.expert == expert.c.id).where(panel.c.campaign == found.id)
    rows = connection.execute(query.order_by(expert.c.id)).all()
    return pd.DataFrame(rows, columns=["number", "name", "active"]).astype({"active": bool})


def _assign_all(connection: sa.Connection, found: Any, items: pa.Table, only: Sequence[str] | None) -> None:
    """Every expert of the panel (of `only`) gets every item, where there is no assignment yet."""
    members = sa.select(expert.c.id, expert.c.name).join(panel, panel.c.expert == expert.c.id)
    members = members.where(panel.c.campaign == found.id, panel.c.left_at.is_(None)).order_by(expert.c.id)
    for number, name in connection.execute(members).all():
        if only is None or name in only:
            _enter(connection, found, _without_task(connection, found, items, number), number, name)


def _without_task(connection: sa.Connection, found: Any, items: pa.Table, number: int) -> pa.Table:
    """The items that this expert has no assignment for."""
    of_it = sa.select(assignment.c.item).where(assignment.c.campaign == found.id)
    had = fetch(connection, of_it.where(assignment.c.expert == number))["item"]
    if found.adaptive:  # control pairs that are judged already stay decided
        control = of_it.join(item, item.c.id == assignment.c.item).where(item.c.control == 1, item.c.kind == "normal")
        judged = fetch(connection, control.where(assignment.c.events > 0))["item"]
        had = pa.chunked_array([*had.chunks, *judged.chunks], pa.int64())
    return items.filter(pc.invert(pc.is_in(items["id"], had.combine_chunks())))


def _assign_some(connection: sa.Connection, found: Any, items: pa.Table | None) -> None:
    """Deal the pairs of new items; without items the pairs that lack experts, since somebody left."""
    everything, members = _items(connection, found), _members(connection, found)
    given = _given(connection, found, members)
    kinds, numbers = everything["kind"].to_pandas(), everything["id"].to_pandas()
    chosen = (kinds.ne("gold") if items is None else numbers.isin(items["id"].to_numpy())).to_numpy()
    for number, name, part in _dealt(found, everything, members, given, chosen, new=items is not None):
        _enter(connection, found, part, number, name)


def _dealt(
    plan: Any, everything: pa.Table, members: pd.DataFrame, given: pd.DataFrame, chosen: Flags, *, new: bool
) -> Iterator[tuple[int, str, pa.Table]]:
    """Number, name and further items of each active member, where each pair is asked of some of the panel."""
    rows = everything.select(["id", "pair"]).to_pandas()
    pairs = np.unique(rows.loc[chosen, "pair"].to_numpy())
    place = pd.Series(np.arange(len(pairs)), pairs)
    asked = given.merge(rows.rename(columns={"id": "item"}), on="item")
    asked = asked[asked["pair"].isin(pairs)]
    held = np.zeros((len(pairs), len(members)), dtype=np.bool_)
    held[place[asked["pair"]].to_numpy(), asked["member"]] = True
    counts = held.copy()
    left = asked[~asked["waited"]]
    counts[place[left["pair"]].to_numpy(), left["member"]] = False
    held[:, ~members["active"].to_numpy()] = True  # nobody deals to them
    first = everything.filter(pa.array(~rows["pair"].duplicated().to_numpy()))
    first = first.filter(pc.is_in(first["pair"], pa.array(pairs))).sort_by("pair")
    need = np.maximum(plan.experts_per_pair - counts.sum(axis=1), 0)
    dealt = _deal_pairs(plan, first, held, counts, need, given, members)
    targets = dealt | counts if new else dealt
    table = everything.filter(pa.array(chosen))
    of = place[table["pair"].to_numpy()].to_numpy()
    for member, (number, name) in enumerate(zip(members["number"], members["name"], strict=True)):
        if not members["active"].iloc[member]:
            continue
        had = given.loc[given["member"] == member, "item"].to_numpy()
        missing = targets[of, member] & ~np.isin(table["id"].to_numpy(), had)
        yield int(number), str(name), table.filter(pa.array(missing))


def _deal_pairs(
    found: Any,
    pairs: pa.Table,
    held: Flags,
    counts: Flags,
    need: "npt.NDArray[np.int64]",
    given: pd.DataFrame,
    members: pd.DataFrame,
) -> Flags:
    """The experts that each pair is dealt to, pairs x members."""
    queries, candidates = (pairs[name].combine_chunks() for name in ("query_id", "candidate_id"))
    # A page is of one query and of pairs with the same experts so far; pages come in an order that is drawn.
    frame = pd.DataFrame(
        {
            "query": pd.factorize(queries.to_pandas())[0],
            "held": [row.tobytes() for row in held],
            "turn": item_words(queries, queries, f"{found.seed}/deal"),
            "word": item_words(queries, candidates, f"{found.seed}/deal"),
            "need": need,
        }
    )
    by_query = np.bincount(frame.loc[frame["need"] > 0, "query"])
    size = page_size(by_query[by_query > 0], int(members["active"].sum()), found.experts_per_pair)
    frame = frame[frame["need"] > 0].sort_values(["turn", "query", "held", "need", "word"])
    groups = frame.groupby(["query", "held", "need"], sort=False)
    count = groups["word"].transform("size")
    page = groups.ngroup() * (len(frame) + 1) + groups.cumcount() * -(-count // size) // count
    _, first, of, sizes = np.unique(page, return_index=True, return_inverse=True, return_counts=True)
    row = frame.index.to_numpy()
    pages = Pages(sizes, held[row[first]], need[row[first]])
    load = np.bincount(given.loc[given["open"], "member"], minlength=len(members))
    both = counts.astype(np.float64)
    result = np.zeros_like(held)
    result[row] = deal(pages, load, both.T @ both, found.seed)[of]
    return result


def _given(connection: sa.Connection, found: Any, members: pd.DataFrame) -> pd.DataFrame:
    """Every assignment: item, member (a place), waited (judged, set aside, or still to come), open."""
    query = sa.select(assignment.c.item, assignment.c.expert, assignment.c.state, assignment.c.events)
    rows = fetch(connection, query.where(assignment.c.campaign == found.id)).to_pandas()
    member = pd.Index(members["number"]).get_indexer(pd.Index(rows["expert"]))
    active = members["active"].to_numpy()[member]
    waited = (rows["events"] > 0) | (rows["state"] == ASIDE) | active
    result: pd.DataFrame = rows.assign(member=member, waited=waited, open=active & (rows["state"] == OPEN).to_numpy())
    return result


def _even_out(connection: sa.Connection, found: Any, joiners: Sequence[str]) -> None:
    """Let who joins take over unjudged work of the others, until nobody has a page more left than who joins."""
    members = _members(connection, found)
    members = members[members["active"]]
    query = (
        sa.select(
            assignment.c.id,
            assignment.c.item,
            assignment.c.expert,
            assignment.c.position,
            item.c.pair,
            item.c.kind,
            pair.c.query_id,
            pair.c.candidate_id,
            assignment.c.state,
            assignment.c.events,
            assignment.c.returned,
        )
        .join(item, item.c.id == assignment.c.item)
        .join(pair, pair.c.id == item.c.pair)
        .where(assignment.c.campaign == found.id, item.c.withdrawn_at.is_(None))
    )
    rows = fetch(connection, query).to_pandas()
    flags = sa.select(flag.c.assignment).join(assignment, assignment.c.id == flag.c.assignment)
    flagged = connection.execute(flags.where(assignment.c.campaign == found.id)).scalars().all()
    untouched = (rows["state"] == OPEN) & (rows["events"] == 0) & (rows["returned"] == 0)
    free = rows[untouched & ~rows["id"].isin(flagged) & rows["expert"].isin(members["number"])]
    head = free.sort_values("position").groupby("expert").cumcount() < KEPT
    free = free[~head.reindex(free.index)]
    begun = rows[~rows["id"].isin(free["id"])]
    # What asks a pair of one expert stays together: a repeat whose pair is judged, or at the head, stays.
    there = pd.MultiIndex.from_frame(begun[["expert", "pair"]])
    free = free[~pd.MultiIndex.from_frame(free[["expert", "pair"]]).isin(there)]
    if free.empty:
        return
    group = free.groupby(["expert", "query_id"]).ngroup().rename("group")
    free = free.assign(group=group, last=free.groupby(group)["position"].transform("max"))
    free = free.sort_values(["last", "group"], ascending=[False, True], ignore_index=True)
    starts = np.flatnonzero(np.diff(free["group"], prepend=-1) != 0)
    ends = np.append(starts[1:], len(free))
    pairs, givers = free["pair"].to_numpy(), free["expert"].to_numpy()
    left = rows[(rows["state"] == OPEN) & rows["expert"].isin(members["number"])].groupby("expert").size()
    load = {number: int(left.get(number, 0)) for number in members["number"].tolist()}
    fair = sum(load.values()) // max(len(load), 1)
    taken = np.zeros(len(free), dtype=np.bool_)
    for number, name in members.loc[members["name"].isin(joiners), ["number", "name"]].to_numpy().tolist():
        known = {*told_to(connection, number).to_pylist(), *rows.loc[rows["expert"] == number, "pair"].tolist()}
        before = taken.copy()
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            giver, size, asked = int(givers[start]), end - start, pairs[start:end].tolist()
            fits = load[number] + size <= fair <= load[giver] - size
            if taken[start] or giver == number or not fits or not known.isdisjoint(asked):
                continue
            load[giver] -= size
            load[number] += size
            known.update(asked)
            taken[start:end] = True
        _move(connection, found, free[taken & ~before], number, name)


def _move(connection: sa.Connection, found: Any, tasks: pd.DataFrame, number: int, name: str) -> None:
    """Give unjudged tasks to another expert."""
    if tasks.empty:
        return
    place = positions(found.seed, name, *_names(tasks), (tasks["kind"] == "repeat").to_numpy())
    change = sa.update(assignment).where(assignment.c.id == sa.bindparam("task"), assignment.c.events == 0)
    change = change.values(expert=number, position=sa.bindparam("place"))
    rows = zip(tasks["id"].tolist(), place.tolist(), strict=True)
    connection.execute(change, [{"task": task, "place": position} for task, position in rows])


def _names(tasks: pd.DataFrame) -> tuple[pa.Array, pa.Array]:
    return as_strings(tasks["query_id"]), as_strings(tasks["candidate_id"])


def _enter(connection: sa.Connection, found: Any, items: pa.Table, number: int, name: str) -> None:
    """Enter the assignments of an expert, all open."""
    tasks = _tasks(connection, found.seed, items, number, name)
    insert(connection, assignment, open_tasks(tasks, found.id))


def _tasks(connection: sa.Connection, seed: int, items: pa.Table, number: int, name: str) -> pa.Table:
    """What an expert is asked of these items: item, expert, position."""
    shown = pc.and_(pc.equal(items["kind"], "gold"), pc.is_in(items["pair"], told_to(connection, number)))
    items = items.filter(pc.invert(shown))
    repeats = pc.equal(items["kind"], "repeat").to_numpy(zero_copy_only=False)
    queries, candidates = (items[part].combine_chunks() for part in ("query_id", "candidate_id"))
    return pa.table(
        {
            "item": items["id"],
            "expert": pa.array(np.full(len(items), number), pa.int64()),
            "position": positions(seed, name, queries, candidates, repeats),
        }
    )
