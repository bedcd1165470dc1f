"""How near vectors are: quickly for whole blocks, and exactly for given pairs.

The quick scores (float32 matrix products) only choose who is looked at; how far they may be off is
`slack`. The exact scores decide the order and are what tables hold.
"""

from concurrent.futures import ThreadPoolExecutor
from copy import copy
from typing import Any, Protocol, Self

import numpy as np

from eds.errors import InputError
from eds.hashing.codes import as_words
from eds.neighbors.exact_dot import dots, lengths, portions
from eds.neighbors.query_gallery import named
from eds.vectors import Vectors, usable

Array = np.ndarray[Any, np.dtype[Any]]
CODE_CELLS = 1 << 15  # distances of codes in one step: its buffers stay in cache
EXACT_ROWS = 1 << 12  # vectors from which a thread computes exact scores at a time
DECIMALS = 12  # of a cosine
SUMMED = 512  # longest run of products that a BLAS library adds up one after another


class Similarity(Protocol):
    """One metric over one folder of vectors, for the queries at hand."""

    queries: Array  # as engines want them: (n, d) float32 of length 1, or (n, words) uint64

    @property
    def slack(self) -> float:
        """How far a block score may be from the true one; 0: it is exact. May grow with each block."""

    def fellow(self) -> Self:
        """Another for other queries, in another thread; bad vectors are refused here."""

    def ask(self, rows: Array) -> None:
        """Make the vectors of these rows, (queries,) int64, the queries."""

    def load(self, stored: Array, rows: Array) -> Array:
        """A block of stored vectors, (n, width), with their row numbers, (n,), as `scores` wants it."""

    def scores(self, first: int, last: int, columns: Array, out: Array) -> None:
        """Scores of queries first..last with a loaded block, into out, (last - first, n) float32."""

    def exact(self, query: Array, rows: Array) -> Array:
        """Exact scores of (query number, row of a vector), (n,) int64 each; (n,) float64."""

    def exact_with(self, query: Array, stored: Array, rows: Array, place: Array) -> Array:
        """The same of (query number, place among stored vectors); rows: the row each of these stands in."""

    def as_block(self, query: Array, exact: Array) -> Array:
        """Exact scores on the scale of block scores; (n,) float64."""

    def refuse_bad(self) -> None:
        """Raise InputError if a vector that was loaded cannot be compared, naming all such images."""


class Products:
    """Cosine and dot product of float vectors.

    Queries are scaled to length 1 for the block scores: that changes no order, and their error is then
    relative to the candidates' lengths alone.
    """

    def __init__(self, vectors: Vectors, cosine: bool, threads: int) -> None:
        self.vectors, self.cosine = vectors, cosine
        self.threads = threads
        dimension = vectors.model.dimension
        # Rounding of d products summed in runs, of the lengths, and of the scaling.
        self._relative = (min(dimension, SUMMED) + dimension / 32 + 16) * 2.0**-24
        self._longest = 1.0 if cosine else 0.0
        self._buffer: Array = np.empty((0, dimension), dtype=np.float32)
        self._bad: list[Array] = []
        self._lengths: Array = np.full(len(vectors), -1.0)  # of each row, once it is known

    @property
    def slack(self) -> float:
        """Relative rounding error times the longest vector met so far."""
        return self._relative * self._longest

    def fellow(self) -> Self:
        """See Similarity.fellow."""
        other = copy(self)
        other._buffer, other.threads = self._buffer[:0], 1
        return other

    def ask(self, rows: Array) -> None:
        """See Similarity.ask."""
        self._raw = self.vectors.take(rows).astype(np.float32, copy=False)  # (queries, d)
        self._length = lengths(self._raw)
        good = usable(self._length)
        self._bad.append(rows[~good])
        self._raw[~good] = 0  # will be refused; until then they shall not disturb
        self.queries = self._raw / np.where(good, self._length, 1)[:, None].astype(np.float32)

    def load(self, stored: Array, rows: Array) -> Array:
        """See Similarity.load."""
        stored = np.asarray(stored)  # a slice of a memory map costs more
        if self.cosine and len(stored) > len(self._buffer):
            self._buffer = np.empty(stored.shape, dtype=np.float32)
        columns: Array = self._buffer[: len(stored)] if self.cosine else stored.astype(np.float32, copy=False)
        with np.errstate(all="ignore"):  # what this cannot measure is measured again below
            length: Array = np.sqrt(np.einsum("ij,ij->i", stored, stored, dtype=np.float32))
            if self.cosine:
                np.multiply(stored, (1 / length)[:, None], out=columns)
        odd = np.flatnonzero(~((length > 1e-15) & (length < 1e15)))  # squares may have left float32
        if len(odd):
            exact = lengths(stored[odd].astype(np.float32))
            good = usable(exact)
            self._bad.append(rows[odd[~good]])
            length[odd] = np.where(good, exact, 1)
            columns = columns if self.cosine else columns.copy()
            if self.cosine:
                columns[odd] = stored[odd].astype(np.float32) * (1 / length[odd])[:, None]
            columns[odd[~good]] = 0  # will be refused; until then they shall not disturb
        if not self.cosine:
            self._longest = max(self._longest, float(length.max(initial=0)) * (1 + 1e-4))
        return columns

    def scores(self, first: int, last: int, columns: Array, out: Array) -> None:
        """See Similarity.scores."""
        np.matmul(self.queries[first:last], columns.T, out=out)

    def exact(self, query: Array, rows: Array) -> Array:
        """See Similarity.exact."""
        found = np.empty(len(query))
        order = np.argsort(rows)  # the vectors are read forwards
        ordered = rows[order]
        alone = self.fellow()

        def fill(block: tuple[int, Array]) -> None:
            start, stored = block
            low, high = np.searchsorted(ordered, [start, start + len(stored)])
            part, here = order[low:high], np.arange(start, start + len(stored))
            found[part] = alone.exact_with(query[part], np.asarray(stored), here, ordered[low:high] - start)

        blocks = self.vectors.blocks(EXACT_ROWS)  # views: nothing is copied
        if self.threads == 1:
            list(map(fill, blocks))
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(fill, blocks))
        return found

    def exact_with(self, query: Array, stored: Array, rows: Array, place: Array) -> Array:
        """See Similarity.exact_with."""
        needed = np.flatnonzero(np.bincount(place, minlength=len(rows)))
        fresh = needed[self._lengths[rows[needed]] == -1]
        self._lengths[rows[fresh]] = lengths(stored, fresh, self.threads)
        length, found = self._lengths[rows[place]], np.zeros(len(query))
        good = usable(length) & usable(self._length)[query]
        self._bad.append(rows[place[~usable(length)]])
        query, place, length = query[good], place[good], length[good]
        found[good] = dots(self._raw, query, stored, place, self.threads)
        if self.cosine:  # the last bits are noise of the square roots: parallel vectors tie, in lists as in AUC
            found[good] = (found[good] / (self._length[query] * length)).round(DECIMALS)
        return found

    def as_block(self, query: Array, exact: Array) -> Array:
        """See Similarity.as_block."""
        return exact if self.cosine else exact / self._length[query]

    def refuse_bad(self) -> None:
        """See Similarity.refuse_bad."""
        rows = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *self._bad]))
        if len(rows):
            raise InputError(
                f"{len(rows):,} vectors are zero or not finite, or nearly so: {named(self.vectors.ids[rows])}",
                where=f"model {self.vectors.model.name}",
                hint="Compute them again, or leave these images out.",
            )


