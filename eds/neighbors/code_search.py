"""Exact lists over codes, where numba is installed: the candidates pass by in the order of their ids.

A distance is a whole number, so there is nothing to certify, and what stands behind k candidates at their distance
is behind them for good. The lists are those of the plain way (`exact.py`), which goes without numba and is used
for little work, where compiling would cost more than it saves.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.hashing import hamming
from eds.hashing.codes import MOST_BITS as CODE_BITS
from eds.hashing.codes import as_words
from eds.hashing.histograms import CodeGallery
from eds.neighbors.blocking import Blocking
from eds.neighbors.query_gallery import Array, QueryGallery, in_id_order
from eds.neighbors.rules import Rules
from eds.vectors import Vectors

TILE = 16  # queries that meet a block of codes while it is in cache
TILE_CELLS = 1 << 24  # numbers that a thread keeps of the products of its queries
SLAB = 1 << 20  # candidates whose codes are in memory at once
MOST_BITS = 65_000  # distances have 16 bits
LAST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Lists:
    """Finished lists."""

    keys: Array  # (queries, longest) int64, ascending; what is no entry is LAST
    k: int
    keep_ties: bool

    def settle(self) -> tuple[Array, Array, Array, Array]:
        """The lists: query, candidate, rank (int64) and exact score (float64), sorted by query and rank."""
        from eds.hashing.kernels import PLACE

        kept = self.keys != LAST
        if self.keep_ties and self.keys.shape[1] > self.k:
            kept &= self.keys >> PLACE <= self.keys[:, self.k - 1, None] >> PLACE
        else:
            kept[:, self.k :] = False
        query, rank = np.nonzero(kept)
        keys = self.keys[query, rank]
        return query, keys & ((1 << PLACE) - 1), rank, -(keys >> PLACE).astype(np.float64)


def compiled_search_pays(bits: int, words: int) -> bool:
    """Whether `CodeSearch` is possible, and faster than the search without numba."""
    return bits <= MOST_BITS and hamming.compiling_pays(words)


@dataclass(frozen=True)
class CodeSearch:
    """Lists of the queries first..last; `queries`, (last - first, words) uint64, are their codes."""

    vectors: Vectors
    sides: QueryGallery
    rules: Rules
    blocking: Blocking
    queries: Array
    first: int

    def search(self, advance: Callable[[int], None]) -> Lists:
        """Let all candidates pass by."""
        queries, (slot, products) = len(self.queries), self._slots()
        tile = max(1, min(TILE, TILE_CELLS // products, -(-queries // self.blocking.threads)))
        tiles = [slice(low, min(low + tile, queries)) for low in range(0, queries, tile)]
        room = 4 * self.rules.k + 64
        keys = [np.zeros((part.stop - part.start, room), np.int64) for part in tiles]
        sizes = np.zeros(queries, np.int64)
        spare: SimpleQueue[Array] = SimpleQueue()
        for _ in range(self.blocking.threads):
            spare.put(np.full((tile, products), np.iinfo(np.uint16).max, np.uint16))
        rows, passed = self.sides.candidates.rows, 0
        with ThreadPoolExecutor(self.blocking.threads) as pool:
            for start in range(0, len(rows), SLAB):
                part = rows[start : start + SLAB]
                codes = np.ascontiguousarray(as_words(self.vectors.take(part)).T)
                go = partial(self._pass, codes=codes, start=start, sizes=sizes, slot=slot, spare=spare)
                keys = list(pool.map(go, tiles, keys))
                passed += len(part)
                advance(len(part))
        advance(self.sides.total_rows - passed)
        longest = int(sizes.max(initial=0))
        found = np.full((queries, longest), LAST, np.int64)
        for one, mine in zip(tiles, keys, strict=True):
            there = np.arange(longest) < sizes[one, None]
            found[one][there] = mine[:, :longest][there[:, : mine.shape[1]]]
        found.sort(axis=1)
        return Lists(found, self.rules.k, self.rules.keep_ties)

    def _pass(
        self, tile: slice, keys: Array, codes: Array, start: int, sizes: Array, slot: Array, spare: "SimpleQueue[Array]"
    ) -> Array:
        """Let a slab pass by the queries of a tile."""
        from eds.hashing.kernels import BLOCK, scan

        asked, candidates, rules = self.sides.queries, self.sides.candidates, self.rules
        place = slice(tile.start + self.first, tile.stop + self.first)
        best = spare.get()
        found: Array = scan(
            codes,
            start,
            slot,
            candidates.product,
            candidates.category,
            self.queries[tile],
            self.sides.own[place],
            asked.product[place],
            asked.category[place],
            rules.k,
            rules.keep_ties,
            rules.exclude_product,
            rules.one_per_product,
            {"any": 0, "same": 1, "other": -1}[rules.category],
            best,
            keys,
            sizes[tile],
            np.empty(BLOCK, np.uint8 if self.vectors.model.dimension < 256 else np.uint16),
        )
        spare.put(best)
        return found

    def _slots(self) -> tuple[Array, int]:
        """Where each candidate's product is kept in mind, (candidates,) int64, and how many such places there are."""
        if not self.rules.one_per_product:
            return np.zeros(0, np.int64), 1
        slot, products = pd.factorize(self.sides.candidates.product)
        return np.asarray(slot, np.int64), max(1, len(products))


def code_gallery(vectors: Vectors, images: pd.DataFrame) -> CodeGallery:
    """The codes of a hash model for all queries and candidates of table images."""
    model = vectors.model
    if model.dtype != "bits" or model.dimension > CODE_BITS:
        kind = f"{model.dimension} bits" if model.dtype == "bits" else f"{model.dtype} vectors"
        raise InputError(
            f"{model.name} has {kind}", where="hash measures", hint=f"They take codes of 1 to {CODE_BITS} bits."
        )
    sides = QueryGallery.of(vectors, images, Rules(1))
    queries, items = (as_words(vectors.take(side.rows))[:, 0] for side in (sides.queries, sides.candidates))
    return _gallery(sides, images, model.dimension, queries, items)


def level_gallery(vectors: Vectors, images: pd.DataFrame) -> CodeGallery:
    """All queries and candidates of any model at one distance: its histograms count by grade alone."""
    sides = QueryGallery.of(vectors, images, Rules(1))
    queries, items = (np.zeros(len(side.rows), np.uint64) for side in (sides.queries, sides.candidates))
    return _gallery(sides, images, 1, queries, items)


def _gallery(sides: QueryGallery, images: pd.DataFrame, bits: int, queries: Array, items: Array) -> CodeGallery:
    order, asked, offered, _ = in_id_order(images)
    return CodeGallery(
        bits,
        queries,
        items,
        sides.queries.ids,
        sides.candidates.ids,
        sides.own,
        (sides.queries.product, sides.candidates.product),
        images,
        (order[asked], order[offered]),
    )
