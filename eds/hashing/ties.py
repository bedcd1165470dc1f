"""Average precision, DCG and precision where many items tie: expected over every order that ties allow.

Input is a histogram for each query: how many items of each relevance lie in each group of equal scores, nearest
group first. Codes give it without any sorting (`histograms.py`); nothing here depends on how ties fall.

With n items and p relevant ones in a group, C items and P relevant before it, the sums over places have closed
forms in harmonic numbers, H(b) - H(a) = sum of 1/t for a < t <= b: the cost is that of the histogram.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eds.errors import InputError
from eds.pairs import Integers, Reals

Exact = NDArray[np.longdouble]  # more digits than a result has
DENOMINATORS = ("retrieved", "total", "capped")


@dataclass(frozen=True)
class TiedLists:
    """Ranked lists known up to ties, cut at k places."""

    counts: Integers  # (queries, groups, levels): items of each relevance in each group, nearest group first
    levels: tuple[int, ...]  # the relevances, each 0 or more; above 0 is relevant
    k: int | None = None  # None: the whole list

    def __post_init__(self) -> None:
        if self.counts.ndim != 3 or self.counts.shape[2] != len(self.levels):
            raise InputError(f"counts of shape {self.counts.shape} for {len(self.levels)} levels", where="ties")
        if (self.counts < 0).any() or min(self.levels, default=0) < 0:
            raise InputError("a count or a relevance is below 0", where="ties")
        if self.k is not None and self.k < 1:
            raise InputError(f"k is {self.k}", where="ties", hint="Give at least 1.")

    @cached_property
    def n(self) -> Integers:
        """Items of each group, (queries, groups)."""
        items: Integers = self.counts.sum(axis=2)
        return items

    @cached_property
    def p(self) -> Integers:
        """Relevant items of each group."""
        relevant: Integers = self.counts[:, :, np.array(self.levels) > 0].sum(axis=2)
        return relevant

    @cached_property
    def before(self) -> tuple[Integers, Integers]:
        """Items and relevant items in the groups before each."""
        return np.cumsum(self.n, axis=1) - self.n, np.cumsum(self.p, axis=1) - self.p

    @cached_property
    def slots(self) -> Integers:
        """How many of each group's places are among the first k."""
        if self.k is None:
            return self.n
        return np.clip(self.k - self.before[0], 0, self.n)

    @cached_property
    def relevant(self) -> Integers:
        """Relevant items of each query, (queries,)."""
        total: Integers = self.p.sum(axis=1)
        return total

    @cached_property
    def harmonic(self) -> Exact:
        """H(0), H(1), ... as far as any list goes, with more digits than a result has."""
        return running(1 / np.arange(1, int(self.n.sum(axis=1).max(initial=0)) + 1, dtype=np.longdouble))


def running(terms: Exact) -> Exact:
    """0 and then the sums of the first 1, 2, ... terms."""
    return np.concatenate([np.zeros(1, np.longdouble), np.cumsum(terms)])


def ap(lists: TiedLists, denominator: str = "total") -> Reals:
    """Expected average precision of each query, (queries,) float64.

    Formula: (1/N+) sum over groups, over places t <= k of (p/n)(P + (t - C - 1) m + 1)/t, m = (p - 1)/(n - 1),
    0 if n = 1.
    Source: specification 8, AP_T@k; `capped` divides by min(N+, k); `retrieved` by the relevant among the first k,
    which the tie order decides in the group that k cuts: the expectation is over their hypergeometric number.
    Conventions: expectation over uniformly random order inside each group; no relevant item: 0.
    Example, run by doctest:
    >>> ap(TiedLists(np.array([[[5, 5]]]), (0, 1))).round(12).tolist()
    [0.607164902998]
    """
    if denominator not in DENOMINATORS:
        raise InputError(f"unknown denominator {denominator!r}", hint=f"Choose one of {', '.join(DENOMINATORS)}.")
    whole = _sums(lists, lists.slots, lists.p)
    if denominator == "retrieved":
        return _retrieved(lists, whole)
    ends = lists.relevant if denominator == "total" or lists.k is None else np.minimum(lists.relevant, lists.k)
    return _over(whole.sum(axis=1), ends)


def ap_best(lists: TiedLists) -> Reals:
    """AP@k over all relevant if in every group the relevant come first.

    Formula: over groups, sum of (P + i)/(C + i) for i = 1 .. min(p, places left), over N+.
    Source: specification 8, `ap_best`.
    Conventions: as `ap` with `total`.
    Example, run by doctest:
    >>> ap_best(TiedLists(np.array([[[5, 5]]]), (0, 1))).tolist()
    [1.0]
    """
    return _ordered(lists, lists.before[0], np.minimum(lists.p, lists.slots))