class Bits:
    """Hamming distance of packed codes, negated so that larger is nearer. Every score is exact."""

    slack = 0.0

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors

    def fellow(self) -> Self:
        """See Similarity.fellow."""
        return copy(self)

    def ask(self, rows: Array) -> None:
        """See Similarity.ask."""
        self.queries = as_words(self.vectors.take(rows))  # (queries, words) uint64

    def load(self, stored: Array, rows: Array) -> Array:
        """See Similarity.load."""
        return np.ascontiguousarray(as_words(stored).T)  # (words, n) uint64

    def scores(self, first: int, last: int, columns: Array, out: Array) -> None:
        """See Similarity.scores."""
        step = max(1, CODE_CELLS // max(columns.shape[1], 1))
        for start in range(first, last, step):
            stop = min(start + step, last)
            part = out[start - first : stop - first]
            part[:] = 0
            for word, codes in enumerate(columns):
                part -= np.bitwise_count(self.queries[start:stop, word, None] ^ codes)

    def exact(self, query: Array, rows: Array) -> Array:
        """See Similarity.exact."""
        found = np.empty(len(query))
        for part, distinct, place in portions(rows, self.vectors.model.width):
            found[part] = self.exact_with(query[part], self.vectors.take(distinct), distinct, place)
        return found

    def exact_with(self, query: Array, stored: Array, rows: Array, place: Array) -> Array:
        """See Similarity.exact_with."""
        differ = np.bitwise_count(self.queries[query] ^ as_words(stored)[place])
        return np.asarray(-differ.sum(axis=1, dtype=np.int64), dtype=np.float64)

    def as_block(self, query: Array, exact: Array) -> Array:
        """See Similarity.as_block."""
        return exact

    def refuse_bad(self) -> None:
        """See Similarity.refuse_bad."""
        return  # any bits are a code


def similarity_of(vectors: Vectors, metric: str | None = None, threads: int = 1) -> Similarity:
    """The similarity of a model's vectors; `metric` asks for another than the model's own."""
    wanted = metric or vectors.model.similarity
    if wanted not in ("cosine", "dot", "hamming"):
        raise InputError(f"metric is {wanted!r}", hint="Give cosine, dot or hamming.")
    if (vectors.model.dtype == "bits") != (wanted == "hamming"):
        raise InputError(
            f"{wanted} cannot compare vectors stored as {vectors.model.dtype}",
            where=f"model {vectors.model.name}",
            hint="Bits are compared by hamming, numbers by cosine or dot.",
        )
    return Bits(vectors) if wanted == "hamming" else Products(vectors, wanted == "cosine", threads)
