"""Export and import of votes. An import is stored as a whole, or every contradiction is reported by row.

Importing a file twice changes nothing: acts keep their names, and rows without a name get one that follows
from what they say.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import sqlalchemy as sa

from eds.errors import InputError, ProjectError
from eds.io.reading import reading
from eds.labels import audit, chain, vote_files
from eds.labels.bulk import fetch, insert, reserve
from eds.labels.frames import labels_arrow
from eds.labels.merge_votes import DO, fresh, sequenced
from eds.labels.pairs import as_strings, numbered
from eds.labels.permissions import check_lead
from eds.labels.schema import DONE, UNFINISHED, WHOLE, assignment, campaign, expert, item, label_event, pair, panel
from eds.labels.shuffle import positions
from eds.labels.store import Store
from eds.labels.validation import check_name, refuse, short
from eds.labels.vote_columns import COLUMNS
from eds.labels.vote_imports import begin_import, is_void

SAID_TEXTS = ("query_id", "candidate_id", "kind", "session_id", "mode", "polarity", "guideline", "aspects", "note")
SLOT = ["query_id", "candidate_id", "expert_id", "kind"]  # what an expert answers once, or revises


@dataclass(frozen=True)
class Imported:
    """What an import did."""

    added: int
    already: int  # stored before, under the same name
    repeated: int  # say again what another row of the file, or the store, says: counted once
    dropped: tuple[str, ...]  # columns that mean nothing here
    number: int | None = None  # of the import; None: nothing was new


def export_votes(
    store: Store, path: Path, kind: str | None = None, *, only: str | None = None, as_of: datetime | None = None
) -> int:
    """Write every act (crowd-kit: every answer in force) to a file; how many acts there were."""
    result = vote_files.format_of(path, kind)
    table = store.snapshot(lambda connection: labels_arrow(connection, store.place, as_of, only, late=True))
    names = ["vote_id" if name == "label_id" else name for name in table.column_names]
    vote_files.write(table.rename_columns(names), path, result)
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
    """Take votes (vote_columns.COLUMNS, or the labels table) into a campaign: all of them or none.

    Unknown experts and pairs are faults unless `add_missing`: then they are entered; those experts are asked
    for nothing more than what they brought.
    """
    return import_campaigns(store, {campaign_name: frame}, add_missing=add_missing, where=where, by=by)[campaign_name]


def import_campaigns(
    store: Store,
    frames: Mapping[str, pd.DataFrame],
    *,
    add_missing: bool = False,
    where: str = "votes",
    by: str = "",
    token: str = "",
) -> dict[str, Imported]:
    """Take the votes of several campaigns, as `import_votes`: all of them or none.

    A `token` is noted in the audit, by which `audit.noted` finds out later whether they are stored.
    """

    def place(name: str) -> str:
        return where if len(frames) == 1 else f"{where} (rows of campaign {name})"

    ready: dict[str, tuple[pd.DataFrame, tuple[str, ...]]] = {}
    for name, frame in frames.items():
        check_name(name, "campaign")
        frame = frame.rename(columns={"label_id": "vote_id"}).reset_index(drop=True)
        with reading(place(name)):
            clean, faults = vote_files.parse(frame, store.now())
        refuse(faults, "faults", place(name), DO)
        nameless = clean["vote_id"].isna().to_numpy()
        if nameless.any():
            clean.loc[nameless, "vote_id"] = _names(clean[nameless], name)
        dropped = tuple(str(entry) for entry in frame.columns if entry not in COLUMNS)
        ready[name] = clean.assign(nameless=nameless), dropped

    def act(connection: sa.Connection) -> dict[str, Imported]:
        check_lead(connection, store, by, "import votes")
        done = {}
        for name, (clean, dropped) in ready.items():
            added, already, number = _take_in(connection, store.now(), clean, name, add_missing, place(name), by)
            text = {"votes": added, "source": where, **({"token": token} if token else {})}
            audit.note(connection, store.now(), by, "import votes", name, **text)
            done[name] = Imported(added, already, len(clean) - added - already, dropped, number)
        return done

    return store.write(act)


def _names(clean: pd.DataFrame, campaign_name: str, *after: int) -> list[str]:
    parts = zip(*(clean[name] for name in SLOT), strict=True)
    return [
        f"import-{hashlib.sha256(repr((campaign_name, *part, *after)).encode()).hexdigest()[:32]}" for part in parts
    ]


def _take_in(
    connection: sa.Connection,
    now: int,
    clean: pd.DataFrame,
    campaign_name: str,
    add_missing: bool,
    where: str,
    by: str,
) -> tuple[int, int, int | None]:
    """Store the acts that are new; how many these are, how many were stored already, and the number of the import."""
    number, seed = _campaign(connection, campaign_name, now, add_missing)
    people = _people(connection, clean, number, now, add_missing, where)
    clean = clean.assign(expert=clean["expert_id"].map(people).astype("int64"))
    clean = clean.assign(item=_items(connection, clean, number, add_missing, where))
    stored = _stored(connection, number)
    clean = _renamed(clean, stored, campaign_name)
    acts = fresh(connection, clean, stored, where)
    already = int(clean["vote_id"].isin(stored["label_id"]).sum())
    if not len(acts):
        return 0, already, None
    acts = sequenced(acts, stored, where)
    acts = acts.assign(assignment=_assignments(connection, acts, number, seed))
    batch = begin_import(connection, number, where, now, by, len(acts))
    _insert_events(connection, acts.assign(vote_import=batch), campaign_name, number)
    return len(acts), already, batch


def _renamed(clean: pd.DataFrame, stored: pd.DataFrame, campaign_name: str) -> pd.DataFrame:
    """The rows, with another name for those without their own that say what a void import said: they count now."""
    void, turn = stored.loc[stored["void"] == 1, "label_id"], 0
    names = clean["vote_id"].to_numpy(object).copy()
    while len(again := np.flatnonzero(clean["nameless"].to_numpy() & pd.Index(names).isin(void))):
        turn += 1
        names[again] = _names(clean.iloc[again], campaign_name, turn)
    return clean.assign(vote_id=names)


def _campaign(connection: sa.Connection, name: str, now: int, add_missing: bool) -> tuple[int, int]:
    query = sa.select(campaign.c.id, campaign.c.seed, sa.case((UNFINISHED, 1), else_=0).label("unfinished"))
    query = query.where(campaign.c.name == name).with_for_update(key_share=True)
    row = connection.execute(query).first()
    if row is not None and row.unfinished:
        raise ProjectError(
            f"campaign {short(name)} is being made, or its making was interrupted",
            where="campaign",
            hint="Make it again (eds labels campaigns add), or name another.",
        )
    if row is None and add_missing:
        plan = {"mode": "pair", "guideline": "", "seed": 0, "gold_share": 0.0, "repeat_share": 0.0, "early_stop": 0}
        connection.execute(sa.insert(campaign).values(name=name, **plan, control_share=0.1, created_at=now))
        row = connection.execute(query).first()
    if row is None:
        raise InputError(f"unknown campaign {short(name)}", where="campaign", hint="See eds labels campaigns list.")
    return row.id, row.seed


def _people(
    connection: sa.Connection, clean: pd.DataFrame, number: int, now: int, add_missing: bool, where: str
) -> dict[str, int]:
    known = {row.name: row.id for row in connection.execute(sa.select(expert.c.id, expert.c.name))}
    named = pd.unique(clean["expert_id"])
    unknown = [name for name in named if name not in known]
    if unknown and not add_missing:
        rows = np.flatnonzero(clean["expert_id"].isin(unknown).to_numpy())
        refuse(
            (f"row {row}: unknown expert {short(clean['expert_id'][row])}" for row in rows.tolist()),
            "rows are of unknown experts",
            where,
            f"Add them first (eds labels experts add). {DO}",
        )
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
    """Each row's item; those that the campaign lacks are added, or reported."""
    query = sa.select(item.c.id.label("item"), pair.c.query_id, pair.c.candidate_id, item.c.kind)
    query = query.join(pair, pair.c.id == item.c.pair).where(item.c.campaign == number)
    key = ["query_id", "candidate_id", "kind"]
    had = fetch(connection, query).to_pandas()
    wanted = clean[key].drop_duplicates().astype(object)
    result = wanted.merge(had.astype(dict.fromkeys(key, object)), how="left", on=key)
    missing = result["item"].isna().to_numpy()
    if missing.any() and not add_missing:
        rows = (
            clean[key].astype(object).merge(result[missing][key], how="left", on=key, indicator=True)["_merge"]
            == "both"
        )
        refuse(
            (
                f"row {row}: {short(clean['query_id'][row])} {short(clean['candidate_id'][row])} ({clean['kind'][row]})"
                for row in np.flatnonzero(rows.to_numpy()).tolist()
            ),
            "rows are of pairs that the campaign does not ask",
            where,
            f"Add the pairs first. {DO}",
        )
    result["item"] = result["item"].fillna(0).astype("int64")
    if missing.any():
        new = pa.table({name: as_strings(result.loc[missing, name]) for name in key})
        new = numbered(connection, new)
        ids = reserve(connection, item, len(new))
        zeros = pa.array(np.zeros(len(new), np.int64))
        imported = pa.array(["import"] * len(new), pa.string())
        insert(
            connection,
            item,
            pa.table(
                {
                    "id": pa.array(ids),
                    "campaign": pa.array(np.full(len(new), number)),
                    "pair": new["pair"],
                    "kind": new["kind"],
                    "origin": imported,
                    "control": zeros,
                }
            ),
        )
        result.loc[missing, "item"] = ids
    return clean[key].astype(object).merge(result, how="left", on=key)["item"].to_numpy(np.int64)


