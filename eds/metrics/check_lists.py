"""Checks that lists are what a measure assumes: filtered by product, and deep enough."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.metrics.catalogue import Catalogue
from eds.metrics.measure import Measure
from eds.pairs import Integers, KnownRanks, RankedLists, format_ids


def check_rules(lists: RankedLists, catalogue: Catalogue | None, measures: Sequence[Measure]) -> None:
    """Refuse lists on which the measures would not be what their names say; all faults at once.

    Official lists hold no image of the query's own product and one image of each product. Lists that all end at
    one place above the cut-off, while there are more candidates, were cut: a value at k would be too small.
    """
    faults, known = ([], False) if catalogue is None else _catalogue_faults(lists, catalogue, measures)
    if catalogue is not None and known:
        faults += _depth_faults(lists, catalogue.images, measures)
    if faults:
        raise InputError(
            "the lists do not fit the measures",
            where="table neighbors",
            hint="Mine them so (eds neighbors mine; neighbors.exclude_product, neighbors.one_per_product, "
            "neighbors.k in"
            " eds.toml), or ask for other measures.",
            faults=faults,
        )


def check_known_ranks(ranks: KnownRanks, catalogue: Catalogue | None, measures: Sequence[Measure]) -> None:
    """As `check_rules`, for ranks of pairs: those that have a place in a list."""
    if catalogue is None:
        return
    faults, _ = _catalogue_faults(ranks.select(ranks.rank >= 0), catalogue, measures)
    if faults:
        hint = "Rank them with exclude_product and one_per_product, or ask for other measures."
        raise InputError("the ranks do not fit the measures", where="ranks of pairs", hint=hint, faults=faults)


def _least_available(images: pd.DataFrame) -> int:
    """So many places every list can have, whichever categories the mining rules allow."""
    candidates = images[images["role"] != "query"] if "role" in images.columns else images
    every = candidates["product_id"].nunique() - 1
    if "category" not in images.columns or candidates["category"].isna().all():
        return int(every)
    same = candidates.groupby("category")["product_id"].nunique()
    return int(min(every, same.min() - 1, every - same.max() if len(same) > 1 else every))


def _catalogue_faults(lists: RankedLists, catalogue: Catalogue, measures: Sequence[Measure]) -> tuple[list[str], bool]:
    """Images that the catalogue does not know, or else faults of products; and whether all images are known."""
    places = catalogue.places(lists)
    faults = _unknown(lists, places)
    if faults or all(measure.definition.needs != "official lists" for measure in measures):
        return faults, not faults
    return _product_faults(lists, catalogue, places), True


def _unknown(lists: RankedLists, places: tuple[Integers, Integers]) -> list[str]:
    result = zip(("queries", "candidates"), (lists.queries, lists.candidates), places, strict=True)
    missing = [(word, ids, np.flatnonzero(place < 0)) for word, ids, place in result]
    return [
        f"{len(rows):,} {word} are not in table images: {format_ids(ids, rows)}"
        for word, ids, rows in missing
        if len(rows)
    ]


def _product_faults(lists: RankedLists, catalogue: Catalogue, places: tuple[Integers, Integers]) -> list[str]:
    """Only for lists whose images are all known."""
    own, product = (catalogue.product[place] for place in places)
    same = np.unique(lists.query[product[lists.candidate] == own[lists.query]])
    entry = pd.DataFrame({"model": lists.model, "query": lists.query, "product": product[lists.candidate]})
    twice = np.unique(lists.query[entry.duplicated().to_numpy()])
    faults = []
    if len(same):
        faults.append(f"official measures: own product in the lists of {format_ids(lists.queries, same)}")
    if len(twice):
        faults.append(f"official measures: two images of one product in a list of {format_ids(lists.queries, twice)}")
    return faults


def _depth_faults(lists: RankedLists, images: pd.DataFrame, measures: Sequence[Measure]) -> list[str]:
    deepest = max(
        (measure.k or 0 for measure in measures if measure.definition.needs not in ("scores", "codes", "graded")),
        default=0,
    )
    faults = []
    for number, name in enumerate(lists.models):
        lengths = np.unique(np.bincount(lists.query[lists.model == number]))
        lengths = lengths[lengths > 0]
        if len(lengths) == 1 and lengths[0] < deepest and lengths[0] < _least_available(images):
            faults.append(f"all lists of model {name} end at {lengths[0]} places; a measure asks for {deepest}")
    return faults