def ap_worst(lists: TiedLists) -> Reals:
    """AP@k over all relevant if in every group the relevant come last.

    Formula: over groups, sum of (P + i)/(C + n - p + i) for i = 1 .. places left behind the n - p others, over N+.
    Source: specification 8, `ap_worst`.
    Conventions: as `ap` with `total`.
    Example, run by doctest:
    >>> ap_worst(TiedLists(np.array([[[5, 5]]]), (0, 1))).round(12).tolist()
    [0.354365079365]
    """
    others = lists.n - lists.p
    return _ordered(lists, lists.before[0] + others, np.clip(lists.slots - others, 0, lists.p))


def precision(lists: TiedLists) -> Reals:
    """Expected share of relevant items among the first k.

    Formula: (P + w p/n)/k with w places left in the group that k cuts.
    Source: specification 8, `precision`.
    Conventions: division by k, even if fewer items exist; without k by the number of items.
    Example, run by doctest:
    >>> precision(TiedLists(np.array([[[1, 3], [2, 0]]]), (0, 1), k=2)).tolist()
    [0.75]
    """
    found = (lists.slots * _over(lists.p, lists.n)).sum(axis=1)
    return _over(found, lists.n.sum(axis=1) if lists.k is None else np.full(len(found), lists.k))


def dcg(lists: TiedLists) -> Reals:
    """Expected discounted gain among the first k.

    Formula: sum over groups of (sum of gains/n) times the sum of 1/log2(t + 1) over its places t <= k; gain 2^rel - 1.
    Source: specification 8, DCG_T@k.
    Conventions: expectation over uniformly random order inside each group.
    Example, run by doctest:
    >>> dcg(TiedLists(np.array([[[5, 5]]]), (0, 1))).round(12).tolist()
    [2.271779669044]
    """
    discount = _discounts(lists)
    first = np.minimum(lists.before[0], len(discount) - 1)  # groups behind the cut have no places
    gains = lists.counts @ _gains(lists)
    return np.asarray(
        (_over(gains, lists.n) * (discount[first + lists.slots] - discount[first])).sum(axis=1), np.float64
    )


def ndcg(lists: TiedLists) -> Reals:
    """DCG over that of the best order of all items.

    Formula: DCG / ideal, the ideal from the first k of all relevances in descending order.
    Source: specification 8, nDCG_T; 7, `ndcg_at_p`.
    Conventions: ideal 0: 0.
    Example, run by doctest:
    >>> ndcg(TiedLists(np.array([[[5, 5]]]), (0, 1))).round(12).tolist()
    [0.770497258889]
    """
    return _over(dcg(lists), ideal_dcg(lists))


def ideal_dcg(lists: TiedLists) -> Reals:
    """The largest DCG@k that an order of the query's items can have."""
    order = np.argsort(lists.levels)[::-1]
    each = lists.counts.sum(axis=1)[:, order]
    start = np.cumsum(each, axis=1) - each
    end = start + each
    if lists.k is not None:
        start, end = np.minimum(start, lists.k), np.minimum(end, lists.k)
    discount = _discounts(lists)
    return np.asarray(((discount[end] - discount[start]) * _gains(lists)[order]).sum(axis=1), np.float64)


def tie_metrics(groups: Sequence[Sequence[int]], k: int | None = None) -> dict[str, Any]:
    """Every tie-aware number of one list: groups of the relevances of items that tie, nearest first.

    >>> tie_metrics([[1, 0], [1, 1, 0], [0, 0, 1]])["ap_worst"]
    0.525
    """
    levels = tuple(sorted({0, *(level for group in groups for level in group)}))
    counts = np.array([[[group.count(level) for level in levels] for group in groups]], np.int64)
    lists = TiedLists(counts.reshape(1, len(groups), len(levels)), levels, k)
    found = {
        "ap_total": ap(lists),
        "ap_retrieved": ap(lists, "retrieved"),
        "ap_capped": ap(lists, "capped"),
        "dcg": dcg(lists),
        "ndcg": ndcg(lists),
        "precision": precision(lists),
        "ap_best": ap_best(lists),
        "ap_worst": ap_worst(lists),
    }
    return {name: float(value[0]) for name, value in found.items()}


