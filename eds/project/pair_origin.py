"""Who proposed a pair: where each model lists it, how it came among the suspects, and what was judged."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from eds.errors import InputError
from eds.project.inputs import Inputs
from eds.project.neighbor_strips import pair_labels
from eds.project.results import Result

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project

PAIR = ["query_id", "candidate_id"]


@dataclass(frozen=True)
class PairOriginResult(Result):
    """A pair, and why it is asked, or not."""

    query_id: str
    candidate_id: str
    label: str  # similar, different, not judged, same product
    votes_for: int
    votes_against: int
    origins: tuple[str, ...]  # pool, random, negative, gold, repeat; empty: it is not a suspect
    models: (
        "pd.DataFrame"  # model, rank (from 1; missing: not listed), score, listed (candidates of the query), proposed
    )


def pair_origin(project: "Project", query: str, candidate: str) -> PairOriginResult:
    """Say who proposed a pair; see `Project.pair_origin`."""
    import pandas as pd

    inputs = Inputs(project)
    images = project.read("images", columns=["image_id", "product_id"]).set_index("image_id", drop=False)
    unknown = [name for name in (query, candidate) if name not in images.index]
    if unknown:
        raise InputError("not in the catalogue", where=", ".join(unknown), hint="Correct the image ids.")
    proposals = inputs.proposals
    mine = proposals[(proposals["query_id"] == query) & (proposals["candidate_id"] == candidate)]
    proposed = set(mine["model"])
    rows = []
    for name in sorted({*project.models("neighbors"), *proposed}):
        rank, score, listed = None, None, 0
        if project.path("neighbors", name).exists():
            lists = project.read("neighbors", name, columns=[*PAIR, "rank", "score"])
            of_query = lists[lists["query_id"] == query]
            found, listed = of_query[of_query["candidate_id"] == candidate], len(of_query)
            if len(found):
                rank, score = int(found["rank"].iloc[0]) + 1, float(found["score"].iloc[0])
        rows.append([name, rank, score, listed, name in proposed])
    suspects = inputs.suspects
    here = suspects[(suspects["query_id"] == query) & (suspects["candidate_id"] == candidate)]
    votes_for = votes_against = 0
    if inputs.exists("truth"):
        truth = inputs.read("truth")
        decided = truth[(truth["query_id"] == query) & (truth["candidate_id"] == candidate)]
        votes_for, votes_against = int(decided["votes_for"].sum()), int(decided["votes_against"].sum())
    label = pair_labels(project, images, pd.DataFrame([[query, candidate]], columns=PAIR))[0]
    models = pd.DataFrame(rows, columns=["model", "rank", "score", "listed", "proposed"])
    return PairOriginResult(
        query,
        candidate,
        str(label),
        votes_for,
        votes_against,
        tuple(here["origin"].unique()),
        models.astype({"rank": "Int64"}),
    )
