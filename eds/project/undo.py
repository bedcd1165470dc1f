"""The journal as one list, and undo: take back what nobody has judged, and delete no judgement."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from eds.errors import InputError
from eds.project.inputs import Inputs
from eds.project.journal import KEY, MOMENT, PAIR, Entry, given, read_entries, write_suspects
from eds.project.label_store import exists, opened
from eds.project.near_duplicates import read_decisions, undo_decision
from eds.project.price import judged_pairs, price_of
from eds.project.results import Result, to_jsonable
from eds.tables import Operation, Provenance

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project

GROWS = ("suspects.pool", "suspects.add-model")  # each changes the sources of pairs that were there before
UNDO = "undo"


@dataclass(frozen=True)
class JournalEntry(Result):
    """Something that can be undone."""

    name: str  # what `undo` takes: draw-3, votes-2, campaign-1, duplicates-4
    at: str
    actor: str
    what: str  # the command, or a sentence
    pairs: int  # that it added or decided; of an import of votes, the votes
    undone: bool
    kind: str = ""  # the operation of a draw (suspects.pool), campaign, votes or duplicates
    subject: str = ""  # the name of a campaign, or where votes came from


@dataclass(frozen=True)
class JournalResult(Result):
    """What can be undone, and what was, oldest first."""

    entries: list[JournalEntry]


@dataclass(frozen=True)
class UndoResult(Result):
    """What undoing takes back, and what stays."""

    entry: JournalEntry
    taken_back: int  # pairs that nobody has judged; of an import, votes that count no more; decisions
    judged: int  # pairs whose votes and labels stay, because they are judged
    returned: int  # pairs that the operation had taken away
    judgements_saved: int  # that are asked no more
    done: bool  # False: a dry run
    note: str  # what else must be known


def read_journal(project: "Project") -> JournalResult:
    """List what can be undone; see `Project.journal`."""
    entries = read_entries(project)
    undone = {entry.undoes for entry in entries}
    found = [
        JournalEntry(
            f"draw-{entry.number}",
            entry.at,
            entry.actor,
            entry.operation.command,
            len(entry.changed("added")),
            entry.number in undone,
            entry.operation.name,
        )
        for entry in entries
        if entry.undoes is None
    ]
    found += _of_duplicates(project)
    if exists(project):
        found += _of_store(project)
    return JournalResult(sorted(found, key=lambda entry: entry.at))


def undo(project: "Project", entry: str | None = None) -> UndoResult:
    """Undo an entry, by default the last one; see `Project.undo`."""
    entries = read_journal(project).entries
    chosen = next((one for one in reversed(entries) if one.name == entry or (entry is None and not one.undone)), None)
    if chosen is None:
        raise InputError(
            f"there is no entry {entry!r}" if entry else "there is nothing to undo",
            where="journal",
            hint="See eds undo --list.",
        )
    if chosen.undone:
        raise InputError(f"{chosen.name} is undone already", where="journal", hint=f"Make it again: {chosen.what}.")
    kind, _, number = chosen.name.partition("-")
    check_rights(project, "undo")
    with project.writing("undo"):
        if kind == "votes":
            return _undo_votes(project, chosen, int(number))
        if kind == "duplicates":
            back = undo_decision(project, int(number))
            note = f"{back:,} images are in the catalogue again. Next: eds run."
            return UndoResult(chosen, chosen.pairs, 0, 0, 0, not project.dry_run, note)
        if kind == "campaign":
            return _undo_campaign(project, chosen)
        return _undo_suspects(project, chosen, int(number))


def check_rights(project: "Project", what: str) -> None:
    """Refuse an actor of the label store who is not a lead."""
    if exists(project):
        with opened(project) as store:
            from eds.labels.permissions import check_lead

            store.read(lambda connection: check_lead(connection, store, project.actor, what))


def _of_duplicates(project: "Project") -> list[JournalEntry]:
    """The decisions about near duplicates."""
    return [
        JournalEntry(
            f"duplicates-{number}",
            rows["at"].iloc[0],
            rows["actor"].iloc[0],
            f"eds images duplicates {rows['decision'].iloc[0]}",
            len(rows),
            bool((rows["undone"] != "").all()),
            "duplicates",
        )
        for number, rows in read_decisions(project).groupby("number")
    ]


def _of_store(project: "Project") -> list[JournalEntry]:
    """The campaigns that experts judge, and the imports of votes."""
    campaigns, imports = project.campaigns.judged_by_experts(), project.labels.imports()
    found = [
        JournalEntry(
            f"campaign-{row['name']}",
            _moment(row["created_at"]),
            "",
            f"campaign {row['name']} of {row['experts']} experts",
            int(row["items"]),
            not _missing(row["withdrawn_at"]),
            "campaign",
            str(row["name"]),
        )
        for row in campaigns[~campaigns["name"].isin(imports["campaign"]) | (campaigns["experts"] > 0)].to_dict(
            "records"
        )
    ]
    return found + [
        JournalEntry(
            f"votes-{row['number']}",
            _moment(row["created_at"]),
            row["created_by"],
            f"votes of {row['source']} in campaign {row['campaign']}",
            int(row["votes"]),
            bool(row["void"]),
            "votes",
            str(row["source"]),
        )
        for row in imports.to_dict("records")
    ]


def _moment(value: "pd.Timestamp") -> str:
    return value.strftime(MOMENT)


def _missing(value: object) -> bool:
    return value is None or value != value


def _undo_votes(project: "Project", chosen: JournalEntry, number: int) -> UndoResult:
    project.labels.void_import(number)
    note = f"The votes are kept; eds labels imports void {number} --again counts them again. Next: eds truth decide."
    return UndoResult(chosen, chosen.pairs, 0, 0, 0, not project.dry_run, note)


def _undo_campaign(project: "Project", chosen: JournalEntry) -> UndoResult:
    from eds.labels.withdrawal import undo_campaign

    with opened(project) as store:
        done = undo_campaign(store, chosen.name.partition("-")[2], by=project.actor)
    note = "It goes on with the pairs that somebody has judged, until their panels are complete." if done.begun else ""
    return UndoResult(chosen, done.withdrawn, done.begun, 0, done.tasks, not project.dry_run, note)


def _undo_suspects(project: "Project", chosen: JournalEntry, number: int) -> UndoResult:
    import pandas as pd

    from eds.suspects import without_draw, without_orphans
    from eds.suspects.append import canonical

    entries = read_entries(project)
    entry = next(one for one in entries if one.number == number)
    _refuse_if_built_on(entries, entry)
    inputs = Inputs(project)
    before, added, removed = inputs.suspects, entry.changed("added"), entry.changed("removed")
    there = _keys(before)
    mine = added[_keys(added).isin(there)]
    table = without_draw(before, mine)
    table = _with_sources(table, entry.changed("before"))
    back = removed[~_keys(removed).isin(there)].drop(columns=["change", "judged"])
    table = canonical(pd.concat([table, back], ignore_index=True)) if len(back) else table
    table = without_orphans(table)
    made_by = _provenance_without(project, entry)
    gone = before[~there.isin(_keys(table))][PAIR].drop_duplicates()
    known = pd.MultiIndex.from_frame(judged_pairs(inputs).astype(str))
    judged = int(pd.MultiIndex.from_frame(gone.astype(str)).isin(known).sum())
    if made_by is None:  # nothing else made the table
        table, made_by = table.iloc[:0], Provenance(UNDO)
    operation = Operation(UNDO, {"arguments": [chosen.name]})
    write_suspects(inputs, table, made_by, operation, undoes=number, begun=False)
    if not len(table) and not project.would("delete", project.path("suspects"), "nothing else made it"):
        project.path("suspects").unlink(missing_ok=True)
    taken = len(gone) - judged
    saved = price_of(project, taken).judgements
    return UndoResult(chosen, taken, judged, len(back), saved, not project.dry_run, _note(project, entry, judged))


def _note(project: "Project", entry: Entry, judged: int) -> str:
    """What stays of what is judged, and what would make the pool as deep again."""
    random = entry.operation.name in ("suspects.random", "suspects.draw")
    parts = [f"They count no more {'in p' if random else 'as the pool'}."] if judged else []
    depth = (entry.before.params.get("k") or entry.before.settings.get("suspects.k")) if entry.before else None
    now = project.config.suspects.k
    if entry.operation.name == "suspects.pool" and depth != now and "k" not in given(entry.operation):
        parts.append(f"eds.toml says suspects.k = {now}: set it, or the next eds run pools at {now} again.")
    return " ".join(parts)


def _refuse_if_built_on(entries: Sequence[Entry], entry: Entry) -> None:
    """Pools and pairs of new models are undone from the last one on: each stands on the one before."""
    undone = {one.undoes for one in entries}
    later = [
        f"draw-{one.number}"
        for one in entries
        if one.number > entry.number and one.number not in undone and one.undoes is None and one.operation.name in GROWS
    ]
    if entry.operation.name == "suspects.reorder" or (later and entry.operation.name in GROWS):
        raise InputError(
            f"draw-{entry.number} cannot be undone by itself"
            + (f": {', '.join(later)} stands on it" if later else ", it only moved pairs"),
            where="journal",
            hint=f"Undo the last one first: eds undo {later[-1]}."
            if later
            else "Order them again: eds suspects reorder.",
        )


def _keys(rows: "pd.DataFrame") -> "pd.MultiIndex":
    import pandas as pd

    return pd.MultiIndex.from_frame(rows[KEY].astype(str))


def _with_sources(table: "pd.DataFrame", before: "pd.DataFrame") -> "pd.DataFrame":
    """The table with the sources that rows had before."""
    if not len(before):
        return table
    at = _keys(table).get_indexer(_keys(before))
    sources = table["sources"].to_numpy(object).copy()
    sources[at[at >= 0]] = before["sources"].to_numpy(object)[at >= 0]
    return table.assign(sources=sources)


def _provenance_without(project: "Project", entry: Entry) -> Provenance | None:
    """The provenance of table suspects without an operation; None if nothing else made it."""
    from eds.project.pool import suspects_provenance

    now = suspects_provenance(project)
    wanted = entry.operation.name, to_jsonable(given(entry.operation))
    if (now.operation, to_jsonable(given(Operation(now.operation, now.params)))) != wanted:
        steps = list(now.later)
        at = next(
            (at for at in reversed(range(len(steps))) if (steps[at].name, to_jsonable(given(steps[at]))) == wanted),
            None,
        )
        return now if at is None else replace(now, later=tuple(steps[:at] + steps[at + 1 :]))
    if entry.before is not None and entry.before.operation == entry.operation.name == "suspects.pool":
        return replace(entry.before, later=now.later)
    if not now.later:
        return None
    first, *rest = now.later
    return replace(now, operation=first.name, params=first.params, settings={}, parents={}, later=tuple(rest))
