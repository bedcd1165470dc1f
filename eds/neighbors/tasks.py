"""Lists and ranks in parts: each task gets some queries and a part of the gallery; the parts' results are merged.

A part of the gallery is some candidates, and the pieces of `.npy` shards that hold their vectors. Numbers of candidates
are those of the whole search, so they compare as ids do (`query_gallery`), and results of parts are merged by number.
All else that a task needs goes through two small files of arrays beside the shards.

Lists: each part gives its k best by exact scores (with ties: all that score as its k-th), of distinct products where
one per product counts. A candidate of the final list has fewer than k better ones anywhere, so also in its part: the
merge of these is the list, number by number that of a search in one piece, however the gallery is cut.

Ranks: each part counts the candidates that come before, and the counts are added. Where one image per product counts,
a part holds whole products, so that each product is counted once and the part with the pair's own product says
whether a better image shows it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eds.choices import Similarity
from eds.errors import InputError
from eds.neighbors import rank_counting
from eds.neighbors.blocking import BLOCK, RANK_BLOCK, Blocking, threads_beside_products
from eds.neighbors.query_gallery import Array, QueryGallery, Side
from eds.neighbors.rules import Rules
from eds.neighbors.shortlist import Found, cut
from eds.neighbors.similarity import similarity_of
from eds.parallel import Executor, Receipt
from eds.parallel.inputs import load_arrays, opened, save_arrays
from eds.registry import SEARCHES
from eds.vectors import Model, Vectors, stored_width
from eds.vectors.model import Dtype, open_shard

Progress = Callable[[int, int], None]
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
    sides: QueryGallery
    executor: Executor

    def part(self, asked: Receipt, gallery: Receipt, pieces: Sequence[Piece]) -> Part:
        """The description of a part for its task."""
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
        return save_arrays(self.executor.at(name), len(queries), arrays)

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
        return save_arrays(self.executor.at(name), len(candidates), arrays), pieces

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
        return self.executor.reachable(self.vectors.folder / shard.file, shard.sha256, shard.rows)


@dataclass(frozen=True)
class Search:
    """A part, opened: the sides and vectors of a search of its own."""

    vectors: Vectors
    sides: QueryGallery
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
            sides = QueryGallery(
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
        what = f"the shard is not one of model {part.model}: {error.what}"
        raise InputError(what, where=piece.shard.url, hint="Compute it again: eds embeddings compute.") from error
    return stored[piece.first : piece.last]


def _joined(ids: pa.Array) -> Array:
    """Ids as bytes, (n,) uint8; no id holds the character NUL."""
    together = pc.binary_join(pa.ListArray.from_arrays([0, len(ids)], ids), "\0")
    return np.frombuffer(together[0].as_buffer(), dtype=np.uint8)


def _split(joined: Array) -> list[str]:
    return joined.tobytes().decode().split("\0") if len(joined) else []


@dataclass(frozen=True)
class TopK:
    """The best candidates of some queries in one part of the gallery."""

    out: str
    part: Part
    rules: Rules
    search: str
    metric: str | None
    threads: int


@dataclass(frozen=True)
class Merge:
    """The lists of some queries, from the parts of the gallery."""

    out: str
    parts: tuple[Receipt, ...]
    queries: int
    rules: Rules


def best_of_part(spec: TopK) -> Receipt:
    """Search one part; writes query, candidate and product numbers and exact scores, (n,) each."""
    with Search.opened(spec.part) as search:
        similarity = similarity_of(search.vectors, spec.metric, threads_beside_products(spec.threads))
        blocking = Blocking.of(BLOCK, spec.threads)
        searcher = SEARCHES.load(spec.search)(search.vectors, search.sides, spec.rules, similarity, blocking)
        query, candidate, _, score = searcher.search(0, len(search.sides.queries), lambda _: None).settle()
        product = search.sides.candidates.product[candidate]
        found = {"query": query, "candidate": search.numbers[candidate], "product": product, "score": score}
    return save_arrays(spec.out, len(query), found)


def merge(spec: Merge) -> Receipt:
    """Merge the parts' lists; writes query, candidate, rank and score, (n,) each, sorted by query and rank."""
    with opened(spec.parts) as files:
        parts = [load_arrays(file) for file in files]
    whole = {
        name: np.concatenate([part[name] for part in parts]) for name in ("query", "candidate", "product", "score")
    }
    query, candidate, rank, score = cut(
        whole["query"], whole["candidate"], whole["product"], whole["score"], spec.queries, spec.rules
    )
    found = {"query": query, "candidate": candidate, "rank": rank, "score": score}
    return save_arrays(spec.out, len(query), found)


