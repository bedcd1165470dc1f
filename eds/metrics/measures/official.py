"""The measures of the published benchmark, as its evaluator prints them and as its text defines them."""

from eds.metrics.judged_lists import JudgedLists
from eds.metrics.measures._lists import (
    POSITIVE,
    defined,
    discounted,
    divide,
    harmonic,
    list_measure,
    official_mrr_at_most,
    precision_at_most,
)
from eds.metrics.measures.standard import precision, recall
from eds.pairs import Reals

PAIRS = "mean over positive pairs; one that no list holds counts 0"

VSD_HR = list_measure(
    "VSD-HR",
    precision,
    meaning="HR@k as the public evaluator prints it: precision at k, so it usually falls with k",
    formula="#{positive pairs with place <= k} / (k n), n queries with a positive",
    conventions=f"{POSITIVE}; division by k even if the list is shorter",
    needs="official lists",
    most=precision_at_most,
)


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
    return defined(lists, discounted(lists, k) / harmonic(k))


VSD_MRR = list_measure(
    "VSD-MRR",
    official_mrr,
    meaning="MRR@k as the public evaluator prints it: 1 only if all of the first k are positive",
    formula="sum over positive pairs with place <= k of 1/place / (n H_k), H_k = 1 + 1/2 + ... + 1/k",
    conventions=POSITIVE,
    needs="official lists",
    most=official_mrr_at_most,
)

PAIR_RECALL = list_measure(
    "PairRecall",
    recall,
    meaning="HR@k as the publication's text defines it",
    formula="#{positive pairs with place <= k} / #{positive pairs}",
    conventions=PAIRS,
    needs="official lists",
    by_pair=True,
)


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
    return divide(discounted(lists, k), lists.positives)


PAIR_MRR = list_measure(
    "PairMRR",
    pair_mrr,
    meaning="MRR@k as the publication's text defines it; with k the evaluator's list length its uncut MRR",
    formula="mean over positive pairs of 1/place, 0 beyond k",
    conventions=PAIRS,
    needs="official lists",
    by_pair=True,
)
