"""Votes that come with a benchmark, taken into the project's label store together with the tables."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eds.errors import InputError
from eds.project.label_store import BY, needed

if TYPE_CHECKING:
    import pandas as pd

    from eds.benchmarks import Place
    from eds.labels.store import Store
    from eds.project.transaction import TakeIn

CAMPAIGN = "imported"
ROW = re.compile(  # as the label store names rows: at the beginning of a fault, and the other one of two
    r"^row (\d+)(?=:)|(?<=otherwise than )row (\d+)(?= about the same act$)|(?<=otherwise in )row (\d+)$"
)


@dataclass
class Counts:
    """What a step that has been taken counted: votes that are new in the store, and what is to be told of the rest."""

    added: int = 0
    notes: list[str] = field(default_factory=list)


def taking(file: Path | None, images: "pd.Series[Any]") -> "tuple[TakeIn | None, Counts]":
    """The step that takes a file of votes, after it was held against the catalogue; and what it will have counted."""
    counts = Counts()
    if file is None:
        return None, counts
    from eds.benchmarks import Place, votes_files
    from eds.benchmarks.json_files import Faults

    faults, place = Faults(), Place(file)
    votes, counts.notes = votes_files.sound(votes_files.read_votes(file), place, faults)
    if votes is not None:
        votes = ours(votes, place)
        check(votes, images, place, faults)
    faults.refuse("the votes cannot be imported", "Nothing was imported. Rows count from 0:")
    return None if votes is None or not len(votes) else step(votes, place, None, counts), counts


def ours(votes: "pd.DataFrame", place: "Place") -> "pd.DataFrame":
    """The votes, crowd-kit's with our names."""
    if {"task", "worker", "label"} <= set(votes.columns):
        with needed():
            from eds.labels.vote_files import from_crowdkit

        votes = from_crowdkit(votes, str(place.file))
    return votes


def check(votes: "pd.DataFrame", images: "pd.Series[Any]", place: "Place", faults: Any) -> None:
    """Put into `faults` what the votes lack, and what the catalogue does not know."""
    from eds.benchmarks import rows
    from eds.benchmarks.votes_files import NEEDED

    if rows.columns(votes, NEEDED, place, faults):
        rows.ids(votes, NEEDED[:2], place, faults)
        rows.known(votes, NEEDED[:2], images, place, faults)


def step(votes: "pd.DataFrame", place: "Place", campaign: str | None, counts: Counts) -> "TakeIn":
    """What takes the votes, each into its campaign (`campaign`: all into this one): all of them or none.

    What the store finds wrong it tells by the rows of a campaign's part; here they become those of the file.
    """
    import pandas as pd

    from eds.benchmarks.votes_files import repeated

    own = "campaign" in votes and campaign is None
    named = votes["campaign"] if own else pd.Series(None, votes.index, dtype=object)
    campaigns = named.astype(object).where(named.notna(), campaign or CAMPAIGN)
    parts = {str(name): part for name, part in votes.groupby(campaigns.to_numpy(), sort=True)}

    def take_in(store: "Store", token: str) -> None:
        with needed():
            from eds.labels.transfer import import_campaigns

        try:
            done = import_campaigns(store, parts, add_missing=True, where=str(place.file), by=BY, token=token)
        except InputError as error:
            raise _by_the_file(error, parts, place) from error
        counts.added = sum(one.added for one in done.values())
        again, notes = repeated(votes, place, campaigns=own)
        there = len(votes) - counts.added - again
        stored = [f"{place.file}: {there:,} votes were in the label store before: each counts once"] if there else []
        counts.notes = [*counts.notes, *notes, *stored]

    return take_in


def _by_the_file(error: InputError, parts: "dict[str, pd.DataFrame]", place: "Place") -> InputError:
    """The same with the file's own rows, or tasks, where it names those of a campaign's part."""
    part = next((one for name, one in parts.items() if len(parts) == 1 or error.where.endswith(f"of campaign {name})")),
                None)  # fmt: skip
    if part is None:
        return error

    def told(found: "re.Match[str]") -> str:
        number = int(found[1] or found[2] or found[3])
        return place.of(part.index[number]) if number < len(part) else found[0]

    what, *faults = (ROW.sub(told, one) for one in (error.what, *error.faults))
    do = error.do.replace("Rows count from 0", f"{place.unit.capitalize()}s count from {place.first}")
    return InputError(what, where=str(place.file), do=do, faults=faults)