def find_in_parts(
    whole: Whole,
    blocks: Sequence[tuple[int, int]],
    rules: Rules,
    search: str,
    metric: str | None,
    progress: Progress | None = None,
) -> list[Found]:
    """The lists of each block of queries (first and last), found by tasks; `progress` gets (tasks done, tasks)."""
    if SEARCHES.load(search).approximate:
        raise InputError(
            f"an index is searched in one piece, and {search} is one",
            hint="Add --executor plain, or --search exact.",
        )
    executor = whole.executor
    pa.default_memory_pool().release_unused()  # what sorting took: the workers need it more
    galleries = [whole.save_gallery(f"gallery-{index:05d}.npz", part) for index, part in enumerate(_row_cuts(whole))]
    nobody = np.empty(0, dtype=np.int64)
    searches = []
    for index, (first, last) in enumerate(blocks):
        asked = whole.save_asked(f"queries-{index:05d}.npz", np.arange(first, last), nobody)
        row = []
        for number, (gallery, pieces) in enumerate(galleries):
            out, part = executor.at(f"top-{index:05d}-{number:05d}.npz"), whole.part(asked, gallery, pieces)
            row.append(TopK(out, part, rules, search, metric, executor.settings.threads))
        searches.append(row)
    tasks = sum(map(len, searches)) + len(blocks)

    def report(done: int, _: int) -> None:
        if progress:
            progress(done, tasks)

    receipts = iter(executor.finish(best_of_part, [spec for row in searches for spec in row], report))
    merges = []
    for index, ((first, last), row) in enumerate(zip(blocks, searches, strict=True)):
        parts = tuple(next(receipts) for _ in row)
        merges.append(Merge(executor.at(f"lists-{index:05d}.npz"), parts, last - first, rules))
    merged = executor.finish(merge, merges, lambda done, of: report(tasks - of + done, tasks))
    with opened(merged) as files:
        lists = [load_arrays(file) for file in files]
    return [(part["query"], part["candidate"], part["rank"], part["score"]) for part in lists]


def _row_cuts(whole: Whole) -> list[Array]:
    """The candidates in parts of consecutive rows; at least one part."""
    step = whole.executor.settings.rows
    row_of = whole.sides.number_of_row
    starts = range(0, len(row_of), step)
    parts = (np.sort(part[part >= 0]) for part in (row_of[start : start + step] for start in starts))
    return [part for part in parts if len(part)] or [np.empty(0, dtype=np.int64)]


@dataclass(frozen=True)
class Count:
    """The candidates of one part of the gallery that come before some pairs."""

    out: str
    part: Part
    pairs: Receipt  # query and candidate numbers, (n,) each, sorted by query
    rules: Rules
    metric: str | None
    threads: int


def count(spec: Count) -> Receipt:
    """Count one part; writes `before`, (pairs,) int64; -1 where a better image shows the product."""
    with opened([spec.pairs]) as (file,), Search.opened(spec.part) as search:
        pairs = load_arrays(file)
        before = rank_counting.count_ranks(
            search.vectors,
            search.sides,
            spec.rules,
            similarity_of(search.vectors, spec.metric, threads_beside_products(spec.threads)),
            Blocking.of(RANK_BLOCK, spec.threads),
            pairs["query"],
            np.searchsorted(search.numbers, pairs["candidate"]),
            search.passing,
        )
    return save_arrays(spec.out, len(before), {"before": before})


def count_in_parts(
    whole: Whole, rules: Rules, query: Array, candidate: Array, metric: str | None, progress: Progress | None = None
) -> Array:
    """What `count_ranks` gives for pairs of numbers, (n,) each, sorted by query; counted by tasks."""
    executor, found = whole.executor, np.empty(len(query), dtype=np.int64)
    galleries = [
        whole.save_gallery(f"counted-{index:05d}.npz", part) for index, part in enumerate(_product_cuts(whole, rules))
    ]
    blocks, specs = list(_query_runs(query, whole.vectors.model.dimension)), []
    for index, block in enumerate(blocks):
        asked, local = np.unique(query[block], return_inverse=True)
        numbers = candidate[block]
        given = whole.save_asked(f"asked-{index:05d}.npz", asked, np.unique(numbers))
        listed = save_arrays(
            executor.at(f"pairs-{index:05d}.npz"), len(numbers), {"query": local, "candidate": numbers}
        )
        for number, (gallery, pieces) in enumerate(galleries):
            part = whole.part(given, gallery, pieces)
            out = executor.at(f"before-{index:05d}-{number:05d}.npz")
            specs.append(Count(out, part, listed, rules, metric, executor.settings.threads))
    receipts = iter(executor.finish(count, specs, progress))
    for block in blocks:
        with opened([next(receipts) for _ in galleries]) as files:
            before = [load_arrays(file)["before"] for file in files]
        bettered = np.any([part < 0 for part in before], axis=0)
        found[block] = np.where(bettered, -1, np.sum(before, axis=0))
    return found


def _query_runs(query: Array, dimension: int) -> Iterator[slice]:
    """Pairs, (n,) sorted by query, in runs of whole queries whose vectors, and those of the pairs, fit in memory."""
    step, first = max(1, rank_counting.QUERY_CELLS // dimension), 0
    while first < len(query):
        last = int(np.searchsorted(query, query[min(first + step, len(query)) - 1], side="right"))
        yield slice(first, last)
        first = last


def _product_cuts(whole: Whole, rules: Rules) -> Iterator[Array]:
    """The candidates in parts, numbers ascending: consecutive rows, or whole products."""
    candidates, step = whole.sides.candidates, whole.executor.settings.rows
    key = candidates.product if rules.one_per_product else candidates.rows
    order = np.argsort(key, kind="stable")
    first = 0
    while first < len(order):
        last = min(first + step, len(order))
        if rules.one_per_product:
            last = int(np.searchsorted(key[order], key[order[last - 1]], side="right"))
        yield np.sort(order[first:last])
        first = last
