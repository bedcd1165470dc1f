"""Guidelines: what similar means, as text with example pairs. A saved version never changes.

A campaign names the version in force and every judgement stores the one it was given under, so a version must
never say anything else later: the database refuses to change one (schema.APPEND_ONLY), so other
words are another version. The text is untrusted Markdown: escape it where it is shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pyarrow as pa
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels import audit, schema
from eds.labels.bulk import frame
from eds.labels.campaigns import set_guideline
from eds.labels.pairs import numbered
from eds.labels.permissions import check_lead
from eds.labels.schema import assignment, campaign, example, expert, guideline, item, label_event, pair
from eds.labels.store import Store
from eds.labels.validation import check, check_name, fault_of, refuse, short

LONGEST = 100_000  # bytes of a guideline's text
MOST_EXAMPLES = 200
MEANT = {"positive": 1, "negative": 0}  # what an example of this kind shows


@dataclass(frozen=True)
class Example:
    """A pair that shows what the guideline means."""

    query_id: str
    candidate_id: str
    kind: str  # positive, negative or border
    note: str = ""  # why
    value: int | None = None  # of a border example: 1, 0, or None if either is right

    @property
    def answer(self) -> int | None:
        """Return the right answer, None where either is right."""
        return MEANT.get(self.kind, self.value)


@dataclass(frozen=True)
class Guideline:
    """One version."""

    version: str
    content: str  # Markdown, not to be trusted
    examples: tuple[Example, ...] = ()
    created_at: datetime | None = None
    created_by: str = ""
    language: str = ""  # of the text: de; "" if it is not known


def save_guideline(
    store: Store,
    version: str,
    content: str,
    examples: Sequence[Example] = (),
    *,
    language: str = "",
    by: str = "",
) -> None:
    """Keep a new version for ever. The same name with the same words again changes nothing; with others is refused."""
    check_name(version, "guideline")
    check(content, "guideline", LONGEST)
    _check_examples(examples)

    def act(connection: sa.Connection) -> None:
        check_lead(connection, store, by, "save a guideline")
        if (there := _find(connection, version)) is not None:
            if (there.content, there.examples) != (content, tuple(examples)):
                raise InputError(
                    f"there is a guideline {short(version)} already, and it says otherwise",
                    where="guideline",
                    hint="Versions are never changed: save this one under another name.",
                )
            return
        now = store.now()
        values = {"version": version, "content": content, "created_at": now, "created_by": by, "language": language}
        number = connection.execute(sa.insert(guideline).values(values).returning(guideline.c.id)).scalar_one()
        for index, (entry, of) in enumerate(zip(examples, _pairs(connection, examples), strict=True)):
            row = {"guideline": number, "pair": of, "position": index, "kind": entry.kind}
            connection.execute(sa.insert(example).values(**row, value=entry.answer, note=entry.note))
        audit.note(connection, now, by, "save guideline", version, examples=len(examples))

    try:
        store.write(act)
    except sa.exc.IntegrityError:  # two at the same moment: now the other one is there to be compared with
        store.write(act)


def guideline_named(store: Store, version: str) -> Guideline:
    """Return the guideline of this version; InputError if it is unknown."""
    check_name(version, "guideline")
    result = store.read(lambda connection: _find(connection, version))
    if result is None:
        raise InputError(f"unknown guideline {short(version)}", where="guideline", hint="Choose one that was saved.")
    return result


def guideline_of(store: Store, campaign_name: str) -> Guideline | None:
    """The version in force in a campaign; None if it names none, or only a name that has no text here."""
    check_name(campaign_name, "campaign")

    def find(connection: sa.Connection) -> Guideline | None:
        named = connection.execute(sa.select(campaign.c.guideline).where(campaign.c.name == campaign_name)).scalar()
        if named is None:
            raise InputError(f"unknown campaign {short(campaign_name)}", where="campaign", hint="Choose another.")
        return _find(connection, named)

    return store.read(find)


def guideline_of_last(store: Store, campaign_name: str, expert_name: str) -> Guideline | None:
    """The version of this expert's last act in a campaign; None if there is none, or it has no text here."""
    query = (
        sa.select(label_event.c.guideline)
        .join(assignment, assignment.c.id == label_event.c.assignment)
        .where(
            assignment.c.campaign == sa.select(campaign.c.id).where(campaign.c.name == campaign_name).scalar_subquery(),
            assignment.c.expert == sa.select(expert.c.id).where(expert.c.name == expert_name).scalar_subquery(),
        )
        .order_by(label_event.c.id.desc())
        .limit(1)
    )

    def find(connection: sa.Connection) -> Guideline | None:
        named = connection.execute(query).scalar()
        return None if named is None else _find(connection, named)

    return store.read(find)


