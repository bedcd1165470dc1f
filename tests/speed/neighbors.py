"""Top-k with the product filter beside the matrix products alone, faiss and scikit-learn.

`python -m tests.speed.neighbors [--scale 0.1] [--dimensions 512]`. The paper's size: 2,000 queries, 52,712
images, six models. Every way is run in turn, the shortest time of each is kept, and only ratios to the products
of the same run mean anything. OPENBLAS_CORETYPE is printed: it moves them. `--million`: 1,000,000 x 512 instead,
memory-mapped from a temporary folder (`--folder`, 2 GB), without the peers. `--indexes`: how near faiss' indexes
come to the exact lists of that million, and how long they take (`--searches faiss-ivf faiss-hnsw` are slow to build).
"""

import argparse
import os
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from eds.neighbors import Rules, mine, mine_with_recall
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


def on_disk(
    images: int, queries: int, dimension: int, folder: Path, shard: int = 131_072, mix: Any = 1
) -> tuple[InMemory, pd.DataFrame]:
    """A shop whose vectors, times `mix`, lie in .npy files, memory-mapped: one shard at a time is ever in memory."""
    shards, tables = [], []
    for number, start in enumerate(range(0, images, shard)):
        size = min(shard, images - start)
        part, table = shop(size, 0, dimension, seed=number)
        values = part.take(np.arange(size))
        np.save(folder / f"{number}.npy", values if np.isscalar(mix) else values @ mix)
        shards.append(np.load(folder / f"{number}.npy", mmap_mode="r"))
        tables.append(table.assign(product_id=f"{number}-" + table["product_id"]))
    table = pd.concat(tables, ignore_index=True)
    table["image_id"] = [f"i{n:07d}" for n in range(images)]
    asked = np.random.default_rng(0).choice(images, queries, replace=False)
    table.loc[asked, "role"] = "both"
    vectors = InMemory(table["image_id"].tolist(), np.empty((0, dimension), np.float32), "cosine", dimension, shard)
    return vectors.of_shards(shards), table


def million(given: argparse.Namespace) -> None:
    """A million memory-mapped vectors: the time beside the products alone, and the memory beyond the inputs."""
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        vectors, table = on_disk(int(1_000_000 * given.scale), given.queries, 512, Path(folder))
        asked = vectors.take(np.flatnonzero(table["role"] == "both"))
        seconds = {"products": float("inf"), "eds": float("inf")}
        for _ in range(given.repeats):
            seconds["products"] = min(seconds["products"], best(lambda: products_of_blocks(vectors, asked), 1))
            seconds["eds"] = min(seconds["eds"], best(lambda: mine(vectors, table, Rules(K), threads=given.threads), 1))
        print(
            f"{len(asked):,} x {len(vectors):,} x 512, memory-mapped: products {seconds['products']:.2f} s; "
            f"eds {seconds['eds'] / seconds['products']:.3f}; peak {peak(vectors, table):.0f} MB beyond the inputs; "
            f"load {os.getloadavg()[0]:.1f}"
        )


def products_of_blocks(vectors: InMemory, asked: np.ndarray[Any, Any]) -> None:
    buffer = np.empty(len(asked) * BLOCK, dtype=np.float32)
    for _, part in vectors.blocks(BLOCK):
        np.matmul(asked, part.T, out=buffer[: len(asked) * len(part)].reshape(len(asked), len(part)))


def peak(vectors: InMemory, table: pd.DataFrame) -> float:
    """Most megabytes that a search allocates."""
    tracemalloc.start()
    mine(vectors, table, Rules(K))
    found = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return found


def falling(dimension: int) -> np.ndarray[Any, Any]:
    """A turn that leaves few strong directions and many weak ones, as networks' vectors have; (d, d) float32."""
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((dimension, dimension)))[0]
    strength = 1 / np.sqrt(1 + np.arange(dimension))
    return np.asarray(strength[:, None] * turn, dtype=np.float32)


