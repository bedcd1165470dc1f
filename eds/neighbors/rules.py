"""Which candidates a list may hold, and how long it is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from eds import choices
from eds.choices import CategoryRule
from eds.errors import InputError
from eds.pairs import Integers, to_text

COLUMNS = ("image_id", "product_id", "category", "role")  # of table images: all that the rules and a search look at


@dataclass(frozen=True)
class Rules:
    """The rules of a list. The query image itself is always left out.

    The benchmark's rule is the default: no image of the query's own product, and of every other
    product its best image only.

    >>> Rules(k=0)
    Traceback (most recent call last):
    eds.errors.InputError: Rules: k is 0. Give a number from 1 up.
    """

    k: int
    exclude_product: bool = True  # leave out images of the query's own product
    one_per_product: bool = True  # keep only the best image of each product
    category: CategoryRule = "any"  # "same": only candidates of the query's category; "other": only of others
    keep_ties: bool = False  # keep all that score exactly as the k-th does, however many

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            raise InputError(f"k is {self.k!r}", where="Rules", hint="Give a number from 1 up.")
        choices.check(CategoryRule, self.category, "category")


def list_lengths(images: pd.DataFrame, queries: "pd.Series[str]", rules: Rules) -> Integers:
    """Length of each query's full list, (queries,) int64; 0 for an image that is not a query.

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


def _lengths(asked: pd.DataFrame, offered: pd.DataFrame, rules: Rules) -> Integers:
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
    lengths: Integers = every - np.asarray(kept, np.int64) + np.asarray(again, np.int64)
    return lengths


def top_k(
    query: str,
    gallery: Sequence[str],
    scores: Sequence[float],
    k: int,
    item_of: Mapping[str, str] | None = None,
    exclude_same_item: bool = False,
    one_per_item: bool = False,
) -> list[str]:
    """The first k ids of the gallery without the query.

    Formula: sort D_-q by (score descending, id ascending); drop images of the query's own item; keep
    the first image of each item; cut at k.
    Source: specification 1.1; the public evaluator's list is this with both options on (4.1).
    Conventions: ids compare by Unicode code point; an image that `item_of` does not know is its own
    item; k above what is left returns all that is left.
    Example, run by doctest:
    >>> top_k("q", ["d", "b", "a", "c"], [0.5, 0.9, 0.5, 0.5], 3)
    ['b', 'a', 'c']
    """
    if len(gallery) != len(scores):
        raise InputError(f"{len(gallery)} ids but {len(scores)} scores", where="top_k", hint="Give one score per id.")
    faults = [] if k >= 1 else [f"k is {k}; give a number from 1 up"]
    seen: set[str] = set()
    faults += [f"duplicate id {name!r}" for name in gallery if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
    faults += [
        f"score of {name!r} is {float(score)}"
        for name, score in zip(gallery, scores, strict=True)
        if not math.isfinite(float(score))
    ]
    if faults:
        raise InputError("no list can be made of this", where="top_k", hint="Correct:", faults=faults)
    items = item_of or {}
    # Tuples mark an image without an item: no item's name can equal them.
    own = items.get(query, (query,))
    found: list[str] = []
    taken: set[object] = set()
    for _, name in sorted((-float(score), name) for name, score in zip(gallery, scores, strict=True)):
        item = items.get(name, (name,))
        if name == query or (exclude_same_item and item == own) or (one_per_item and item in taken):
            continue
        taken.add(item)
        found.append(name)
        if len(found) == k:
            break
    return found
