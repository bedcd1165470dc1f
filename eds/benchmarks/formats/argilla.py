"""Argilla's records as JSON: its users' answers become votes.

The file is what `dataset.records.to_json(FILE)` writes. A record names its pair by the metadata (or fields) query_id
and candidate_id; each response to the question is a vote of its user. Suggestions, which nobody gave, are passed over.
Argilla 2.8 writes drafts like submitted answers; where a file has their status, drafts are passed over, too.
"""

import json
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import BaseModel, TypeAdapter

from eds.benchmarks.benchmark import PAIR, Benchmark, Location
from eds.benchmarks.validate import Faults
from eds.errors import InputError
from eds.io.reading import reading, shaped

AGAIN = 'Export it again: dataset.records.to_json("records.json").'
SIMILAR, DIFFERENT = ("yes", "similar", "true", "1"), ("no", "different", "not similar", "false", "0")
UNSURE = ("unsure", "cannot tell", "don't know")
VALUES: dict[str, int | None] = {
    **dict.fromkeys(SIMILAR, 1),
    **dict.fromkeys(DIFFERENT, 0),
    **dict.fromkeys(UNSURE, None),
}


class _Response(BaseModel):
    value: Any
    user_id: str
    status: str = "submitted"


class _Record(BaseModel):
    """As much of a record as is read here."""

    fields: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    responses: dict[str, list[_Response]] = {}

    def name(self, column: str) -> Any:
        """An id of the pair."""
        return self.metadata.get(column, self.fields.get(column))


def read(source: Path, *, question: Annotated[str, "Name of the question (default: the only one)."] = "") -> Benchmark:
    """Read a file of records."""
    with reading(source, "cannot be read as JSON", AGAIN):
        content = json.loads(source.read_text(encoding="utf-8"))
    records = shaped(TypeAdapter(list[_Record]), content, source, AGAIN)
    asked = _chosen(records, question, source)
    faults, votes, drafts = Faults(), [], 0
    for number, record in enumerate(records):
        names = [record.name(column) for column in PAIR]
        wrong = [
            f"has no {column} in its metadata or fields"
            for column, name in zip(PAIR, names, strict=True)
            if not isinstance(name, str) or not name
        ]
        for response in record.responses.get(asked, []):
            if response.status != "submitted":
                drafts += 1
                continue
            value = str(response.value).strip().lower()
            if value not in VALUES:
                wrong.append(f"has the answer {str(response.value)[:60]!r}: give one of {', '.join(VALUES)}")
            elif not response.user_id:
                wrong.append("has an answer of nobody")
            else:
                vote = {"expert_id": response.user_id, "value": VALUES[value], "seconds": None, "created_at": None}
                votes.append((number, {**dict(zip(PAIR, names, strict=True)), **vote, "kind": "normal"}))
        faults.add(source, (f"record {number} {fault}" for fault in wrong))
    faults.raise_any("the records cannot be imported", "Nothing was imported. Records count from 0:")
    if not votes:
        raise InputError("it holds no answers", where=str(source), hint="Export after your users have answered.")
    at = Location(source, "record")
    frame = pd.DataFrame([vote for _, vote in votes], index=[number for number, _ in votes], dtype=object)
    notes = (f"{drafts:,} answers are drafts or discarded: skipped",) if drafts else ()
    return Benchmark(None, None, None, frame, notes=notes, locations={"votes": at})


def _chosen(records: list[_Record], question: str, source: Path) -> str:
    """The question whose answers are votes."""
    names = list(dict.fromkeys(name for record in records for name in record.responses))
    if question and question not in names:
        raise InputError(
            f"there is no question {question!r}", where=str(source), hint=f"There are: {', '.join(names)}."
        )
    if not question and len(names) != 1:
        what = f"there are {len(names)} questions" if names else "it holds no answers"
        raise InputError(
            what, where=str(source), hint=f"Name one with --question: {', '.join(names) or 'none is there'}."
        )
    return question or names[0]
