"""The score of codes on a split: tie-aware measures with each item as a query against all others."""

import numpy as np
from numpy.typing import NDArray

from eds.errors import InputError
from eds.hashing.codes import distances, pack
from eds.hashing.ties import TiedLists, ap, ndcg
from eds.pairs import Integers
from eds.training.supervision import Supervision

MOST_QUERIES = 2000


def tied_lists(
    codes: NDArray[np.int8], labels: Supervision, rows: Integers, asked: Integers | None = None
) -> TiedLists:
    """Distance histograms by grade: codes (items, bits) of -1 and 1 of all items, `asked` rows against `rows`.

    Default: the first 2,000 of `rows`. An item is never in its own list.
    """
    queries = rows[:MOST_QUERIES] if asked is None else asked
    (packed, bits), (wanted, _) = pack(codes[rows]), pack(codes[queries])
    levels = labels.levels
    counts = np.zeros((len(queries), bits + 1, len(levels)), np.int64)
    for block, apart in distances(wanted, packed):
        cell = apart.astype(np.int64) * len(levels) + labels.affinity(queries[block], rows)
        for number, row in enumerate(cell, block.start):
            others = row[rows != queries[number]]
            counts[number] = np.bincount(others, minlength=counts[0].size).reshape(bits + 1, len(levels))
    return TiedLists(counts, levels)


def score_codes(codes: NDArray[np.int8], labels: Supervision, rows: Integers) -> float:
    """Mean expected AP over queries that have a positive; with graded labels mean expected nDCG.

    Codes (items, bits) of all items; each of `rows` is a query against the others.

    Formula: specification 8, AP_T and nDCG_T of the whole list.
    Source: specification 7 and 8.
    Conventions: ties count by their expectation; queries without a positive among the rows are left out; InputError
    if none has one.
    Example, run by doctest:
    >>> pairs = Supervision("product", list("abcd"), np.array([0, 0, 1, 1]))
    >>> score_codes(np.array([[1, 1], [1, 1], [-1, -1], [-1, -1]], np.int8), pairs, np.arange(4))
    1.0
    """
    lists = tied_lists(codes, labels, rows)
    asked = lists.relevant > 0
    if not asked.any():
        raise InputError(
            "no image of the split has a similar one in it",
            where=f"labels {labels.source}",
            hint="Use a larger --test-share, or other labels.",
        )
    value = (ndcg if len(lists.levels) > 2 else ap)(lists)
    return float(value[asked].mean())
