"""Supervision: which images belong together, and how closely.

`product` and `category` are classes; `both` grades them (2 same product, 1 same category only); `truth` uses decided
pairs. Images are identified by their position in the sorted list of ids.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from eds import choices
from eds.errors import InputError
from eds.pairs import Flags, Integers, encode, in_sorted, unique_ids
from eds.training.splits import Split


@dataclass(frozen=True, eq=False)
class Supervision:
    """Labels of the images; arrays of classes are (items,) int64."""

    source: str
    ids: Sequence[str]
    product: Integers
    category: Integers | None = None
    pairs: Integers | None = None  # of `truth`: position * items + position of similar pairs, both ways, ascending
    parts: Split | None = None  # table splits, where the project has one; else each run draws its own

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def levels(self) -> tuple[int, ...]:
        """The grades that an affinity may have."""
        return (0, 1, 2) if self.source == "both" else (0, 1)

    def affinity(self, left: Integers, right: Integers) -> Integers:
        """The grade of similarity of items, (left, right) int64: 0 not similar."""
        same = self.product[left][:, None] == self.product[right][None, :]
        if self.source == "product":
            return np.asarray(same, np.int64)
        if self.category is not None:
            alike = (self.category[left][:, None] == self.category[right][None, :]).astype(np.int64)
            return np.asarray(alike + same if self.source == "both" else alike, np.int64)
        keys = left[:, None] * len(self) + right[None, :]
        pairs = np.zeros(0, np.int64) if self.pairs is None else self.pairs
        known: Flags = in_sorted(pairs, keys.ravel()).reshape(keys.shape)
        return np.asarray(known | same, np.int64)

    def classes(self) -> dict[str, Integers]:
        """The classes that a classifier can learn, by name; raises InputError if the labels are pairs."""
        if self.source == "truth":
            raise InputError(
                "decided pairs are not classes", where="labels truth", hint="Use labels product, category or both."
            )
        named = {"product": self.product, "category": self.category}
        wanted = ("product", "category") if self.source == "both" else (self.source,)
        return {name: found for name in wanted if (found := named[name]) is not None}

    def partners(self, rows: Integers) -> list[Integers]:
        """For each of the rows its similar ones among `rows`, itself included."""
        kind = self.category if self.source == "category" and self.category is not None else self.product
        order = rows[np.argsort(kind[rows], kind="stable")]
        ends = np.flatnonzero(np.diff(kind[order])) + 1
        members = {int(kind[part[0]]): part for part in np.split(order, ends) if len(part)}
        found = [members[number] for number in kind[rows].tolist()]
        if self.pairs is None:
            return found
        first, second = np.divmod(self.pairs, len(self))
        inside = np.isin(first, rows) & np.isin(second, rows)
        first, second = first[inside], second[inside]
        starts = np.searchsorted(first, [rows, rows + 1])
        return [np.union1d(own, second[low:high]) for own, low, high in zip(found, starts[0], starts[1], strict=True)]


def supervise(
    source: str, images: pd.DataFrame, truth: pd.DataFrame | None = None, *, one_way_as_negative: bool = False
) -> Supervision:
    """Labels of `images` (image_id, product_id, category); `truth` (query_id, candidate_id, value) for source truth.

    The result does not depend on the order of rows. Images of one product always belong together. With `truth`, pairs
    without a decision count as not similar; a pair that is similar one way only is an error, or with
    `one_way_as_negative` not similar.
    """
    choices.check(choices.HashLabels, source, "labels")
    ordered = images.sort_values("image_id", kind="stable")
    ids = ordered["image_id"].tolist()
    product = encode(ordered["product_id"], unique_ids(ordered["product_id"]))
    if source == "product":
        return Supervision(source, ids, product)
    if source == "truth":
        if truth is None:
            raise InputError("there are no decided pairs", where="labels truth", hint="Decide them: eds truth decide.")
        return Supervision(source, ids, product, pairs=_symmetric(ids, truth, one_way_as_negative=one_way_as_negative))
    lacking = ordered["category"].isna()
    if lacking.any():
        names = ", ".join(ordered.loc[lacking, "image_id"].head(3))
        raise InputError(
            f"{int(lacking.sum()):,} images have no category: {names}",
            where="table images",
            hint="Fill the column, or train on products: --labels product.",
        )
    return Supervision(source, ids, product, encode(ordered["category"], unique_ids(ordered["category"])))


def _symmetric(ids: Sequence[str], truth: pd.DataFrame, *, one_way_as_negative: bool) -> Integers:
    """Similar pairs as numbers, both ways, ascending; pairs of other images are ignored."""
    names = pa.array(list(ids), pa.string())
    first, second = (encode(truth[column], names) for column in ("query_id", "candidate_id"))
    value = truth["value"].to_numpy(dtype=np.int64)
    known = (first >= 0) & (second >= 0)
    first, second, value = first[known], second[known], value[known]
    low, high = np.minimum(first, second), np.maximum(first, second)
    keys = low * len(ids) + high
    one_way = np.intersect1d(keys[value == 1], keys[value == 0])
    if len(one_way) and not one_way_as_negative:
        faults = [f"{ids[key // len(ids)]} {ids[key % len(ids)]}" for key in one_way[:3].tolist()]
        raise InputError(
            f"the labels are not symmetric: {len(one_way):,} pairs are similar one way and not the other",
            where="table truth",
            hint="Count them as not similar (--one-way-as-negative), or correct these:",
            faults=faults,
        )
    good = (value == 1) & ~np.isin(keys, one_way)
    return np.unique(np.concatenate([keys[good], (high * len(ids) + low)[good]]))
