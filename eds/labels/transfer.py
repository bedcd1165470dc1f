"""Votes out of the store and into it. An import comes in as a whole, or every contradiction is told by row.

Importing a file twice changes nothing: acts keep their names, and rows without a name get one that follows
from what they say.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels import audit, votes
from eds.labels.bulk import fetch, insert, reserve
from eds.labels.frames import labels_arrow
from eds.labels.order import positions
from eds.labels.pairs import as_strings, numbered
from eds.labels.schema import DONE, assignment, campaign, expert, item, label_event, pair, panel
from eds.labels.store import Store
from eds.labels.texts import check_name, refuse, short

SLOT = ["query_id", "candidate_id", "expert_id", "kind"]  # what an expert answers once, or revises
DO = "Rows count from 0; nothing was imported."


@dataclass(frozen=True)
class Imported:
    """What an import did."""

    added: int
    already: int  # stored before, or said twice in the file
    dropped: tuple[str, ...]  # columns that mean nothing here


def export_votes(
    store: Store, path: Path, kind: str | None = None, *, only: str | None = None, as_of: datetime | None = None
) -> int:
    """Write every act (crowd-kit: every answer in force) to a file; how many acts there were."""
    found = votes.format_of(path, kind)
    table = store.snapshot(lambda connection: labels_arrow(connection, as_of, only))
    names = ["vote_id" if name == "label_id" else name for name in table.column_names]
    votes.write(table.rename_columns(names), path, found)
    return len(table)


def import_votes(
    store: Store,
    frame: pd.DataFrame,
    campaign_name: str,
    *,
    add_missing: bool = False,
    where: str = "votes",
    by: str = "",
) -> Imported:
    """Take votes (votes.COLUMNS, or the labels table) into a campaign: all of them or none.

    Unknown experts and pairs are faults unless `add_missing`: then they are entered; those experts are asked
    for nothing more than what they brought.
    """
    check_name(campaign_name, "campaign")
    frame = frame.rename(columns={"label_id": "vote_id"}).reset_index(drop=True)
    clean, faults = votes.parse(frame, store.now())
    refuse(faults, "faults", where, DO)
    nameless = clean["vote_id"].isna().to_numpy()
    if nameless.any():
        clean.loc[nameless, "vote_id"] = _names(clean[nameless], campaign_name)
    dropped = tuple(str(name) for name in frame.columns if name not in votes.COLUMNS)

    def act(connection: sa.Connection) -> Imported:
        added = _take_in(connection, store.now(), clean, campaign_name, add_missing, where)
        audit.note(connection, store.now(), by, "import votes", campaign_name, votes=added, source=where)
        return Imported(added, len(clean) - added, dropped)

    return store.write(act)


def _names(clean: pd.DataFrame, campaign_name: str) -> list[str]:
    parts = zip(*(clean[name] for name in SLOT), strict=True)
    return [f"import-{hashlib.sha256(repr((campaign_name, *part)).encode()).hexdigest()[:32]}" for part in parts]


def _take_in(
    connection: sa.Connection, now: int, clean: pd.DataFrame, campaign_name: str, add_missing: bool, where: str
) -> int:
    number, seed = _campaign(connection, campaign_name, now, add_missing)
    people = _people(connection, clean, number, now, add_missing, where)
    clean = clean.assign(expert=clean["expert_id"].map(people).astype("int64"))
    clean = clean.assign(item=_items(connection, clean, number, add_missing, where))
    stored = _stored(connection, number)
    fresh = _fresh(connection, clean, stored, where)
    if not len(fresh):
        return 0
    fresh = _sequenced(fresh, stored, where)
    fresh = fresh.assign(assignment=_assignments(connection, fresh, number, seed))
    _insert_events(connection, fresh)
    return len(fresh)


def _campaign(connection: sa.Connection, name: str, now: int, add_missing: bool) -> tuple[int, int]:
    query = sa.select(campaign.c.id, campaign.c.seed).where(campaign.c.name == name).with_for_update(key_share=True)
    row = connection.execute(query).first()
    if row is None and add_missing:
        plan = {"mode": "pair", "guideline": "", "seed": 0, "gold_share": 0.0, "repeat_share": 0.0, "early_stop": 0}
        connection.execute(sa.insert(campaign).values(name=name, **plan, control_share=0.1, created_at=now))
        row = connection.execute(query).first()
    if row is None:
        raise InputError(f"there is no campaign {short(name)}", where="campaign", do="See eds labels campaigns list.")
    return row.id, row.seed


def _people(
    connection: sa.Connection, clean: pd.DataFrame, number: int, now: int, add_missing: bool, where: str
) -> dict[str, int]:
    known = {row.name: row.id for row in connection.execute(sa.select(expert.c.id, expert.c.name))}
    named = pd.unique(clean["expert_id"])
    unknown = [name for name in named if name not in known]
    if unknown and not add_missing:
        rows = np.flatnonzero(clean["expert_id"].isin(unknown).to_numpy())
        refuse((f"row {row}: no expert {short(clean['expert_id'][row])}" for row in rows.tolist()),
               "rows are of unknown experts", where, f"Add them first (eds labels experts add). {DO}")  # fmt: skip
    for name in unknown:
        check_name(name, "expert")
        insertion = sa.insert(expert).values(name=name, role="expert", created_at=now).returning(expert.c.id)
        known[name] = connection.execute(insertion).scalar_one()
    members = set(connection.execute(sa.select(panel.c.expert).where(panel.c.campaign == number)).scalars())
    for name in named:
        if known[name] not in members:
            values = {"campaign": number, "expert": known[name], "joined_at": now, "left_at": now}
            connection.execute(sa.insert(panel).values(values))
    return known


def _items(
    connection: sa.Connection, clean: pd.DataFrame, number: int, add_missing: bool, where: str
) -> "np.ndarray[Any, np.dtype[np.int64]]":
    """Each row's item; those that the campaign does not have are entered, or told."""
    query = sa.select(item.c.id.label("item"), pair.c.query_id, pair.c.candidate_id, item.c.kind)
    query = query.join(pair, pair.c.id == item.c.pair).where(item.c.campaign == number)
    key = ["query_id", "candidate_id", "kind"]
    had = fetch(connection, query).to_pandas()
    wanted = clean[key].drop_duplicates().astype(object)
    found = wanted.merge(had.astype(dict.fromkeys(key, object)), how="left", on=key)
    missing = found["item"].isna().to_numpy()
    if missing.any() and not add_missing:
        rows = (
            clean[key].astype(object).merge(found[missing][key], how="left", on=key, indicator=True)["_merge"] == "both"
        )
        refuse((f"row {row}: {short(clean['query_id'][row])} {short(clean['candidate_id'][row])} ({clean['kind'][row]})"
                for row in np.flatnonzero(rows.to_numpy()).tolist()),
               "rows are of pairs that the campaign does not ask", where, f"Add the pairs first. {DO}")  # fmt: skip
    found["item"] = found["item"].fillna(0).astype("int64")
    if missing.any():
        new = pa.table({name: as_strings(found.loc[missing, name]) for name in key})
        new = numbered(connection, new)
        ids = reserve(connection, item, len(new))
        zeros = pa.array(np.zeros(len(new), np.int64))
        imported = pa.array(["import"] * len(new), pa.string())
        insert(connection, item, pa.table({"id": pa.array(ids), "campaign": pa.array(np.full(len(new), number)),
                                           "pair": new["pair"], "kind": new["kind"], "origin": imported,
                                           "control": zeros}))  # fmt: skip
        found.loc[missing, "item"] = ids
    return clean[key].astype(object).merge(found, how="left", on=key)["item"].to_numpy(np.int64)


