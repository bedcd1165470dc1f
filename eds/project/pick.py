"""Pairs to choose from, for known pairs, examples of a guideline and practice: by where they stand, and by picture."""

from typing import TYPE_CHECKING, Literal

import pandas as pd

from eds.labels.adjudication import adjudications
from eds.labels.frames import labels_frame
from eds.project.label_store import opened
from eds.truth import disputed_pairs

if TYPE_CHECKING:
    from eds.project import Project

Source = Literal["decided", "disputed", "similar", "different", "pool"]
KEY = ["query_id", "candidate_id"]
TEXTS = ("image_id", "product_id", "category", "title", "brand")  # columns of images that a search reads
LIKE = 50  # candidates of a picture's list that count as similar to it


def pairs_to_pick(
    project: "Project", source: Source, *, category: str | None = None, search: str = "", like: str | None = None
) -> pd.DataFrame:
    """Pairs of a source with their answer, if one is known: query_id, candidate_id, value.

    `decided`: what leads decided; `disputed`: votes for and against; `similar`, `different`: labels; `pool`: suspects.
    `category` is that of the query; `search` is part of a text of one of the two pictures; `like` an image: pairs with
    it or with a candidate of its lists.
    """
    pairs = _of(project, source)[[*KEY, "value"]].drop_duplicates(KEY)
    if not project.path("images").exists():
        return pairs.reset_index(drop=True)
    images = project.read("images").set_index("image_id", drop=False)
    pairs = pairs[pairs["query_id"].isin(images.index) & pairs["candidate_id"].isin(images.index)]
    if category is not None:
        pairs = pairs[pairs["query_id"].map(images["category"]) == category]
    if words := search.strip().lower():
        texts = images[[name for name in TEXTS if name in images.columns]].fillna("").astype(str)
        held = images.index[texts.agg(" ".join, axis=1).str.lower().str.contains(words, regex=False)]
        pairs = pairs[pairs["query_id"].isin(held) | pairs["candidate_id"].isin(held)]
    if like is not None:
        near = _near(project, like)
        pairs = pairs[pairs["query_id"].isin(near) | pairs["candidate_id"].isin(near)]
    return pairs.reset_index(drop=True)


def _of(project: "Project", source: Source) -> pd.DataFrame:
    empty = pd.DataFrame(columns=[*KEY, "value"])
    if source == "pool":
        if not project.path("suspects").exists():
            return empty
        suspects = project.read("suspects").sort_values("position")
        return suspects[suspects["origin"] == "pool"].assign(value=float("nan"))
    if source in ("similar", "different"):
        truth = project.read("truth") if project.path("truth").exists() else empty
        return truth[truth["value"] == int(source == "similar")]
    with opened(project) as store:
        if source == "decided":
            return adjudications(store)
        return disputed_pairs(labels_frame(store)).assign(value=float("nan"))


def _near(project: "Project", image: str) -> set[str]:
    """The picture and the first candidates of its lists."""
    near = {image}
    for model in project.models("neighbors"):
        lists = project.read("neighbors", model, columns=["query_id", "candidate_id", "rank"])
        found = lists[(lists["query_id"] == image) & (lists["rank"] < LIKE)]
        near |= set(found["candidate_id"].astype(str))
    return near