def put_in_force(store: Store, campaign_name: str, version: str, *, by: str = "") -> None:
    """Let a campaign's next judgements be given under this version, which must have been saved.

    Its examples must not be hidden gold of the campaign: everybody would know the answer.
    """
    shown = {(entry.query_id, entry.candidate_id) for entry in guideline_named(store, version).examples}
    check_name(campaign_name, "campaign")
    planted = (
        sa.select(pair.c.query_id, pair.c.candidate_id)
        .join(item, item.c.pair == pair.c.id)
        .join(campaign, campaign.c.id == item.c.campaign)
        .where(campaign.c.name == campaign_name, item.c.kind == "gold")
        .order_by(pair.c.id)
    )
    hidden = [tuple(row) for row in store.read(lambda connection: connection.execute(planted).all())]
    refuse(
        (
            f"{query} {candidate} is hidden gold in this campaign"
            for query, candidate in hidden
            if (query, candidate) in shown
        ),
        "examples are hidden gold",
        "guideline",
        "Save a version without them.",
    )
    set_guideline(store, campaign_name, version, by=by)


def list_guidelines(store: Store) -> pd.DataFrame:
    """Every version, oldest first: version, created_at, created_by, examples, campaigns (that name it), labels."""

    def count(table: sa.Table, condition: "sa.ColumnElement[bool]", name: str) -> "sa.Label[int]":
        result = sa.select(sa.func.count()).select_from(table).where(condition).scalar_subquery()
        return sa.cast(result, schema.WHOLE).label(name)

    version = guideline.c.version
    query = sa.select(
        version,
        guideline.c.created_at,
        guideline.c.created_by,
        count(example, example.c.guideline == guideline.c.id, "examples"),
        count(campaign, campaign.c.guideline == version, "campaigns"),
        count(label_event, label_event.c.guideline == version, "labels"),
    ).order_by(guideline.c.id)
    return store.read(lambda connection: frame(connection, query, "created_at"))


def _find(connection: sa.Connection, version: str) -> Guideline | None:
    row = connection.execute(sa.select(guideline).where(guideline.c.version == version)).first()
    if row is None:
        return None
    query = (
        sa.select(pair.c.query_id, pair.c.candidate_id, example.c.kind, example.c.note, example.c.value)
        .join(pair, pair.c.id == example.c.pair)
        .where(example.c.guideline == row.id)
        .order_by(example.c.position)
    )
    examples = tuple(_example(*result) for result in connection.execute(query))
    moment = datetime.fromtimestamp(row.created_at / 1e6, UTC)
    return Guideline(row.version, row.content, examples, moment, row.created_by, row.language)


def _example(query_id: str, candidate_id: str, kind: str, note: str, value: int | None) -> Example:
    return Example(query_id, candidate_id, kind, note, None if kind in MEANT else value)


def _pairs(connection: sa.Connection, examples: Sequence[Example]) -> Any:
    """The store's number of each example's pair."""
    sides = {
        name: pa.array([getattr(entry, name) for entry in examples], pa.string())
        for name in ("query_id", "candidate_id")
    }
    return numbered(connection, pa.table(sides))["pair"].to_pylist() if examples else []


def _check_examples(examples: Sequence[Example]) -> None:
    if len(examples) > MOST_EXAMPLES:
        raise InputError(f"{len(examples):,} examples", where="guideline", hint=f"Give at most {MOST_EXAMPLES}.")
    faults = []
    for index, entry in enumerate(examples, 1):
        wrong = [
            f"{name} {fault}" for name in ("query_id", "candidate_id") if (fault := fault_of(getattr(entry, name)))
        ]
        if entry.query_id == entry.candidate_id:
            wrong.append("the query and the candidate are one image")
        if entry.kind not in schema.EXAMPLES:
            wrong.append(f"{short(str(entry.kind))} is not one of {', '.join(schema.EXAMPLES)}")
        if entry.kind in MEANT and entry.value not in (None, MEANT[entry.kind]):
            wrong.append(f"a {entry.kind} example cannot mean {entry.value!r}")
        elif entry.value is not None and (type(entry.value) is not int or entry.value not in (0, 1)):
            wrong.append(f"value is {entry.value!r}, not 1, 0 or nothing")
        if fault := fault_of(entry.note, schema.LONGEST_TEXT, empty=True):
            wrong.append(f"the note {fault}")
        faults += [f"example {index}: {fault}" for fault in wrong]
    keys = [(entry.query_id, entry.candidate_id) for entry in examples]
    faults += [
        f"example {index}: the same pair as before" for index, key in enumerate(keys, 1) if key in keys[: index - 1]
    ]
    refuse(faults, "faults", "guideline", "Correct the examples.")
