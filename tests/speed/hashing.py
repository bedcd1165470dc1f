"""Codes by the million: lists beside faiss, histograms beside the distances alone, tie-aware measures beside sorting.

Ratios within one run, everything on two threads; run it on a quiet machine: python -m tests.speed.hashing.
`--plain`: the ways without numba. "The distances alone" has three readings, told beside each other: all of them added
up and none written (the fastest that is thinkable), each written into a buffer in cache that the next ones overwrite
(what whoever uses them needs at least), and the whole matrix of them written to memory, a byte each.
"""

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import faiss
import numpy as np
import pandas as pd

from eds.hashing import hamming
from eds.hashing.histograms import CodeGallery, Grading, Histograms
from eds.hashing.ties import TiedLists, ap, ndcg
from eds.neighbors import Rules, mine
from eds.neighbors.code_search import code_gallery
from tests.neighbors.galleries import InMemory
from tests.timing import best

CODES, BITS, K, THREADS = 1_000_000, 64, 100, 2
SORTED = 20  # queries whose rankings are sorted; the time of the others is inferred
Array = np.ndarray[Any, np.dtype[Any]]
Way = Callable[[Array, Array, int], Any]  # queries, codes, number of the first query


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--plain", action="store_true", help="without numba")
    options.add_argument("--queries", type=int, default=2000)
    given = options.parse_args()
    if given.plain:
        hamming.WORTH = 1 << 62
    draw = np.random.default_rng(0)
    codes = draw.integers(0, 1 << 64, CODES, dtype=np.uint64)
    ids = [f"i{n:07d}" for n in range(CODES)]
    vectors = InMemory(ids, codes.view(np.uint8).reshape(-1, BITS // 8), "hamming", BITS, CODES)
    chosen = np.zeros(CODES, bool)
    chosen[:: CODES // given.queries] = True
    images = pd.DataFrame(
        {
            "image_id": ids,
            "product_id": [f"p{n // 6}" for n in range(CODES)],
            "category": [f"c{n}" for n in draw.integers(0, 50, CODES)],
            "role": np.where(chosen, "both", "candidate"),
        }
    )
    asked = codes[chosen]
    print(f"{len(asked):,} queries, {CODES:,} codes of {BITS} bits, {THREADS} threads")
    lists(vectors, images, codes, asked)
    graded = histograms(code_gallery(vectors, images), codes, asked)
    measures(images, codes, chosen, graded)


def lists(vectors: InMemory, images: pd.DataFrame, codes: Array, asked: Array) -> None:
    """Lists of `mine`, with their table, beside faiss' search alone."""
    faiss.omp_set_num_threads(THREADS)
    index = faiss.IndexBinaryFlat(BITS)
    index.add(codes.view(np.uint8).reshape(-1, BITS // 8))
    bytes_ = asked.view(np.uint8).reshape(-1, BITS // 8)
    peer = best(lambda: index.search(bytes_, K), 3)
    print(f"faiss IndexBinaryFlat, k = {K}: {peer:.3f} s, no rules, no table")
    ways = {
        "every candidate": Rules(K, False, False),
        "ties kept": Rules(K, False, False, keep_ties=True),
        "one image of each other product": Rules(K),
    }
    for name, rules in ways.items():
        start = time.perf_counter()
        mine(vectors, images, rules, threads=THREADS)
        first = time.perf_counter() - start
        seconds = best(lambda rules=rules: mine(vectors, images, rules, threads=THREADS), 3)  # type: ignore[misc]
        print(f"mine, {name}: {seconds:.3f} s, {seconds / peer:.2f} x faiss (first call {first:.2f} s)")


def histograms(codes: CodeGallery, items: Array, asked: Array) -> Histograms:
    """Counts by distance, and by distance and grade, beside all distances written down."""
    alone = {}
    for name, alone_way in alone_ways(len(asked), len(items)).items():
        shared(alone_way, asked[:THREADS], items)  # compiled before the clock starts
        alone[name] = best(partial(shared, alone_way, asked, items), 5)
        print(f"distances alone, {name}: {alone[name]:.3f} s")
    grading = Grading(columns=("product_id", "category"), exclude_product=False)
    ways: dict[str, Callable[[], Any]] = {
        "histograms": lambda: hamming.distance_counts(asked, items, BITS, THREADS),
        "histograms by three grades": lambda: codes.histograms(grading, threads=THREADS),
    }
    for name, way in ways.items():
        way()
        seconds = best(way, 5)
        times = ", ".join(f"{seconds / other:.2f} x ({told})" for told, other in alone.items())
        print(f"{name}: {seconds:.3f} s; the distances alone {times}")
    return codes.histograms(grading, threads=THREADS)


def shared(way: Way, asked: Array, items: Array) -> None:
    """Let the threads share the queries."""
    parts = np.array_split(np.arange(len(asked)), THREADS)
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda part: way(asked[part], items, int(part[0])), parts))


def alone_ways(queries: int, total: int) -> dict[str, Way]:
    """Every distance of queries and codes, with one of three uses."""
    apart = np.empty((queries, total), np.uint8)
    if hamming.WORTH > 1 << 61:
        return {
            "all written to memory": lambda asked, items, at: hamming.distances(
                asked, items, apart[at : at + len(asked)]
            )
        }
    import numba

    from eds.hashing.kernels import BLOCK, distances, ones, set_distances

    @numba.njit(nogil=True)
    def added(asked: Array, items: Array) -> Any:
        found = np.uint64(0)
        for low in range(0, len(items), BLOCK):
            block = items[low : low + BLOCK]
            for number in range(len(asked)):
                query = asked[number]
                for place in range(len(block)):
                    found += ones(block[place] ^ query)
        return found

    @numba.njit(nogil=True)
    def buffered(asked: Array, items: Array, buffer: Array) -> None:
        for low in range(0, len(items), BLOCK):
            for query in asked:
                set_distances(items[low : low + BLOCK], query, buffer)

    return {
        "added up, none written": lambda asked, items, at: added(asked, items),
        "written into a buffer in cache": lambda asked, items, at: buffered(asked, items, np.empty(BLOCK, np.uint8)),
        "all written to memory": lambda asked, items, at: distances(asked, items, apart[at : at + len(asked)]),
    }


def measures(images: pd.DataFrame, codes: Array, chosen: Array, graded: Histograms) -> None:
    """Tie-aware AP and nDCG: from histograms alone, and from codes to value beside a sort of each ranking."""
    seconds = {}
    for name, measure in (("AP", ap), ("nDCG", ndcg)):
        for k in (K, None):
            seconds[name, k] = best(lambda m=measure, k=k: m(TiedLists(graded.counts, graded.levels, k)), 3)  # type: ignore[misc]
            print(f"{name} at {k or 'all'} from histograms: {seconds[name, k] * 1000:.0f} ms")
    product, category = (pd.factorize(images[name])[0] for name in ("product_id", "category"))
    discount = 1 / np.log2(np.arange(2, len(codes) + 2))
    places = np.flatnonzero(chosen)[:SORTED]
    start = time.perf_counter()
    for place in places:
        order = np.argsort(np.bitwise_count(codes ^ codes[place]), kind="stable")
        grade = ((product == product[place]).astype(np.int8) + (category == category[place]))[order]
        relevant = np.flatnonzero(grade)
        float((np.arange(1, len(relevant) + 1) / (relevant + 1)).mean())
        gain = 2.0**grade - 1
        float(gain @ discount) / float(np.sort(gain)[::-1] @ discount)
    by_sorting = (time.perf_counter() - start) / SORTED * chosen.sum() / THREADS
    grading = Grading(columns=("product_id", "category"), exclude_product=False)
    vectors = InMemory(images["image_id"].tolist(), codes.view(np.uint8).reshape(-1, BITS // 8), "hamming", BITS, CODES)
    start = time.perf_counter()
    found = code_gallery(vectors, images).histograms(grading, threads=THREADS)
    lists = TiedLists(found.counts, found.levels)
    ap(lists), ndcg(lists)
    whole = time.perf_counter() - start
    print(
        f"from codes to AP and nDCG: {whole:.2f} s; sorting each ranking, on {THREADS} threads without loss: "
        f"{by_sorting:.1f} s, {by_sorting / whole:.1f} x"
    )


if __name__ == "__main__":
    main()
