"""Approximate: clusters."""

from eds.neighbors.search._faiss import Ivf

EXTRA = "scale"


class Search(Ivf):
    """Clusters of whole vectors."""
