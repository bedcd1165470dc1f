"""One query at a time: an image of the catalogue, or a vector from elsewhere. The lists are the exact engine's."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from eds.errors import InputError
from eds.hashing.codes import as_words
from eds.neighbors.blocking import Blocking, one_thread_each
from eds.neighbors.exact_dot import lengths
from eds.neighbors.query_gallery import Array, QueryGallery, Side
from eds.neighbors.rules import Rules
from eds.neighbors.search.exact import Search
from eds.neighbors.similarity import Bits, Products, Similarity, similarity_of
from eds.vectors import Vectors, pack, usable

NOWHERE = -2  # a product and a category that no candidate has
ROWS = 1 << 14  # vectors in a block: with one query, few large blocks are quicker than many small ones


@dataclass(frozen=True)
class Lookup:
    """The candidates of one model under rules, ready for single queries."""

    vectors: Vectors
    sides: QueryGallery  # every image can be a query
    rules: Rules

    @classmethod
    def of(cls, vectors: Vectors, images: pd.DataFrame, rules: Rules) -> Self:
        """Number the images once; those of role `query` are not candidates."""
        asked = images["role"].where(images["role"] == "query", "both")
        return cls(vectors, QueryGallery.of(vectors, images.assign(role=asked), rules), rules)

    def find(self, query: str) -> pd.DataFrame:
        """The list of an image of the catalogue: candidate_id, rank (from 0), score."""
        place = pc.index(self.sides.queries.ids, pa.scalar(query, self.sides.queries.ids.type)).as_py()
        if place < 0:
            raise InputError(f"{query} has no vector", where=f"model {self.vectors.model.name}")
        return self._list(self.sides, self.rules, similarity_of(self.vectors), place)

    def find_vector(self, query: Array) -> pd.DataFrame:
        """The list of a vector (dimension,) that is not an image's: no product or category restricts it."""
        none = np.array([NOWHERE])
        outside = Side(pa.array([""]), np.zeros(1, np.int64), none, none)
        sides = QueryGallery(outside, self.sides.candidates, np.array([-1]), self.sides.total_rows)
        return self._list(sides, replace(self.rules, category="any"), _of_vector(self.vectors, query), 0)

    def _list(self, sides: QueryGallery, rules: Rules, similarity: Similarity, place: int) -> pd.DataFrame:
        search = Search(self.vectors, sides, rules, similarity, Blocking.of(ROWS, 1))
        with one_thread_each():  # a product with one vector waits for memory, not for a processor
            _, candidate, rank, score = search.search(place, place + 1, lambda done: None).settle()
        ids = sides.candidates.named(candidate).to_pylist()
        return pd.DataFrame({"candidate_id": pd.Series(ids, dtype=object), "rank": rank, "score": score})


class _Product(Products):
    """Products with one vector from elsewhere."""

    given: Array

    def ask(self, rows: Array) -> None:
        """Make the vector the only query."""
        self._raw = self.given
        self._length = lengths(self._raw)
        self.queries = (self._raw / self._length[:, None]).astype(np.float32)


class _Code(Bits):
    """Distances to one code from elsewhere."""

    given: Array

    def ask(self, rows: Array) -> None:
        """Make the code the only query."""
        self.queries = self.given


def _of_vector(vectors: Vectors, query: Array) -> Similarity:
    """The model's similarity with this vector as the query; a vector of another shape or length 0 is refused."""
    row: Array = np.ascontiguousarray(query, dtype=np.float32).reshape(1, -1)
    if row.shape[1] != vectors.model.dimension:
        raise InputError(
            f"a vector of {row.shape[1]:,} numbers cannot be compared with those of {vectors.model.dimension:,}",
            where=f"model {vectors.model.name}",
        )
    if vectors.model.dtype == "bits":
        code = _Code(vectors)
        code.given = as_words(pack(row))
        return code
    if not usable(lengths(row))[0]:
        raise InputError("the vector is zero or not finite", where=f"model {vectors.model.name}")
    product = _Product(vectors, vectors.model.similarity == "cosine", 1)
    product.given = row
    return product
