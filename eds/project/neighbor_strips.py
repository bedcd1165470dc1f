"""What each model finds for a query, side by side: strips of pictures to look at before anybody is paid to judge."""

import base64
import hashlib
import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eds.errors import InputError, ProjectError
from eds.project.models import find_models
from eds.project.results import Result
from eds.tables import BOX

if TYPE_CHECKING:
    import pandas as pd
    from PIL import Image

    from eds.project import Project

DETAILS = ["product_id", "category"]


@dataclass(frozen=True)
class Picture:
    """A picture of a strip: where it stands in the list, what is known of the pair, and how it looks."""

    image_id: str
    rank: int  # from 1
    score: float
    found_by: int  # models that list the candidate within k
    label: str  # similar, different, not judged, same product
    thumbnail: "Image.Image | None" = field(repr=False)
    reason: str = ""  # why there is no thumbnail


@dataclass(frozen=True)
class Strip:
    """The first candidates of one model for a query."""

    model: str
    pictures: tuple[Picture, ...]


@dataclass(frozen=True)
class QueryStrips:
    """A query and the strips of all models."""

    query: Picture
    details: str  # product and category
    strips: tuple[Strip, ...]


@dataclass(frozen=True)
class NeighborStrips(Result):
    """The first k candidates of each query by each model; in a notebook, their pictures."""

    k: int
    table: "pd.DataFrame"  # query_id, model, rank (from 1), candidate_id, score, found_by, label
    page: str | None  # the HTML file that was written
    queries: tuple[QueryStrips, ...] = field(repr=False)

    def html(self) -> str:
        """The strips as one HTML page that needs no other file."""
        from eds.html import asset, render

        return render(
            "eds.project/neighbor_strips.html.j2",
            style=asset("eds.project", "neighbor_strips.css"),
            queries=self.queries,
            k=self.k,
            data_uri=_data_uri,
        )

    def _repr_html_(self) -> str:
        return self.html()


def show_neighbors(
    project: "Project",
    queries: Sequence[str] = (),
    *,
    models: Sequence[str] = (),
    k: int = 10,
    count: int = 6,
    out: Path | None = None,
) -> NeighborStrips:
    """Collect the strips, and write them as a page; see `Project.show_neighbors`."""
    import pandas as pd

    if k < 1 or count < 1:
        raise InputError("k and count must be 1 or more", hint="Show at least one candidate of one query.")
    lists = read_lists(project, models)
    images = project.read("images", columns=["image_id", "path", *DETAILS, *BOX]).set_index("image_id", drop=False)
    known = next(iter(lists.values()))["query_id"].unique()
    chosen = _choose_queries([str(query) for query in known], queries, count, project.config.project.seed, images.index)
    shown = pd.concat(
        [rows[rows["query_id"].isin(chosen) & (rows["rank"] < k)].assign(model=name) for name, rows in lists.items()]
    )
    shown = shown[shown["candidate_id"].isin(images.index) & shown["query_id"].isin(images.index)]
    pair = ["query_id", "candidate_id"]
    shown["found_by"] = shown.groupby(pair)["model"].transform("nunique")
    shown["label"] = pair_labels(project, images, shown[pair])
    shown["query_id"] = pd.Categorical(shown["query_id"], chosen)
    shown["model"] = pd.Categorical(shown["model"], list(lists))
    shown = shown.sort_values(["query_id", "model", "rank"]).astype({"query_id": object, "model": object})
    wanted = list(dict.fromkeys([*chosen, *shown["candidate_id"]]))
    with project.progress("reading", "images") as progress:
        cards = _thumbnails(project, images.loc[wanted], progress)
    found = tuple(_strips(query, shown[shown["query_id"] == query], cards, images) for query in chosen)
    table = shown.assign(rank=shown["rank"] + 1)[
        ["query_id", "model", "rank", "candidate_id", "score", "found_by", "label"]
    ]
    result = NeighborStrips(k, table.reset_index(drop=True), str(out) if out else None, found)
    if out is not None:
        if out.suffix.lower() not in (".html", ".htm"):
            raise InputError(f"{out.name} is not a page", where="option --out", hint="Name it .html.")
        from eds.io.files import write_text

        if not project.would_write(out, f"{len(chosen)} queries"):
            write_text(out, result.html())
    return result


