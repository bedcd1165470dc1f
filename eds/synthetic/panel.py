"""The complete truth of a panel: its noise-free majority, for given pairs and for all units of a universe."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from eds.errors import InputError
from eds.pairs import Integers, sort_unique
from eds.pairs import encode as codes_of
from eds.synthetic.attributes import KINSHIP, TRUE_COLUMNS, Encoded, combine, compare, encode, select
from eds.synthetic.experts import Expert, seen_similarity
from eds.universe import Universe

Votes = npt.NDArray[np.int8]


def true_value(pairs: pd.DataFrame, images: pd.DataFrame, experts: Sequence[Expert]) -> Votes:
    """Return the noise-free majority of the panel, 1 or 0, row by row; ties are negative."""
    _check(experts)
    votes = [
        (seen >= expert.threshold).astype(np.int64)
        for seen, expert in zip(seen_similarity(pairs, images, experts), experts, strict=True)
    ]
    return np.asarray(2 * np.sum(votes, axis=0) > len(experts), dtype=np.int8)


def _check(experts: Sequence[Expert]) -> None:
    if not experts:
        raise InputError("the panel is empty", where="simulated experts", hint="Draw at least one expert.")


def _majority(left: Encoded, right: Encoded, experts: Sequence[Expert]) -> npt.NDArray[np.bool_]:
    terms = compare(left, right)
    votes = np.zeros(terms["category"].shape, dtype=np.int64)
    for expert in experts:
        votes += combine(terms, expert.named_weights) >= expert.threshold
    return np.asarray(2 * votes > len(experts))


def positive_units(
    universe: Universe, images: pd.DataFrame, experts: Sequence[Expert], *, block: int = 1_000_000
) -> Integers:
    """The units of the universe that the noise-free majority calls similar, ascending."""
    _check(experts)
    group, first = _groups(images)
    encoded = encode(images[["category", *TRUE_COLUMNS]].iloc[first])
    code = codes_of(images["product_id"].iloc[first], universe.products)
    asks = np.unique(group[images["role"].isin(["query", "both"]).to_numpy()])
    parts = [np.zeros(0, np.int64)]
    for rows, columns in _blocks(encoded["category"], asks, experts, block):
        similar = _majority(select(encoded, rows[:, None]), select(encoded, columns[None, :]), experts)
        asked, offered = np.nonzero(similar)
        parts.append(universe.numbers_of_products(code[rows[asked]], code[columns[offered]]))
    return sort_unique(*parts)


def _blocks(
    category: npt.NDArray[Any], queried: npt.NDArray[np.intp], experts: Sequence[Expert], block: int
) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Yield rows and columns of products to compare, category by category.

    A similarity is at most the kinship of the categories: if that is below every threshold, no pair is positive.
    """
    lowest = min(expert.threshold for expert in experts) - 1e-9
    for one in np.unique(category[queried]):
        rows = queried[category[queried] == one]
        columns = np.flatnonzero(KINSHIP[one, category] >= lowest)
        step = max(1, block // max(1, len(columns)))
        for start in range(0, len(rows), step):
            yield rows[start : start + step], columns


def _groups(images: pd.DataFrame) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Number the products, and return the first row of each."""
    group, names = pd.factorize(images["product_id"])
    first = np.full(len(names), len(images), dtype=np.intp)
    np.minimum.at(first, group, np.arange(len(images), dtype=np.intp))
    return group, first
