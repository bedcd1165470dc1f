"""Formulas on ranked lists with labels, for all queries at once; each gives (queries,) float64.

Unlabelled counts as not similar here, unless a formula says otherwise (incomplete_formulas.py). A query
without positives gets NaN: it is skipped and counted by whoever averages.
"""

import numpy as np

from eds.metrics.judged_lists import JudgedLists
from eds.pairs import Integers, Reals


def hits(lists: JudgedLists, k: int) -> Reals:
    """Positives among the first k; 0 where there is no list."""
    return lists.per_query((lists.label == 1) & (lists.place <= k))


def discounted(lists: JudgedLists, k: int) -> Reals:
    """Sum of 1/place over the positives among the first k."""
    return lists.per_query((lists.label == 1) & (lists.place <= k), 1 / lists.place)


def harmonic(k: int) -> float:
    """H_k, the sum of 1/i for i up to k.

    >>> harmonic(2)
    1.5
    """
    return float((1 / np.arange(1, k + 1)).sum())


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
    return _defined(lists, hits(lists, k) / k)


def official_mrr(lists: JudgedLists, k: int) -> Reals:
    """A 1/place-discounted gain: 1 only if all of the first k are positive.

    Formula: sum over positives among the first k of 1/place, over H_k.
    Source: specification 4.2, `mrr_official@k`.
    Conventions: as `precision`.
    Example, run by doctest:
    >>> from eds.metrics.examples import lists
    >>> official_mrr(lists("-+"), 2).round(6).tolist()
    [0.333333]
    """
    return _defined(lists, discounted(lists, k) / harmonic(k))


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
    return _defined(lists, (hits(lists, k) > 0).astype(np.float64))


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
    found = (lists.label == 1) & (lists.place <= k)
    query, row = np.unique(lists.query[found], return_index=True)
    value = np.zeros(lists.n_queries)
    value[query] = 1 / lists.place[found][row]
    return _defined(lists, value)


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
    return _over(hits(lists, k), lists.positives)


def pair_mrr(lists: JudgedLists, k: int) -> Reals:
    """Mean over the query's positives of 1/place, 0 beyond k.

    Formula: sum over positives among the first k of 1/place, over the number of positives.
    Source: specification 4.2; its mean weighted by the positives is `pair_mrr@k`, and with k the length of
    the lists `mrr_official`.
    Conventions: as `recall`.
    Example, run by doctest:
    >>> from eds.metrics.examples import lists
    >>> pair_mrr(lists("-+-+"), 3).tolist()
    [0.25]
    """
    return _over(discounted(lists, k), lists.positives)


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
    found = (lists.label == 1) & (lists.place <= k)
    total = lists.per_query(found, lists.running(lists.label == 1) / lists.place)
    below = {"relevant": lists.positives, "hits": hits(lists, k), "capped": np.minimum(lists.positives, k)}[divide_by]
    return _defined(lists, total / np.maximum(below, 1))


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
    return _over(gain, ideal_gain(lists, k))


def ideal_gain(lists: JudgedLists, k: int | None = None) -> Reals:
    """DCG of a list that begins with all of the query's positives, cut at k."""
    most = int(lists.positives.max(initial=0))
    wanted = lists.positives if k is None else np.minimum(lists.positives, k)
    sums = np.append(0.0, np.cumsum(1 / np.log2(np.arange(1, most + 1) + 1)))
    return np.asarray(sums[wanted])


def judged(lists: JudgedLists, k: int) -> Reals:
    """Share of labelled places among the first k: how far a value at k can be trusted.

    Formula: (labelled among the first k) / k.
    Source: specification 13.5, `judged@k`.
    Conventions: over queries with any label, positive or not; division by k even if the list is shorter.
    Example, run by doctest:
    >>> from eds.metrics.examples import lists
    >>> judged(lists("+-?"), 3).round(6).tolist()
    [0.666667]
    """
    return _labelled(lists, _judged(lists, k) / k)


def unjudged(lists: JudgedLists, k: int) -> Reals:
    """What labels of the list's places without one could add to precision.

    Formula: (places without a label among the first k) / k.
    Source: specification 13.5: beside `judged@k`, which it adds up to 1 with where no list ends before place k.
    Conventions: over queries with any label; behind the end of a list there is no place.
    Example, run by doctest:
    >>> from eds.metrics.examples import lists
    >>> unjudged(lists("+-?"), 5).tolist()
    [0.2]
    """
    return _labelled(lists, (np.minimum(lists.lengths, k) - _judged(lists, k)) / k)


def _judged(lists: JudgedLists, k: int) -> Reals:
    return lists.per_query((lists.label >= 0) & (lists.place <= k))


def _labelled(lists: JudgedLists, value: Reals) -> Reals:
    return np.where(lists.positives + lists.negatives > 0, value, np.nan)


def _defined(lists: JudgedLists, value: Reals) -> Reals:
    return np.where(lists.positives > 0, value, np.nan)


def _over(above: Reals, below: Reals | Integers) -> Reals:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(below > 0, above / below, np.nan)
