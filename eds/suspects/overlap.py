"""How far the models propose the same pairs, and what going deeper yields.

Every function takes the models' lists as a frame model, query_id, candidate_id, rank: the neighbors,
or eds.suspects.sources_frame(suspects), or lists_frame(...). Keys are those of the specification.
"""

from typing import Any

import numpy as np
import pandas as pd

from eds.suspects.codes import whole
from eds.suspects.lists import read_lists


def overlap(lists: pd.DataFrame, k: int | None = None, n_queries: int | None = None) -> dict[str, Any]:
    """The model-overlap matrix and its relatives, over the lists cut at depth k.

    Formula: overlap[a][b] = sum over q of |L_a(q) and L_b(q)| / sum over q of min(|L_a(q)|, |L_b(q)|);
    jaccard_pooled = |S_a and S_b| / |S_a or S_b|; jaccard_query_mean = mean over q of the lists' Jaccard;
    mean_pairwise_overlap = mean of the strict upper triangle; duplication_rate = 1 - unique / raw.
    Source: specification 1.5.
    Conventions: the diagonal is 1 and never averaged; a zero denominator is NaN; a query for which neither
    model has a list does not count in their mean. proposed_by_exactly[j-1] = pairs that exactly j models propose.
    mean_candidates_per_query = unique / |Q|, `n_queries` where some of them have no list (default: those that have).
    Example, run by doctest:
    >>> from eds.suspects import lists_frame
    >>> overlap(lists_frame({"a": {"q": ["x", "y"]}, "b": {"q": ["y", "z"]}}))["overlap"]
    [[1.0, 0.5], [0.5, 1.0]]
    """
    result = read_lists(lists, k, rankings=False)
    keys, pair = np.unique(result.keys, return_inverse=True)
    models, queries = len(result.models), len(result.queries)
    proposes = np.zeros((models, len(keys)), np.bool_)
    proposes[result.model, pair] = True
    query, sizes = keys // max(len(result.candidates), 1), result.sizes()
    share, pooled, by_query = (np.eye(models) for _ in range(3))
    for a in range(models):
        for b in range(a):
            both = np.bincount(query[proposes[a] & proposes[b]], minlength=queries)
            either = sizes[:, a] + sizes[:, b] - both
            share[a, b] = share[b, a] = _ratio(both.sum(), np.minimum(sizes[:, a], sizes[:, b]).sum())
            pooled[a, b] = pooled[b, a] = _ratio(both.sum(), either.sum())
            some = either > 0
            by_query[a, b] = by_query[b, a] = _ratio((both[some] / either[some]).sum(), some.sum())
    times = proposes.sum(axis=0)
    alone = proposes[:, times == 1].sum(axis=1)
    upper = share[np.triu_indices(models, 1)]
    return {
        "models": result.models,
        "overlap": share.tolist(),
        "jaccard_pooled": pooled.tolist(),
        "jaccard_query_mean": by_query.tolist(),
        "mean_pairwise_overlap": _ratio(upper.sum(), len(upper)),
        "raw": len(result.rank),
        "unique": len(keys),
        "duplication_rate": 1 - _ratio(len(keys), len(result.rank)),
        "mean_candidates_per_query": _ratio(len(keys), queries if n_queries is None else n_queries),
        "proposed_by_exactly": np.bincount(times, minlength=models + 1)[1:].tolist(),
        "unique_by_model": dict(zip(result.models, alone.tolist(), strict=True)),
    }


def pool_growth(lists: pd.DataFrame, k_max: int) -> dict[str, list[int]]:
    """Size of the pool when all lists are cut at k = 1..k_max, and the new pairs of each step.

    Formula: size[k-1] = |{(q, c): min over models of R_m(q, c) < k}|; marginal = its differences.
    Source: specification 1.6.
    Conventions: ranks count from 0; (q, c) and (c, q) are two pairs.
    Example, run by doctest:
    >>> from eds.suspects import lists_frame
    >>> pool_growth(lists_frame({"a": {"q": ["x", "y"]}, "b": {"q": ["x", "z"]}}), 2)
    {'size': [1, 3], 'marginal': [1, 2]}
    """
    result = read_lists(lists, whole(k_max, "k_max", 1), rankings=False)
    order = np.lexsort((result.rank, result.keys))
    keys = result.keys[order]
    marginal = np.bincount(result.rank[order][np.diff(keys, prepend=-1) > 0], minlength=k_max)
    return {"size": np.cumsum(marginal).tolist(), "marginal": marginal.tolist()}


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else float("nan")
