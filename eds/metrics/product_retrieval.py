"""Whether lists find the other pictures of the query's own product: the recognition table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from eds.errors import InputError
from eds.metrics.judged_lists import JudgedLists, read_rankings
from eds.metrics.measures.official import official_mrr
from eds.metrics.measures.products import capped_hits
from eds.metrics.measures.standard import precision, reciprocal_rank, success
from eds.metrics.single_list import cut_offs, mean
from eds.pairs import Flags, Integers, RankedLists, encode, unique_ids


def identity_metrics(
    rankings: pd.DataFrame,
    item_of: Mapping[str, str],
    gallery: Sequence[str],
    k: Sequence[int],
    queries: Sequence[str] | None = None,
) -> dict[str, Any]:
    """HR and MRR on the query's own product, with each denominator under its own name.

    Formula: n_q other images of the product in the gallery; hr_capped = sum of hits / sum of min(k, n_q);
    hr_capped_macro = mean of hits / min(k, n_q); hr_slots = sum of hits / (k |Q|); mrr_slots = sum of 1/place /
    (H_k |Q|); hit_rate and mrr standard.
    Source: specification 4.3; capped HR with slot-normalised MRR is the published table's most likely reading.
    Conventions: lists are per image with the own product kept; queries with n_q = 0 are skipped and counted; an
    image that `item_of` does not know is its own product. `queries` are all queries: one whose list is empty
    has no row and counts as without a hit (default: those that have rows).
    Example, run by doctest:
    >>> rankings = pd.DataFrame({"model": "m", "query_id": "a", "candidate_id": ["c", "b"], "rank": [0, 1]})
    >>> identity_metrics(rankings, {"a": "A", "b": "A"}, ["a", "b", "c"], [2])["hr_capped@2"]
    1.0
    """
    read = read_rankings(rankings)
    images = pd.DataFrame({"image_id": pd.Series(list(gallery), dtype="str")})
    images["product_id"] = images["image_id"].map(dict(item_of)).fillna(images["image_id"])
    requested = read.queries if queries is None else unique_ids(pa.array(list(queries), pa.string()))
    own = {name: name for name in requested.to_pylist()} | dict(item_of)
    result: dict[str, Any] = {}
    cuts = cut_offs(k)
    if len(read.models) > 1:
        raise InputError(
            f"{len(read.models)} models have lists", where="table neighbors", hint="Give those of one model."
        )
    if not read.models:
        read = replace(read, models=["no model"])  # lists that are all empty: none of the queries has a hit
    (lists,) = own_product_lists(read, images, own, requested).values()
    if not lists.n_queries:
        return {"n_queries": 0, "n_skipped": 0}
    result = {"n_queries": int((lists.positives > 0).sum()), "n_skipped": int((lists.positives == 0).sum())}
    for cut in cuts:
        capped = np.minimum(lists.positives, cut).astype(np.float64)
        result |= {
            f"hr_capped@{cut}": mean(capped_hits(lists, cut), capped),
            f"hr_capped_macro@{cut}": mean(capped_hits(lists, cut)),
            f"hr_slots@{cut}": mean(precision(lists, cut)),
            f"mrr_slots@{cut}": mean(official_mrr(lists, cut)),
            f"hit_rate@{cut}": mean(success(lists, cut)),
            f"mrr@{cut}": mean(reciprocal_rank(lists, cut)),
        }
    return result


def own_product_lists(
    read: RankedLists, images: pd.DataFrame, item_of: Mapping[str, str], queries: pa.Array
) -> dict[str, JudgedLists]:
    """By model: the lists of `queries` (distinct ids), every place labelled by whether it shows the own product.

    `images` (image_id, product_id) is the gallery; `item_of` names the product of every query. A query without a row
    has an empty list; lists of other queries are ignored.
    """
    of = pa.array([item_of[name] for name in queries.to_pylist()], pa.string())
    products = unique_ids(images["product_id"], of)
    gallery = unique_ids(images["image_id"])
    product = np.full(len(gallery) + 1, -1, np.int64)  # the last one: of what is not in the gallery
    product[encode(images["image_id"], gallery)] = encode(images["product_id"], products)
    own = encode(of, products)
    inside = encode(queries, gallery) >= 0
    others = np.bincount(product[:-1], minlength=len(products))[own] - _shares(queries, gallery, product, own, inside)
    query = encode(read.queries, queries)[read.query] if len(read.query) else read.query
    at = encode(read.candidates, gallery)
    asks = np.append(own, -2)[query]  # -2: a list of another query, which is ignored
    label = (product[at][read.candidate] == asks).astype(np.int64)
    result = {}
    for number, name in enumerate(read.models):
        mine = (read.model == number) & (query >= 0)
        rows = (query[mine], read.rank[mine] + 1, label[mine], np.ones(int(mine.sum()), np.bool_))
        result[name] = JudgedLists(*rows, others, np.zeros(len(others), np.int64))
    return result


def _shares(queries: pa.Array, gallery: pa.Array, product: Integers, own: Integers, inside: Flags) -> Integers:
    """1 where the query itself is a gallery image of its product, so that it does not count as another one."""
    place = encode(queries, gallery)
    shares: Flags = inside & (product[place] == own)
    return shares.astype(np.int64)


def own_pairs(images: pd.DataFrame) -> pd.DataFrame:
    """Return every query with every other candidate of its product: query_id, candidate_id.

    >>> images = pd.DataFrame({"image_id": ["a", "b"], "product_id": ["p", "p"], "role": ["both", "candidate"]})
    >>> own_pairs(images).to_numpy().tolist()
    [['a', 'b']]
    """
    queries = images.loc[images["role"] != "candidate", ["image_id", "product_id"]]
    candidates = images.loc[images["role"] != "query", ["image_id", "product_id"]]
    both = queries.merge(candidates, on="product_id", suffixes=("_query", "_candidate"))
    both = both[both["image_id_query"] != both["image_id_candidate"]]
    renamed = both.rename(columns={"image_id_query": "query_id", "image_id_candidate": "candidate_id"})
    pairs: pd.DataFrame = renamed[["query_id", "candidate_id"]].reset_index(drop=True)
    return pairs
