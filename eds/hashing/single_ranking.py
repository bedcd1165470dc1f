"""The hashing literature's own numbers on one ranking, under names that say the denominator.

These take a ranking as it stands. Rankings of codes are full of ties: use `eds.hashing.ties` for them, or the
number depends on the order in which equal distances happen to be listed.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eds.errors import InputError
from eds.hashing.codes import Codes
from eds.hashing.collisions import Balls
from eds.hashing.ties import DENOMINATORS, TiedLists, dcg, ideal_dcg
from eds.pairs import Integers


def ap_at_p(rel: ArrayLike, p: int) -> dict[str, Any]:
    """Average precision among the first p, with all three denominators.

    Formula: sum over r <= min(p, n) of Prec(r) rel(r), over the relevant among the first p (`retrieved`), in
    the gallery (`total`), or min(those in the gallery, p) (`capped`).
    Source: specification 7, `ap_at_p`; `retrieved` is what hashing papers print, trec_eval's map_cut is `total`.
    Conventions: `rel` is the whole gallery in rank order; 0/0 = 0. `retrieved` rewards truncation.
    Example, run by doctest:
    >>> {name: round(value, 6) for name, value in ap_at_p([1, 0, 1, 0, 0, 1, 1], 3).items()}["total"]
    0.416667
    """
    _check(p)
    relevant = _grades(rel) > 0
    first = relevant[:p]
    place = np.arange(1, len(first) + 1)
    precision = np.cumsum(first) / place
    total, found = float(precision[first].sum()), int(first.sum())
    ends = {"retrieved": found, "total": int(relevant.sum()), "capped": min(int(relevant.sum()), p)}
    values: dict[str, Any] = {name: total / end if end else 0.0 for name, end in ends.items()}
    return {**values, "n_relevant": ends["total"], "n_relevant_retrieved": found}


def map_at_p(rels: Sequence[Sequence[int]], p: int, denominator: str = "retrieved") -> float:
    """The mean of `ap_at_p` over all queries; those without a relevant item count as 0.

    >>> map_at_p([[1, 0, 1], [0, 0, 1]], 2)
    0.5
    """
    if denominator not in DENOMINATORS:
        raise InputError(f"unknown denominator {denominator!r}", hint=f"Choose one of {', '.join(DENOMINATORS)}.")
    if not rels:
        raise InputError("there is no query", where="mAP", hint="Give at least one ranking.")
    return float(np.mean([ap_at_p(rel, p)[denominator] for rel in rels]))


def ndcg_at_p(rel: ArrayLike, p: int) -> dict[str, float]:
    """Graded gain among the first p, against the best order of the whole gallery.

    Formula: DCG = sum over r <= p of (2^rel - 1)/log2(r + 1); ideal from the gallery's p largest relevances.
    Source: specification 7, `ndcg_at_p`.
    Conventions: ideal 0: 0.
    Example, run by doctest:
    >>> round(ndcg_at_p([3, 2, 3, 0, 1, 2], 6)["ndcg"], 9)
    0.948810749
    """
    _check(p)
    levels, place = np.unique(_grades(rel), return_inverse=True)
    counts = (place[:, None] == np.arange(len(levels))).astype(np.int64)[None]
    lists = TiedLists(counts, tuple(levels.tolist()), p)  # one group for each item: nothing ties
    gain, ideal = float(dcg(lists)[0]), float(ideal_dcg(lists)[0])
    return {"dcg": gain, "idcg": ideal, "ndcg": gain / ideal if ideal else 0.0}


def radius_precision(query: ArrayLike, codes: Codes, relevant: Sequence[int], r: int) -> list[dict[str, Any]]:
    """How many items lie within distance 0, 1, ... r of a query's code, and the share of relevant ones.

    Formula: |relevant within t| / |within t|, t = 0 .. r.
    Source: specification 7, `radius_precision`.
    Conventions: an empty ball gives 0; distances count differing bits; r at most the number of bits.
    Example, run by doctest:
    >>> radius_precision([1, 1], [[1, 1], [1, -1]], [1, 0], 1)[1]
    {'retrieved': 2, 'precision': 0.5}
    """
    balls = Balls.of([query], codes, [relevant], r)
    return [
        {"retrieved": int(items), "precision": float(share)}
        for items, share in zip(balls.items[0], balls.precision[0], strict=True)
    ]


def graded(votes_for: ArrayLike) -> Integers:
    """Relevances from a panel: the number of positive votes of each pair, (pairs,) int64."""
    return _grades(votes_for, "votes_for")


def _check(p: int) -> None:
    if p < 1:
        raise InputError(f"p is {p}", where="cut-off", hint="Give at least 1.")


def _grades(values: ArrayLike, where: str = "rel") -> Integers:
    """The relevance of each item: half a grade would count as none or as one, unseen."""
    given = np.asarray(values)
    wrong = given[~((given >= 0) & (given == np.floor(given)))]
    if len(wrong):
        raise InputError(f"a relevance is {wrong[0]}", where=where, hint="Give whole numbers from 0 up.")
    return given.astype(np.int64)
