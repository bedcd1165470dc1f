"""Catalogues with vectors in memory, for the tests of neighbors; the store itself is tested elsewhere."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from eds.neighbors import Rules
from eds.vectors import Model, Vectors, pack, stored_dtype
from tests.reference.neighbors import cut, full_order

METRICS = ("cosine", "dot", "hamming")
# Cosines are rounded to 12 decimals: sums that differ in the last bit may round to neighbours, one step apart.
ROUNDING_STEP = 1.1e-12


class InMemory(Vectors):
    """Vectors without a folder, in shards of a given size."""

    def __init__(
        self, ids: list[str], stored: np.ndarray[Any, Any], similarity: Any, dimension: int, shard: int
    ) -> None:
        dtype: Any = {"uint8": "bits"}.get(str(stored.dtype), str(stored.dtype))
        model = Model("m", {}, dimension, dtype, similarity, "p", "w", rows=len(stored))
        assert stored.dtype == stored_dtype(dtype)
        parts = [stored[first : first + shard] for first in range(0, len(stored), shard)]
        super().__init__(None, model, parts)  # type: ignore[arg-type]
        self.names = ids

    def of_shards(self, shards: list[np.ndarray[Any, Any]]) -> "InMemory":
        """The same ids with vectors that lie elsewhere, memory-mapped for instance."""
        other = InMemory(self.names, shards[0][:0], self.model.similarity, self.model.dimension, 1)
        other.model = replace(self.model, rows=sum(map(len, shards)))
        Vectors.__init__(other, None, other.model, shards)  # type: ignore[arg-type]
        return other

    @property
    def ids(self) -> np.ndarray[Any, Any]:
        return np.array(self.names, dtype=object)

    @property
    def id_column(self) -> Any:
        import pyarrow as pa

        return pa.array(self.names, pa.string())


@dataclass(frozen=True)
class Gallery:
    """Images with their vectors; order of rows and shards may be changed without changing a list."""

    images: pd.DataFrame
    values: np.ndarray[Any, Any]  # (images, d) float64 holding float32 numbers, or -1 and 1
    metric: str

    def vectors(self, order: np.ndarray[Any, Any] | None = None, shard: int = 1000, dtype: str = "float32") -> InMemory:
        order = np.arange(len(self.images)) if order is None else order
        ids = self.images["image_id"].to_numpy(dtype=object)[order].tolist()
        values = self.values[order]
        stored = pack(values) if self.metric == "hamming" else values.astype(dtype)
        return InMemory(ids, stored, self.metric, self.values.shape[1], shard)

    def expected(self, rules: Rules) -> list[tuple[str, str, int, float]]:
        """Rows (query_id, candidate_id, rank, score) by the reference."""
        return [
            (query, name, rank, score)
            for query, order in self.orders(rules).items()
            for rank, (name, score) in enumerate(cut(order, rules.k, keep_ties=rules.keep_ties))
        ]

    def orders(self, rules: Rules) -> dict[str, list[tuple[str, float]]]:
        rows: list[Any] = self.images.to_dict(orient="records")
        vectors = {row["image_id"]: self.values[place].tolist() for place, row in enumerate(rows)}
        queries = sorted((row for row in rows if row["role"] != "candidate"), key=lambda row: row["image_id"])
        options: Any = {name: getattr(rules, name) for name in ("exclude_product", "one_per_product", "category")}
        return {q["image_id"]: full_order(q, rows, vectors, self.metric, **options) for q in queries}

    def turned(self, order: np.ndarray[Any, Any]) -> "Gallery":
        return replace(self, images=self.images.iloc[order].reset_index(drop=True), values=self.values[order])


def catalogue(
    images: int, seed: int, *, products: int, metric: str = "cosine", dimension: int = 8, levels: int = 0
) -> Gallery:
    """A random catalogue; with levels > 0 vectors come from few integer values, so that most scores tie."""
    draw = np.random.default_rng(seed)
    ids = [f"é{n}" if n % 7 == 0 else f"{n}" for n in draw.permutation(images)]
    values = (
        draw.integers(-levels, levels + 1, (images, dimension)) if levels else draw.standard_normal((images, dimension))
    )
    if metric == "hamming":
        values = np.where(values > 0, 1, -1)
    values = values.astype(np.float32).astype(np.float64)
    values[~values.any(axis=1)] = 1
    frame = pd.DataFrame(
        {
            "image_id": ids,
            "product_id": [f"p{n}" for n in draw.integers(0, products, images)],
            "category": [f"c{n}" for n in draw.integers(0, 3, images)],
            "role": draw.choice(["query", "candidate", "both", "both"], images),
        }
    )
    return Gallery(frame, values, metric)


def rows(lists: pd.DataFrame) -> list[tuple[str, str, int, float]]:
    columns = ("query_id", "candidate_id", "rank", "score")
    return list(zip(*(lists[name].tolist() for name in columns), strict=True))


rules = st.builds(
    Rules,
    k=st.integers(1, 40),
    exclude_product=st.booleans(),
    one_per_product=st.booleans(),
    category=st.sampled_from(["any", "same", "other"]),
    keep_ties=st.booleans(),
)
galleries = st.builds(
    catalogue,
    images=st.integers(1, 60),
    seed=st.integers(0, 2**20),
    products=st.integers(1, 30),
    metric=st.sampled_from(METRICS),
    dimension=st.sampled_from([1, 3, 8, 17]),
    levels=st.sampled_from([0, 0, 1, 2]),
)
