"""The judgements themselves: imported, exported, backed up; flags, adjudication, known pairs, the audit log."""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from eds.project.label_store import address, explain_missing_package, opened, parse_time
from eds.project.results import Result

if TYPE_CHECKING:
    import pandas as pd

    from eds.labels.backup import Manifest
    from eds.project import Project


@dataclass(frozen=True)
class ImportedVotes(Result):
    """How many votes a file added."""

    added: int
    already: int  # stored before
    dropped: tuple[str, ...]  # columns that were not read


@dataclass(frozen=True)
class UpgradeResult(Result):
    """The schema versions before and after, and the backup that was taken first."""

    before: str
    after: str
    backup: str


@dataclass(frozen=True)
class Labels:
    """The label store of a project."""

    project: "Project"

    def import_votes(
        self, file: str | Path, campaign: str, *, add_missing: bool = False, kind: str | None = None
    ) -> ImportedVotes:
        """Take the votes of a file into a campaign: all of them, or none and every fault by row."""
        from eds.labels import vote_files
        from eds.labels.transfer import import_votes

        path = Path(file)
        frame = vote_files.read(path, vote_files.format_of(path, kind))
        with opened(self.project, create=True) as store:
            done = import_votes(store, frame, campaign, add_missing=add_missing, where=str(file), by=self.project.actor)
        return ImportedVotes(done.added, done.already, tuple(done.dropped))

    def export_votes(
        self,
        file: str | Path,
        *,
        campaign: str | None = None,
        as_of: str | datetime | None = None,
        kind: str | None = None,
    ) -> int:
        """Write every act (crowdkit: every answer in force) to a file; how many."""
        from eds.labels.transfer import export_votes

        with opened(self.project) as store:
            return export_votes(store, Path(file), kind, only=campaign, as_of=parse_time(as_of))

    def back_up(self, file: str | Path) -> "Manifest":
        """Save everything to one file while experts go on working. It holds password hashes."""
        from eds.labels.backup import back_up

        with opened(self.project) as store:
            return back_up(store, Path(file))

    def restore(self, file: str | Path, *, replace: bool = False) -> "Manifest":
        """Restore a backup into a new labels.db or an empty database; with `replace` the old file is renamed."""
        with explain_missing_package():
            from eds.labels.backup import restore

        return restore(Path(file), address(self.project), replace=replace)

    def upgrade(self, backup: str | Path | None = None) -> UpgradeResult:
        """Upgrade the labels of an older version of eds to this version's schema, after a backup."""
        with explain_missing_package():
            from eds.labels.backup import upgrade_store
            from eds.labels.migrate import newest

        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        saved = Path(backup) if backup else self.project.root / f"labels-before-upgrade-{stamp}.zip"
        before = upgrade_store(address(self.project), saved)
        return UpgradeResult(str(before), str(newest()), str(saved))

    def add_gold(self, file: str | Path) -> tuple[int, int]:
        """Add pairs with known answers for calibration and quality checks; how many are new, and how many there are."""
        from eds.labels.gold import add_gold
        from eds.project.draw import read_known_pairs

        known = read_known_pairs(self.project, Path(file))
        with opened(self.project, create=True) as store:
            return add_gold(store, known, by=self.project.actor), len(known)

    def gold(self) -> "pd.DataFrame":
        """Every pair whose answer is known. Do not show it to experts."""
        from eds.labels.lead_queries import gold_answers

        with opened(self.project) as store:
            return gold_answers(store)

    def flags(self, campaign: str | None = None) -> "pd.DataFrame":
        """The flags that nobody has resolved, with the expert's own answer if there is one."""
        from eds.labels.flags import open_flags

        with opened(self.project) as store:
            return open_flags(store, campaign)

    def resolve_flag(self, number: int, *, again: bool = False, by: str | None = None) -> bool:
        """Mark a flag as resolved, and with `again` ask the expert once more; False if it was resolved before."""
        from eds.labels.flags import resolve_flag

        with opened(self.project) as store:
            return resolve_flag(store, number, by=by or self.project.actor, again=again)

    def adjudicate(
        self, query_id: str, candidate_id: str, campaign: str, value: int | None, *, by: str, note: str = ""
    ) -> str:
        """Record a lead's decision on a pair beside the votes (None: withdraw it); the id of the act."""
        from eds.labels.adjudication import adjudicate

        with opened(self.project) as store:
            token = str(uuid.uuid4())
            return adjudicate(store, campaign, query_id, candidate_id, value, by=by, token=token, note=note).token

    def audit(self) -> "pd.DataFrame":
        """Who did which administrative act, the oldest first."""
        from eds.labels.audit import read_audit

        with opened(self.project) as store:
            return read_audit(store)
