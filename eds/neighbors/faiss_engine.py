"""The faiss engines: exact (flat) and approximate (clusters, a graph).

faiss only proposes; the rules, the exact scores and the order are those of every engine (Shortlist). A
flat search is certified: a query whose list could be cut short is asked deeper. An index is not, which
is why its recall is measured (eds.neighbors.mine).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import faiss as _faiss
import numpy as np

from eds.errors import InputError
from eds.neighbors.exact import Advance
from eds.neighbors.pace import Pace
from eds.neighbors.rules import Rules
from eds.neighbors.shortlist import Shortlist
from eds.neighbors.sides import Array, Sides
from eds.neighbors.similarity import Bits, Similarity
from eds.vectors import Vectors

faiss: Any = _faiss  # its type hints lack half of what it has
SLAB_CELLS = 1 << 24  # numbers of the vectors searched, or added, at once
FIRST_DEPTH = 32  # asked beyond 4 k at first
DEEPER = 4  # how many times deeper at each further try
GRAPH_LINKS, GRAPH_BUILD = 32, 200
MOST_TRAINED = 64  # vectors per cluster that clusters are trained on


@dataclass(frozen=True)
class Flat:
    """Every candidate, by faiss."""

    vectors: Vectors
    sides: Sides
    rules: Rules
    similarity: Similarity
    pace: Pace
    approximate = False

    def search(self, first: int, last: int, advance: Advance) -> Shortlist:
        """The candidates of the queries first..last that may stand in their lists."""
        self.similarity.ask(self.sides.queries.rows[first:last])
        shortlist = Shortlist(self.sides, first, last, self.rules, self.similarity)
        for candidate, stored, passed in self._slabs():
            columns = self.similarity.load(stored, self.sides.candidates.rows[candidate])
            self._search_slab(shortlist, candidate, columns)
            advance(passed)
        self.similarity.refuse_bad()
        return shortlist

    def _slabs(self) -> Iterator[tuple[Array, Array, int]]:
        """Candidates in large portions: (numbers, stored vectors, rows of the folder passed)."""
        rows = np.sort(self.sides.candidates.rows)
        step = max(1, SLAB_CELLS // self.vectors.model.dimension)
        ends = [*rows[step::step].tolist(), self.sides.total_rows]
        for low, (start, stop) in zip(range(0, len(rows), step), zip([0, *ends], ends, strict=False), strict=False):
            part = rows[low : low + step]
            yield self.sides.number_of_row[part], self.vectors.take(part), stop - start

    def _search_slab(self, shortlist: Shortlist, candidate: Array, columns: Array) -> None:
        """Offer what of a slab may enter; queries that faiss may have cut short are asked deeper."""
        pending = np.arange(len(shortlist.kth))
        known = np.empty(0, dtype=np.int64)
        depth = 4 * self.rules.k + FIRST_DEPTH
        while len(pending) and len(candidate):
            depth = min(depth, len(candidate))
            score, place = self._ask(pending, columns, depth)
            key = pending[:, None] * len(candidate) + place
            fresh = (score >= shortlist.floor()[pending, None]) & ~np.isin(key, known)
            row, column = np.nonzero(fresh)
            shortlist.offer(pending[row], candidate[place[row, column]], score[row, column])
            shortlist.tighten()
            known = np.union1d(known, key)
            cut_short = (score[:, -1] >= shortlist.floor()[pending]) & (depth < len(candidate))
            pending = pending[cut_short]
            depth *= DEEPER

    def _ask(self, query: Array, columns: Array, depth: int) -> tuple[Array, Array]:
        """The `depth` nearest columns of each query: block scores and places, (queries, depth), best first."""
        if isinstance(self.similarity, Bits):
            codes = np.ascontiguousarray(columns.T).view(np.uint8)
            index = faiss.IndexBinaryFlat(codes.shape[1] * 8)
            index.add(codes)
            distance, place = index.search(self.similarity.queries[query].view(np.uint8), depth)
            return -distance.astype(np.float32), place
        found: tuple[Array, Array] = faiss.knn(
            self.similarity.queries[query], np.ascontiguousarray(columns), depth, metric=faiss.METRIC_INNER_PRODUCT
        )
        return found


class _Index(ABC):
    """An approximate index over all candidates, in memory."""

    approximate = True

    def __init__(
        self, vectors: Vectors, sides: Sides, rules: Rules, similarity: Similarity, pace: Pace, effort: float = 1.0
    ) -> None:
        if isinstance(similarity, Bits):
            raise InputError("an index over bits is not offered", do="Use engine exact or faiss: bits are quick.")
        self.vectors, self.sides, self.rules, self.similarity, self.effort = vectors, sides, rules, similarity, effort
        self.index: Any = None

    def search(self, first: int, last: int, advance: Advance) -> Shortlist:
        """The candidates that the index proposes for the queries first..last."""
        if self.index is None:
            self.index = self._build()
        self.similarity.ask(self.sides.queries.rows[first:last])
        self.similarity.refuse_bad()
        shortlist = Shortlist(self.sides, first, last, self.rules, self.similarity)
        pending = np.arange(last - first)
        known = np.empty(0, dtype=np.int64)
        depth, total = 4 * self.rules.k + FIRST_DEPTH, len(self.sides.candidates)
        while len(pending) and total:
            depth = min(depth, total)
            score, number = self.index.search(self.similarity.queries[pending], depth, params=self._effort(depth))
            key = pending[:, None] * total + number
            row, column = np.nonzero((number >= 0) & ~np.isin(key, known))
            shortlist.offer(pending[row], number[row, column], score[row, column])
            shortlist.tighten()
            known = np.union1d(known, key)
            pending = pending[np.isneginf(shortlist.kth[pending])] if depth < total else pending[:0]
            depth *= DEEPER
        advance(self.sides.total_rows)
        return shortlist

    def _build(self) -> Any:
        dimension = self.vectors.model.dimension
        index = self._empty(dimension, len(self.sides.candidates))
        step = max(1, SLAB_CELLS // dimension)
        for start in range(0, len(self.sides.candidates), step):
            index.add(np.ascontiguousarray(self._loaded(slice(start, start + step))))
        self.similarity.refuse_bad()
        return index

    def _loaded(self, part: slice) -> Array:
        rows = self.sides.candidates.rows[part]
        return self.similarity.load(self.vectors.take(rows), rows)

    @abstractmethod
    def _empty(self, dimension: int, total: int) -> Any:
        """A trained index without vectors."""

    @abstractmethod
    def _effort(self, depth: int) -> Any:
        """How hard to search for lists of this depth."""


class Ivf(_Index):
    """Clusters: a query looks into the nearest sixteenth of them, times the effort; more when asked deeper."""

    def _empty(self, dimension: int, total: int) -> Any:
        self.clusters = max(1, min(int(4 * total**0.5), total // 40))
        self.quantizer = faiss.IndexFlatIP(dimension)
        index = faiss.IndexIVFFlat(self.quantizer, dimension, self.clusters, faiss.METRIC_INNER_PRODUCT)
        stride = max(1, total // (self.clusters * MOST_TRAINED))
        index.cp.min_points_per_centroid = 1  # few images: told nothing, the recall tells
        index.train(np.ascontiguousarray(self._loaded(slice(None, None, stride))))
        return index

    def _effort(self, depth: int) -> Any:
        least = max(1, int(16 * self.effort))
        share = depth / (4 * self.rules.k + FIRST_DEPTH) / 16 * self.effort
        return faiss.SearchParametersIVF(nprobe=min(self.clusters, max(least, int(self.clusters * share))))


class Hnsw(_Index):
    """A graph of near neighbours."""

    def _empty(self, dimension: int, total: int) -> Any:
        index = faiss.IndexHNSWFlat(dimension, GRAPH_LINKS, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = GRAPH_BUILD
        return index

    def _effort(self, depth: int) -> Any:
        return faiss.SearchParametersHNSW(efSearch=max(16, int(max(256, 2 * depth) * self.effort)))