def indexes(given: argparse.Namespace, dimension: int = 512) -> None:
    """Recall and time of the approximate engines at a million memory-mapped vectors, beside the exact engine."""
    from eds.neighbors.search._faiss import Index

    seconds = dict.fromkeys(("search", "_build"), 0.0)

    def timed(name: str) -> None:
        plain = getattr(Index, name)

        def way(*arguments: Any) -> Any:
            start = time.perf_counter()
            found = plain(*arguments)
            seconds[name] += time.perf_counter() - start
            return found

        setattr(Index, name, way)

    for name in seconds:
        timed(name)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        mix = 1 if given.isotropic else falling(dimension)
        vectors, table = on_disk(int(1_000_000 * given.scale), given.queries, dimension, Path(folder), mix=mix)
        exact = best(lambda: mine(vectors, table, Rules(K), threads=given.threads), 2)
        print(f"{given.queries:,} x {len(vectors):,} x {dimension}, k = {K}, exact: {exact:.1f} s", flush=True)
        for engine in given.searches:
            seconds.update(dict.fromkeys(seconds, 0.0))
            mined = mine_with_recall(
                vectors, table, Rules(K), search=engine, lowest_recall=0.0, threads=given.threads, effort=given.effort
            )
            build, search = seconds["_build"], seconds["search"] - seconds["_build"]
            print(
                f"{engine}: recall {mined.recall:.4f} of the exact lists of {mined.compared:,} queries; searched "
                f"{exact / search:.1f} times as fast as exact; built in {build / exact:.1f} times the exact search",
                flush=True,
            )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scale", type=float, default=1.0, help="share of the queries and images")
    options.add_argument("--dimensions", type=int, nargs="*", default=sorted(set(MODELS)))
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--threads", type=int, default=None)
    options.add_argument("--million", action="store_true", help="1,000,000 x 512 instead, without the peers")
    options.add_argument("--queries", type=int, default=QUERIES, help="of the million")
    options.add_argument("--folder", type=Path, help="where the million lie while it runs")
    options.add_argument("--indexes", action="store_true", help="the approximate searches instead, at the million")
    options.add_argument("--isotropic", action="store_true", help="to the indexes: noise alike in all directions")
    options.add_argument("--effort", type=float, default=1.0, help="of the indexes")
    options.add_argument("--searches", nargs="*", default=["faiss-ivf-sq8", "faiss-ivf-pq"], help="which of them")
    given = options.parse_args()
    print(f"OPENBLAS_CORETYPE={os.environ.get('OPENBLAS_CORETYPE', 'unset')}, load {os.getloadavg()[0]:.1f}")
    if given.million or given.indexes:
        million(given) if given.million else indexes(given)
        return
    total = {"products": 0.0, "eds": 0.0, "faiss": 0.0}
    for dimension in given.dimensions:
        vectors, table = shop(int(IMAGES * given.scale), int(QUERIES * given.scale), dimension)
        values = vectors.take(np.arange(len(vectors)))
        vectors._shards = [values]
        asked = values[np.flatnonzero(table["role"] == "both")]
        ways: dict[str, Callable[[], object]] = {
            "products": partial(products_alone, values, asked),
            "eds": partial(mine, vectors, table, Rules(K), threads=given.threads),
            "faiss": partial(by_faiss, values, asked, table),
            "sklearn": partial(by_sklearn, values, asked, table),
        }
        if dimension != 512:
            del ways["sklearn"]
        seconds = {name: float("inf") for name in ways}
        for turn in range(given.repeats):
            for name, way in ways.items():
                if name != "sklearn" or turn < 2:
                    seconds[name] = min(seconds[name], best(way, 1))
        ratios = ", ".join(f"{name} {seconds[name] / seconds['products']:.2f}" for name in ways if name != "products")
        print(
            f"{len(asked):,} x {len(values):,} x {dimension}: products {seconds['products']:.2f} s; {ratios}; "
            f"peak {peak(vectors, table):.0f} MB beyond the inputs; load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
        for name in total:
            total[name] += seconds.get(name, 0.0) * MODELS.count(dimension)
    if set(given.dimensions) == set(MODELS):
        print(f"six models: eds {total['eds'] / total['products']:.3f}, faiss {total['faiss'] / total['products']:.3f}")


if __name__ == "__main__":
    main()
