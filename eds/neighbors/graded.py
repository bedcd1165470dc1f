"""Distance histograms of a hash model by relevance grade: all that tie-aware measures need, without a list.

Every candidate counts, one by one (no list is cut, no product is reduced to its best image). The query itself never
counts; its product's other images do unless they are left out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.identifiers import encode, text
from eds.neighbors.canonical import as_words
from eds.neighbors.hamming import BLOCK, MOST_BITS, distance_counts, distances_of
from eds.neighbors.pace import Pace
from eds.neighbors.rules import Rules
from eds.neighbors.sides import Array, Sides
from eds.vectors import Vectors

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Grading:
    """What makes a candidate relevant: decided pairs with a grade, or columns of table images that agree."""

    pairs: pd.DataFrame | None = None  # query_id, candidate_id, grade (0 or more); others have grade 0
    columns: Sequence[str] = ()  # the grade is how many of them agree; a missing value agrees with nothing
    exclude_product: bool = True  # leave out other images of the query's product


@dataclass(frozen=True, eq=False)
class Graded:
    """A model's histograms."""

    query_ids: Array  # (queries,) of str, ascending
    counts: Array  # (queries, bits + 1, levels) int64
    levels: tuple[int, ...]
    balls: Array | None = None  # (3, queries, radius + 1): items, relevant ones, most items on one code


