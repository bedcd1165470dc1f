"""Whether lists are what a measure takes them for: filtered by product, and deep enough."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from eds.errors import InputError
from eds.metrics.ids import Integers, distinct, encode, shown
from eds.metrics.lists import Rankings
from eds.metrics.measure import Measure


def check_rules(lists: Rankings, images: pd.DataFrame | None, measures: Sequence[Measure]) -> None:
    """Refuse lists on which the measures would not be what their names say; all faults at once.

    Official lists hold no image of the query's own product and one image of each product. Lists that all end at
    one place above the cut-off, while there are more candidates, were cut: a value at k would be too small.
    """
    faults = [] if images is None else _unknown(lists, images)
    if images is not None and not faults:
        if any(measure.definition.needs == "official lists" for measure in measures):
            faults += _product_faults(lists, images)
        faults += _depth_faults(lists, images, measures)
    if faults:
        raise InputError(
            "the lists do not fit the measures",
            where="table neighbors",
            do="Mine them so (eds neighbors mine; neighbors.exclude_product, neighbors.one_per_product, neighbors.k in"
            " eds.toml), or ask for other measures.",
            faults=faults,
        )


def products_of(names: pa.Array, images: pd.DataFrame) -> Integers:
    """(names,) int64: a number for the product of each image; -1 for an image that is not in the catalogue."""
    known = distinct(images["image_id"])
    product = np.empty(len(known), np.int64)
    product[encode(images["image_id"], known)] = encode(images["product_id"], distinct(images["product_id"]))
    place = encode(names, known)
    return np.where(place >= 0, product[place] if len(product) else -1, -1)


def _least_available(images: pd.DataFrame) -> int:
    """So many places every list can have, whichever categories the mining rules allow."""
    candidates = images[images["role"] != "query"] if "role" in images.columns else images
    every = candidates["product_id"].nunique() - 1
    if "category" not in images.columns or candidates["category"].isna().all():
        return int(every)
    same = candidates.groupby("category")["product_id"].nunique()
    return int(min(every, same.min() - 1, every - same.max() if len(same) > 1 else every))


def _unknown(lists: Rankings, images: pd.DataFrame) -> list[str]:
    known = distinct(images["image_id"])
    told = (("queries", lists.queries), ("candidates", lists.candidates))
    missing = [(word, ids, np.flatnonzero(encode(ids, known) < 0)) for word, ids in told]
    return [
        f"{len(rows):,} {word} are not in table images: {shown(ids, rows)}" for word, ids, rows in missing if len(rows)
    ]


def _product_faults(lists: Rankings, images: pd.DataFrame) -> list[str]:
    own, product = products_of(lists.queries, images), products_of(lists.candidates, images)
    same = np.unique(lists.query[product[lists.candidate] == own[lists.query]])
    entry = pd.DataFrame({"model": lists.model, "query": lists.query, "product": product[lists.candidate]})
    twice = np.unique(lists.query[entry.duplicated().to_numpy()])
    faults = []
    if len(same):
        faults.append(f"official measures: own product in the lists of {shown(lists.queries, same)}")
    if len(twice):
        faults.append(f"official measures: two images of one product in a list of {shown(lists.queries, twice)}")
    return faults


def _depth_faults(lists: Rankings, images: pd.DataFrame, measures: Sequence[Measure]) -> list[str]:
    deepest = max((measure.k or 0 for measure in measures if measure.definition.needs != "scores"), default=0)
    available = _least_available(images)
    faults = []
    for number, name in enumerate(lists.models):
        lengths = np.unique(np.bincount(lists.query[lists.model == number]))
        lengths = lengths[lengths > 0]
        if len(lengths) == 1 and lengths[0] < min(deepest, available):
            faults.append(f"all lists of model {name} end at {lengths[0]} places; a measure asks for {deepest}")
    return faults
