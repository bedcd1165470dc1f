"""Top-k with the product filter beside the matrix products alone, faiss and scikit-learn.

`python tests/speed/neighbors.py [--scale 0.1] [--million] [--dimensions 512]`. The paper's size: 2,000
queries, 52,712 images, six models. Every way is run in turn, the shortest time of each is kept, and
only ratios to the products of the same run mean anything. OPENBLAS_CORETYPE is printed: it moves them.
"""

import argparse
import os
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from eds.neighbors import Rules, mine
from tests.neighbors.galleries import InMemory
from tests.timing import best

MODELS = (384, 512, 768, 768, 2048, 2048)
QUERIES, IMAGES, VIEWS = 2000, 52_712, 6.6
K, ASKED = 6, 64  # candidates wanted; candidates that ways without a product filter are asked for
BLOCK = 4096


def shop(images: int, queries: int, dimension: int, seed: int = 0) -> tuple[InMemory, pd.DataFrame]:
    """Vectors of products, a few views of each, sorted by product as catalogues are; 50 categories."""
    draw = np.random.default_rng(seed)
    products = max(1, int(images / VIEWS))
    product = np.sort(draw.integers(0, products, images))
    category = product * 50 // products
    values = draw.standard_normal((images, dimension), dtype=np.float32)
    values *= 0.7
    values += draw.standard_normal((products, dimension), dtype=np.float32)[product]
    values += draw.standard_normal((50, dimension), dtype=np.float32)[category]
    ids = [f"i{n:07d}" for n in range(images)]
    role = np.full(images, "candidate", dtype=object)
    role[draw.choice(images, queries, replace=False)] = "both"
    table = {"image_id": ids, "product_id": [f"p{n}" for n in product], "category": [f"c{n}" for n in category]}
    return InMemory(ids, values, "cosine", dimension, images), pd.DataFrame({**table, "role": role})


def products_alone(values: np.ndarray[Any, Any], asked: np.ndarray[Any, Any], block: int = BLOCK) -> None:
    """The limit: every product of a query and an image, into one buffer."""
    buffer = np.empty(len(asked) * block, dtype=np.float32)
    for start in range(0, len(values), block):
        part = values[start : start + block]
        np.matmul(asked, part.T, out=buffer[: len(asked) * len(part)].reshape(len(asked), len(part)))


def by_faiss(values: np.ndarray[Any, Any], asked: np.ndarray[Any, Any], images: pd.DataFrame) -> None:
    import faiss

    index = faiss.IndexFlatIP(values.shape[1])
    index.add(values / np.linalg.norm(values, axis=1, keepdims=True))
    score, place = index.search(asked / np.linalg.norm(asked, axis=1, keepdims=True), ASKED)
    filtered(score, place, images)


def by_sklearn(values: np.ndarray[Any, Any], asked: np.ndarray[Any, Any], images: pd.DataFrame) -> None:
    from sklearn.neighbors import NearestNeighbors

    distance, place = NearestNeighbors(metric="cosine", algorithm="brute").fit(values).kneighbors(asked, ASKED)
    filtered(-distance, place, images)


def filtered(score: np.ndarray[Any, Any], place: np.ndarray[Any, Any], images: pd.DataFrame) -> pd.DataFrame:
    """The product filter on the head of each list."""
    product = pd.factorize(images["product_id"])[0]
    own = product[np.flatnonzero(images["role"] == "both")]
    row = np.repeat(np.arange(len(place)), place.shape[1])
    frame = pd.DataFrame({"query": row, "product": product[place.ravel()], "score": score.ravel()})
    frame = frame[frame["product"].to_numpy() != own[row]].drop_duplicates(["query", "product"])
    kept: pd.DataFrame = frame[frame.groupby("query").cumcount() < K]
    return kept


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scale", type=float, default=1.0, help="share of the queries and images")
    options.add_argument("--dimensions", type=int, nargs="*", default=sorted(set(MODELS)))
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--threads", type=int, default=None)
    options.add_argument("--million", action="store_true", help="1,000,000 x 512 instead, without the peers")
    given = options.parse_args()
    print(f"OPENBLAS_CORETYPE={os.environ.get('OPENBLAS_CORETYPE', 'unset')}, load {os.getloadavg()[0]:.1f}")
    total = {"products": 0.0, "eds": 0.0, "faiss": 0.0}
    dimensions = [512] if given.million else given.dimensions
    for dimension in dimensions:
        images, queries = (1_000_000, QUERIES) if given.million else (IMAGES, QUERIES)
        vectors, table = shop(int(images * given.scale), int(queries * given.scale), dimension)
        values = vectors.take(np.arange(len(vectors)))
        vectors._shards = [values]
        asked = values[np.flatnonzero(table["role"] == "both")]
        ways: dict[str, Callable[[], object]] = {
            "products": partial(products_alone, values, asked),
            "eds": partial(mine, vectors, table, Rules(K), threads=given.threads),
            "faiss": partial(by_faiss, values, asked, table),
            "sklearn": partial(by_sklearn, values, asked, table),
        }
        if given.million:
            ways = {name: ways[name] for name in ("products", "eds")}
        elif dimension != 512:
            del ways["sklearn"]
        seconds = {name: float("inf") for name in ways}
        for turn in range(given.repeats):
            for name, way in ways.items():
                if name != "sklearn" or turn < 2:
                    seconds[name] = min(seconds[name], best(way, 1))
        tracemalloc.start()
        mine(vectors, table, Rules(K))
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        ratios = ", ".join(f"{name} {seconds[name] / seconds['products']:.2f}" for name in ways if name != "products")
        print(
            f"{len(asked):,} x {len(values):,} x {dimension}: products {seconds['products']:.2f} s; {ratios}; "
            f"peak {peak:.0f} MB beyond the inputs; load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
        for name in total:
            total[name] += seconds.get(name, 0.0) * MODELS.count(dimension)
    if set(dimensions) == set(MODELS):
        print(f"six models: eds {total['eds'] / total['products']:.3f}, faiss {total['faiss'] / total['products']:.3f}")


if __name__ == "__main__":
    main()