def _stored(connection: sa.Connection, number: int) -> pd.DataFrame:
    """The acts of the campaign so far: label_id, value, item, expert, sequence, events; `void`: of a void import."""
    query = sa.select(
        label_event.c.label_id,
        label_event.c.value,
        assignment.c.item,
        assignment.c.expert,
        label_event.c.sequence,
        assignment.c.events,
        sa.cast(sa.case((is_void(), 1), else_=0), WHOLE).label("void"),
    )
    query = query.join(assignment, assignment.c.id == label_event.c.assignment)
    rows = fetch(connection, query.where(assignment.c.campaign == number))
    frame: pd.DataFrame = rows.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
    return frame.astype(dict.fromkeys(("item", "expert", "sequence", "events", "void"), "int64"))


def _assignments(
    connection: sa.Connection, acts: pd.DataFrame, number: int, seed: int
) -> "np.ndarray[Any, np.dtype[np.int64]]":
    """Each row's assignment, made where there is none; all of them judged afterwards."""
    last = acts.groupby(["item", "expert"], sort=False)["sequence"].max().reset_index()
    query = sa.select(assignment.c.id, assignment.c.item, assignment.c.expert).where(assignment.c.campaign == number)
    had = fetch(connection, query).to_pandas()
    result = last.merge(had, how="left", on=["item", "expert"])
    missing = result["id"].isna().to_numpy()
    old = result[~missing]
    if len(old):
        change = sa.update(assignment).where(assignment.c.id == sa.bindparam("number"))
        change = change.values(state=DONE, events=sa.bindparam("count"))
        rows = zip(old["id"].astype("int64").tolist(), old["sequence"].tolist(), strict=True)
        connection.execute(change, [{"number": entry, "count": count} for entry, count in rows])
    result["id"] = result["id"].fillna(0).astype("int64")
    if missing.any():
        ids = reserve(connection, assignment, int(missing.sum()))
        new = result[missing].merge(acts.drop_duplicates(["item", "expert"]), on=["item", "expert"], suffixes=("", "_"))
        place = np.zeros(len(new), dtype=np.int64)
        codes, names = pd.factorize(new["expert_id"])
        for code, name in enumerate(names):
            mine = np.flatnonzero(codes == code)
            part = new.iloc[mine]
            place[mine] = positions(
                seed,
                str(name),
                as_strings(part["query_id"]),
                as_strings(part["candidate_id"]),
                (part["kind"] == "repeat").to_numpy(),
            )
        insert(
            connection,
            assignment,
            pa.table(
                {
                    "id": ids,
                    "campaign": np.full(len(new), number),
                    "item": new["item"].to_numpy(),
                    "expert": new["expert"].to_numpy(),
                    "position": place,
                    "state": np.full(len(new), DONE),
                    "events": new["sequence"].to_numpy(),
                    "returned": np.zeros(len(new), np.int64),
                }
            ),
        )
        result.loc[missing, "id"] = ids
    return acts.merge(result, how="left", on=["item", "expert"])["id"].to_numpy(np.int64)