def _stored(connection: sa.Connection, number: int) -> pd.DataFrame:
    """The acts of the campaign so far: label_id, value, item, expert, sequence, assignment; current ones marked."""
    query = sa.select(label_event.c.label_id, label_event.c.value, assignment.c.item, assignment.c.expert,
                      label_event.c.sequence, assignment.c.events)  # fmt: skip
    query = query.join(assignment, assignment.c.id == label_event.c.assignment)
    rows = fetch(connection, query.where(assignment.c.campaign == number))
    frame: pd.DataFrame = rows.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
    return frame.astype({"item": "int64", "expert": "int64", "sequence": "int64", "events": "int64"})


def _fresh(connection: sa.Connection, clean: pd.DataFrame, stored: pd.DataFrame, where: str) -> pd.DataFrame:
    """The rows that are not stored yet, each act once; contradictions are told by row."""
    faults = []
    first = pd.Index(clean["vote_id"].drop_duplicates())
    lines = np.flatnonzero(~clean["vote_id"].duplicated().to_numpy())
    said = lines[first.get_indexer(clean["vote_id"])]  # the first row of the same name
    content = clean[["item", "expert"]].to_numpy()
    value = clean["value"].fillna(-1).to_numpy(np.int64)
    differs = (content != content[said]).any(axis=1) | (value != value[said])
    faults += [f"row {row}: says otherwise than row {said[row]} about the same act" for row in np.flatnonzero(differs)]
    repeated = (said != np.arange(len(clean))) & ~differs
    place = pd.Index(stored["label_id"]).get_indexer(clean["vote_id"])
    there = place >= 0
    before = stored.iloc[place[there]]
    same = ((before[["item", "expert"]].to_numpy() == content[there]).all(axis=1)
            & (before["value"].fillna(-1).to_numpy(np.int64) == value[there]))  # fmt: skip
    faults += [f"row {row}: vote {short(clean['vote_id'][row])} is stored, and says otherwise"
               for row in np.flatnonzero(there)[~same].tolist()]  # fmt: skip
    new: pd.DataFrame = clean[~there & ~repeated]
    elsewhere = _elsewhere(connection, new)
    faults += [f"row {row}: vote {short(clean['vote_id'][row])} is an act of another campaign" for row in elsewhere]
    refuse(faults, "contradictions", where, DO)
    return new


