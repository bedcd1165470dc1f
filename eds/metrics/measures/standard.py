"""Standard measures on ranked lists: hit rate, reciprocal rank, precision, recall, average precision, nDCG.

The formulas work on all queries at once; each gives (queries,) float64. An item without a label counts as not
similar. A query without positives gets NaN: it is skipped and counted.
"""

import numpy as np

from eds.metrics.definition import Parameter
from eds.metrics.judged_lists import JudgedLists
from eds.metrics.measures._lists import (
    POSITIVE,
    defined,
    divide,
    hits,
    list_measure,
    precision_at_most,
    reciprocal_rank_at_most,
    success_at_most,
)
from eds.pairs import Reals


def success(lists: JudgedLists, k: int) -> Reals:
    """Whether a positive is among the first k.

    Formula: 1 if hits > 0, else 0.
    Source: specification 4.2, `hit_rate@k`: the standard hit rate.
    Conventions: as `precision`.
    Example, run by doctest:
    >>> from eds.metrics.examples import lists
    >>> success(lists("-+"), 1).tolist()
    [0.0]
    """
    return defined(lists, (hits(lists, k) > 0).astype(np.float64))


SUCCESS = list_measure(
    "Success",
    success,
    meaning="standard hit rate",
    formula="1 if a positive is among the first k, else 0",
    conventions=POSITIVE,
    most=success_at_most,
)


def reciprocal_rank(lists: JudgedLists, k: int) -> Reals:
    """1 over the place of the first positive.

    Formula: 1 / min place of a positive, 0 if that is beyond k.
    Source: specification 4.2, `mrr@k`: the standard one.
    Conventions: as `precision`.
    Example, run by doctest:
    >>> from eds.metrics.examples import lists
    >>> reciprocal_rank(lists("-+"), 2).tolist()
    [0.5]
    """
    result = (lists.label == 1) & (lists.place <= k)
    query, row = np.unique(lists.query[result], return_index=True)
    value = np.zeros(lists.n_queries)
    value[query] = 1 / lists.place[result][row]
    return defined(lists, value)


RR = list_measure(
    "RR",
    reciprocal_rank,
    meaning="standard reciprocal rank",
    formula="1 / place of the first positive, 0 beyond k",
    conventions=POSITIVE,
    most=reciprocal_rank_at_most,
)


def precision(lists: JudgedLists, k: int) -> Reals:
    """Share of positives among k places.

    Formula: hits / k. Its mean over queries with a positive is the public evaluator's HR@k.
    Source: specification 4.2, `hr_official@k`.
    Conventions: division by k even if the list is shorter; unlabelled counts as not similar; no positive: NaN.
    Example, run by doctest:
    >>> from eds.metrics.examples import lists
    >>> precision(lists("+-?+"), 4).tolist()
    [0.5]
    """
    return defined(lists, hits(lists, k) / k)


PRECISION = list_measure(
    "P",
    precision,
    meaning="share of positives among the first k",
    formula="positives among the first k / k",
    conventions=f"{POSITIVE}; division by k even if the list is shorter",
    most=precision_at_most,
)


def recall(lists: JudgedLists, k: int) -> Reals:
    """Share of the query's positives that are among the first k.

    Formula: hits / number of positives of the query.
    Source: specification 4.2, `recall@k`; its mean weighted by the positives is `pair_recall@k`.
    Conventions: positives that no list holds count; no positive: NaN.
    Example, run by doctest:
    >>> from eds.metrics.examples import lists
    >>> recall(lists("-++"), 2).tolist()
    [0.5]
    """
    return divide(hits(lists, k), lists.positives)


RECALL = list_measure(
    "Recall",
    recall,
    meaning="share of the query's positives that are among the first k",
    formula="positives among the first k / positives of the query",
    conventions=POSITIVE,
)


def average_precision(lists: JudgedLists, k: int, divide_by: str) -> Reals:
    """Precision averaged over the places of the positives.

    Formula: sum over positives among the first k of precision at their place, over a denominator:
    `relevant` all positives of the query, `hits` those among the first k, `capped` min(positives, k).
    Source: specification 7, `ap_at_p` (total, retrieved, capped); trec_eval's map_cut is `relevant`.
    Conventions: without any hit 0; unlabelled counts as not similar; no positive: NaN.
    Example, run by doctest:
    >>> from eds.metrics.examples import lists
    >>> [average_precision(lists("+-++"), 3, name).round(6).tolist() for name in ("hits", "relevant")]
    [[0.833333], [0.555556]]
    """
    result = (lists.label == 1) & (lists.place <= k)
    total = lists.per_query(result, lists.running(lists.label == 1) / lists.place)
    below = {"relevant": lists.positives, "hits": hits(lists, k), "capped": np.minimum(lists.positives, k)}[divide_by]
    return defined(lists, total / np.maximum(below, 1))


AP = list_measure(
    "AP",
    average_precision,
    meaning="average precision",
    formula="sum over positives among the first k of precision at their place, divided as divide_by says",
    conventions=f"{POSITIVE}; divide_by: relevant = all positives, hits = those among the first k, "
    "capped = min(positives, k); no hit: 0",
    parameters={"divide_by": Parameter("relevant", ("relevant", "hits", "capped"))},
)


def ndcg(lists: JudgedLists, k: int) -> Reals:
    """Discounted gain over its ideal.

    Formula: sum over positives among the first k of 1/log2(place + 1), over the same for a list that begins
    with all positives.
    Source: specification 7, `ndcg_at_p`, for labels 0 and 1.
    Conventions: as `precision`.
    Example, run by doctest:
    >>> from eds.metrics.examples import lists
    >>> ndcg(lists("-+"), 2).round(6).tolist()
    [0.63093]
    """
    gain = lists.per_query((lists.label == 1) & (lists.place <= k), 1 / np.log2(lists.place + 1))
    return divide(gain, ideal_gain(lists, k))


def ideal_gain(lists: JudgedLists, k: int | None = None) -> Reals:
    """DCG of a list that begins with all of the query's positives, cut at k."""
    most = int(lists.positives.max(initial=0))
    wanted = lists.positives if k is None else np.minimum(lists.positives, k)
    sums = np.append(0.0, np.cumsum(1 / np.log2(np.arange(1, most + 1) + 1)))
    return np.asarray(sums[wanted])


NDCG = list_measure(
    "nDCG",
    ndcg,
    meaning="discounted gain over its ideal",
    formula="sum over positives among the first k of 1/log2(place + 1), over that of the best list",
    conventions=POSITIVE,
)
