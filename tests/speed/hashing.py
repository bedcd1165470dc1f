"""Codes by the million: nearest and histograms against faiss and the distances alone, and the tie-aware measures.

Ratios within one run; run it on a quiet machine: python -m tests.speed.hashing
"""

import faiss
import numpy as np

from eds.metrics.ties import TiedLists, ap, ndcg
from eds.neighbors import hamming
from tests.timing import best

QUERIES, CODES, BITS, K, THREADS, RUNS = 2000, 1_000_000, 64, 100, 2, 2
RELEVANT = 300  # graded candidates of each query


def main() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 1 << 64, CODES, dtype=np.uint64)
    queries = rng.integers(0, 1 << 64, QUERIES, dtype=np.uint64)
    some = queries[: QUERIES // 5]  # a fifth, since a run shall last seconds

    def distances() -> None:
        def pass_by(first: int, last: int) -> None:
            for _ in hamming._rows(some, codes, first, last):
                pass

        hamming._shared(pass_by, len(some), THREADS)

    query = np.repeat(np.arange(len(some)), RELEVANT)
    place = rng.integers(0, CODES, len(query))
    grade = rng.integers(1, 3, len(query))

    def graded() -> np.ndarray:
        counts = np.zeros((len(some), BITS + 1, 3), np.int64)
        counts[:, :, 0] = hamming.distance_counts(some, codes, BITS, THREADS)
        apart = hamming.distances_of(some, query, codes, place).astype(np.int64)
        np.subtract.at(counts, (query, apart, np.zeros_like(grade)), 1)
        np.add.at(counts, (query, apart, grade), 1)
        return counts

    index = faiss.IndexBinaryFlat(BITS)
    index.add(codes.view(np.uint8).reshape(-1, BITS // 8))
    asked = some.view(np.uint8).reshape(-1, BITS // 8)
    times = {
        "distances": best(distances, RUNS),
        "nearest": best(lambda: hamming.nearest(some, codes, BITS, K, THREADS), RUNS),
        "graded histograms": best(graded, RUNS),
    }
    for threads in (1, THREADS):
        faiss.omp_set_num_threads(threads)
        times[f"faiss, {threads} threads"] = best(lambda: index.search(asked, K), RUNS)
    alone = times["distances"]
    for name, seconds in times.items():
        print(f"{name:20s} {seconds:7.3f} s for {len(some)} queries, {seconds / alone:5.2f} x the distances alone")
    lists = TiedLists(np.tile(graded(), (QUERIES // len(some), 1, 1)), (0, 1, 2), K)
    for name, action in (("AP", lambda: ap(TiedLists(lists.counts, lists.levels, K))),
                         ("nDCG", lambda: ndcg(TiedLists(lists.counts, lists.levels, K)))):  # fmt: skip
        print(f"tie-aware {name}: {best(action) * 1000:.0f} ms for {QUERIES} queries")


if __name__ == "__main__":
    main()