def _insert_events(connection: sa.Connection, acts: pd.DataFrame, campaign_name: str, number: int) -> None:
    acts = acts.sort_values(["created_at", "sequence"], kind="stable")
    texts = {name: as_strings(acts[name].astype(object)) for name in SAID_TEXTS}
    said = pa.table(
        {
            **texts,
            "campaign": pa.array([campaign_name]).take(pa.array(np.zeros(len(acts), np.int64))),
            "expert": as_strings(acts["expert_id"].astype(object)),
            "label_id": as_strings(acts["vote_id"].astype(object)),
            "assignment": acts["assignment"].to_numpy(),
            "sequence": acts["sequence"].to_numpy(),
            "value": pa.array(acts["value"], pa.int64(), from_pandas=True),
            "seconds": pa.array(acts["seconds"], pa.float64(), from_pandas=True),
            "created_at": acts["created_at"].to_numpy(),
            "late": acts["late"].to_numpy(np.int64),
            "vote_import": acts["vote_import"].to_numpy(np.int64),
            "grade": pa.array(acts["grade"], pa.int64(), from_pandas=True),
        }
    )
    of = sa.select(expert.c.name, expert.c.id, panel.c.acts, panel.c.head).join(panel, panel.c.expert == expert.c.id)
    of = of.where(panel.c.campaign == number).with_for_update(of=panel, key_share=True)
    ends = {row.name: row for row in connection.execute(of)}
    heads = {(campaign_name, name): row.head for name, row in ends.items()}
    stored = said.append_column("digest", pa.array(chain.links(said, heads), pa.string()))
    insert(connection, label_event, stored.select([name for name in label_event.c.keys() if name != "id"]))  # noqa: SIM118
    for name, count in acts["expert_id"].value_counts().items():
        change = sa.update(panel).where(panel.c.campaign == number, panel.c.expert == ends[str(name)].id)
        values = {"acts": ends[str(name)].acts + int(count), "head": heads[campaign_name, str(name)]}
        connection.execute(change.values(values))
