"""Ranks of 54,170 labelled pairs beside the matrix products alone, without and with the product filter.

`python -m tests.speed.ranks [--scale 0.1] [--dimensions 512]`. The pairs are the lists of a second, noisier
model: near the head, as labelled pairs are, with a long tail. `--uniform`: random pairs, the worst case.
"""

import argparse
import os
from functools import partial

import numpy as np
import pandas as pd

from eds.neighbors import Rules, mine, pair_ranks
from tests.neighbors.galleries import InMemory
from tests.speed.neighbors import IMAGES, MODELS, QUERIES, products_alone, shop
from tests.timing import best

PAIRS = 54_170


def labelled(vectors: InMemory, images: pd.DataFrame, noise: float, pairs: int, *, uniform: bool) -> pd.DataFrame:
    """The pairs that another model proposed, or uniform ones."""
    draw = np.random.default_rng(1)
    queries = images.loc[images["role"] == "both", "image_id"].to_numpy(dtype=object)
    if uniform:
        ids = images["image_id"].to_numpy(dtype=object)
        return pd.DataFrame({"query_id": draw.choice(queries, pairs), "candidate_id": draw.choice(ids, pairs)})
    values = vectors.take(np.arange(len(vectors)))
    values += np.float32(noise) * draw.standard_normal(values.shape, dtype=np.float32)
    other = InMemory(vectors.names, values, "cosine", values.shape[1], len(values))
    return mine(other, images, Rules(-(-pairs // len(queries))))[["query_id", "candidate_id"]][:pairs]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scale", type=float, default=1.0, help="share of the queries, images and pairs")
    options.add_argument("--dimensions", type=int, nargs="*", default=sorted(set(MODELS)))
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--threads", type=int, default=None)
    options.add_argument("--uniform", action="store_true")
    given = options.parse_args()
    print(f"OPENBLAS_CORETYPE={os.environ.get('OPENBLAS_CORETYPE', 'unset')}, load {os.getloadavg()[0]:.1f}")
    plain, filtered = Rules(1, exclude_product=False, one_per_product=False), Rules(1)
    total = np.zeros(3)
    for dimension in given.dimensions:
        vectors, images = shop(int(IMAGES * given.scale), int(QUERIES * given.scale), dimension)
        values = vectors.take(np.arange(len(vectors)))
        asked = values[np.flatnonzero(images["role"] == "both")]
        pairs = labelled(vectors, images, 1.5, int(PAIRS * given.scale), uniform=given.uniform)
        seconds = np.full(3, np.inf)
        for _ in range(given.repeats):
            seconds[0] = min(seconds[0], best(partial(products_alone, values, asked), 1))
            for place, rule in ((1, plain), (2, filtered)):
                way = partial(pair_ranks, vectors, images, pairs, rule, threads=given.threads)
                seconds[place] = min(seconds[place], best(way, 1))
        ranks = pair_ranks(vectors, images, pairs, plain)
        print(
            f"{len(asked):,} x {len(values):,} x {dimension}: products {seconds[0]:.2f} s; ranks "
            f"{seconds[1] / seconds[0]:.2f}, with product filter {seconds[2] / seconds[0]:.2f}; "
            f"ranks 50 % {np.median(ranks):.0f}, 99 % {np.percentile(ranks, 99):.0f}; load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
        total += seconds * MODELS.count(dimension)
    if set(given.dimensions) == set(MODELS):
        print(f"six models: ranks {total[1] / total[0]:.3f}, with product filter {total[2] / total[0]:.3f}")


if __name__ == "__main__":
    main()
