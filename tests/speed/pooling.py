"""Pooling, provenance and overlap: time at the paper's size, and how it grows up to 6,000,000 rows."""

import resource
import sys

import numpy as np
import pandas as pd

from eds.suspects import Batching, overlap, pool, pool_growth, sources_frame
from tests.timing import best

MODELS, K = 6, 6


def lists(queries: int, gallery: int = 52_712, seed: int = 0) -> pd.DataFrame:
    """Lists of six models, each K of 3 K common candidates per query, in shuffled rows; ids as long as paths."""
    rng = np.random.default_rng(seed)
    common = (np.arange(queries)[:, None] * 7 + np.arange(3 * K) * 13) % gallery
    chosen = np.concatenate(
        [
            np.take_along_axis(common, rng.permuted(np.tile(np.arange(3 * K), (queries, 1)), axis=1)[:, :K], 1).ravel()
            for _ in range(MODELS)
        ]
    )
    asked = np.array([f"img/WOMEN/Sweaters/query_{number:08d}/01_1_front.jpg" for number in range(queries)])
    offered = np.array([f"img/WOMEN/Sweaters/id_{number:08d}/01_1_front.jpg" for number in range(gallery)])
    rows = rng.permutation(len(chosen))
    return pd.DataFrame(
        {
            "model": np.repeat([f"model_{number}" for number in range(MODELS)], queries * K)[rows],
            "query_id": asked[np.tile(np.repeat(np.arange(queries), K), MODELS)[rows]],
            "candidate_id": offered[chosen[rows]],
            "rank": np.tile(np.arange(K), MODELS * queries)[rows],
        }
    )


def measure(queries: int, repeats: int) -> tuple[int, dict[str, float]]:
    """Rows, and seconds for each job."""
    frame = lists(queries)
    pooled = pool(frame, K)
    jobs = {
        "pool": lambda: pool(frame, K),
        "overlap": lambda: overlap(frame, K),
        "growth": lambda: pool_growth(frame, K),
        "sources": lambda: sources_frame(pooled),
        "fusion": lambda: pool(frame, K, Batching(order="fusion")),
        "bandit": lambda: pool(frame, K, Batching(order="bandit")),
    }
    return len(frame), {name: best(job, repeats) for name, job in jobs.items()}


def main() -> None:
    """Print seconds for each size, and time per row relative to the smallest. `--large` adds 6,000,000 rows."""
    sizes = [(2_000, 5), (20_000, 2)] + ([(166_667, 2)] if "--large" in sys.argv else [])
    first: dict[str, float] = {}
    for queries, repeats in sizes:
        rows, seconds = measure(queries, repeats)
        first = first or {name: spent / rows for name, spent in seconds.items()}
        told = ", ".join(f"{name} {spent:.3f} s ({spent / rows / first[name]:.2f})" for name, spent in seconds.items())
        print(f"{rows:,} rows: pool + overlap {seconds['pool'] + seconds['overlap']:.3f} s; {told}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"In brackets: time per row relative to {sizes[0][0] * MODELS * K:,} rows. Peak memory {peak:,.0f} MiB.")
    print("Goal: pool + overlap below 0.3 s at 72,000 rows; brackets near 1.")


if __name__ == "__main__":
    main()
