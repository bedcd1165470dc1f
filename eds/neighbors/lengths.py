"""How long the lists would be if nothing cut them: from the catalogue alone, without a vector."""

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from eds.neighbors.rules import Rules
from eds.neighbors.sides import Array
from eds.pairs import to_text


def list_lengths(images: pd.DataFrame, queries: "pd.Series[str]", rules: Rules) -> Array:
    """Length of each query's full list, (queries,) int64; 0 for an image that is no query.

    Formula: number of candidates that the rules allow; of their products, if one per product.
    Source: specification 1.1, |D_-q| with its options; without a cut: rules.k and keep_ties play no part.
    Conventions: the query itself never counts; its product does unless the rules leave it out.
    Example, run by doctest:
    >>> images = pd.DataFrame({"image_id": list("abcd"), "product_id": list("xxyy"), "role": "both", "category": None})
    >>> list_lengths(images, pd.Series(["a"]), Rules(1)).tolist()
    [1]
    """
    columns = images[["image_id", "product_id", "category", "role"]]
    offered = columns[columns["role"] != "query"]
    asked = pd.DataFrame({"image_id": queries.to_numpy(dtype=object), "place": np.arange(len(queries))})
    asked = asked.merge(columns[columns["role"] != "candidate"], on="image_id")
    groups = offered["category"].unique() if rules.category != "any" else [None]
    found = np.zeros(len(queries), np.int64)
    for group in groups:
        mine, theirs = asked, offered
        if rules.category != "any":
            mine = asked[asked["category"] == group]
            same = offered["category"] == group
            theirs = offered[same if rules.category == "same" else ~same]
        found[mine["place"]] = _lengths(mine, theirs, rules)
    if rules.category == "other":  # queries of a category that no candidate has
        rest = asked[~asked["category"].isin(groups)]
        found[rest["place"]] = _lengths(rest, offered, rules)
    return found


def _lengths(asked: pd.DataFrame, offered: pd.DataFrame, rules: Rules) -> Array:
    """Of queries that may all be offered the same candidates."""
    sizes = offered["product_id"].value_counts()
    # candidates of the query's product
    own = sizes.reindex(asked["product_id"].to_numpy(dtype=object)).fillna(0).to_numpy(np.int64)
    there = pc.is_in(to_text(asked["image_id"]), value_set=to_text(offered["image_id"]))
    itself = there.to_numpy(zero_copy_only=False).astype(np.int64)
    every = len(sizes) if rules.one_per_product else len(offered)
    kept = (own > 0) if rules.one_per_product else own  # what the product adds to `every`
    left = own - itself  # candidates of the product but the query itself
    again = np.zeros_like(own) if rules.exclude_product else ((left > 0) if rules.one_per_product else left)
    lengths: Array = every - np.asarray(kept, np.int64) + np.asarray(again, np.int64)
    return lengths
