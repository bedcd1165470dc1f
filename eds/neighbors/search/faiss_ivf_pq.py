"""Approximate: clusters, in 64 bytes."""

from typing import Any

import numpy as np

from eds.errors import InputError
from eds.neighbors.query_gallery import Array
from eds.neighbors.search._faiss import ROUNDS, Ivf, faiss

EXTRA = "scale"
PIECES, PIECE_BITS = 64, 8  # a vector shortened by products: so many pieces of so many bits


class Search(Ivf):
    """Clusters of vectors shortened to 64 bytes; many more are proposed, since these tell little apart."""

    depth_of_k, first_depth = 48, 212

    @property
    def _first_depth(self) -> int:
        return int(super()._first_depth * max(1.0, self.effort))  # what clusters find, short codes may misplace

    def _empty(self, dimension: int, total: int) -> Any:
        if total < 1 << PIECE_BITS:
            raise InputError(
                f"ivf-pq cannot learn from {total:,} candidates",
                where="index",
                hint=f"It needs {1 << PIECE_BITS}. Use --search exact, which is quick for so few.",
            )
        return super()._empty(dimension, total)

    def _clustered(self, dimension: int) -> Any:
        pieces = min(PIECES, self.vectors.model.dimension)
        index = faiss.IndexIVFPQ(
            self.quantizer, dimension, self.clusters, pieces, PIECE_BITS, faiss.METRIC_INNER_PRODUCT
        )
        index.pq.cp.min_points_per_centroid = 1
        index.pq.cp.niter = ROUNDS
        return index

    def _as_indexed(self, vectors: Array) -> Array:
        """Filled up with zeros, which change no product, until the pieces are of one length."""
        pieces = min(PIECES, vectors.shape[1])
        return np.pad(vectors, ((0, 0), (0, -vectors.shape[1] % pieces)))
