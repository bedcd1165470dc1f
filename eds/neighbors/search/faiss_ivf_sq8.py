"""Approximate: clusters, in 8 bits."""

from typing import Any

from eds.neighbors.search._faiss import Ivf, faiss

EXTRA = "scale"


class Search(Ivf):
    """Clusters of vectors whose numbers are rounded to 8 bits: a quarter of the memory."""

    def _clustered(self, dimension: int) -> Any:
        kind = faiss.ScalarQuantizer.QT_8bit
        return faiss.IndexIVFScalarQuantizer(self.quantizer, dimension, self.clusters, kind, faiss.METRIC_INNER_PRODUCT)
