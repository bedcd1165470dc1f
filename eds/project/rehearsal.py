"""Dry runs: a verb says what it would make, replace, change and delete, and writes nothing.

A verb of `Project.rehearsal()` runs as ever, up to what would be written: `write` records tables, `would` everything
else, the label store takes its transaction back and says what was in it, and `would_begin` ends a verb before work that
takes long. `Project.plan` returns what was recorded.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from eds.project.results import Result

if TYPE_CHECKING:
    from collections.abc import Callable

    from eds.labels.rehearsal import StoreChanges
    from eds.project import Project

Action = Literal["make", "replace", "change", "delete", "compute"]


@dataclass(frozen=True)
class Change(Result):
    """Something that a verb would write, compute or delete."""

    action: Action
    what: str  # a file, relative to the project where it lies there; or what is computed
    detail: str = ""

    @property
    def text(self) -> str:
        """The change in one line.

        >>> Change("replace", "suspects.parquet", "120 rows instead of 100").text
        'replace suspects.parquet: 120 rows instead of 100'
        """
        return f"{self.action} {self.what}" + (f": {self.detail}" if self.detail else "")


@dataclass(frozen=True)
class Plan(Result):
    """What a verb would do, in order; nothing was done."""

    changes: tuple[Change, ...]

    @property
    def text(self) -> str:
        """A line for each change."""
        return "\n".join(f"  {change.text}" for change in self.changes) or "  nothing"


class RehearsedError(Exception):
    """Ends a verb in a dry run, before work that takes long; what it would do is recorded."""


def plan(project: "Project", verb: "Callable[[Project], object]") -> Plan:
    """Run a verb in a dry run and return what it would do; see `Project.plan`."""
    rehearsal = project.rehearsal(again=True)
    with suppress(RehearsedError):
        verb(rehearsal)
    return Plan(tuple(rehearsal.planned))


def store_changes(place: str, changes: "StoreChanges") -> list[Change]:
    """The changes of a label store: what its audit log would say, and the rows that would be added or deleted."""
    said = [f"{act} {subject}".strip() for act, subject in changes.acts]
    rows = [f"{count:+,} {table}" for table, count in changes.rows.items()]
    if not said and not rows:
        return [Change("change", place)] if changes.written else []
    return [Change("change", place, "; ".join([*said, *([", ".join(rows)] if rows else [])]))]
