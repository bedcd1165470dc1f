"""Pairs of chosen images, such as a region of the map: with what the models find for them, or among each other."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

from eds import choices
from eds.choices import ImagePartners
from eds.errors import InputError
from eds.project.draw import store_draw
from eds.project.inputs import Inputs
from eds.project.mine import read_heads
from eds.project.models import generators
from eds.project.price import price_of
from eds.project.results import Result
from eds.project.universe import pair_rules

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project
    from eds.project.price import Price

PAIR = ["query_id", "candidate_id"]
MOST = 1_000_000  # pairs that one call may add


@dataclass(frozen=True)
class ImagePairsResult(Result):
    """Pairs of chosen images, and those that the suspects did not have."""

    images: int
    queries: int  # of them, images that are queries
    added: int
    price: "Price"  # of the pairs that this call added
    pairs: "pd.DataFrame" = field(repr=False)  # query_id, candidate_id: all, also those that were there


def add_image_pairs(
    project: "Project", images: Sequence[str], *, partners: ImagePartners = "lists", k: int | None = None
) -> ImagePairsResult:
    """Add the pairs of chosen images; see `Project.add_image_pairs`."""
    from eds.suspects import add_pairs

    choices.check(ImagePartners, partners, "partners")
    with project.writing("suspects.add-images"):
        inputs = Inputs(project)
        chosen = list(dict.fromkeys(images))
        queries = _queries(inputs, chosen)
        depth = k or project.config.suspects.k
        pairs = _of_lists(project, queries, depth) if partners == "lists" else _among(inputs, queries, chosen)
        before = inputs.suspects
        table = add_pairs(pairs, before)
        price = price_of(project, 0)
        names = sha256("\n".join(sorted(chosen)).encode()).hexdigest()[:12]
        params = {"arguments": [f"{len(chosen)} images"], "partners": partners, "digest": names}
        if len(table) > len(before):
            price = store_draw(inputs, table, "add-images", params | ({"k": depth} if partners == "lists" else {}))
    return ImagePairsResult(len(chosen), len(queries), len(table) - len(before), price, pairs)


def _queries(inputs: Inputs, chosen: Sequence[str]) -> list[str]:
    """Those of the images that are queries; refuses unknown ones, and a choice without any query."""
    if not chosen:
        raise InputError("no images are chosen", hint="Name images, or draw around some on the map.")
    roles = inputs.images().set_index("image_id")["role"]
    unknown = [name for name in chosen if name not in roles.index]
    if unknown:
        raise InputError("these images are not in the catalogue", faults=unknown[:20], hint="Correct the ids.")
    role = roles.loc[list(chosen)]
    queries: list[str] = role.index[role != "candidate"].tolist()
    if not queries:
        raise InputError(
            f"none of {len(chosen):,} images is a query",
            where="table images",
            hint="Choose others, or make all images queries: eds images scan --queries all.",
        )
    return queries


def _of_lists(project: "Project", queries: Sequence[str], depth: int) -> "pd.DataFrame":
    """Each query with the first candidates of every generator's list."""
    heads = read_heads(project, generators(project), depth)
    return heads.loc[heads["query_id"].isin(list(queries)), PAIR].drop_duplicates().reset_index(drop=True)


def _among(inputs: Inputs, queries: Sequence[str], chosen: Sequence[str]) -> "pd.DataFrame":
    """Each query with every chosen candidate that the project's rules allow."""
    import pandas as pd

    images = inputs.images().set_index("image_id", drop=False)
    asked = images.loc[list(queries), ["image_id", "product_id", "category"]]
    offered = images.loc[list(chosen)]
    offered = offered.loc[offered["role"] != "query", ["image_id", "product_id", "category"]]
    if len(asked) * len(offered) > MOST:
        raise InputError(
            f"{len(asked):,} queries with {len(offered):,} candidates are more than {MOST:,} pairs",
            hint="Choose fewer images, or take the pairs of the models' lists.",
        )
    rules = pair_rules(inputs.project)
    pairs = pd.merge(asked, offered, how="cross", suffixes=("", "_of_candidate"))
    good = pairs["image_id"] != pairs["image_id_of_candidate"]
    if rules.exclude_product:
        good &= pairs["product_id"] != pairs["product_id_of_candidate"]
    if rules.category != "any":
        same = (pairs["category"] == pairs["category_of_candidate"]).fillna(False)
        good &= same if rules.category == "same" else ~same
    kept = pairs.loc[good.astype(bool), ["image_id", "image_id_of_candidate"]].set_axis(PAIR, axis=1)
    if not len(kept):
        raise InputError(
            "the rules allow no pair among these images", hint="They may all be of one product: choose more."
        )
    return kept.reset_index(drop=True)
