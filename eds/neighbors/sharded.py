"""Table neighbors in parts: top-k of a block of queries in a part of the gallery, then merged.

Each part gives its k best by exact scores (with ties: all that score as its k-th), of distinct products where one per
product counts. A candidate of the final list has fewer than k better ones anywhere, so also in its part: the
merge of these is the list, number by number that of `mine`, however the gallery was cut.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from eds.engines import Receipt, Site
from eds.engines.inputs import load_arrays, opened, save_arrays
from eds.errors import InputError
from eds.neighbors.exact import BLOCK
from eds.neighbors.mine import ENGINES, Mined, joined, passes, refuse_effort
from eds.neighbors.pace import Pace, beside_products
from eds.neighbors.parts import Part, Search, Whole
from eds.neighbors.rules import Rules
from eds.neighbors.shortlist import cut
from eds.neighbors.sides import Array, Sides
from eds.neighbors.similarity import similarity_of
from eds.vectors import Vectors

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class TopK:
    """The best candidates of some queries in one part of the gallery."""

    out: str
    part: Part
    rules: Rules
    engine: str
    metric: str | None
    threads: int


@dataclass(frozen=True)
class Merge:
    """The lists of some queries, from the parts of the gallery."""

    out: str
    parts: tuple[Receipt, ...]
    queries: int
    rules: Rules


def best_of_part(spec: TopK) -> Receipt:
    """Search one part; writes query, candidate and product numbers and exact scores, (n,) each."""
    with Search.opened(spec.part) as search:
        similarity = similarity_of(search.vectors, spec.metric, beside_products(spec.threads))
        pace = Pace.of(BLOCK, spec.threads)
        engine = ENGINES.load(spec.engine)(search.vectors, search.sides, spec.rules, similarity, pace)
        query, candidate, _, score = engine.search(0, len(search.sides.queries), lambda _: None).settle()
        product = search.sides.candidates.product[candidate]
        found = {"query": query, "candidate": search.numbers[candidate], "product": product, "score": score}
    return save_arrays(spec.out, len(query), found)


def merge(spec: Merge) -> Receipt:
    """Merge the parts' lists; writes query, candidate, rank and score, (n,) each, sorted by query and rank."""
    with opened(spec.parts) as files:
        parts = [load_arrays(file) for file in files]
    whole = {
        name: np.concatenate([part[name] for part in parts]) for name in ("query", "candidate", "product", "score")
    }
    query, candidate, rank, score = cut(
        whole["query"], whole["candidate"], whole["product"], whole["score"], spec.queries, spec.rules
    )
    found = {"query": query, "candidate": candidate, "rank": rank, "score": score}
    return save_arrays(spec.out, len(query), found)


def mine_in_parts(
    vectors: Vectors,
    images: pd.DataFrame,
    rules: Rules,
    site: Site,
    *,
    engine: str = "exact",
    metric: str | None = None,
    effort: float | None = None,
    progress: Progress | None = None,
) -> Mined:
    """What `mine_with_recall` gives with an exact engine, done at a site; `progress` is told (tasks done, tasks)."""
    refuse_effort(effort, engine, approximate=ENGINES.load(engine).approximate)
    if ENGINES.load(engine).approximate:
        raise InputError(
            f"an index is searched in one piece, and {engine} is one",
            do="Say --engine plain beside it, or leave --index out: parts are searched exactly.",
        )
    similarity_of(vectors, metric)  # refuses what cannot be compared, before anything is written
    sides = Sides.of(vectors, images, rules)
    pa.default_memory_pool().release_unused()  # what sorting took: the workers need it more
    whole = Whole(vectors, sides, site)
    blocks = passes(len(sides.queries), vectors.model.dimension, rules.k)
    galleries = [whole.save_gallery(f"gallery-{place:05d}.npz", numbers) for place, numbers in _cuts(whole)]
    nobody = np.empty(0, dtype=np.int64)
    searches, merges = [], []
    for place, (first, last) in enumerate(blocks):
        asked = whole.save_asked(f"queries-{place:05d}.npz", np.arange(first, last), nobody)
        row = []
        for number, (gallery, pieces) in enumerate(galleries):
            out, part = site.at(f"top-{place:05d}-{number:05d}.npz"), whole.part(asked, gallery, pieces)
            row.append(TopK(out, part, rules, engine, metric, site.settings.threads))
        searches.append(row)
    tasks = sum(map(len, searches)) + len(blocks)

    def found(done: int, _: int) -> None:
        if progress:
            progress(done, tasks)

    receipts = iter(site.finish(best_of_part, [spec for row in searches for spec in row], found))
    for place, ((first, last), row) in enumerate(zip(blocks, searches, strict=True)):
        parts = tuple(next(receipts) for _ in row)
        merges.append(Merge(site.at(f"lists-{place:05d}.npz"), parts, last - first, rules))
    merged = site.finish(merge, merges, lambda done, of: found(tasks - of + done, tasks))
    with opened(merged) as files:
        lists = [load_arrays(file) for file in files]
    found_rows = ((part["query"], part["candidate"], part["rank"], part["score"]) for part in lists)
    return joined(vectors.model.name, sides, rules, zip(blocks, found_rows, strict=True))


def _cuts(whole: Whole) -> "enumerate[Array]":
    """The candidates in parts of consecutive rows."""
    step = whole.site.settings.rows
    row_of = whole.sides.number_of_row
    starts = range(0, len(row_of), step)
    parts = (np.sort(part[part >= 0]) for part in (row_of[start : start + step] for start in starts))
    return enumerate([part for part in parts if len(part)] or [np.empty(0, dtype=np.int64)])
