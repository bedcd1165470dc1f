"""Scores and ranks of given pairs, without sorting whole rows: what every metric needs."""

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.neighbors.blocking import RANK_BLOCK, Blocking, threads_beside_products
from eds.neighbors.query_gallery import Array, QueryGallery, Side, named
from eds.neighbors.rank_counting import QUERY_CELLS, Progress, count_ranks
from eds.neighbors.rules import Rules
from eds.neighbors.similarity import similarity_of
from eds.neighbors.tasks import Whole, count_in_parts
from eds.pairs import encode, to_text
from eds.parallel import Executor
from eds.vectors import Vectors


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
    similarity = similarity_of(vectors, metric, Blocking.of(RANK_BLOCK, threads).threads)
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
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Array:
    """The place of each given pair in its query's full list; (pairs,) int64.

    Formula: R(q, c) = number of candidates (of products, if one per product) that the rules allow and
    that come before c by (score descending, id ascending).
    Source: specification 0 and 1.1: zero-based R_m; without a cut: rules.k and keep_ties play no part.
    Conventions: -1 where the rules leave c out: the query itself, its product, another category, no
    candidate, or not the best image of its product.
    Example: see tests/neighbors/test_ranks.py, against a full sort.

    With an executor the counting is done in parts; `progress` then gets (tasks done, tasks).
    """
    blocking = Blocking.of(RANK_BLOCK if block is None else block, threads)
    similarity = similarity_of(vectors, metric, threads_beside_products(blocking.threads))
    sides = QueryGallery.of(vectors, images, rules)
    query, candidate, known = askable(sides, pairs, images, rules)
    found = np.full(len(pairs), -1, dtype=np.int64)
    query, candidate = query[known], candidate[known]
    if executor:
        found[known] = count_in_parts(Whole(vectors, sides, executor), rules, query, candidate, metric, progress)
    else:
        every = np.ones(len(sides.candidates), dtype=bool)
        found[known] = count_ranks(
            vectors, sides, rules, similarity, blocking, query, candidate, every, progress=progress
        )
    return found


def askable(sides: QueryGallery, pairs: pd.DataFrame, images: pd.DataFrame, rules: Rules) -> tuple[Array, Array, Array]:
    """Numbers of each pair's query and candidate, (pairs,) int64, and places of the pairs that the rules let in.

    These places are sorted by query. Refused: pairs of images that are no query, or unknown.
    """
    query, candidate = _numbers(sides.queries, pairs, "query_id"), _numbers(sides.candidates, pairs, "candidate_id")
    _refuse_strangers(query, candidate, pairs, images)
    known = np.flatnonzero(candidate >= 0)
    known = known[sides.allowed(query[known], candidate[known], rules)]
    return query, candidate, known[np.argsort(query[known], kind="stable")]


def _numbers(side: Side, pairs: pd.DataFrame, column: str) -> Array:
    """(pairs,) int64: each id's number on that side, -1 where it has none."""
    return encode(pairs[column], side.ids)


def _refuse_strangers(query: Array, candidate: Array, pairs: pd.DataFrame, images: pd.DataFrame) -> None:
    """Raise InputError if a pair asks about an image that is not a query, or names an unknown candidate."""
    faults = []
    no_query = pairs.loc[query < 0, "query_id"].unique()
    if len(no_query):
        faults.append(f"query_id: {len(no_query):,} are not queries of table images: {named(no_query)}")
    others = pairs.loc[candidate < 0, "candidate_id"].drop_duplicates()
    known = set(images["image_id"]) if len(others) else set()
    unknown = [name for name in others.tolist() if name not in known]
    if len(unknown):
        faults.append(f"candidate_id: {len(unknown):,} are unknown to table images: {named(unknown)}")
    if faults:
        raise InputError("these pairs cannot be ranked", where="pairs", hint="Correct them:", faults=faults)