def _elsewhere(connection: sa.Connection, new: pd.DataFrame) -> list[int]:
    """Rows whose name stands for an act of another campaign."""
    if not len(new) or connection.execute(sa.select(label_event.c.id).limit(1)).first() is None:
        return []
    names = fetch(connection, sa.select(label_event.c.label_id))["label_id"].to_pandas()
    return [int(row) for row in new.index[new["vote_id"].isin(names)]]


def _sequenced(fresh: pd.DataFrame, stored: pd.DataFrame, where: str) -> pd.DataFrame:
    """The rows with `sequence`, by following `supersedes`; what is said twice alike is left out, or told if not."""
    faults = []
    row_of = fresh.index.to_numpy()
    slot = pd.MultiIndex.from_frame(fresh[["item", "expert"]])
    current = stored[stored["sequence"] == stored["events"]]
    held = pd.MultiIndex.from_frame(current[["item", "expert"]]).get_indexer(slot)  # the act in force before
    parent = pd.Index(fresh["vote_id"]).get_indexer(fresh["supersedes"].astype(object))
    parent[fresh["supersedes"].isna().to_numpy()] = -1
    names = np.append(current["label_id"].to_numpy(object), [None])[held]
    follows = fresh["supersedes"].notna().to_numpy() & (names == fresh["supersedes"].to_numpy(object))
    lost = fresh["supersedes"].notna().to_numpy() & (parent < 0) & ~follows
    codes = pd.factorize(slot)[0]
    strange = (parent >= 0) & (codes[parent] != codes)
    for place in np.flatnonzero(lost | strange):
        faults.append(f"row {row_of[place]}: supersedes {short(str(fresh['supersedes'].iloc[place]))}, "
                      "which is no act in force of this expert on this pair")  # fmt: skip
    twice = fresh["supersedes"].duplicated(keep=False).to_numpy() & fresh["supersedes"].notna().to_numpy()
    faults += [f"row {row_of[place]}: several acts supersede the same one" for place in np.flatnonzero(twice)]
    # Beginnings: acts that supersede nothing. A pair and expert may have one.
    begins = fresh["supersedes"].isna().to_numpy()
    value = fresh["value"].fillna(-1).to_numpy(np.int64)
    leader = np.full(codes.max(initial=-1) + 1, -1)
    starts = np.flatnonzero(begins)
    leader[codes[starts[::-1]]] = starts[::-1]
    held_value = np.append(current["value"].fillna(-1).to_numpy(np.int64), [-2])[held]
    against = np.where(held >= 0, held_value, value[leader[codes]])
    again = begins & ((held >= 0) | (leader[codes] != np.arange(len(fresh))))
    for place in np.flatnonzero(again & (value != against)):
        source = "the store" if held[place] >= 0 else f"row {row_of[leader[codes[place]]]}"
        faults.append(
            f"row {row_of[place]}: {short(fresh['expert_id'].iloc[place])} judged this pair otherwise in {source}"
        )
    refuse(faults, "contradictions", where, f"A correction names the act it supersedes. {DO}")
    base = np.append(current["events"].to_numpy(np.int64), [0])[held]
    sequence = np.where(begins, 1, np.where(follows, base + 1, 0))
    while (waiting := (sequence == 0) & (sequence[parent] > 0)).any():
        sequence[waiting] = sequence[parent[waiting]] + 1
    refuse((f"row {row_of[place]}: supersedes itself, by a circle" for place in np.flatnonzero(sequence == 0)),
           "contradictions", where, DO)  # fmt: skip
    told: pd.DataFrame = fresh.assign(sequence=sequence)[~again]
    return told