def _sums(lists: TiedLists, slots: Integers, p: Integers) -> Exact:
    """The sum over each group's first `slots` places of the expected precision at relevant items, (queries, groups)."""
    first, relevant = lists.before
    mean = _over(p - 1, np.maximum(lists.n - 1, 1))
    mean = np.where(lists.n > 1, mean, 0.0)
    step = lists.harmonic[first + slots] - lists.harmonic[first]
    found: Exact = _over(p, lists.n) * ((relevant + 1 - mean * (first + 1)) * step + mean * slots)
    return found


def _ordered(lists: TiedLists, start: Integers, length: Integers) -> Reals:
    """AP where the relevant of each group stand one behind the other after `start` items."""
    step = lists.harmonic[start + length] - lists.harmonic[start]
    return _over((length + (lists.before[1] - start) * step).sum(axis=1), lists.relevant)


def _retrieved(lists: TiedLists, whole: Exact) -> Reals:
    cut = (lists.slots < lists.n) & (lists.slots > 0)
    total = np.where(cut, 0, whole).sum(axis=1)
    found = _over(total, np.where(lists.slots == lists.n, lists.p, 0).sum(axis=1))
    rows, groups = np.nonzero(cut)  # at most one group of a query is cut
    first, relevant = (part[rows, groups] for part in lists.before)
    step = lists.harmonic[first + lists.slots[rows, groups]] - lists.harmonic[first]
    found[rows] = [
        expected_in_cut(int(n), int(p), int(w), int(c), int(r), float(s), float(t))
        for n, p, w, c, r, s, t in zip(
            lists.n[rows, groups],
            lists.p[rows, groups],
            lists.slots[rows, groups],
            first,
            relevant,
            step,
            total[rows],
            strict=True,
        )
    ]
    return found


def expected_in_cut(n: int, p: int, w: int, first: int, relevant: int, step: float, total: float) -> float:
    """Expected AP@k over the retrieved, of a list whose last group (n items, p relevant) has only w places left.

    Formula: sum over h of P(h) [total + sum over t of (h/w)(P + (t - C - 1)(h - 1)/(w - 1) + 1)/t] / (P + h).
    Source: specification 8, `ap_retrieved`; h ~ Hypergeometric(n, p, w), C = `first`, P = `relevant`.
    Conventions: 0/0 = 0; `step` is H(C + w) - H(C), `total` the sum of the groups before.
    Example, run by doctest:
    >>> expected_in_cut(2, 1, 1, 0, 0, 1.0, 0.0)
    0.5
    """
    h, share = hypergeometric(n, p, w)
    mean = np.zeros(len(h)) if w == 1 else (h - 1) / (w - 1)
    inside = h / w * ((relevant + 1 - mean * (first + 1)) * step + mean * w)
    ends = relevant + h
    value = np.where(ends > 0, (total + inside) / np.maximum(ends, 1), 0.0)
    return float(share @ value)


def hypergeometric(n: int, p: int, w: int) -> tuple[Reals, Reals]:
    """How many of p marked among n are drawn with w, and how likely each number is, both (numbers,) float64.

    The ratios of neighbouring probabilities are exact; added up from the likeliest number outwards and made to
    sum to 1, they keep their digits where gamma functions of large numbers lose them.

    >>> hypergeometric(4, 2, 2)[1].round(6).tolist()
    [0.166667, 0.666667, 0.166667]
    """
    h = np.arange(max(0, w - (n - p)), min(w, p) + 1, dtype=np.float64)
    lower = h[:-1]
    ratios = np.log((p - lower) * (w - lower)) - np.log((lower + 1) * (n - p - w + lower + 1))
    peak = int(np.searchsorted(-ratios, 0))  # ratios fall: beyond the peak they are below 0
    logs = np.zeros(len(h))
    logs[peak + 1 :] = np.cumsum(ratios[peak:])
    logs[:peak] = -np.cumsum(ratios[:peak][::-1])[::-1]
    share = np.exp(logs)
    return h, share / share.sum()


def _gains(lists: TiedLists) -> Reals:
    return 2.0 ** np.array(lists.levels, np.float64) - 1


def _discounts(lists: TiedLists) -> Exact:
    """0 and then the sums of the discounts of the first 1, 2, ... places, as far as any list or the cut goes."""
    longest = int(lists.n.sum(axis=1).max(initial=0))
    longest = longest if lists.k is None else min(longest, lists.k)
    terms = np.reciprocal(np.log2(np.arange(2, longest + 2, dtype=np.float64)))  # each right to the last digit or two
    return running(terms.astype(np.longdouble))


def _over(above: Any, below: Any) -> Reals:
    """The quotient, 0 where there is nothing below."""
    return np.asarray(np.where(below > 0, above / np.where(below > 0, below, 1), 0), np.float64)
