"""Scores and ranks of given pairs, without sorting whole rows: what every metric needs."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.neighbors.counter import Counter
from eds.neighbors.pace import Pace, beside_products
from eds.neighbors.rules import Rules
from eds.neighbors.sides import Array, Side, Sides, named
from eds.neighbors.similarity import Similarity, similarity_of
from eds.pairs import encode, to_text
from eds.vectors import Vectors

Progress = Callable[[int, int], None]
BLOCK = 8192  # vectors in a block
QUERY_CELLS = 1 << 24  # numbers of all queries of one pass


def pair_scores(
    vectors: Vectors, pairs: pd.DataFrame, *, metric: str | None = None, threads: int | None = None
) -> Array:
    """The exact similarity of each given pair; (pairs,) float64. Any two images that have vectors will do."""
    rows = (vectors.rows_of(to_text(pairs[name])) for name in ("query_id", "candidate_id"))
    return row_scores(vectors, *rows, metric=metric, threads=threads)


def row_scores(
    vectors: Vectors, query: Array, candidate: Array, *, metric: str | None = None, threads: int | None = None
) -> Array:
    """The same of the rows in which the vectors stand, (pairs,) int64 each."""
    asked = np.flatnonzero(np.bincount(query, minlength=len(vectors)))
    number = np.empty(len(vectors), dtype=np.int64)
    number[asked] = np.arange(len(asked))
    query = number[query]
    similarity = similarity_of(vectors, metric, Pace.of(BLOCK, threads).threads)
    found = np.empty(len(query))
    step = max(1, QUERY_CELLS // vectors.model.dimension)
    for first in range(0, len(asked), step):
        part = np.flatnonzero((query >= first) & (query < first + step))
        similarity.ask(asked[first : first + step])
        found[part] = similarity.exact(query[part] - first, candidate[part])
    similarity.refuse_bad()
    return found


def pair_ranks(
    vectors: Vectors,
    images: pd.DataFrame,
    pairs: pd.DataFrame,
    rules: Rules,
    *,
    metric: str | None = None,
    block: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Array:
    """The place of each given pair in its query's full list; (pairs,) int64.

    Formula: R(q, c) = number of candidates (of products, if one per product) that the rules allow and
    that come before c by (score descending, id ascending).
    Source: specification 0 and 1.1: zero-based R_m; without a cut: rules.k and keep_ties play no part.
    Conventions: -1 where the rules leave c out: the query itself, its product, another category, no
    candidate, or not the best image of its product.
    Example: see tests/neighbors/test_ranks.py, against a full sort.
    """
    sides = Sides.of(vectors, images, rules)
    query, candidate, known = askable(sides, pairs, images, rules)
    found = np.full(len(pairs), -1, dtype=np.int64)
    pace = Pace.of(BLOCK if block is None else block, threads)
    every = np.ones(len(sides.candidates), dtype=bool)
    similarity = similarity_of(vectors, metric, beside_products(pace.threads))
    found[known] = counted(
        vectors, sides, rules, similarity, pace, query[known], candidate[known], every, progress=progress
    )
    return found


def askable(sides: Sides, pairs: pd.DataFrame, images: pd.DataFrame, rules: Rules) -> tuple[Array, Array, Array]:
    """Numbers of each pair's query and candidate, (pairs,) int64, and places of the pairs that the rules let in.

    These places are sorted by query. Refused: pairs of images that are no query, or unknown.
    """
    query, candidate = _numbers(sides.queries, pairs, "query_id"), _numbers(sides.candidates, pairs, "candidate_id")
    _refuse_strangers(query, candidate, pairs, images)
    known = np.flatnonzero(candidate >= 0)
    known = known[sides.allowed(query[known], candidate[known], rules)]
    return query, candidate, known[np.argsort(query[known], kind="stable")]


def counted(
    vectors: Vectors,
    sides: Sides,
    rules: Rules,
    similarity: Similarity,
    pace: Pace,
    query: Array,
    candidate: Array,
    passing: Array,
    *,
    progress: Progress | None = None,
) -> Array:
    """Rank of each pair of numbers, (n,) int64 sorted by query, among the candidates that pass, (candidates,) bool.

    -1 where one of them is a better image of the pair's product. Products must pass whole if one per product counts.
    """
    found = np.empty(len(query), dtype=np.int64)
    asked, serial = np.unique(query, return_inverse=True)
    step = max(1, QUERY_CELLS // vectors.model.dimension)
    passes, total = range(0, len(asked), step), int(passing.sum())
    with ThreadPoolExecutor(pace.threads) as pool:
        for number, first in enumerate(passes):
            low, high = np.searchsorted(serial, [first, first + step])
            counter = Counter(sides, rules, similarity, asked[first : first + step])
            counter.take(serial[low:high] - first, candidate[low:high])
            done = 0
            for columns, stored in _blocks(vectors, sides, rules, pace.block, passing):
                counter.count(columns, stored, pool, pace.threads)
                done += len(columns)
                if progress:
                    progress(number * total + done, len(passes) * total)
            similarity.refuse_bad()
            found[low:high] = counter.ranks()
    return found


def _blocks(vectors: Vectors, sides: Sides, rules: Rules, block: int, passing: Array) -> Iterator[tuple[Array, Array]]:
    """The candidates that pass in blocks, (numbers, stored); whole products in one block if one per product."""
    if not rules.one_per_product:
        for start, stored in vectors.blocks(block):
            number = sides.number_of_row[start : start + len(stored)]
            ours = (number >= 0) & passing[number]
            yield (number, stored) if ours.all() else (number[ours], stored[ours])
        return
    order = np.argsort(sides.candidates.product, kind="stable")
    order = order[passing[order]]
    product = sides.candidates.product[order]
    start = 0
    while start < len(order):
        stop = int(np.searchsorted(product, product[min(start + block, len(order)) - 1], side="right"))
        yield order[start:stop], vectors.take(sides.candidates.rows[order[start:stop]])
        start = stop


def _numbers(side: Side, pairs: pd.DataFrame, column: str) -> Array:
    """(pairs,) int64: each id's number on that side, -1 where it has none."""
    return encode(pairs[column], side.ids)


def _refuse_strangers(query: Array, candidate: Array, pairs: pd.DataFrame, images: pd.DataFrame) -> None:
    """Raise InputError if a pair asks about an image that is no query, or names an unknown candidate."""
    faults = []
    no_query = pairs.loc[query < 0, "query_id"].unique()
    if len(no_query):
        faults.append(f"query_id: {len(no_query):,} are no queries of table images: {named(no_query)}")
    others = pairs.loc[candidate < 0, "candidate_id"].drop_duplicates()
    known = set(images["image_id"]) if len(others) else set()
    unknown = [name for name in others.tolist() if name not in known]
    if len(unknown):
        faults.append(f"candidate_id: {len(unknown):,} are unknown to table images: {named(unknown)}")
    if faults:
        raise InputError("these pairs cannot be ranked", where="pairs", do="Mend them:", faults=faults)
