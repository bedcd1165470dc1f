"""The largest and the smallest AP that an order of ties can give: what an mAP on codes leaves open."""

import numpy as np

from eds.errors import InputError
from eds.hashing.ties import DENOMINATORS, TiedLists, ap_best, ap_worst
from eds.pairs import Integers, Reals


def ap_between(lists: TiedLists, denominator: str, *, best: bool) -> Reals:
    """AP@k of the best or worst order inside the groups, (queries,) float64.

    Formula: relevant first (or last) in each group; over all relevant (`total`), min(relevant, k) (`capped`), or those
    among the first k (`retrieved`), where the number that the cut group gives is chosen too, for another hit far down
    can lower the mean.
    Source: specification 8, `ap_best` and `ap_worst`; the other denominators follow.
    Conventions: no relevant item: 0; every order's value lies between the two.
    Example, run by doctest:
    >>> ap_between(TiedLists(np.array([[[5, 5]]]), (0, 1)), "total", best=True).tolist()
    [1.0]
    """
    if denominator not in DENOMINATORS:
        raise InputError(f"unknown denominator {denominator!r}", hint=f"Choose one of {', '.join(DENOMINATORS)}.")
    if denominator == "retrieved":
        return _retrieved(lists, best=best)
    value = (ap_best if best else ap_worst)(lists)
    if denominator == "total" or lists.k is None:
        return value
    return value * lists.relevant / np.maximum(np.minimum(lists.relevant, lists.k), 1)


def _retrieved(lists: TiedLists, *, best: bool) -> Reals:
    others = lists.n - lists.p
    whole = lists.slots == lists.n
    start = lists.before[0] + (0 if best else others)
    step = lists.harmonic[start + lists.p] - lists.harmonic[start]
    sums = np.where(whole, lists.p + (lists.before[1] - start) * step, 0).sum(axis=1)
    found = np.where(whole, lists.p, 0).sum(axis=1)
    value = np.where(found > 0, sums / np.maximum(found, 1), 0).astype(np.float64)
    for query, group in zip(*np.nonzero(~whole & (lists.slots > 0)), strict=True):
        n, p, w = (int(part[query, group]) for part in (lists.n, lists.p, lists.slots))
        first, hits = (int(part[query, group]) for part in lists.before)
        h: Integers = np.arange(max(0, w - (n - p)), min(w, p) + 1)
        begin = first + (np.zeros_like(h) if best else w - h)
        inside = h + (hits - begin) * (lists.harmonic[begin + h] - lists.harmonic[begin])
        each = np.where(hits + h > 0, (sums[query] + inside) / np.maximum(hits + h, 1), 0)
        value[query] = each.max() if best else each.min()
    return value
