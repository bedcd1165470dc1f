"""A search in parts: what one task is given of the queries and of the gallery, and how it becomes a search again.

A part of the gallery is some candidates, and the pieces of `.npy` shards that hold their vectors. Numbers of candidates
are those of the whole search, so they compare as ids do (eds.neighbors.sides), and results of parts can be
merged by number. All that a part says goes through two small files of arrays beside the shards.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eds.engines import Receipt, Site
from eds.engines.inputs import load_arrays, opened, save_arrays
from eds.errors import InputError
from eds.neighbors.sides import Array, Side, Sides
from eds.vectors import Model, Vectors, stored_width
from eds.vectors.model import Dtype, Similarity, open_shard

NAMELESS = pa.array([], pa.string())  # a part works on numbers alone


@dataclass(frozen=True)
class Piece:
    """Rows first..last-1 of a shard."""

    shard: Receipt
    first: int
    last: int


@dataclass(frozen=True)
class Part:
    """What one task searches: files for its queries and its candidates, and the vectors of these."""

    model: str
    dimension: int
    dtype: Dtype
    similarity: Similarity
    asked: Receipt
    gallery: Receipt
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Whole:
    """The search that is cut up, and where its parts are written."""

    vectors: Vectors
    sides: Sides
    site: Site

    def part(self, asked: Receipt, gallery: Receipt, pieces: Sequence[Piece]) -> Part:
        """What a task is told."""
        model = self.vectors.model
        return Part(model.name, model.dimension, model.dtype, model.similarity, asked, gallery, tuple(pieces))

    def save_asked(self, name: str, queries: Array, candidates: Array) -> Receipt:
        """Write what a task must know of these queries, and of candidates it must know whatever its part; ascending."""
        asked, given = self.sides.queries, self.sides.candidates
        rows = np.concatenate([asked.rows[queries], given.rows[candidates]])
        arrays = {
            "stored": self.vectors.take(rows),
            "ids": _joined(pa.concat_arrays([asked.named(queries), given.named(candidates)])),
            "number": candidates,
            "own": self.sides.own[queries],
            "query_product": asked.product[queries],
            "query_category": asked.category[queries],
            "product": given.product[candidates],
            "category": given.category[candidates],
        }
        return save_arrays(self.site.at(name), len(queries), arrays)

    def save_gallery(self, name: str, candidates: Array) -> tuple[Receipt, list[Piece]]:
        """Write what a task must know of these candidates, (n,) ascending; gives the pieces that hold their vectors."""
        given = self.sides.candidates
        pieces, row = self._pieces(given.rows[candidates])
        arrays = {
            "ids": _joined(given.named(candidates)),
            "number": candidates,
            "row": row,
            "product": given.product[candidates],
            "category": given.category[candidates],
        }
        return save_arrays(self.site.at(name), len(candidates), arrays), pieces

    def _pieces(self, rows: Array) -> tuple[list[Piece], Array]:
        """The pieces of shards that hold these rows, and each row's place where the pieces stand one behind another."""
        shards = self.vectors.model.shards
        starts = np.cumsum([0, *(shard.rows for shard in shards)])
        of = np.searchsorted(starts, rows, side="right") - 1
        pieces, place, before = [], np.empty(len(rows), dtype=np.int64), 0
        for number in np.unique(of).tolist():
            here = np.flatnonzero(of == number)
            inside = rows[here] - starts[number]
            first, last = int(inside.min()), int(inside.max()) + 1
            pieces.append(Piece(self._shard(number), first, last))
            place[here] = inside - first + before
            before += last - first
        return pieces, place

    def _shard(self, number: int) -> Receipt:
        shard = self.vectors.model.shards[number]
        return self.site.reachable(self.vectors.folder / shard.file, shard.sha256, shard.rows)


@dataclass(frozen=True)
class Search:
    """A part, opened: the sides and vectors of a search of its own."""

    vectors: Vectors
    sides: Sides
    numbers: Array  # (candidates,) int64: their numbers in the whole search, ascending
    passing: Array  # (candidates,) bool: which belong to the part; the others are known whatever the part

    @classmethod
    @contextmanager
    def opened(cls, part: Part) -> "Iterator[Search]":
        """Read the part's files, each held against its digest first."""
        with opened([part.asked, part.gallery, *(piece.shard for piece in part.pieces)]) as files:
            asked, gallery = load_arrays(files[0]), load_arrays(files[1])
            pieces = [_piece(piece, file, part) for piece, file in zip(part.pieces, files[2:], strict=True)]
            arrays = [asked["stored"], *pieces]
            queries, known = len(asked["own"]), len(asked["number"])
            model = Model(
                part.model, {}, part.dimension, part.dtype, part.similarity, "", "", rows=sum(map(len, arrays))
            )
            extra = np.flatnonzero(~np.isin(asked["number"], gallery["number"]))
            number = np.concatenate([gallery["number"], asked["number"][extra]])
            order = np.argsort(number)
            rows = np.concatenate([gallery["row"] + queries + known, queries + extra])
            both = {
                name: np.concatenate([gallery[name], asked[name][extra]])[order] for name in ("product", "category")
            }
            numbers = number[order]
            own = np.searchsorted(numbers, asked["own"])
            there = own < len(numbers)
            there[there] = numbers[own[there]] == asked["own"][there]
            sides = Sides(
                Side(NAMELESS, np.arange(queries), asked["query_product"], asked["query_category"]),
                Side(NAMELESS, rows[order], both["product"], both["category"]),
                np.where(there, own, -1),
                model.rows,
            )
            vectors = _Named(model, arrays, asked["ids"], gallery["ids"], gallery["row"] + queries + known)
            yield cls(vectors, sides, numbers, order < len(gallery["number"]))


class _Named(Vectors):
    """Vectors of a part, whose names are put together only when a message needs them."""

    def __init__(self, model: Model, arrays: Sequence[Array], asked: Array, gallery: Array, rows: Array) -> None:
        super().__init__(Path(), model, arrays)
        self._names = asked, gallery, rows

    @cached_property
    def ids(self) -> Array:
        """The image id of each row; (rows,) of str, empty where no candidate's vector stands."""
        asked, gallery, rows = self._names
        found = np.full(len(self), "", dtype=object)
        first = _split(asked)
        found[: len(first)] = first
        found[rows] = _split(gallery)
        return found


def _piece(piece: Piece, file: Path, part: Part) -> Array:
    try:
        stored = open_shard(file, piece.shard.rows, stored_width(part.dimension, part.dtype), part.dtype)
    except InputError as error:
        told = f"the shard is not one of model {part.model}: {error.what}"
        raise InputError(told, where=piece.shard.url, do="Make it again: eds embeddings compute.") from error
    return stored[piece.first : piece.last]


def _joined(ids: pa.Array) -> Array:
    """Ids as bytes, (n,) uint8; no id holds the character NUL."""
    together = pc.binary_join(pa.ListArray.from_arrays([0, len(ids)], ids), "\0")
    return np.frombuffer(together[0].as_buffer(), dtype=np.uint8)


def _split(joined: Array) -> list[str]:
    return joined.tobytes().decode().split("\0") if len(joined) else []
