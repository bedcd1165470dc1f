"""The judgements themselves: imported, exported, backed up; flags, adjudication, known pairs, the audit log."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from eds.labels import (
    adjudication,
    audit,
    calibration,
    flags,
    frames,
    gold,
    judgements,
    lead_queries,
    queue,
    transfer,
    vote_imports,
)
from eds.labels.judgements import Judgement, NotYoursError, Receipt
from eds.labels.queue import Answer, Task
from eds.labels.vote_files import FORMATS
from eds.project.label_store import address, explain_missing_package, opened, parse_time
from eds.project.results import Result

if TYPE_CHECKING:
    import pandas as pd

    from eds.labels.backup import Manifest
    from eds.project import Project
    from eds.project.foreign_votes import ImportedVotes
    from eds.project.pick import Source

__all__ = ["FORMATS", "Answer", "Judgement", "Labels", "NotYoursError", "Receipt", "Task"]


@dataclass(frozen=True)
class VoidedImport(Result):
    """An import whose votes count no more, or again."""

    number: int
    void: bool
    changed: bool  # False: it was so before
    campaign: str
    source: str
    votes: int


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
        self,
        file: str | Path,
        campaign: str,
        *,
        columns: Mapping[str, str] | None = None,
        values: Mapping[str, str] | None = None,
        new_experts: bool = False,
        new_pairs: bool = False,
        kind: str | None = None,
    ) -> "ImportedVotes":
        """Take the votes of a file into a campaign, which is made if it is unknown: all of them, or none.

        `columns` names the file's columns by ours, `values` says what its answers mean (similar, different, unsure);
        otherwise both are recognised by the tables in `eds.labels.vote_columns`, and the result tells how. Ids that are
        no images, and pairs whose roles do not fit, are refused; so are experts without an account, unless
        `new_experts`, and pairs that are not suspects, unless `new_pairs`. The import is a batch that `void` can void.
        """
        from eds.project.foreign_votes import import_votes

        return import_votes(
            self.project,
            file,
            campaign,
            columns=columns,
            values=values,
            new_experts=new_experts,
            new_pairs=new_pairs,
            kind=kind,
        )

    def imports(self) -> "pd.DataFrame":
        """Every import of votes, oldest first: number, campaign, source, votes, when, by whom, whether it is void."""
        with opened(self.project) as store:
            if older := vote_imports.count_older(store):
                self.project.say(f"{older:,} votes were imported before imports were numbered: {vote_imports.OLDER}.")
            return vote_imports.list_imports(store)

    def void_import(self, number: int, *, void: bool = True, note: str = "") -> "VoidedImport":
        """Let the votes of an import count no more, or (not `void`) again; nothing is deleted."""
        with opened(self.project) as store:
            done = vote_imports.void_import(store, number, void=void, note=note, by=self.project.actor)
        return VoidedImport(done.number, void, done.changed, done.campaign, done.source, done.acts)

    def export_votes(
        self,
        file: str | Path,
        *,
        campaign: str | None = None,
        as_of: str | datetime | None = None,
        kind: str | None = None,
    ) -> int:
        """Write every act (crowdkit: every answer in force) to a file; how many."""
        if self.project.would_write(file, "every act" if campaign is None else f"every act of campaign {campaign}"):
            self.project.end_rehearsal()
        with opened(self.project) as store:
            return transfer.export_votes(store, Path(file), kind, only=campaign, as_of=parse_time(as_of))

    def votes_after(self, number: int = 0, *, limit: int = 1000, campaign: str | None = None) -> "pd.DataFrame":
        """Return the votes behind an act's number, oldest first: number, pair, expert, value, what it supersedes."""
        with opened(self.project) as store:
            return frames.acts_after(store, number, limit=limit, campaign_name=campaign)

    def back_up(self, file: str | Path) -> "Manifest":
        """Save everything to one file while experts go on working. It holds password hashes."""
        from eds.labels.backup import back_up

        if self.project.would_write(file, "everything in the label store"):
            self.project.end_rehearsal()
        with opened(self.project) as store:
            return back_up(store, Path(file))

    def restore(self, file: str | Path, *, replace: bool = False) -> "Manifest":
        """Restore a backup into a new labels.db or an empty database; with `replace` the old file is renamed."""
        with explain_missing_package():
            from eds.labels.backup import check_backup, restore

        if self.project.dry_run:
            kept = "; the present file is renamed" if replace else ""
            self.project.would_write(self.project.path("labels"), f"{check_backup(Path(file)).labels:,} acts{kept}")
            self.project.end_rehearsal()
        return restore(Path(file), address(self.project), replace=replace)

    def upgrade(self, backup: str | Path | None = None) -> UpgradeResult:
        """Upgrade the labels of an older version of eds to this version's schema, after a backup."""
        with explain_missing_package():
            from eds.labels.backup import upgrade_store
            from eds.labels.migrate import newest

        saved = Path(backup) if backup else _unused(self.project.root / f"labels-before-upgrade-to-{newest()}.zip")
        self.project.would("make", saved, "a backup")
        self.project.would_begin("change", "labels.db", f"to version {newest()}")
        before = upgrade_store(address(self.project), saved)
        return UpgradeResult(str(before), str(newest()), str(saved))

    def add_gold(self, pairs: "str | Path | pd.DataFrame") -> tuple[int, int]:
        """Add pairs with known answers (a file or a table); how many are new, and how many there are."""
        from eds.project.draw import read_known_pairs

        known = read_known_pairs(self.project, Path(pairs)) if isinstance(pairs, (str, Path)) else pairs
        with opened(self.project, create=True) as store:
            return gold.add_gold(store, known, by=self.project.actor), len(known)

    def gold(self) -> "pd.DataFrame":
        """Every pair whose answer is known. Do not show it to experts."""
        with opened(self.project) as store:
            return lead_queries.gold_answers(store)

    def pairs_to_pick(
        self, source: "Source", *, category: str | None = None, search: str = "", like: str | None = None
    ) -> "pd.DataFrame":
        """Pairs to choose known pairs and examples from, with their answer if one is known.

        `source` is decided (by leads), disputed, similar, different (labels) or pool; `category` that of the query,
        `search` part of a text of one of the pictures, `like` an image: pairs with it or with candidates of its lists.
        """
        from eds.project.pick import pairs_to_pick

        return pairs_to_pick(self.project, source, category=category, search=search, like=like)

    def next_tasks(self, campaign: str, expert: str, count: int = 20, *, skip: Collection[int] = ()) -> Sequence[Task]:
        """What the expert judges next."""
        with opened(self.project) as store:
            return queue.next_batch(store, campaign, expert, count, skip=skip)

    def next_pages(
        self, campaign: str, expert: str, pages: int = 3, size: int = 30, *, skip: Collection[int] = ()
    ) -> Sequence[Sequence[Task]]:
        """What the expert judges next, in pages of one query each."""
        with opened(self.project) as store:
            return queue.next_pages(store, campaign, expert, pages, size, skip=skip)

    def last_answers(self, campaign: str, expert: str, count: int = 20, *, only: int | None = None) -> Sequence[Answer]:
        """What the expert judged last, newest first; `only` one assignment."""
        with opened(self.project) as store:
            return queue.last_answers(store, campaign, expert, count, only=only)

    def submit(self, expert: str, answers: Sequence[Judgement], *, session_id: str | None = None) -> Sequence[Receipt]:
        """Store judgements durably: all of them, or none. One whose token is stored already is not stored again.

        What a campaign never asked is refused: aspects, grades, notes, guidelines.
        """
        with opened(self.project) as store:
            return judgements.submit(store, expert, answers, session_id=session_id, only_asked=True)

    def count(self, campaign: str) -> int:
        """How many acts a campaign has."""
        with opened(self.project) as store:
            return lead_queries.count_acts(store, campaign)

    def flag(self, expert: str, assignment: int, reason: str, token: str) -> Receipt:
        """Set a task aside with a reason."""
        with opened(self.project) as store:
            return judgements.flag_task(store, expert, assignment, reason, token)

    def withdraw_flag(self, expert: str, assignment: int, token: str) -> bool:
        """Take a flag back."""
        with opened(self.project) as store:
            return judgements.withdraw_flag(store, expert, assignment, token)

    def flags(self, campaign: str | None = None) -> "pd.DataFrame":
        """The flags that nobody has resolved, with the expert's own answer if there is one."""
        with opened(self.project) as store:
            if campaign is not None:
                store.read(lambda connection: calibration.campaign_row(connection, campaign))  # refuses an unknown one
            return flags.open_flags(store, campaign)

    def resolve_flag(self, number: int, *, again: bool = False, by: str | None = None) -> bool:
        """Mark a flag as resolved, and with `again` ask the expert once more; False if it was resolved before."""
        with opened(self.project) as store:
            return flags.resolve_flag(store, number, by=by or self.project.actor, again=again)

    def adjudicate(
        self,
        query_id: str,
        candidate_id: str,
        campaign: str,
        value: int | None,
        *,
        by: str,
        note: str = "",
        token: str | None = None,
    ) -> str:
        """Record a lead's decision on a pair beside the votes (None: withdraw it); the id of the act."""
        with opened(self.project) as store:
            name = token or str(uuid.uuid4())
            act = adjudication.adjudicate(store, campaign, query_id, candidate_id, value, by=by, token=name, note=note)
            return act.token

    def adjudications(self, campaign: str | None = None) -> "pd.DataFrame":
        """The leads' decisions in force."""
        with opened(self.project) as store:
            return adjudication.adjudications(store, campaign)

    def audit(self) -> "pd.DataFrame":
        """Who did which administrative act, the oldest first."""
        with opened(self.project) as store:
            return audit.read_audit(store)


def _unused(path: Path) -> Path:
    """The path, with a number if there is such a file.

    A name without the time: what a killed writer left of its file, the next writer of the same name removes.
    """
    number, result = 1, path
    while result.exists():
        number += 1
        result = path.with_stem(f"{path.stem}-{number}")
    return result
