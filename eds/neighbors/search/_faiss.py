"""What the search engines by faiss share: indexes over all candidates that propose some of them.

What an index proposes is scored again from the stored vectors. What it does not propose is lost, which is why its
recall is measured (`eds.neighbors.mine`). It is trained on a sample, and the vectors are added slab by slab from the
memory map.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import faiss as _faiss
import numpy as np

from eds.errors import InputError
from eds.neighbors.blocking import Blocking
from eds.neighbors.query_gallery import Array, QueryGallery
from eds.neighbors.rules import Rules
from eds.neighbors.shortlist import Shortlist
from eds.neighbors.similarity import Bits, Similarity
from eds.vectors import Vectors

faiss: Any = _faiss  # its type hints lack half of what it has
Advance = Callable[[int], None]  # gets how many vectors have been processed since the last call
SLAB_CELLS = 1 << 24  # numbers of the vectors searched, or added, at once
FIRST_DEPTH = 32  # asked beyond 4 k at first
DEEPER = 4  # how many times deeper at each further try
MOST_TRAINED = 64  # vectors per cluster that clusters are trained on
ROUNDS = 10  # of that training


class Index(ABC):
    """An approximate index over all candidates, in memory."""

    approximate = True
    depth_of_k, first_depth = 4, FIRST_DEPTH  # candidates proposed and scored again: depth_of_k * k + first_depth

    def __init__(
        self,
        vectors: Vectors,
        sides: QueryGallery,
        rules: Rules,
        similarity: Similarity,
        blocking: Blocking,
        effort: float = 1.0,
    ) -> None:
        if isinstance(similarity, Bits):
            raise InputError("an index over bits is not offered", hint="Use engine exact or faiss: bits are quick.")
        self.vectors, self.sides, self.rules, self.similarity, self.effort = vectors, sides, rules, similarity, effort
        self.rows = np.sort(sides.candidates.rows)  # of the vectors in the order of the index
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
        depth, total = self._first_depth, len(self.rows)
        while len(pending) and total:
            depth = min(depth, total)
            asked = self._as_indexed(self.similarity.queries[pending])
            _, place = self.index.search(asked, depth, params=self._effort(depth))
            key = pending[:, None] * total + place
            row, column = np.nonzero((place >= 0) & ~np.isin(key, known))
            self._offer(shortlist, pending[row], self.rows[place[row, column]])
            known = np.union1d(known, key)
            pending = pending[np.isneginf(shortlist.kth[pending])] if depth < total else pending[:0]
            depth *= DEEPER
        advance(self.sides.total_rows)
        return shortlist

    def _offer(self, shortlist: Shortlist, query: Array, rows: Array) -> None:
        """Offer what was proposed, (n,) query numbers and rows, by its score from the stored vectors."""
        score = self.similarity.as_block(query, self.similarity.exact(query, rows)).astype(np.float32)
        shortlist.offer(query, self.sides.number_of_row[rows], score)
        shortlist.tighten()

    @property
    def _first_depth(self) -> int:
        return self.depth_of_k * self.rules.k + self.first_depth

    def _build(self) -> Any:
        dimension = self.vectors.model.dimension
        index = self._empty(dimension, len(self.rows))
        step = max(1, SLAB_CELLS // dimension)
        for start in range(0, len(self.rows), step):
            index.add(self._loaded(slice(start, start + step)))
        self.similarity.refuse_bad()
        return index

    def _loaded(self, part: slice) -> Array:
        rows = self.rows[part]
        return self._as_indexed(self.similarity.load(self.vectors.take(rows), rows))

    def _as_indexed(self, vectors: Array) -> Array:
        """Vectors, (n, d) float32, as the index takes them."""
        return np.ascontiguousarray(vectors)

    @abstractmethod
    def _empty(self, dimension: int, total: int) -> Any:
        """A trained index without vectors."""

    @abstractmethod
    def _effort(self, depth: int) -> Any:
        """How hard to search for lists of this depth."""


class Ivf(Index):
    """Clusters: a query looks into the nearest sixteenth of them, times the effort; more when asked deeper."""

    def _empty(self, dimension: int, total: int) -> Any:
        self.clusters = max(1, min(int(total**0.5), total // 40))
        sample = self._loaded(slice(None, None, max(1, total // (self.clusters * MOST_TRAINED))))
        self.quantizer = faiss.IndexFlatIP(sample.shape[1])
        index = self._clustered(sample.shape[1])
        index.cp.min_points_per_centroid = 1  # with few images the recall decides
        index.cp.niter = ROUNDS
        index.train(sample)
        return index

    def _clustered(self, dimension: int) -> Any:
        """What the clusters hold."""
        return faiss.IndexIVFFlat(self.quantizer, dimension, self.clusters, faiss.METRIC_INNER_PRODUCT)

    def _effort(self, depth: int) -> Any:
        least = max(1, int(16 * self.effort))
        share = depth / self._first_depth / 16 * self.effort
        return faiss.SearchParametersIVF(nprobe=min(self.clusters, max(least, int(self.clusters * share))))
