"""Queries and candidates as integers.

Candidates are numbered in the order of their ids (Unicode code points), so that comparing numbers is
comparing ids. Everything behind this file works on those numbers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from eds.errors import InputError
from eds.neighbors.rules import Rules
from eds.pairs import to_text
from eds.vectors import Vectors

Array = np.ndarray[Any, np.dtype[Any]]
SHOWN = 5  # ids that a message names


@dataclass(frozen=True)
class Side:
    """The queries, or the candidates, in the order of their ids; every array is (n,)."""

    ids: pa.Array  # str; as Python objects millions of them would take most of the memory
    rows: Array  # int64: row of the image's vector
    product: Array  # int64 code; the same product has the same code on both sides
    category: Array  # int64 code; -1 where it is unknown, or where no rule asks for it

    def __len__(self) -> int:
        return len(self.rows)

    def named(self, numbers: Array) -> pa.Array:
        """The ids of these numbers, (n,) int64."""
        return self.ids.take(pa.array(numbers))


@dataclass(frozen=True)
class QueryGallery:
    """Both sides of the search."""

    queries: Side
    candidates: Side
    own: Array  # (queries,) int64: the query's number among the candidates, or -1
    total_rows: int  # vectors in the folder, candidates or not

    @classmethod
    def of(cls, vectors: Vectors, images: pd.DataFrame, rules: Rules) -> "QueryGallery":
        """Number the images; refuses duplicated ids, images without a vector, unknown categories."""
        listed = to_text(images["image_id"])
        order, asked, proposed, ascending = in_id_order(images)
        aligned = listed.null_count == 0 and listed.equals(vectors.id_column)  # a row of vectors for each row here
        if not ascending:
            refuse_duplicates(images["image_id"], "table images")
        if not aligned:
            refuse_duplicates(vectors.id_column, f"vectors of {vectors.model.name}")
        if rules.category != "any":
            _refuse_unknown_category(images)
        ids = listed if ascending else listed.take(pa.array(order))
        product = _part(_codes(images["product_id"]), order)
        category: Array = np.broadcast_to(np.int64(-1), len(ids))
        if rules.category != "any":
            category = _part(_codes(images["category"]), order)
        rows = order if aligned else vectors.rows_of(ids)
        number = np.full(len(ids), -1, dtype=np.int64)
        number[proposed] = np.arange(len(proposed))
        queries, candidates = (
            Side(_part(ids, part), *(_part(column, part) for column in (rows, product, category)))
            for part in (asked, proposed)
        )
        return cls(queries, candidates, number[asked], len(vectors))

    @cached_property
    def number_of_row(self) -> Array:
        """(rows,) int64: which candidate's vector is in the row; -1 if none."""
        numbers: Array = np.full(self.total_rows, -1, dtype=np.int64)
        numbers[self.candidates.rows] = np.arange(len(self.candidates))
        return numbers

    def allowed(self, query: Array, candidate: Array, rules: Rules) -> Array:
        """Which pairs of numbers, (n,) each, the rules let into a list; (n,) bool."""
        good: Array = candidate != self.own[query]
        if rules.exclude_product:
            good &= self.candidates.product[candidate] != self.queries.product[query]
        if rules.category != "any":
            same = self.candidates.category[candidate] == self.queries.category[query]
            good &= same if rules.category == "same" else ~same
        return good


def in_id_order(images: pd.DataFrame) -> tuple[Array, Array, Array, bool]:
    """Rows of table images in the order of their ids, (n,) int64, and whether they stand so, each id once.

    Between them, which places in that order queries and candidates have.
    """
    ascending = _ascending(to_text(images["image_id"]))
    order = np.arange(len(images)) if ascending else id_order(images["image_id"])
    asked, proposed = (np.flatnonzero(_other(images["role"], role)[order]) for role in ("candidate", "query"))
    return order, asked, proposed, ascending


def id_order(ids: "pd.Series[Any]") -> Array:
    """The positions that sort ids by Unicode code point (the order of their UTF-8 bytes); (n,) int64."""
    order: Array = pc.array_sort_indices(to_text(ids)).to_numpy().astype(np.int64)
    return order


def _part(column: Any, part: Array) -> Any:
    """What stands at these places, (n,) int64: of all of them, in their order, no copy is made."""
    if len(part) == len(column) and (np.diff(part) == 1).all():
        return column
    return column.take(pa.array(part)) if isinstance(column, pa.Array) else column[part]


def _codes(column: "pd.Series[Any]") -> Array:
    """A number for each text, equal for equal ones, -1 for none; (rows,) int64.

    Texts are sorted, which for millions of products is as quick as a dictionary of them and takes a tenth of its room.
    """
    listed = to_text(column)
    order = None if _ascending(listed, pc.less_equal) else pc.array_sort_indices(listed)
    ordered = listed if order is None else listed.take(order)
    fresh = pc.fill_null(pc.not_equal(ordered[1:], ordered[:-1]), False).to_numpy(zero_copy_only=False)
    codes: Array = np.zeros(len(listed), dtype=np.int64)
    np.cumsum(fresh, out=codes[1:])
    codes[len(listed) - listed.null_count :] = -1  # they are sorted to the end
    if order is None:
        return codes
    found = np.empty_like(codes)
    found[order.to_numpy()] = codes
    return found


def _ascending(ids: pa.Array, before: Callable[[pa.Array, pa.Array], pa.Array] = pc.less) -> bool:
    """Whether each id comes after the one before it, so that none occurs twice; or as `before` compares."""
    return ids.null_count == 0 and bool(pc.all(before(ids[:-1], ids[1:])).as_py() is not False)


def _other(column: "pd.Series[Any]", word: str) -> Array:
    """Where the column says something else; (rows,) bool."""
    other: Array = pc.fill_null(pc.not_equal(to_text(column), word), True).to_numpy(zero_copy_only=False)
    return other


def refuse_duplicates(ids: "pa.Array | pd.Series[Any]", where: str) -> None:
    """Raise InputError if an id occurs twice."""
    listed = to_text(ids)
    if pc.count_distinct(listed, mode="all").as_py() < len(listed):
        column = pd.Series(listed.to_pylist(), dtype=object)
        again = column[column.duplicated()].unique()
        raise InputError(f"{len(again):,} duplicate ids: {named(again)}", where=where, hint="Keep one row per image.")


def named(ids: Sequence[str] | Array) -> str:
    """The first few ids, for a message."""
    return ", ".join(map(str, ids[:SHOWN])) + (", …" if len(ids) > SHOWN else "")


def _refuse_unknown_category(images: pd.DataFrame) -> None:
    unknown = images.loc[images["category"].isna(), "image_id"].to_numpy(dtype=object)
    if len(unknown):
        raise InputError(
            f"{len(unknown):,} images have no category: {named(unknown)}",
            where="table images",
            hint="Fill the column, or mine with category any.",
        )
