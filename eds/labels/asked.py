"""Whether a judgement says only what its campaign asks, or asked before a lead changed it.

A page may still hold acts of yesterday's form and guideline in its outbox: what was asked then is taken. Anything else
was not typed on a page of ours: an aspect of nobody's form would be a row of its own in every statistic.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from eds.labels import schema
from eds.labels.form import Form
from eds.labels.validation import short

if TYPE_CHECKING:
    from eds.labels.judgements import Judgement

FORM, GUIDELINE = "change form", "set guideline"  # acts of the audit log, which says what was in force before


class Asked:
    """The forms and guidelines of one campaign, those of today and those of before."""

    def __init__(self, connection: sa.Connection, name: str, form: str, guideline: str) -> None:
        self._connection, self._name, self._form, self._guideline = connection, name, form, guideline

    def faults(self, entry: "Judgement") -> list[str]:
        """What the campaign never asked."""
        result = []
        faults = _faults_beside(entry, self._now)
        if faults and all(_faults_beside(entry, form) for form in self._forms):
            result += faults
        if entry.guideline not in (None, "", self._guideline) and entry.guideline not in self._guidelines:
            result.append(f"guideline {short(str(entry.guideline))} is none of this campaign")
        return result

    @cached_property
    def _now(self) -> Form:
        return Form.of(self._form)

    @cached_property
    def _before(self) -> Sequence[Mapping[str, Any]]:
        table = schema.audit.c
        query = sa.select(table.detail).where(table.subject == self._name, table.act.in_((FORM, GUIDELINE)))
        return [json.loads(text) for text in self._connection.execute(query).scalars()]

    @property
    def _forms(self) -> Iterator[Form]:
        for detail in self._before:
            yield from (Form.of(detail[name]) for name in ("form", "form_before") if name in detail)

    @cached_property
    def _guidelines(self) -> set[str]:
        saved = sa.select(schema.guideline.c.version)
        named = (detail.get(name) for detail in self._before for name in ("version", "version_before"))
        return {*self._connection.execute(saved).scalars(), *filter(None, named)}


def _faults_beside(entry: "Judgement", form: Form) -> list[str]:
    """What an act says beside its vote that this form does not ask."""
    result = []
    named = entry.aspects.split(",") if entry.aspects else []
    if unknown := [aspect for aspect in named if aspect not in form.aspects]:
        result.append(f"aspects {short(','.join(unknown))} are not on the campaign's form")
    elif len(set(named)) < len(named):
        result.append("an aspect is named twice")
    if entry.grade is not None:
        if form.similar_from is None:
            result.append("the campaign asks for no grades")
        elif entry.value != int(entry.grade >= form.similar_from):
            result.append(f"grade {entry.grade} does not mean value {entry.value!r} in this campaign")
    if entry.note and not form.notes:
        result.append("the campaign asks for no notes")
    return result
