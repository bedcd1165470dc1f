"""Each query's most similar candidates: table `neighbors` of one model."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pyarrow as pa

from eds.errors import InputError
from eds.neighbors.blocking import BLOCK, Blocking, threads_beside_products
from eds.neighbors.query_gallery import Array, QueryGallery
from eds.neighbors.rules import Rules
from eds.neighbors.shortlist import Found
from eds.neighbors.similarity import similarity_of
from eds.neighbors.tasks import Whole, find_in_parts
from eds.pairs import decode
from eds.parallel import Executor
from eds.registry import SEARCHES
from eds.vectors import Vectors

Progress = Callable[[int, int], None]
QUERY_CELLS = 1 << 24  # numbers of all queries of one pass over the gallery
LIST_CELLS = 1 << 22  # entries of all lists of one pass
RECALL_QUERIES = 200  # at least; queries whose lists an approximate search must find again
LOWEST_RECALL = 0.99


@dataclass(frozen=True)
class Mined:
    """What a search gave, and how far it can be trusted."""

    lists: pd.DataFrame  # table neighbors
    recall: float | None = None  # of an approximate search, against the exact lists of a sample
    compared: int = 0  # queries in that sample
    short: int = 0  # queries with fewer than k candidates: no more are left under the rules


def mine(
    vectors: Vectors,
    images: pd.DataFrame,
    rules: Rules,
    *,
    search: str = "exact",
    metric: str | None = None,
    block: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Table neighbors of one model: for each query its k nearest candidates under the rules.

    Queries are the images with role query or both, candidates those with role candidate or both. A
    query with fewer than k candidates left gets them all. Ranks go by (score descending, id
    ascending); scores are float64 and the same with any block, thread count, row order and engine.
    """
    return mine_with_recall(
        vectors, images, rules, search=search, metric=metric, block=block, threads=threads, progress=progress
    ).lists


def mine_with_recall(
    vectors: Vectors,
    images: pd.DataFrame,
    rules: Rules,
    *,
    search: str = "exact",
    metric: str | None = None,
    block: int | None = None,
    threads: int | None = None,
    lowest_recall: float = LOWEST_RECALL,
    effort: float | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Mined:
    """As `mine`, with how complete the lists are; an approximate search's recall is measured, and refused if low.

    `effort` is how many times as hard as usual (1.0) an approximate search works: its recall grows with it. With a
    executor the search is done in parts, and `progress` gets (tasks done, tasks); only exact searches can be.
    """
    blocking = Blocking.of(BLOCK if block is None else block, threads)
    make = SEARCHES.load(search)
    _check_effort(effort, search, approximate=make.approximate)
    similarity = similarity_of(vectors, metric, threads_beside_products(blocking.threads))
    sides = QueryGallery.of(vectors, images, rules)
    parts = passes(len(sides.queries), vectors.model.dimension, rules.k)
    if executor:
        lists = find_in_parts(Whole(vectors, sides, executor), parts, rules, search, metric, progress)
        return join_lists(vectors.model.name, sides, rules, zip(parts, lists, strict=True))
    inputs = (vectors, sides, rules, similarity, blocking)
    searcher = make(*inputs, effort or 1.0) if make.approximate else make(*inputs)
    done = 0

    def advance(rows: int) -> None:
        nonlocal done
        done += rows
        if progress:
            progress(done, len(parts) * sides.total_rows)

    found = (searcher.search(first, last, advance).settle() for first, last in parts)
    whole = join_lists(vectors.model.name, sides, rules, zip(parts, found, strict=True))
    if not searcher.approximate:
        return whole
    recall, compared = _recall(whole.lists, vectors, images, rules, metric, blocking)
    if recall < lowest_recall:
        raise InputError(
            f"recall is {recall:.4f} against the exact lists of {compared:,} queries, below {lowest_recall}",
            where=f"search {search}, model {vectors.model.name}",
            hint=f"Search harder (--effort {4 * (effort or 1.0):g}), or use --search exact: "
            "what an index misses is never judged. Or allow it: --allow-low-recall.",
        )
    return replace(whole, recall=recall, compared=compared)


def join_lists(model: str, sides: QueryGallery, rules: Rules, found: Iterable[tuple[tuple[int, int], Found]]) -> Mined:
    """The lists of all passes, (first and last query, query, candidate, rank and score of each row), as one table."""
    frames = [
        _frame(model, sides, query + first, candidate, rank, score)
        for (first, _), (query, candidate, rank, score) in found
    ]
    lists = pd.concat(frames, ignore_index=True)
    full = lists.groupby("query_id").size().to_numpy() >= rules.k
    return Mined(lists, short=len(sides.queries) - int(full.sum()))


def _check_effort(effort: float | None, search: str, *, approximate: bool) -> None:
    """Raise InputError if an effort is given that is none, or to a search that finds everything anyway."""
    if effort is not None and not approximate:
        raise InputError(f"search {search} finds everything", hint="Leave the effort out: it is for indexes.")
    if effort is not None and not 0 < effort < float("inf"):
        raise InputError(f"effort is {effort!r}", hint="Give a number above 0; 1 is the usual effort.")


def passes(queries: int, dimension: int, k: int) -> list[tuple[int, int]]:
    """The queries in portions whose vectors and lists fit in memory."""
    step = max(1, min(QUERY_CELLS // dimension, LIST_CELLS // k))
    return [(first, min(first + step, queries)) for first in range(0, queries, step)] or [(0, 0)]


def _frame(model: str, sides: QueryGallery, query: Array, candidate: Array, rank: Array, score: Array) -> pd.DataFrame:
    """Rows of table neighbors, sorted by query and rank."""
    names = {
        "model": decode(np.zeros(len(query), np.int64), pa.array([model])),
        "query_id": decode(query, sides.queries.ids),
        "candidate_id": decode(candidate, sides.candidates.ids),
    }
    return pd.DataFrame({**names, "rank": rank, "score": score})


def _recall(
    lists: pd.DataFrame, vectors: Vectors, images: pd.DataFrame, rules: Rules, metric: str | None, blocking: Blocking
) -> tuple[float, int]:
    """Share of the exact lists' entries that were found, over a sample of queries spread by id; its size."""
    asked = np.sort(images.loc[images["role"] != "candidate", "image_id"].to_numpy(dtype=object))
    sample = asked[:: max(1, len(asked) // RECALL_QUERIES)]
    role = images["role"].to_numpy(dtype=object).copy()
    role[(role == "both") & ~images["image_id"].isin(sample).to_numpy()] = "candidate"
    kept = images.assign(role=role)
    kept = kept[(kept["role"] != "query") | kept["image_id"].isin(sample)]
    exact = mine(vectors, kept, rules, metric=metric, block=blocking.block, threads=blocking.threads)
    both = exact.merge(lists, on=["query_id", "candidate_id"])
    return (len(both) / len(exact) if len(exact) else 1.0), len(sample)
