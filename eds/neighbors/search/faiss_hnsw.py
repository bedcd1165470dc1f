"""Approximate: a graph."""

from typing import Any

from eds.neighbors.search._faiss import Index, faiss

EXTRA = "scale"
GRAPH_LINKS, GRAPH_BUILD = 32, 200


class Search(Index):
    """A graph of near neighbours."""

    def _empty(self, dimension: int, total: int) -> Any:
        index = faiss.IndexHNSWFlat(dimension, GRAPH_LINKS, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = GRAPH_BUILD
        return index

    def _effort(self, depth: int) -> Any:
        return faiss.SearchParametersHNSW(efSearch=max(16, int(max(256, 2 * depth) * self.effort)))