def read_lists(project: "Project", models: Sequence[str]) -> "dict[str, pd.DataFrame]":
    """The lists of the models, by name; of all that have some unless named."""
    there, models = project.models("neighbors"), find_models(project, models)
    if not there:
        raise ProjectError("no model has lists yet", where=str(project.root), hint="Make them: eds neighbors mine.")
    if missing := [name for name in models if name not in there]:
        raise ProjectError(
            f"no lists of {', '.join(missing)}", where=str(project.root), hint=f"Known: {', '.join(there)}."
        )
    columns = ["query_id", "candidate_id", "rank", "score"]
    return {name: project.read("neighbors", name, columns=columns) for name in models or there}


def _choose_queries(
    known: Sequence[str], queries: Sequence[str], count: int, seed: int, catalogue: Collection[str]
) -> list[str]:
    """The queries named, else `count` drawn by the seed, independent of the order of rows."""
    if not queries:
        drawn = sorted(known, key=lambda query: hashlib.sha256(f"{seed}\0{query}".encode()).digest())
        return sorted(drawn[:count])
    faults = []
    for query in queries:
        if query not in known:
            near = get_close_matches(query, known, n=1)
            what = ": it is a candidate only, so no model has a list for it" if query in catalogue else ""
            faults.append(query + (what or (f"; did you mean {near[0]}?" if near else "")))
    if faults:
        raise InputError(
            "these images are not queries", faults=faults, hint="eds neighbors show without a name draws some."
        )
    return list(dict.fromkeys(queries))


def pair_labels(project: "Project", images: "pd.DataFrame", pairs: "pd.DataFrame") -> "pd.Series[str]":
    """What is known of each pair, in the order of `pairs`."""
    import numpy as np

    product = images["product_id"]
    same = product.reindex(pairs["query_id"]).to_numpy() == product.reindex(pairs["candidate_id"]).to_numpy()
    labels = np.where(same, "same product", "not judged").astype(object)
    if project.path("truth").exists():
        truth = project.read("truth", columns=["query_id", "candidate_id", "value"])
        values = pairs.merge(truth, how="left", on=["query_id", "candidate_id"])["value"].astype("Float64")
        labels[values.eq(1).fillna(False).to_numpy()] = "similar"
        labels[values.eq(0).fillna(False).to_numpy()] = "different"
    return labels  # type: ignore[return-value]


def _thumbnails(project: "Project", images: "pd.DataFrame", progress: Any) -> "dict[str, tuple[Any, str]]":
    """The thumbnail of each image, or None and the reason."""
    from eds.images.sheet import make_card
    from eds.imaging import SIDES

    corners = images[BOX].astype("Float64").astype(object).to_numpy().tolist()
    cards = {}
    for done, (name, path, corner) in enumerate(zip(images.index, images["path"], corners, strict=True), 1):
        card = make_card(project.pictures, path, name, corner, SIDES["strip"])
        cards[name] = (card.thumbnail, card.reason)
        progress(done, len(images))
    return cards


def _strips(
    query: str, rows: "pd.DataFrame", cards: "dict[str, tuple[Any, str]]", images: "pd.DataFrame"
) -> QueryStrips:
    strips = [
        Strip(str(model), tuple(_picture(row, cards) for row in part.itertuples(index=False)))
        for model, part in rows.groupby("model", sort=False)
    ]
    details = " · ".join(str(value) for value in images.loc[query, DETAILS].dropna() if str(value) != query)
    return QueryStrips(Picture(query, 0, 1.0, 0, "", *cards[query]), details, tuple(strips))


def _picture(row: Any, cards: "dict[str, tuple[Any, str]]") -> Picture:
    return Picture(
        row.candidate_id,
        int(row.rank) + 1,
        float(row.score),
        int(row.found_by),
        str(row.label),
        *cards[row.candidate_id],
    )


def _data_uri(picture: "Image.Image") -> str:
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=82)
    return "data:image/jpeg;base64," + base64.b64encode(stream.getvalue()).decode()