class Codes:
    """A hash model's codes on both sides, ready to be counted."""

    def __init__(self, vectors: Vectors, images: pd.DataFrame) -> None:
        model = vectors.model
        if model.dtype != "bits" or model.dimension > MOST_BITS:
            told = f"{model.dimension} bits" if model.dtype == "bits" else f"{model.dtype} vectors"
            raise InputError(
                f"{model.name} has {told}", where="hash measures", do=f"They take codes of 1 to {MOST_BITS} bits."
            )
        self.bits, self.images = model.dimension, images
        self.sides = Sides.of(vectors, images, Rules(1))
        self.queries, self.items = (
            as_words(vectors.take(side.rows))[:, 0] for side in (self.sides.queries, self.sides.candidates)
        )

    def graded(self, grading: Grading, radius: int | None = None, *, threads: int | None = None) -> Graded:
        """Histograms by grade; with a radius the balls of `mLGAP` too. Decided pairs: of queries that have any."""
        width = Pace.of(BLOCK, threads).threads
        if radius is not None and not 0 <= radius <= self.bits:
            raise InputError(f"the radius is {radius}", where="hash measures", do=f"Give 0 to {self.bits}, the bits.")
        query, candidate, grade = self._pairs(grading)
        asked = np.unique(query) if grading.pairs is not None else np.arange(len(self.queries))
        place = np.searchsorted(asked, query)
        left, right = self._left_out(asked, exclude_product=grading.exclude_product)
        levels = tuple(range(len(grading.columns) + 1)) if grading.pairs is None else self._levels(grade)
        counts = np.zeros((len(asked), self.bits + 1, len(levels)), np.int64)
        counts[:, :, 0] = distance_counts(self.queries[asked], self.items, self.bits, width)
        _move(counts, left, self._apart(asked, left, right), 0, None)
        kept = ~np.isin(place * len(self.items) + candidate, left * len(self.items) + right)
        place, candidate, grade = place[kept], candidate[kept], grade[kept]
        _move(counts, place, self._apart(asked, place, candidate), 0, np.searchsorted(levels, grade))
        balls = None
        if radius is not None:
            balls = self._balls(asked, counts, radius, left, right)
        return Graded(self.sides.queries.ids[asked], counts, levels, balls)

    def _apart(self, asked: Array, place: Array, candidate: Array) -> Array:
        return distances_of(self.queries[asked], place, self.items, candidate).astype(np.int64)

    @staticmethod
    def _levels(grade: Array) -> tuple[int, ...]:
        return tuple(sorted({0, *np.unique(grade).tolist()}))

    def _pairs(self, grading: Grading) -> tuple[Array, Array, Array]:
        """Pairs with a grade as (query number, candidate number, grade), each once."""
        if grading.pairs is None:
            return self._agreeing(grading.columns)
        ids = text(self.sides.queries.ids), text(self.sides.candidates.ids)
        query, candidate = (
            encode(grading.pairs[name], known) for name, known in zip(("query_id", "candidate_id"), ids, strict=True)
        )
        known = (query >= 0) & (candidate >= 0)
        grade = grading.pairs["grade"].to_numpy(dtype=np.int64)
        return query[known], candidate[known], grade[known]

    def _agreeing(self, columns: Sequence[str]) -> tuple[Array, Array, Array]:
        """Every pair that agrees in a column, with the number of columns it agrees in."""
        lacking = [name for name in columns if name not in self.images.columns]
        if lacking or not columns:
            raise InputError(f"no column {', '.join(lacking) or 'is named'}", where="table images", do="Name others.")
        rows = self.images.set_index("image_id")
        keys = []
        for name in columns:
            codes, known = pd.factorize(rows[name])
            of = pd.Series(codes, index=rows.index)
            asked, offered = (of.loc[side.ids].to_numpy() for side in (self.sides.queries, self.sides.candidates))
            order = np.argsort(offered, kind="stable")
            ends = np.searchsorted(offered[order], np.arange(len(known) + 1))
            size = np.where(asked >= 0, ends[np.maximum(asked, 0) + 1] - ends[np.maximum(asked, 0)], 0)
            first = np.repeat(ends[np.maximum(asked, 0)] - (np.cumsum(size) - size), size)
            candidate = order[np.arange(size.sum()) + first]
            keys.append(np.repeat(np.arange(len(asked)), size) * len(offered) + candidate)
        pair, grade = np.unique(np.concatenate(keys), return_counts=True)
        query, candidate = np.divmod(pair, max(len(self.items), 1))
        return query, candidate, grade.astype(np.int64)

    def _left_out(self, asked: Array, *, exclude_product: bool) -> tuple[Array, Array]:
        """Pairs (place among the asked, candidate number) that never count: the query itself, and its product."""
        own = self.sides.own[asked]
        if not exclude_product:
            there = np.flatnonzero(own >= 0)
            return there, own[there]
        product = self.sides.candidates.product
        order = np.argsort(product, kind="stable")
        wanted = self.sides.queries.product[asked]
        low, high = (np.searchsorted(product[order], wanted, side=side) for side in ("left", "right"))
        size = high - low
        first = np.repeat(low - (np.cumsum(size) - size), size)
        return np.repeat(np.arange(len(asked)), size), order[np.arange(size.sum()) + first]

    def _balls(self, asked: Array, counts: Array, radius: int, left: Array, right: Array) -> Array:
        """What lies within 0 .. radius of each asked query."""
        found = np.zeros((3, len(asked), radius + 1), np.int64)
        found[0] = counts[:, : radius + 1].sum(axis=2).cumsum(axis=1)
        found[1] = counts[:, : radius + 1, 1:].sum(axis=2).cumsum(axis=1)
        distinct, bucket, size = np.unique(self.items, return_inverse=True, return_counts=True)
        starts = np.searchsorted(left, np.arange(len(asked) + 1))
        for number, query in enumerate(self.queries[asked]):
            apart = np.bitwise_count(distinct ^ query)
            near = np.flatnonzero(apart <= radius)
            sizes = size[near]
            mine = bucket[right[starts[number] : starts[number + 1]]]
            gone = mine[np.isin(mine, near)]
            np.subtract.at(sizes, np.searchsorted(near, gone), 1)
            np.maximum.at(found[2, number], apart[near], sizes)
        found[2] = np.maximum.accumulate(found[2], axis=1)
        return found


def _move(counts: Array, query: Array, apart: Array, level: int, to: Array | None) -> None:
    """Take pairs out of a level of the histograms, and into another one where there is one."""
    np.subtract.at(counts, (query, apart, np.full_like(query, level)), 1)
    if to is not None:
        np.add.at(counts, (query, apart, to), 1)
