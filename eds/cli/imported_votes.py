"""Votes that come with a benchmark, taken into the project's label store together with the tables."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from eds.cli.label_store import BY, needed

if TYPE_CHECKING:
    import pandas as pd

    from eds.benchmarks import Place
    from eds.cli.together import TakeIn
    from eds.labels.store import Store

CAMPAIGN = "imported"


def taking(file: Path | None, images: "pd.Series[Any]", campaign: str | None = None) -> "tuple[TakeIn | None, int]":
    """The step that takes a file of votes, after it was held against the catalogue; and how many votes there are."""
    if file is None:
        return None, 0
    from eds.benchmarks import Place, votes_files
    from eds.benchmarks.json_files import Faults

    faults = Faults()
    votes = votes_files.read_votes(file)
    votes = checked(votes, images, Place(file), faults)
    faults.refuse("the votes cannot be imported", "Nothing was imported. Rows count from 0:")
    return step(votes, Place(file), campaign), len(votes)


def checked(votes: "pd.DataFrame", images: "pd.Series[Any]", place: "Place", faults: Any) -> "pd.DataFrame":
    """The votes, crowd-kit's with our names; what the catalogue does not know goes to `faults`."""
    from eds.benchmarks import rows

    if {"task", "worker", "label"} <= set(votes.columns):
        with needed():
            from eds.labels.votes import from_crowdkit

        votes = from_crowdkit(votes, str(place.file))
    needed_columns = ["query_id", "candidate_id", "expert_id", "value"]
    if rows.columns(votes, needed_columns, place, faults):
        rows.ids(votes, needed_columns[:2], place, faults)
        rows.known(votes, needed_columns[:2], images, place, faults)
    return votes


def step(votes: "pd.DataFrame", place: "Place", campaign: str | None) -> "TakeIn":
    """What takes the votes, each into its campaign (`campaign`: all into this one): all of them or none."""
    import pandas as pd

    own = "campaign" in votes and campaign is None
    named = votes["campaign"] if own else pd.Series(None, votes.index, dtype=object)
    campaigns = named.astype(object).where(named.notna(), campaign or CAMPAIGN)
    parts = {str(name): part for name, part in votes.groupby(campaigns.to_numpy(), sort=True)}

    def take_in(store: "Store", token: str) -> None:
        with needed():
            from eds.labels.transfer import import_campaigns

        import_campaigns(store, parts, add_missing=True, where=str(place.file), by=BY, token=token)

    return take_in
