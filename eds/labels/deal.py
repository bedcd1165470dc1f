"""Which experts of a panel judge which pairs, where each pair is asked of some of them.

Whole pages of a query are dealt, so that an expert sees candidates of one query together. Each page goes to those who
have the least to do; among these to experts who share few pairs so far. So loads differ by one page at most, and
every two experts share pairs. All choices are draws by the campaign's seed from the pairs' own names.
"""

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

PAGE = 30  # pairs of a query that are dealt together at most
SHARED = 2  # pages that any two experts are to share, on average

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Pages:
    """Pairs that are dealt together; every array has an entry for each page."""

    size: Integers  # tasks that an expert gets with it
    held: Flags  # pages x experts: who has its pairs already
    need: Integers  # how many further experts it needs


def page_size(by_query: Integers, experts: int, per_pair: int) -> int:
    """How many pairs of a query are dealt together: small enough that every two experts meet on several pages.

    `by_query` is the number of pairs of each query.

    >>> page_size(np.full(100, 6), 5, 2), page_size(np.full(10, 6), 5, 2), page_size(np.full(10, 6), 5, 1)
    (30, 5, 30)
    """
    if min(experts, per_pair) < 2:
        return PAGE
    pages = SHARED * comb(experts, 2) / comb(min(per_pair, experts), 2)
    return next((size for size in range(PAGE, 1, -1) if (-(-by_query // size)).sum() >= pages), 1)


def deal(pages: Pages, load: Integers, together: npt.NDArray[Any], seed: int) -> Flags:
    """Return the experts that each page is dealt to, pages x experts; in the order of the pages.

    `load` is what each expert has left to do; `together` (experts x experts) how many pairs every two share.

    >>> pages = Pages(np.full(6, 10), np.zeros((6, 4), dtype=bool), np.full(6, 2))
    >>> dealt = deal(pages, np.zeros(4, dtype=int), np.zeros((4, 4)), seed=0)
    >>> dealt.sum(axis=0).tolist(), dealt.sum(axis=1).tolist()
    ([3, 3, 3, 3], [2, 2, 2, 2, 2, 2])
    >>> (dealt.T.astype(int) @ dealt)[np.triu_indices(4, 1)].tolist()  # every two share one page
    [1, 1, 1, 1, 1, 1]
    """
    load, together = load.astype(np.int64), together.astype(np.float64)
    result = np.zeros_like(pages.held)
    most = int(pages.size.max(initial=0))
    drawn = np.random.default_rng(seed).random((len(pages.size), len(load)))
    for page, (size, need) in enumerate(zip(pages.size.tolist(), pages.need.tolist(), strict=True)):
        held = pages.held[page].copy()
        free = np.flatnonzero(~held)
        need = min(need, len(free))
        if not need:
            continue
        order = free[np.lexsort((drawn[page, free], load[free]))]
        # Whoever stays within one page of the least loaded may be chosen: loads then never differ by more.
        fits = load[order] + size <= load[order[0]] + most
        fits[:need] = True
        candidates = order[fits]
        for _ in range(need):
            shared = together[np.flatnonzero(held)][:, candidates].sum(axis=0)
            best = candidates[np.lexsort((drawn[page, candidates], load[candidates], shared))[0]]
            held[best] = result[page, best] = True
            candidates = candidates[candidates != best]
        load[result[page]] += size
        both = np.flatnonzero(held)
        together[np.ix_(both, np.flatnonzero(result[page]))] += size
        together[np.ix_(np.flatnonzero(result[page]), np.flatnonzero(pages.held[page]))] += size
    return result
