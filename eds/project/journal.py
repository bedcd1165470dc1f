"""The journal of table suspects: what each draw and pool added and took away, so that it can be undone.

    journal/000003.parquet    the rows of table suspects that one operation changed, with the operation in its metadata

An entry is written before the table, and counts for what the table says: one of an operation that was killed in between
undoes nothing. Rows that left the table are kept here, with whether their pair was judged. Votes and campaigns are
recorded in the label store (eds.labels.vote_imports, eds.labels.withdrawal).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eds.errors import InputError
from eds.io.files import replacing
from eds.project.label_store import exists, opened
from eds.project.price import judged_pairs, questions
from eds.project.results import to_jsonable
from eds.schema import fill_columns
from eds.tables import SUSPECTS, Operation, Provenance, read_provenance

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project
    from eds.project.inputs import Inputs

FOLDER, NOTE = "journal", b"eds.journal"
MOMENT = "%Y-%m-%dT%H:%M:%S.%fZ"  # in UTC; draws and campaigns of the same second stay in order
PAIR, KEY = ["query_id", "candidate_id"], ["query_id", "candidate_id", "origin"]


@dataclass(frozen=True)
class Entry:
    """One operation on table suspects."""

    number: int
    at: str  # in UTC
    actor: str
    operation: Operation
    undoes: int | None  # the entry that it undid
    before: Provenance | None  # of the table before it; None: there was none
    file: Path

    @cached_property
    def rows(self) -> "pd.DataFrame":
        """The rows: `change` is added, removed, or before (as the row was, where its sources changed)."""
        import pyarrow.parquet as pq

        stored = pq.read_table(self.file)
        others = [name for name in stored.column_names if name not in SUSPECTS.names]
        filled = fill_columns(stored, SUSPECTS, [*SUSPECTS.names, *others])  # of an older version: columns are missing
        rows: pd.DataFrame = filled.replace_schema_metadata(stored.schema.metadata).to_pandas()
        return rows

    def changed(self, change: str) -> "pd.DataFrame":
        """The rows of this kind of change."""
        return self.rows[self.rows["change"] == change].reset_index(drop=True)


def read_entries(project: "Project") -> list[Entry]:
    """Every entry, oldest first."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = []
    for file in sorted((project.root / FOLDER).glob("[0-9]*.parquet")):
        try:
            said = json.loads((pq.read_schema(file).metadata or {})[NOTE])
            before = Provenance.from_json(said["before"]) if said["before"] else None
            operation = Operation(said["operation"], said["params"])
            entry = Entry(said["number"], said["at"], said["actor"], operation, said["undoes"], before, file)
        except (OSError, KeyError, ValueError, TypeError, pa.ArrowException) as error:
            raise InputError(
                f"an entry of the journal is damaged ({type(error).__name__})",
                where=str(file),
                hint="Restore a copy, or move the file away: then this operation cannot be undone.",
            ) from error
        found.append(entry)
    return found


def withdrawn(project: "Project", suspects: "pd.DataFrame", *, judged: bool = False) -> "pd.DataFrame":
    """The rows that left table suspects and are not in it now, as they were last; `judged`: those of judged pairs."""
    import pandas as pd

    parts = [entry.changed("removed") for entry in read_entries(project)]
    if not (parts := [part for part in parts if len(part)]):
        return SUSPECTS.empty()
    rows = pd.concat(parts, ignore_index=True).drop_duplicates(KEY, keep="last")
    there = pd.MultiIndex.from_frame(suspects[KEY].astype(str))
    gone = ~pd.MultiIndex.from_frame(rows[KEY].astype(str)).isin(there)
    kept = rows[gone & rows["judged"].to_numpy(bool)] if judged else rows[gone]
    return kept[SUSPECTS.names].reset_index(drop=True)


def suspects_and_withdrawn(inputs: "Inputs") -> "pd.DataFrame":
    """The suspects, and those that were taken back after they had been judged: why each label was asked for."""
    import pandas as pd

    gone = withdrawn(inputs.project, inputs.suspects, judged=True)
    return pd.concat([inputs.suspects, gone], ignore_index=True) if len(gone) else inputs.suspects


def write_suspects(
    inputs: "Inputs",
    table: "pd.DataFrame",
    made_by: Provenance,
    operation: Operation,
    *,
    undoes: int | None = None,
    begun: bool = True,
) -> None:
    """Write table suspects with an entry of the journal, and let the queues follow.

    Pairs that leave the table are taken back from open campaigns, pairs that return are given back. Pairs that
    somebody has judged, and others have not, leave the queue only if `begun`.
    """
    import pandas as pd

    project, before = inputs.project, inputs.suspects
    old, new = (pd.MultiIndex.from_frame(frame[KEY].astype(str)) for frame in (before, table))
    removed = before[~old.isin(new)]
    added = table[~new.isin(old)]
    both = before[[*KEY, "sources"]].merge(table[[*KEY, "sources"]], on=KEY, suffixes=("", "_now"))
    differ = both[both["sources"].fillna("") != both["sources_now"].fillna("")][KEY].merge(before, on=KEY)
    judged = pd.MultiIndex.from_frame(judged_pairs(inputs).astype(str))
    changes = {"added": added, "removed": removed, "before": differ}
    parts = [part[SUSPECTS.names].assign(change=change) for change, part in changes.items()]
    rows = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    rows["judged"] = pd.MultiIndex.from_frame(rows[PAIR].astype(str)).isin(judged)
    _write_entry(project, rows, operation, undoes)
    project.write(table, "suspects", made_by)
    _move_queues(project, before, table, begun=begun)


def _write_entry(project: "Project", rows: "pd.DataFrame", operation: Operation, undoes: int | None) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = project.path("suspects")
    entries = read_entries(project)
    number = entries[-1].number + 1 if entries else 1
    said: Mapping[str, Any] = {
        "number": number,
        "at": datetime.now(UTC).strftime(MOMENT),
        "actor": project.actor,
        "operation": operation.name,
        "params": to_jsonable(given(operation)),
        "undoes": undoes,
        "before": read_provenance(path, SUSPECTS)[0].to_json() if path.exists() else None,
    }
    folder = project.root / FOLDER
    if project.would("make", folder / f"{number:06}.parquet", "an entry of the journal: eds undo takes it back"):
        return
    folder.mkdir(exist_ok=True)
    content = pa.Table.from_pandas(rows, preserve_index=False)
    content = content.replace_schema_metadata({**(content.schema.metadata or {}), NOTE: json.dumps(said).encode()})
    with replacing(folder / f"{number:06}.parquet") as temporary:
        pq.write_table(content, temporary, compression="zstd")


def _move_queues(project: "Project", before: "pd.DataFrame", after: "pd.DataFrame", *, begun: bool) -> None:
    """Take questions that are asked no more back from open campaigns, and give back those that return."""
    if not exists(project):
        return
    asked, asks = questions(before), questions(after)
    gone, back = (part.to_frame(index=False) for part in (asked.difference(asks), asks.difference(asked)))
    with opened(project, create=True) as store:
        from eds.labels.withdrawal import give_back, withdraw_pairs

        if len(gone):
            withdraw_pairs(store, gone, begun=begun, by=project.actor)
        if len(back):
            give_back(store, back, by=project.actor)


def given(operation: Operation) -> dict[str, Any]:
    """The parameters of an operation that were given."""
    return {name: value for name, value in operation.params.items() if value not in (None, [], ())}