def _assignments(
    connection: sa.Connection, fresh: pd.DataFrame, number: int, seed: int
) -> "np.ndarray[Any, np.dtype[np.int64]]":
    """Each row's assignment, made where there is none; all of them judged afterwards."""
    last = fresh.groupby(["item", "expert"], sort=False)["sequence"].max().reset_index()
    query = sa.select(assignment.c.id, assignment.c.item, assignment.c.expert).where(assignment.c.campaign == number)
    had = fetch(connection, query).to_pandas()
    found = last.merge(had, how="left", on=["item", "expert"])
    missing = found["id"].isna().to_numpy()
    old = found[~missing]
    if len(old):
        change = sa.update(assignment).where(assignment.c.id == sa.bindparam("number"))
        change = change.values(state=DONE, events=sa.bindparam("count"))
        rows = zip(old["id"].astype("int64").tolist(), old["sequence"].tolist(), strict=True)
        connection.execute(change, [{"number": one, "count": count} for one, count in rows])
    found["id"] = found["id"].fillna(0).astype("int64")
    if missing.any():
        ids = reserve(connection, assignment, int(missing.sum()))
        new = found[missing].merge(fresh.drop_duplicates(["item", "expert"]), on=["item", "expert"], suffixes=("", "_"))
        place = np.zeros(len(new), dtype=np.int64)
        codes, names = pd.factorize(new["expert_id"])
        for code, name in enumerate(names):
            mine = np.flatnonzero(codes == code)
            part = new.iloc[mine]
            place[mine] = positions(seed, str(name), as_strings(part["query_id"]), as_strings(part["candidate_id"]),
                                    (part["kind"] == "repeat").to_numpy())  # fmt: skip
        insert(connection, assignment, pa.table({
            "id": ids, "campaign": np.full(len(new), number), "item": new["item"].to_numpy(),
            "expert": new["expert"].to_numpy(), "position": place, "state": np.full(len(new), DONE),
            "events": new["sequence"].to_numpy(), "returned": np.zeros(len(new), np.int64)}))  # fmt: skip
        found.loc[missing, "id"] = ids
    return fresh.merge(found, how="left", on=["item", "expert"])["id"].to_numpy(np.int64)


def _insert_events(connection: sa.Connection, fresh: pd.DataFrame) -> None:
    fresh = fresh.sort_values(["created_at", "sequence"], kind="stable")
    texts = {name: as_strings(fresh[name].astype(object)) for name in ("session_id", "mode", "polarity", "guideline")}
    insert(connection, label_event, pa.table({
        "label_id": as_strings(fresh["vote_id"].astype(object)), "assignment": fresh["assignment"].to_numpy(),
        "sequence": fresh["sequence"].to_numpy(), "value": pa.array(fresh["value"], pa.int64(), from_pandas=True),
        "seconds": pa.array(fresh["seconds"], pa.float64(), from_pandas=True),
        "created_at": fresh["created_at"].to_numpy(), **texts}))  # fmt: skip
