"""Pairs without a label: pooled but unjudged ones, and what keeps positives out of official lists."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from eds.metrics.catalogue import Catalogue
from eds.pairs import Flags, Integers, LabelledPairs, RankedLists, encode, find_sorted

PAIR = ["query_id", "candidate_id"]


def pooled_of(labelled: LabelledPairs, pooled: pd.DataFrame) -> LabelledPairs:
    """The pooled pairs of the labelled queries, judged or not; their value says nothing."""
    known = encode(pooled["query_id"], labelled.queries) >= 0
    return LabelledPairs.from_frame(pooled.loc[known, PAIR].assign(value=0), "pooled pairs", queries=labelled.queries)


def without_label(pooled: LabelledPairs, labelled: LabelledPairs) -> int:
    """How many of the pooled pairs have no label."""
    return int((labelled.find(pooled) < 0).sum())


def left_out_by_rules(labelled: LabelledPairs, catalogue: Catalogue, category: str = "any") -> Flags:
    """Which positives (in the labels' order) no official list may hold: own product, no query, no candidate.

    Where lists hold the query's category only (`category`: same), or others only (other), those of the rest, too.
    """
    query, candidate = _positives(labelled, catalogue)
    barred = (query < 0) | (candidate < 0)
    barred |= catalogue.is_only("candidate")[query] | catalogue.is_only("query")[candidate]
    barred |= catalogue.product[query] == catalogue.product[candidate]
    if category != "any":
        barred |= (catalogue.category[query] == catalogue.category[candidate]) == (category == "other")
    return np.asarray(barred)


def hidden_places(listed: RankedLists, labelled: LabelledPairs, catalogue: Catalogue) -> Mapping[str, Integers]:
    """By model, for each positive (in the labels' order): where another image of its product stands; 0: in no list.

    Official lists show one image of each product: a positive whose product is shown by another can never be found.
    """
    product = catalogue.product
    n = int(product.max()) + 1
    _, own = _positives(labelled, catalogue)
    positive = labelled.value == 1
    keys = np.where(product[own] >= 0, labelled.query[positive] * n + product[own], -1)
    query = encode(listed.queries, labelled.queries)[listed.query] if len(listed.query) else listed.query
    image = catalogue.places(listed)[1][listed.candidate]
    used = (query >= 0) & (product[image] >= 0)
    result = {}
    for number, name in enumerate(listed.models):
        rows = np.flatnonzero(used & (listed.model == number))
        key = query[rows] * n + product[image[rows]]
        order = np.lexsort((listed.rank[rows], key))
        rows, key = rows[order], key[order]
        first = np.diff(key, prepend=-1) != 0
        rows, key = rows[first], key[first]
        at = find_sorted(keys, key)
        there = at >= 0
        place = np.zeros(len(keys), np.int64)
        place[there] = listed.rank[rows[at[there]]] + 1
        place[there] *= image[rows[at[there]]] != own[there]
        result[name] = place
    return result


def _positives(labelled: LabelledPairs, catalogue: Catalogue) -> tuple[Integers, Integers]:
    """The catalogue's rows that show the positives' queries and candidates, in the labels' order."""
    positive = labelled.value == 1
    query, candidate = catalogue.places(labelled)
    return query[labelled.query[positive]], candidate[labelled.candidate[positive]]
