"""Each query's most similar candidates: table `neighbors` of one model."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pyarrow as pa

from eds.errors import InputError
from eds.neighbors.exact import BLOCK
from eds.neighbors.pace import Pace, beside_products
from eds.neighbors.ranks import pair_ranks, pair_scores
from eds.neighbors.rules import Rules
from eds.neighbors.sides import Array, Sides
from eds.neighbors.similarity import similarity_of
from eds.pairs import decode
from eds.registry import Entry, Registry
from eds.vectors import Vectors

__all__ = ["ENGINES", "Mined", "Rules", "mine", "mine_with_recall", "pair_ranks", "pair_scores"]

Progress = Callable[[int, int], None]
Found = tuple[Array, Array, Array, Array]  # query, candidate, rank and score of each row
ENGINES = Registry(
    "engine",
    {
        "exact": Entry("eds.neighbors.exact:Exact", "every candidate, in blocks"),
        "faiss": Entry("eds.neighbors.faiss_engine:Flat", "every candidate, by faiss", "scale"),
        "faiss-ivf": Entry("eds.neighbors.faiss_indexes:Ivf", "approximate: clusters", "scale"),
        "faiss-ivf-sq8": Entry("eds.neighbors.faiss_indexes:IvfSq8", "approximate: clusters, in 8 bits", "scale"),
        "faiss-ivf-pq": Entry("eds.neighbors.faiss_indexes:IvfPq", "approximate: clusters, in 64 bytes", "scale"),
        "faiss-hnsw": Entry("eds.neighbors.faiss_indexes:Hnsw", "approximate: a graph", "scale"),
    },
)
QUERY_CELLS = 1 << 24  # numbers of all queries of one pass over the gallery
LIST_CELLS = 1 << 22  # entries of all lists of one pass
RECALL_QUERIES = 200  # at least; queries whose lists an approximate engine must find again
LOWEST_RECALL = 0.99


@dataclass(frozen=True)
class Mined:
    """What a search gave, and how far it can be trusted."""

    lists: pd.DataFrame  # table neighbors
    recall: float | None = None  # of an approximate engine, against the exact lists of a sample
    compared: int = 0  # queries in that sample
    short: int = 0  # queries with fewer than k candidates: no more are left under the rules


def mine(
    vectors: Vectors,
    images: pd.DataFrame,
    rules: Rules,
    *,
    engine: str = "exact",
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
        vectors, images, rules, engine=engine, metric=metric, block=block, threads=threads, progress=progress
    ).lists


def mine_with_recall(
    vectors: Vectors,
    images: pd.DataFrame,
    rules: Rules,
    *,
    engine: str = "exact",
    metric: str | None = None,
    block: int | None = None,
    threads: int | None = None,
    lowest_recall: float = LOWEST_RECALL,
    effort: float | None = None,
    progress: Progress | None = None,
) -> Mined:
    """As `mine`, with what is worth telling; an approximate engine's recall is measured, and refused if low.

    `effort` is how many times as hard as usual (1.0) an approximate engine searches: its recall grows with it.
    """
    pace = Pace.of(BLOCK if block is None else block, threads)
    make = ENGINES.load(engine)
    refuse_effort(effort, engine, approximate=make.approximate)
    sides = Sides.of(vectors, images, rules)
    given = (vectors, sides, rules, similarity_of(vectors, metric, beside_products(pace.threads)), pace)
    searcher = make(*given, effort or 1.0) if make.approximate else make(*given)
    parts = passes(len(sides.queries), vectors.model.dimension, rules.k)
    done = 0

    def advance(rows: int) -> None:
        nonlocal done
        done += rows
        if progress:
            progress(done, len(parts) * sides.total_rows)

    found = (searcher.search(first, last, advance).settle() for first, last in parts)
    whole = joined(vectors.model.name, sides, rules, zip(parts, found, strict=True))
    if not searcher.approximate:
        return whole
    recall, compared = _recall(whole.lists, vectors, images, rules, metric, pace)
    if recall < lowest_recall:
        raise InputError(
            f"recall is {recall:.4f} against the exact lists of {compared:,} queries, below {lowest_recall}",
            where=f"engine {engine}, model {vectors.model.name}",
            do=f"Search harder (--effort {4 * (effort or 1.0):g}), or use --engine exact: "
            "what an index misses is never judged. Or allow it: --allow-low-recall.",
        )
    return replace(whole, recall=recall, compared=compared)


def joined(model: str, sides: Sides, rules: Rules, found: Iterable[tuple[tuple[int, int], Found]]) -> Mined:
    """The lists of all passes, (first and last query, query, candidate, rank and score of each row), as one table."""
    frames = [
        _frame(model, sides, query + first, candidate, rank, score)
        for (first, _), (query, candidate, rank, score) in found
    ]
    lists = pd.concat(frames, ignore_index=True)
    full = lists.groupby("query_id").size().to_numpy() >= rules.k
    return Mined(lists, short=len(sides.queries) - int(full.sum()))


def refuse_effort(effort: float | None, engine: str, *, approximate: bool) -> None:
    """Raise InputError if an effort is given that is none, or to an engine that finds everything anyway."""
    if effort is not None and not approximate:
        raise InputError(f"engine {engine} finds everything", do="Leave the effort out: it is for indexes.")
    if effort is not None and not 0 < effort < float("inf"):
        raise InputError(f"effort is {effort!r}", do="Give a number above 0; 1 is the usual effort.")


def passes(queries: int, dimension: int, k: int) -> list[tuple[int, int]]:
    """The queries in portions whose vectors and lists fit in memory."""
    step = max(1, min(QUERY_CELLS // dimension, LIST_CELLS // k))
    return [(first, min(first + step, queries)) for first in range(0, queries, step)] or [(0, 0)]


def _frame(model: str, sides: Sides, query: Array, candidate: Array, rank: Array, score: Array) -> pd.DataFrame:
    """Rows of table neighbors, sorted by query and rank."""
    names = {
        "model": decode(np.zeros(len(query), np.int64), pa.array([model])),
        "query_id": decode(query, sides.queries.ids),
        "candidate_id": decode(candidate, sides.candidates.ids),
    }
    return pd.DataFrame({**names, "rank": rank, "score": score})


def _recall(
    lists: pd.DataFrame, vectors: Vectors, images: pd.DataFrame, rules: Rules, metric: str | None, pace: Pace
) -> tuple[float, int]:
    """Share of the exact lists' entries that were found, over a sample of queries spread by id; its size."""
    asked = np.sort(images.loc[images["role"] != "candidate", "image_id"].to_numpy(dtype=object))
    sample = asked[:: max(1, len(asked) // RECALL_QUERIES)]
    role = images["role"].to_numpy(dtype=object).copy()
    role[(role == "both") & ~images["image_id"].isin(sample).to_numpy()] = "candidate"
    kept = images.assign(role=role)
    kept = kept[(kept["role"] != "query") | kept["image_id"].isin(sample)]
    exact = mine(vectors, kept, rules, metric=metric, block=pace.block, threads=pace.threads)
    both = exact.merge(lists, on=["query_id", "candidate_id"])
    return (len(both) / len(exact) if len(exact) else 1.0), len(sample)
