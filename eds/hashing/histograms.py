"""Distance histograms of binary codes by relevance grade: all that tie-aware measures need, without a ranked list.

Every candidate counts, image by image (no list is cut, no product is reduced to its best image). The query itself
never counts; the other images of its product count unless they are excluded.

No pair is written down, however many agree: candidates are sorted by their values in a set of columns, so that those
that agree with a query form one run, and the run is counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import comb
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from eds.errors import InputError
from eds.hashing.collisions import Balls
from eds.hashing.hamming import distance_counts, distances_of
from eds.hashing.ties import TiedLists
from eds.pairs import Integers, encode
from eds.parallel.cores import thread_count

Array = np.ndarray[Any, np.dtype[Any]]
MOST_COLUMNS = 8  # every subset of them is counted
Column = tuple[Array, Array]  # the values of queries (q,) and candidates (n,) in a column, as int64; -1: missing


@dataclass(frozen=True, eq=False)
class Grading:
    """What makes a candidate relevant: decided pairs with a grade, or columns of table images that agree."""

    pairs: pd.DataFrame | None = None  # query_id, candidate_id, grade (0 or more); others have grade 0
    columns: Sequence[str] = ()  # the grade is how many of them agree; a missing value agrees with nothing
    exclude_product: bool = True  # leave out other images of the query's product
    first_decides: bool = False  # the first column that agrees decides: of m columns the first is worth m, the last 1

    def grades(self, pairs: pd.DataFrame, images: pd.DataFrame) -> Integers:
        """The grade of each pair (query_id, candidate_id) of images of the catalogue, (pairs,) int64."""
        if self.pairs is not None:
            known = self.pairs.set_index(["query_id", "candidate_id"])["grade"]
            asked = pd.MultiIndex.from_frame(pairs[["query_id", "candidate_id"]])
            return known.reindex(asked).fillna(0).to_numpy(np.int64)
        rows = [pd.Index(images["image_id"]).get_indexer(pairs[name]) for name in ("query_id", "candidate_id")]
        grade = np.zeros(len(pairs), np.int64)
        for number, name in enumerate(self.columns):
            codes = pd.factorize(images[name])[0]
            agrees = (codes[rows[0]] >= 0) & (codes[rows[0]] == codes[rows[1]])
            worth = len(self.columns) - number
            grade = np.where(agrees & (grade == 0), worth, grade) if self.first_decides else grade + agrees
        return grade


@dataclass(frozen=True, eq=False)
class Histograms:
    """How many candidates of each grade lie at each distance of each query."""

    queries: pa.Array  # (queries,) ids, ascending
    counts: Integers  # (queries, bits + 1, levels); of numbers: (queries, groups of equal scores, levels)
    levels: tuple[int, ...]
    balls: Balls | None = None  # where a measure asks for a radius, up to the largest one

    def lists(self, k: int | None) -> TiedLists:
        """As lists known up to ties, cut at k."""
        return TiedLists(self.counts, self.levels, k)


@dataclass(frozen=True, eq=False)
class Agreeing:
    """The candidates that agree in some columns with some of the queries that are asked."""

    columns: int  # how many
    most: int  # keys are below this
    known: Array  # (asked,) bool: the query has something in every column
    wanted: Array  # (asked,) int64: a key of what it has
    order: Array  # (candidates,) int64, ascending
    offered: Array  # (candidates,) int64: the key of what each of them has

    @classmethod
    def every(cls, asked: Array, items: Array) -> "Agreeing":
        """All candidates: no column yet."""
        few, many = (np.zeros(len(some), np.int64) for some in (asked, items))
        return cls(0, 1, np.ones(len(asked), bool), few, np.arange(len(items)), many)

    def also(self, column: Column, asked: Array) -> "Agreeing":
        """Those that agree in one more column."""
        value, items = column[0][asked], column[1]
        items = items if len(self.order) == len(items) else items[self.order]
        known = self.known & (value >= 0)
        size = int(max(value.max(initial=0), items.max(initial=0))) + 2  # 0 stands for nothing
        wanted, offered = self.wanted * size + value + 1, items + 1
        if self.columns:
            offered += self.offered * size
        keys = np.unique(wanted[known])
        place = _place_among(keys, offered, self.most * size)
        there = np.flatnonzero(place >= 0)  # usually few: most products are of no query
        return Agreeing(
            self.columns + 1, max(1, len(keys)), known, np.searchsorted(keys, wanted), self.order[there], place[there]
        )

    def runs(self) -> tuple[Array, Array, Array]:
        """The candidates in an order in which those that agree with an asked query are its start .. stop - 1."""
        turn = np.argsort(self.offered.astype(np.min_scalar_type(len(self.wanted))), kind="stable")
        order, offered = self.order[turn], self.offered[turn]
        start, stop = (np.searchsorted(offered, self.wanted, side=side) for side in ("left", "right"))
        return order, start, np.where(self.known, stop, start)


@dataclass(frozen=True, eq=False)
class CodeGallery:
    """The codes of the queries and of the candidates, ready to be counted."""

    bits: int
    queries: Array  # (q,) uint64
    items: Array  # (n,) uint64, the candidates
    query_ids: pa.Array
    item_ids: pa.Array
    own: Array  # (q,) int64: which candidate the query itself is, or -1
    product: Column
    images: pd.DataFrame  # the table whose columns are compared
    rows: tuple[Array, Array]  # (q,) and (n,) int64: rows of `images`
    _coded: dict[str, Column] = field(default_factory=dict)

    def histograms(self, grading: Grading, radius: int | None = None, *, threads: int | None = None) -> Histograms:
        """Count candidates by distance and grade; with a radius also the balls of `mLGAP`.

        By columns the result has all queries, by decided pairs the queries that have any.
        """
        width = thread_count(threads)
        if radius is not None and not 0 <= radius <= self.bits:
            raise InputError(f"the radius is {radius}", where="hash measures", hint=f"Give 0 to {self.bits}, the bits.")
        if grading.pairs is None:
            asked, levels = np.arange(len(self.queries)), tuple(range(len(grading.columns) + 1))
            counts = self._by_columns(grading, width)
        else:
            asked, counts, levels = self._by_pairs(grading.pairs, width, exclude_product=grading.exclude_product)
        balls = None
        if radius is not None:
            balls = self._balls(asked, counts, radius, exclude_product=grading.exclude_product)
        return Histograms(self.query_ids.take(pa.array(asked)), counts, levels, balls)

    def _by_pairs(
        self, pairs: pd.DataFrame, threads: int, *, exclude_product: bool
    ) -> tuple[Array, Array, tuple[int, ...]]:
        """Queries that decided pairs name, their histograms, and the grades that there are."""
        query, candidate = encode(pairs["query_id"], self.query_ids), encode(pairs["candidate_id"], self.item_ids)
        known = (query >= 0) & (candidate >= 0)
        query, candidate, grade = query[known], candidate[known], pairs["grade"].to_numpy(dtype=np.int64)[known]
        asked, levels = np.unique(query), np.unique(np.append(grade, 0))
        counts = np.zeros((len(asked), self.bits + 1, len(levels)), np.int64)
        counts[:, :, 0] = self._counts(Agreeing.every(asked, self.items), asked, threads)
        if exclude_product:
            counts[:, :, 0] -= self._counts(self._of_own_product(asked), asked, threads)
        else:
            self._leave_out_itself(asked, counts, np.zeros(len(asked), np.int64))
        good = candidate != self.own[query]
        if exclude_product:
            good &= self.product[1][candidate] != self.product[0][query]
        query, candidate, grade = query[good], candidate[good], grade[good]
        apart = distances_of(self.queries, query, self.items, candidate).astype(np.int64)
        place = np.searchsorted(asked, query)
        np.subtract.at(counts[:, :, 0], (place, apart), 1)
        np.add.at(counts, (place, apart, np.searchsorted(levels, grade)), 1)
        return asked, counts, tuple(levels.tolist())

    def _by_columns(self, grading: Grading, threads: int) -> Array:
        """Histograms of all queries; a candidate's grade is the number of columns that agree, or the first one's.

        Formula: exactly g of m columns agree in Σ_{j >= g} (-1)^(j - g) C(j, g) S_j candidates, where S_j sums
        over all sets of j columns how many agree in each column of the set. Where the first column decides, column i
        is the first that agrees in Σ (-1)^(|T| - 1) S_T candidates, over all sets T of columns that end with i.
        """
        columns = list(enumerate(self._columns(grading.columns)))
        asked, most = np.arange(len(self.queries)), len(columns)
        counts = np.zeros((len(asked), self.bits + 1, most + 1), np.int64)

        def add(result: Array, size: int, last: int) -> None:
            if grading.first_decides:
                counts[:, :, 0] += (-1) ** size * result
                if size:
                    counts[:, :, most - last] += (-1) ** (size - 1) * result
                return
            for grade in range(size + 1):
                counts[:, :, grade] += (-1) ** (size - grade) * comb(size, grade) * result

        def count(agreeing: Agreeing, size: int, last: int, left: Sequence[tuple[int, Column]]) -> None:
            """Add the sets of columns that begin with those that agree, which are `size` many and end with `last`."""
            result = self._counts(agreeing, asked, threads)
            if grading.exclude_product:
                result = result - self._counts(agreeing.also(self.product, asked), asked, threads)
            add(result, size, last)
            for place, (number, column) in enumerate(left):
                count(agreeing.also(column, asked), size + 1, number, left[place + 1 :])

        count(Agreeing.every(asked, self.items), 0, -1, columns)
        if not grading.exclude_product:
            known = np.stack([queries >= 0 for _, (queries, _) in columns])  # a query agrees with itself
            first = np.where(known.any(axis=0), most - known.argmax(axis=0), 0)
            self._leave_out_itself(asked, counts, first if grading.first_decides else known.sum(axis=0))
        return counts

    def _columns(self, names: Sequence[str]) -> list[Column]:
        lacking = [name for name in names if name not in self.images.columns]
        if lacking or not names:
            raise InputError(f"no column {', '.join(lacking) or 'is named'}", where="table images", hint="Name others.")
        if len(names) > MOST_COLUMNS:
            raise InputError(f"{len(names)} columns", where="hash measures", hint=f"Name at most {MOST_COLUMNS}.")
        return [self._column(name) for name in names]

    def _column(self, name: str) -> Column:
        if name == "product_id":
            return self.product
        if name not in self._coded:
            codes = pd.factorize(self.images[name])[0].astype(np.int64)
            self._coded[name] = codes[self.rows[0]], codes[self.rows[1]]
        return self._coded[name]

    def _of_own_product(self, asked: Array) -> Agreeing:
        return Agreeing.every(asked, self.items).also(self.product, asked)

    def _counts(self, agreeing: Agreeing, asked: Array, threads: int) -> Array:
        """How many candidates agree with the asked queries, by distance; (asked, bits + 1)."""
        if agreeing.columns == 0:
            return distance_counts(self.queries[asked], self.items, self.bits, threads)
        order, *spans = agreeing.runs()
        pairs = len(asked) * len(self.items)
        return distance_counts(
            self.queries[asked], self.items[order], self.bits, threads, (spans[0], spans[1]), part_of=pairs
        )

    def _leave_out_itself(self, asked: Array, counts: Array, level: Array) -> None:
        """Take each asked query, which is its own nearest candidate, out of its level, (asked,) int64."""
        there = np.flatnonzero(self.own[asked] >= 0)
        counts[there, 0, level[there]] -= 1

    def _balls(self, asked: Array, counts: Array, radius: int, *, exclude_product: bool) -> Balls:
        """What lies within 0 .. radius of each asked query."""
        found = np.zeros((3, len(asked), radius + 1), np.int64)
        found[0] = counts[:, : radius + 1].sum(axis=2).cumsum(axis=1)
        found[1] = counts[:, : radius + 1, 1:].sum(axis=2).cumsum(axis=1)
        distinct, bucket, size = np.unique(self.items, return_inverse=True, return_counts=True)
        order, start, stop = self._of_own_product(asked).runs()
        own = self.own[asked]
        for number, query in enumerate(self.queries[asked]):
            apart = np.bitwise_count(distinct ^ query)
            near = np.flatnonzero(apart <= radius)
            sizes = size[near]
            out = order[start[number] : stop[number]] if exclude_product else own[number : number + 1]
            mine = bucket[out[out >= 0]]
            gone = mine[np.isin(mine, near)]
            np.subtract.at(sizes, np.searchsorted(near, gone), 1)
            np.maximum.at(found[2, number], apart[near], sizes)
        return Balls(self.bits, found[0], found[1], np.maximum.accumulate(found[2], axis=1))


def _place_among(keys: Array, values: Array, most: int) -> Array:
    """Where each value, (n,) int64 from 0 to most - 1, stands among ascending keys; -1 where it is none of them."""
    if most <= 2 * len(values):
        table = np.full(most, -1, np.int64)
        table[keys] = np.arange(len(keys))
        return np.asarray(table[values])
    place = np.searchsorted(keys, values)
    padded = np.append(keys, -1)
    return np.where(padded[place] == values, place, -1)
