"""All pairs A, the population of every share: as the project's random draws define it."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pyarrow as pa

from eds.errors import InputError
from eds.pairs import Flags, Integers, encode, to_text


@dataclass(frozen=True, eq=False)
class Population:
    """A, or A without the pairs that show one product; arrays are (images,)."""

    names: pa.Array
    asks: Flags
    offers: Flags
    product: Integers
    apart: bool = False  # are pairs of one product left out?

    @property
    def size(self) -> int:
        """|Q| |D| - |Q and D|, and where products are kept apart without all their pairs of another image.

        >>> images = pd.DataFrame({"image_id": list("abc"), "product_id": list("xxy"), "role": ["both"] * 3})
        >>> whole = population(images, pd.DataFrame({"origin": [], "stratum": []}))
        >>> whole.size, replace(whole, apart=True).size
        (6, 4)
        """
        both = int((self.asks & self.offers).sum())
        every = int(self.asks.sum()) * int(self.offers.sum()) - both
        if not self.apart:
            return every
        requested, offered = (np.bincount(self.product[side]) for side in (self.asks, self.offers))
        shared = min(len(requested), len(offered))
        return every - (int(requested[:shared] @ offered[:shared]) - both)

    def holds(self, pairs: pd.DataFrame) -> Flags:
        """Which pairs (query_id, candidate_id) lie among them, (pairs,) bool."""
        query, candidate = (encode(pairs[name], self.names) for name in ("query_id", "candidate_id"))
        result = (query >= 0) & (candidate >= 0) & (query != candidate)
        if len(self.names):
            result &= self.asks[query] & self.offers[candidate]
            if self.apart:
                result &= self.product[query] != self.product[candidate]
        return np.asarray(result)


def drawn_from(part: pd.DataFrame) -> int:
    """How many pairs one stratum's draws were made of: n / probability.

    >>> drawn_from(pd.DataFrame({"probability": [0.25, 0.25]}))
    8
    """
    chance = float(part["probability"].iloc[0])
    if not chance > 0:
        raise InputError(
            f"{len(part):,} random pairs have probability {chance:g}, with which nothing is drawn",
            where="suspects.parquet, column probability",
            hint="Import them with the probability they were drawn with, or draw again: eds suspects random.",
        )
    return round(len(part) / chance)


def population(images: pd.DataFrame, suspects: pd.DataFrame) -> Population:
    """The pairs that the suspects' random draws were made of; without draws, all of A.

    Draws with --exclude-product exclude pairs of one product: their share is not a share of A, and the pool's positives
    and size must be counted over the same pairs. The size of their strata shows whether they were made so.
    """
    role = images["role"].to_numpy()
    names = to_text(images["image_id"])
    product = to_text(images["product_id"]).dictionary_encode().indices.to_numpy() if len(images) else np.zeros(0)
    whole = Population(names, role != "candidate", role != "query", product.astype(np.int64))
    drawn = suspects[suspects["origin"] == "random"]
    sizes = {name: drawn_from(part) for name, part in drawn.groupby("stratum")}
    if not sizes:
        return whole
    pool = suspects.loc[suspects["origin"] == "pool", ["query_id", "candidate_id"]].drop_duplicates()

    def fits(item: Population) -> bool:
        outside = item.size - int(item.holds(pool).sum())
        result = [("all", item.size), ("outside", outside)]
        parts = [sizes["near"] + sizes["rest"]] if {"near", "rest"} <= set(sizes) else []
        return all(sizes.get(name, size) == size for name, size in result) and all(part == outside for part in parts)

    apart = replace(whole, apart=True)
    return apart if fits(apart) and not fits(whole) else whole
