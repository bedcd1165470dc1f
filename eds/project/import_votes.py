"""Votes that come with a benchmark, put into the project's label store together with the tables."""

import re
from typing import TYPE_CHECKING, Any

import pandas as pd

from eds.benchmarks.benchmark import PAIR, Location
from eds.benchmarks.validate import Faults, check_columns, check_ids, check_known
from eds.benchmarks.votes_file import CROWDKIT, NEEDED, count_repeats
from eds.errors import InputError
from eds.project.label_store import explain_missing_package

if TYPE_CHECKING:
    from eds.labels.store import Store

CAMPAIGN = "imported"
ROW = re.compile(  # as the label store names rows: at the beginning of a fault, and the other one of two
    r"^row (\d+)(?=:)|(?<=otherwise than )row (\d+)(?= about the same act$)|(?<=otherwise in )row (\d+)$"
)


def with_own_names(votes: pd.DataFrame, at: Location) -> pd.DataFrame:
    """Return the votes, those of crowd-kit with the column names of eds."""
    if not set(votes.columns) >= CROWDKIT:
        return votes
    with explain_missing_package():
        from eds.labels.vote_files import from_crowdkit

    return from_crowdkit(votes, str(at.file))


def check_votes(votes: pd.DataFrame, images: "pd.Series[Any]", at: Location, faults: Faults) -> None:
    """Check that the votes have their columns, and pairs of the catalogue."""
    if check_columns(votes, NEEDED, at, faults):
        check_ids(votes, PAIR, at, faults)
        check_known(votes, PAIR, images, at, faults)


class VoteImport:
    """Puts votes into a label store, each into its campaign (`campaign`: all into this one): all of them or none."""

    def __init__(self, votes: pd.DataFrame, at: Location, campaign: str | None) -> None:
        self._votes, self._at = votes, at
        self._own = "campaign" in votes and campaign is None
        named = votes["campaign"] if self._own else pd.Series(None, votes.index, dtype=object)
        campaigns = named.astype(object).where(named.notna(), campaign or CAMPAIGN)
        self._parts = {str(name): part for name, part in votes.groupby(campaigns.to_numpy(), sort=True)}
        self.added = 0  # votes that were new in the store
        self.notes: tuple[str, ...] = ()

    def run(self, store: "Store", token: str) -> None:
        """Import the votes in one transaction that records the token."""
        with explain_missing_package():
            from eds.labels.transfer import import_campaigns

        where = str(self._at.file)
        try:
            done = import_campaigns(store, self._parts, add_missing=True, where=where, by="import", token=token)
        except InputError as error:
            raise self._with_file_rows(error) from error
        self.added = sum(result.added for result in done.values())
        repeats, notes = count_repeats(self._votes, self._at, campaigns=self._own)
        known = len(self._votes) - self.added - repeats
        stored = [f"{where}: {known:,} votes were in the label store already: each counts once"] if known else []
        self.notes = (*notes, *stored)

    def _with_file_rows(self, error: InputError) -> InputError:
        """Return the error with rows (or tasks) of the file, where the store names those of a campaign's part."""
        matching = (
            part
            for name, part in self._parts.items()
            if len(self._parts) == 1 or error.where.endswith(f"of campaign {name})")
        )
        part = next(matching, None)
        return error if part is None else with_file_rows(error, part.index, self._at)


def with_file_rows(error: InputError, rows: pd.Index, at: Location) -> InputError:
    """Return the error with the file's rows (or tasks), where the store counts them from 0."""

    def file_row(match: "re.Match[str]") -> str:
        number = int(match[1] or match[2] or match[3])
        return at.row(rows[number]) if number < len(rows) else match[0]

    what, *faults = (ROW.sub(file_row, text) for text in (error.what, *error.faults))
    hint = error.hint.replace("Rows count from 0", f"{at.unit.capitalize()}s count from {at.first}")
    return InputError(what, where=str(at.file), hint=hint, faults=faults)
