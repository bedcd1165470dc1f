"""The score of codes on a split: tie-aware measures with drawn queries against the images they are compared with."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eds.errors import InputError
from eds.hashing.code_usage import code_usage
from eds.hashing.codes import distances, pack
from eds.hashing.collisions import mlgap
from eds.hashing.ties import TiedLists, ap, ap_best, ap_worst, ndcg
from eds.pairs import Integers
from eds.training.supervision import Supervision

MOST_QUERIES = 2000
BLOCK = 100  # queries whose similar items are looked up at once
RADIUS = 2  # of mLGAP; the worked example of its authors


@dataclass(frozen=True)
class CodeScore:
    """The codes of one split: every query against the other items that are searched."""

    measure: str  # APt, or nDCGt where labels are graded; of whole lists, divided by all relevant items
    expected: float  # over all orders of tied items; NaN: no query has a similar item
    optimistic: float | None  # AP with the best order of ties; None for nDCG
    pessimistic: float | None
    mlgap: float  # at radius 2
    codes_in_use: int
    queries: int  # with a similar item there
    drawn: int  # queries drawn, by seed
    items: int  # that are searched, the queries among them if they are


def draw_queries(rows: Integers) -> Integers:
    """At most 2,000 of the rows, drawn uniformly.

    Never the first ones: rows are sorted by id, and in a catalogue of folders these are one or two categories.

    >>> draw_queries(np.arange(3)).tolist()
    [0, 1, 2]
    """
    if len(rows) <= MOST_QUERIES:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, MOST_QUERIES, replace=False))


def tied_lists(
    codes: NDArray[np.int8], labels: Supervision, rows: Integers, asked: Integers | None = None
) -> TiedLists:
    """Distance histograms by grade: codes (items, bits) of -1 and 1 of all items, `asked` rows against `rows`.

    Default: `draw_queries` of `rows`. An item is never in its own list.
    """
    queries = draw_queries(rows) if asked is None else asked
    (packed, bits), (wanted, _) = pack(codes[rows]), pack(codes[queries])
    levels = labels.levels
    counts = np.zeros((len(queries), bits + 1, len(levels)), np.int64)
    for block, apart in distances(wanted, packed):
        cell = apart.astype(np.int64) * len(levels) + labels.affinity(queries[block], rows)
        for number, row in enumerate(cell, block.start):
            others = row[rows != queries[number]]
            counts[number] = np.bincount(others, minlength=counts[0].size).reshape(bits + 1, len(levels))
    return TiedLists(counts, levels)


def score_codes(codes: NDArray[np.int8], labels: Supervision, rows: Integers, *, defined: bool = True) -> float:
    """Mean expected AP over queries that have a positive; with graded labels mean expected nDCG.

    Codes (items, bits) of all items; `draw_queries` of `rows` are queries against the others.

    Formula: specification 8, AP_T and nDCG_T of the whole list.
    Source: specification 7 and 8.
    Conventions: ties count by their expectation; queries without a positive among the rows are left out; InputError
    if none has one, NaN if the score need not be `defined`.
    Example, run by doctest:
    >>> pairs = Supervision("product", list("abcd"), np.array([0, 0, 1, 1]))
    >>> score_codes(np.array([[1, 1], [1, 1], [-1, -1], [-1, -1]], np.int8), pairs, np.arange(4))
    1.0
    """
    lists = tied_lists(codes, labels, rows)
    value = (ndcg if len(lists.levels) > 2 else ap)(lists)
    return _mean(value[_with_positive(lists, labels, defined=defined)])


def measure_codes(
    codes: NDArray[np.int8],
    labels: Supervision,
    queries: Integers,
    searched: Integers | None = None,
    *,
    defined: bool = True,
) -> CodeScore:
    """The score of queries against the rows that are searched (default: against each other), with its bounds.

    Also how much of the code space the searched rows use. InputError if no query has a similar item, NaN if the score
    need not be `defined`.
    """
    rows = queries if searched is None else searched
    drawn = draw_queries(queries)
    lists, graded = tied_lists(codes, labels, rows, drawn), len(labels.levels) > 2
    asked = _with_positive(lists, labels, defined=defined)
    similar = np.concatenate(
        [labels.affinity(part, rows) > 0 for part in np.array_split(drawn[asked], 1 + len(drawn) // BLOCK)]
    )
    similar &= drawn[asked][:, None] != rows
    return CodeScore(
        "nDCGt" if graded else "APt",
        _mean((ndcg if graded else ap)(lists)[asked]),
        None if graded else _mean(ap_best(lists)[asked]),
        None if graded else _mean(ap_worst(lists)[asked]),
        mlgap(codes[drawn[asked]], codes[rows], similar, RADIUS)
        if codes.shape[1] >= RADIUS and asked.any()
        else float("nan"),
        int(code_usage(codes[rows])["distinct"]),
        int(asked.sum()),
        len(drawn),
        len(rows),
    )


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _with_positive(lists: TiedLists, labels: Supervision, *, defined: bool) -> NDArray[np.bool_]:
    asked: NDArray[np.bool_] = lists.relevant > 0
    if defined and not asked.any():
        raise InputError(
            "no image of the split has a similar one among those it is compared with",
            where=f"labels {labels.source}",
            hint="Use a larger --test-share, another split (eds training split), or other labels.",
        )
    return asked
