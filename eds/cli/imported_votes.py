"""Votes that come with a benchmark, taken into the project's label store as the last step of an import."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eds.cli.label_store import BY, needed, opened
from eds.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from eds.benchmarks import Place
    from eds.workspace import Project

CAMPAIGN = "imported"
STORE = ("", "-wal", "-shm")  # a store's files: the database, its log, its index


def taking(
    project: "Project", file: Path | None, images: "pd.Series[Any]", campaign: str | None = None
) -> tuple[Callable[[], None] | None, int]:
    """The step that takes a file of votes, after it was held against the catalogue; and how many votes there are."""
    if file is None:
        return None, 0
    from eds.benchmarks import Place, votes_files
    from eds.benchmarks.json_files import Faults

    faults = Faults()
    votes = votes_files.read_votes(file)
    votes = checked(votes, images, Place(file), faults)
    faults.refuse("the votes cannot be imported", "Nothing was imported. Rows count from 0:")
    return step(project, votes, Place(file), campaign), len(votes)


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


def step(project: "Project", votes: "pd.DataFrame", place: "Place", campaign: str | None) -> Callable[[], None]:
    """What takes the votes, each into its campaign (`campaign`: all into this one): all of them or none.

    A store that is new is removed again if anything fails. One that is there takes them in one transaction, which
    holds one campaign.
    """
    import pandas as pd

    named = (
        votes["campaign"] if "campaign" in votes and campaign is None else pd.Series(None, votes.index, dtype=object)
    )
    campaigns = named.astype(object).where(named.notna(), campaign or CAMPAIGN)
    store_file = project.path("labels")
    there = bool(project.config.labels.url) or store_file.exists()
    if there and campaigns.nunique() > 1:
        raise InputError(
            f"holds votes of {campaigns.nunique()} campaigns ({', '.join(sorted(campaigns.unique())[:5])}), and the "
            "project has a label store: they could not come in together", where=str(place.file),
            do="Take them into one: --campaign NAME; or import into a fresh project (eds init).",
        )  # fmt: skip

    def take() -> None:
        with needed():
            from eds.labels.transfer import import_votes
        try:
            with opened(project, create=True) as store:
                for name, part in votes.groupby(campaigns.to_numpy(), sort=True):
                    import_votes(store, part, str(name), add_missing=True, where=str(place.file), by=BY)
        except BaseException:
            if not there:
                for ending in STORE:
                    store_file.with_name(store_file.name + ending).unlink(missing_ok=True)
            raise

    return take
