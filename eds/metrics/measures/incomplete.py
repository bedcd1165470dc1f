"""Measures that admit missing labels, and measures of how many labels are missing.

The formulas work on all queries at once; each gives (queries,) float64. A query without positives gets NaN, except for
RBP, which stays defined.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from eds.metrics.definition import Parameter
from eds.metrics.judged_lists import JudgedLists
from eds.metrics.measures._lists import labelled, list_measure, n_judged
from eds.metrics.measures.standard import ideal_gain
from eds.pairs import Reals

if TYPE_CHECKING:
    from eds.metrics.measure import Measure

SMOOTHING = 1e-5
PERSISTENCE = {"p": Parameter(0.8)}


def judged(lists: JudgedLists, k: int) -> Reals:
    """Share of labelled places among the first k: how far a value at k can be trusted.

    Formula: (labelled among the first k) / min(k, candidates that the list may hold).
    Source: specification 13.5 and 18.6, `judged@k`.
    Conventions: over queries with any label, positive or not; where the catalogue is not known, division by k even if
    the list is shorter.
    Example, run by doctest:
    >>> from eds.metrics.examples import lists
    >>> judged(lists("+-?"), 3).round(6).tolist()
    [0.666667]
    """
    return labelled(lists, n_judged(lists, k) / lists.places(k))


JUDGED = list_measure(
    "Judged",
    judged,
    meaning="how far a value at k can be trusted",
    formula="labelled among the first k / min(k, candidates of the query)",
    conventions="mean over queries with any label",
    unlabelled="described",
)


def bpref(lists: JudgedLists) -> Reals:
    """How seldom labelled negatives rank above positives.

    Formula: (1/R) sum over positives in the list of 1 - min(n_above, R) / min(R, N), n_above = labelled
    negatives above.
    Source: specification 13.5; Buckley and Voorhees 2004.
    Conventions: a positive with no negative above adds 1, also where N = 0; R = 0: NaN.
    Example, run by doctest:
    >>> from eds.metrics.examples import lists
    >>> bpref(lists("+-+-")).tolist()
    [0.75]
    """
    above = np.minimum(lists.running(lists.label == 0), lists.positives[lists.query])
    most = np.minimum(lists.positives, lists.negatives)[lists.query]
    return _mean(lists, lists.per_query(lists.label == 1, 1 - above / np.maximum(most, 1)))


BPREF = list_measure(
    "bpref",
    bpref,
    meaning="how seldom labelled negatives rank above positives",
    formula="(1/R) sum over positives in the list of 1 - min(negatives above, R) / min(R, N)",
    conventions="mean over queries with a positive; unlabelled places are skipped; without k the list as it is",
    cut="optional",
    unlabelled="skipped",
)


NEGLIGIBLE = 0.05  # weight of RBP behind the depth of the lists


def persistence_for(depth: int) -> float:
    """The persistence of RBP whose weight behind so many places is negligible: the choice for a pool of that depth.

    Formula: the largest p of two decimals with p^depth <= 0.05.
    Source: specification 18.2: with p = 0.8 and 6 judged places a quarter of the weight lies behind them, so that the
    residual alone leaves every two models undecided.
    Conventions: at least 0.01, at most 0.99.
    Example, run by doctest:
    >>> persistence_for(6), persistence_for(100)
    (0.6, 0.97)
    """
    largest = math.exp(math.log(NEGLIGIBLE) / depth)
    return min(max(math.floor(100 * largest + 1e-9) / 100, 0.01), 0.99)


def depth_of(measure: "Measure") -> int | None:
    """How many places decide a measure on lists: its cut-off; of RBP without one, those that hold 95 % of its weight.

    >>> from eds.metrics import Measure
    >>> depth_of(Measure("RBP", p=0.6)), depth_of(Measure("RR", 5)), depth_of(Measure("bpref"))
    (6, 5, None)
    """
    if measure.k is not None or measure.name != RBP.name:
        return measure.k
    return math.ceil(math.log(NEGLIGIBLE) / math.log(float(measure.parameters["p"])) - 1e-9)


def rbp(lists: JudgedLists, p: float) -> Reals:
    """Rank-biased precision of what is labelled: the lower end of the true value.

    Formula: (1 - p) sum over positives of p^(place - 1).
    Source: specification 13.5; Moffat and Zobel 2008.
    Conventions: unlabelled counts as not similar; defined without positives (0); the true value lies in
    [RBP, RBP + residual].
    Example, run by doctest:
    >>> from eds.metrics.examples import lists
    >>> rbp(lists("?-?++"), 0.8).round(6).tolist()
    [0.18432]
    """
    return (1 - p) * lists.per_query(lists.label == 1, _powers(lists, p))


def rbp_residual(lists: JudgedLists, p: float) -> Reals:
    """What missing labels could add to RBP.

    Formula: (1 - p) sum over unlabelled places of p^(place - 1), + p^length; as all places of a list add up to
    1 - p^length, that is 1 - (1 - p) sum over labelled places of p^(place - 1).
    Source: specification 13.5.
    Conventions: everything behind the end of the list is unlabelled; no list: 1.
    Example, run by doctest:
    >>> from eds.metrics.examples import lists
    >>> rbp_residual(lists("?-?++"), 0.8).round(6).tolist()
    [0.65568]
    """
    return 1 - (1 - p) * lists.per_query(lists.label >= 0, _powers(lists, p))


def rbp_at_most(lists: JudgedLists, p: float) -> Reals:
    """RBP if every item without a label were similar."""
    return rbp(lists, p) + rbp_residual(lists, p)


RBP = list_measure(
    "RBP",
    rbp,
    meaning="rank-biased precision; the true value lies between it and it + RBP-residual",
    formula="(1 - p) sum over positives of p^(place - 1)",
    conventions="mean over all labelled queries, with or without a positive; unlabelled counts as not similar",
    cut="optional",
    parameters=PERSISTENCE,
    unlabelled="interval",
    most=rbp_at_most,
)
RBP_RESIDUAL = list_measure(
    "RBP-residual",
    rbp_residual,
    meaning="what missing labels could add to RBP",
    formula="(1 - p) sum over unlabelled places of p^(place - 1), + p^length",
    conventions="mean over all labelled queries; behind the end of a list everything is unlabelled",
    cut="optional",
    parameters=PERSISTENCE,
    unlabelled="described",
)


def condensed_ap(lists: JudgedLists) -> Reals:
    """Average precision of the list without its unlabelled places.

    Formula: sum over positives of (positives so far / labelled so far), over R positives of the query.
    Source: specification 13.5; Sakai 2007.
    Conventions: positives that the list does not hold add 0; R = 0: NaN.
    Example, run by doctest:
    >>> from eds.metrics.examples import lists
    >>> condensed_ap(lists("?-?++")).round(6).tolist()
    [0.583333]
    """
    positive = lists.label == 1
    return _mean(lists, lists.per_query(positive, lists.running(positive) / _condensed(lists)))


CONDENSED_AP = list_measure(
    "CondensedAP",
    condensed_ap,
    meaning="average precision of the list without its unlabelled places",
    formula="(1/R) sum over positives of positives so far / labelled so far",
    conventions="mean over queries with a positive; without k the list as it is",
    cut="optional",
    unlabelled="skipped",
)


def condensed_ndcg(lists: JudgedLists) -> Reals:
    """The nDCG of the list without its unlabelled places.

    Formula: sum over positives of 1/log2(labelled so far + 1), over that of a list that begins with all R positives.
    Source: specification 13.5; Sakai 2007.
    Conventions: as `condensed_ap`; not cut.
    Example, run by doctest:
    >>> from eds.metrics.examples import lists
    >>> condensed_ndcg(lists("?-?++")).round(6).tolist()
    [0.693426]
    """
    gain = lists.per_query(lists.label == 1, 1 / np.log2(_condensed(lists) + 1))
    return np.where(lists.positives > 0, gain / np.maximum(ideal_gain(lists), 1), np.nan)


CONDENSED_NDCG = list_measure(
    "CondensednDCG",
    condensed_ndcg,
    meaning="nDCG of the list without its unlabelled places",
    formula="sum over positives of 1/log2(labelled so far + 1), over that of a list that begins with all positives",
    conventions="mean over queries with a positive; without k the list as it is",
    cut="optional",
    unlabelled="skipped",
)


def inf_ap(lists: JudgedLists) -> Reals:
    """Average precision inferred from a uniformly judged sample of the pool.

    Formula: mean over R positives of: 1 at place 1; at place j > 1
    1/j + ((j-1)/j) ((r+n+u)/(j-1)) (r+e)/(r+n+2e), with r, n, u = labelled positives, labelled negatives, pooled but
    unlabelled above, e = 1e-5.
    Source: specification 13.5; Yilmaz and Aslam 2006.
    Conventions: positives that the list does not hold add 0; R = 0: NaN; without a known pool, only labelled pairs
    count as pooled.
    Example, run by doctest:
    >>> from eds.metrics.examples import lists
    >>> inf_ap(lists("?-?++")).round(6).tolist()
    [0.325001]
    """
    positive = lists.label == 1
    r = lists.running(positive) - 1
    n = lists.running(lists.label == 0)
    pooled = lists.running(lists.pooled) - 1  # r + n + u, for the rows that are positive
    rate = (r + SMOOTHING) / (r + n + 2 * SMOOTHING)
    expected = 1 / lists.place + pooled / lists.place * rate
    return _mean(lists, lists.per_query(positive, np.where(lists.place == 1, 1.0, expected)))


INF_AP = list_measure(
    "infAP",
    inf_ap,
    meaning="average precision inferred from a uniformly judged sample of the pool",
    formula="(1/R) sum over positives at place j of 1/j + ((j-1)/j) (pooled above/(j-1)) (r+e)/(r+n+2e), e = 1e-5",
    conventions="mean over queries with a positive; pooled = in the pool, labelled or not; without k the list as it is",
    cut="optional",
    unlabelled="skipped",
    counts_pooled=True,
)


def _powers(lists: JudgedLists, p: float) -> Reals:
    powers: Reals = np.power(p, lists.place - 1.0)
    return powers


def _condensed(lists: JudgedLists) -> Reals:
    """The place among labelled ones, at least 1."""
    return np.maximum(lists.running(lists.label >= 0), 1).astype(np.float64)


def _mean(lists: JudgedLists, total: Reals) -> Reals:
    return np.where(lists.positives > 0, total / np.maximum(lists.positives, 1), np.nan)
