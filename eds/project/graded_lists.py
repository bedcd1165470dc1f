"""Graded lists of models of numbers: what tie-aware measures on grades are computed from, as codes have histograms.

The first k places with all that ties there are mined; everything behind them is one group, which plays no part in a
value at k but in its ideal and its denominators.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from eds.pairs import encode

if TYPE_CHECKING:
    import pandas as pd

    from eds.hashing.histograms import Grading, Histograms
    from eds.project import Project
    from eds.vectors import Vectors


def graded_lists(
    project: "Project", name: str, vectors: "Vectors", images: "pd.DataFrame", gradings: "Mapping[str, Grading]", k: int
) -> "dict[str, Histograms]":
    """By source of grades: groups of equal scores among the first k places of each query, and one group of the rest."""
    from eds.hashing.histograms import Histograms
    from eds.neighbors import Rules, mine
    from eds.neighbors.code_search import level_gallery

    gallery, mined = level_gallery(vectors, images), {}
    result = {}
    for source, grading in gradings.items():
        totals = gallery.histograms(grading)
        if grading.exclude_product not in mined:
            rules = Rules(k, exclude_product=grading.exclude_product, one_per_product=False, keep_ties=True)
            with project.progress(f"ranking by {name}", "vectors") as progress:
                mined[grading.exclude_product] = mine(vectors, images, rules, progress=progress)
        lists = mined[grading.exclude_product].sort_values(["query_id", "rank", "candidate_id"])
        query = encode(lists["query_id"], totals.queries)
        lists, query = lists[query >= 0], query[query >= 0]
        score, level = lists["score"].to_numpy(), np.searchsorted(totals.levels, grading.grades(lists, images))
        new_query = np.diff(query, prepend=-1) != 0
        step = np.cumsum(new_query | (np.diff(score, prepend=np.nan) != 0))
        group = step - step[new_query][np.cumsum(new_query) - 1] if len(step) else step
        counts = np.zeros((len(totals.queries), int(group.max(initial=-1)) + 2, len(totals.levels)), np.int64)
        np.add.at(counts, (query, group, level), 1)
        counts[:, -1] = totals.counts.sum(axis=1) - counts.sum(axis=1)
        result[source] = Histograms(totals.queries, counts, totals.levels)
    return result
