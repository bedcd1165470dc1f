"""Ranks of given pairs in parts: each part counts who comes before, and the counts are added.

Where one image per product counts, a part holds whole products, so that each product is counted once and the part
with the pair's own product tells whether a better image shows it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from eds.engines import Receipt, Site
from eds.engines.inputs import load_arrays, opened, save_arrays
from eds.neighbors.pace import Pace, beside_products
from eds.neighbors.parts import Part, Search, Whole
from eds.neighbors.ranks import BLOCK, QUERY_CELLS, askable, counted
from eds.neighbors.rules import Rules
from eds.neighbors.sides import Array, Sides
from eds.neighbors.similarity import similarity_of
from eds.vectors import Vectors

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Count:
    """Who of one part of the gallery comes before some pairs."""

    out: str
    part: Part
    pairs: Receipt  # query and candidate numbers, (n,) each, sorted by query
    rules: Rules
    threads: int


def count(spec: Count) -> Receipt:
    """Count one part; writes `before`, (pairs,) int64; -1 where a better image shows the product."""
    with opened([spec.pairs]) as (file,), Search.opened(spec.part) as search:
        pairs = load_arrays(file)
        before = counted(
            search.vectors,
            search.sides,
            spec.rules,
            similarity_of(search.vectors, threads=beside_products(spec.threads)),
            Pace.of(BLOCK, spec.threads),
            pairs["query"],
            np.searchsorted(search.numbers, pairs["candidate"]),
            search.passing,
        )
    return save_arrays(spec.out, len(before), {"before": before})


def ranks_in_parts(
    vectors: Vectors,
    images: pd.DataFrame,
    pairs: pd.DataFrame,
    rules: Rules,
    site: Site,
    *,
    progress: Progress | None = None,
) -> Array:
    """What `pair_ranks` gives, done at a site; `progress` is told (tasks done, tasks)."""
    similarity_of(vectors)  # refuses what cannot be compared, before anything is written
    sides = Sides.of(vectors, images, rules)
    query, candidate, known = askable(sides, pairs, images, rules)
    found = np.full(len(pairs), -1, dtype=np.int64)
    whole = Whole(vectors, sides, site)
    galleries = [whole.save_gallery(f"counted-{place:05d}.npz", part) for place, part in enumerate(_cuts(whole, rules))]
    blocks, specs = list(_blocks(query[known], vectors.model.dimension)), []
    for place, block in enumerate(blocks):
        asked, local = np.unique(query[known[block]], return_inverse=True)
        numbers = candidate[known[block]]
        given = whole.save_asked(f"asked-{place:05d}.npz", asked, np.unique(numbers))
        listed = save_arrays(site.at(f"pairs-{place:05d}.npz"), len(numbers), {"query": local, "candidate": numbers})
        for number, (gallery, pieces) in enumerate(galleries):
            part = whole.part(given, gallery, pieces)
            out = site.at(f"before-{place:05d}-{number:05d}.npz")
            specs.append(Count(out, part, listed, rules, site.settings.threads))
    receipts = iter(site.finish(count, specs, progress))
    for block in blocks:
        with opened([next(receipts) for _ in galleries]) as files:
            before = [load_arrays(file)["before"] for file in files]
        bettered = np.any([part < 0 for part in before], axis=0)
        found[known[block]] = np.where(bettered, -1, np.sum(before, axis=0))
    return found


def _blocks(query: Array, dimension: int) -> Iterator[slice]:
    """Pairs, (n,) sorted by query, in runs of whole queries whose vectors, and those of the pairs, fit in memory."""
    step, first = max(1, QUERY_CELLS // dimension), 0
    while first < len(query):
        last = int(np.searchsorted(query, query[min(first + step, len(query)) - 1], side="right"))
        yield slice(first, last)
        first = last


def _cuts(whole: Whole, rules: Rules) -> Iterator[Array]:
    """The candidates in parts, numbers ascending: consecutive rows, or whole products."""
    candidates, step = whole.sides.candidates, whole.site.settings.rows
    key = candidates.product if rules.one_per_product else candidates.rows
    order = np.argsort(key, kind="stable")
    first = 0
    while first < len(order):
        last = min(first + step, len(order))
        if rules.one_per_product:
            last = int(np.searchsorted(key[order], key[order[last - 1]], side="right"))
        yield np.sort(order[first:last])
        first = last
