"""Values that several stages share: ids as codes, labelled pairs, ranked lists, known ranks of pairs.

A *code* is the index of an id among the distinct ids in ascending order: by Unicode code point, which is
how their UTF-8 bytes sort too. So codes sort as their ids do, whatever the row order.

A *pair key* is one int64 for a (query, candidate): the query's code times the number of candidates plus the
candidate's code, so that pairs sort as their ids do, too.

An *id hash* is 64 bits that stand for an id by itself, the same in every table and on every machine: draws that
are keyed by hashes do not depend on what other ids there are.
"""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from eds.errors import InputError
from eds.schema import Column, Table, to_codes
from eds.tables import CANDIDATE, MODEL, NEIGHBORS, QUERY

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]
Hashes = NDArray[np.uint64]


def to_text(column: Any) -> pa.Array:
    """A text column (Arrow or pandas) as one Arrow array of strings."""
    array = column if isinstance(column, (pa.Array, pa.ChunkedArray)) else pa.array(column, from_pandas=True)
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    return array if array.type == pa.string() else array.cast(pa.string())


def to_dictionary(column: Any) -> pa.DictionaryArray:
    """A text column as codes into its distinct ids, in any order; unchanged if eds.schema.to_codes made it."""
    return column if isinstance(column, pa.DictionaryArray) else to_text(column).dictionary_encode()


def unique_ids(*columns: Any) -> pa.Array:
    """The distinct ids of all columns (Arrow or pandas), ascending.

    >>> unique_ids(["b", "a"], ["é", "a"]).to_pylist()
    ['a', 'b', 'é']
    """
    ids = pc.unique(pa.chunked_array([to_dictionary(column).dictionary for column in columns], pa.string()))
    return ids.take(pc.sort_indices(ids))


def encode(column: Any, ids: pa.Array) -> Integers:
    """The index of each value among `ids`, -1 where it is not one of them; (rows,) int64.

    >>> encode(["c", "a"], pa.array(["a", "b"]))
    array([-1,  0])
    """
    coded = to_dictionary(column)
    codes, rows = encode_distinct(coded.dictionary, ids), coded.indices.to_numpy(zero_copy_only=False)
    return codes[rows] if len(codes) else np.zeros(len(rows), np.int64)


def encode_distinct(values: pa.Array, ids: pa.Array) -> Integers:
    """As `encode`, faster for values of which few or none repeat.

    >>> encode_distinct(pa.array(["c", "a"]), pa.array(["a", "b"]))
    array([-1,  0])
    """
    codes: Integers = pc.fill_null(pc.index_in(values, value_set=ids), -1).to_numpy(zero_copy_only=False)
    return codes.astype(np.int64)


def factorize(column: Any) -> tuple[pa.Array, Integers]:
    """The distinct ids of a column without gaps, ascending, and each row's code: `unique_ids` and `encode` in one.

    >>> ids, codes = factorize(["b", "a", "b"])
    >>> ids.to_pylist(), codes.tolist()
    (['a', 'b'], [1, 0, 1])
    """
    coded = to_dictionary(column)
    order = pc.sort_indices(coded.dictionary)
    codes = np.empty(len(order), np.int64)
    codes[order.to_numpy()] = np.arange(len(order))
    return coded.dictionary.take(order), codes[coded.indices.to_numpy()]


def decode(codes: Integers, ids: pa.Array) -> "pd.Series[str]":
    """The ids of these codes, (rows,) int64, as a text column."""
    column: pd.Series[str] = pa.chunked_array([ids.take(pa.array(codes))]).to_pandas()
    return column


def pair_keys(frame: pd.DataFrame, queries: pa.Array, candidates: pa.Array) -> Integers:
    """The pair key of every row (query_id, candidate_id); -1 where an id is not one of the given ones."""
    return _join(encode(frame["query_id"], queries), encode(frame["candidate_id"], candidates), candidates)


def find_sorted(keys: Integers, sorted_keys: Integers) -> Integers:
    """The index of each key among the ascending ones, -1 where it is missing; (rows,) int64.

    >>> find_sorted(np.array([7, 4]), np.array([3, 7]))
    array([ 1, -1])
    """
    if not len(sorted_keys):
        return np.full(len(keys), -1, np.int64)
    index = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return np.where(sorted_keys[index] == keys, index, -1)


def in_sorted(sorted_keys: Integers, keys: Integers) -> Flags:
    """Whether each key is among the ascending ones; (rows,) bool."""
    return np.asarray(find_sorted(keys, sorted_keys) >= 0)


def sort_unique(*parts: Integers) -> Integers:
    """The distinct keys of all parts, ascending (by sorting: numpy's own hash is slow on so many)."""
    keys = np.sort(np.concatenate(parts))
    return keys[np.diff(keys, prepend=keys[:1] - 1) > 0]


def hash_id(text: str) -> int:
    """64 bits that stand for a text, the same everywhere.

    >>> f"{hash_id('a'):x}"
    '40f89e395b66422f'
    """
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def hash_ids(column: Any) -> Hashes:
    """The hash of every id; (rows,) uint64. Each distinct one is computed once."""
    coded = to_dictionary(column)
    hashes = np.array([hash_id(text) for text in coded.dictionary.to_pylist()], dtype=np.uint64)
    return hashes[coded.indices.to_numpy()] if len(hashes) else np.empty(0, np.uint64)


def mix_bits(values: Hashes) -> Hashes:
    """Neighbouring hashes become unrelated ones (the finaliser of splitmix64); (rows,) uint64."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Hashes = values ^ (values >> np.uint64(31))
    return mixed


def format_ids(ids: pa.Array, rows: Integers, most: int = 3) -> str:
    """A few of the ids for a message.

    >>> format_ids(pa.array(["a", "b", "c"]), np.arange(3), most=2)
    "'a', 'b' and 1 more"
    """
    text = ", ".join(repr(ids[row].as_py()) for row in rows[:most].tolist())
    return text + (f" and {len(rows) - most:,} more" if len(rows) > most else "")


LABELS = Table(
    "labelled pairs",
    "a pair with its label",
    ("query_id", "candidate_id", "value"),  # with `value`: equal duplicates collapse in LabelledPairs.from_frame
    (QUERY, CANDIDATE, Column("value", "integer", "1 similar, 0 not", allowed=(0, 1))),
)
LISTS = Table(
    "neighbors",
    NEIGHBORS.row,
    NEIGHBORS.key,
    tuple(column for column in NEIGHBORS.columns if column.name in (*NEIGHBORS.key, "rank")),
)
RANKS = Table(
    "ranks of pairs",
    "a pair's rank in a model's full list",
    ("model", "query_id", "candidate_id"),
    (MODEL, QUERY, CANDIDATE, Column("rank", "integer", "from 0; -1 where the rules exclude the candidate", low=-1)),
)
LENGTHS = Table(
    "lengths of lists",
    "a model's list",
    ("model", "query_id"),
    (MODEL, QUERY, Column("length", "integer", "candidates in the full list", low=0)),
)
UNLABELLED = -1


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs as codes; `query` and `candidate` are (pairs,) int64."""

    queries: pa.Array  # distinct ids, ascending
    candidates: pa.Array
    query: Integers
    candidate: Integers

    @property
    def keys(self) -> Integers:
        """The pair key of every pair."""
        return self.query * max(len(self.candidates), 1) + self.candidate

    def keys_among(self, other: "Pairs") -> Integers:
        """The pair key of every pair in the codes of `other`; -1 where `other` does not know an id."""
        query, candidate = encode(self.queries, other.queries), encode(self.candidates, other.candidates)
        return _join(query[self.query], candidate[self.candidate], other.candidates)


@dataclass(frozen=True, eq=False)
class LabelledPairs(Pairs):
    """Pairs with their labels, ascending by (query, candidate)."""

    value: Integers  # (pairs,) 1 or 0

    @classmethod
    def from_frame(
        cls, frame: pd.DataFrame, where: str = "labels", *, queries: pa.Array | None = None
    ) -> "LabelledPairs":
        """The labels of a frame (columns query_id, candidate_id, value).

        `queries` (distinct ids, ascending) holds every query of the frame; default: the queries of the frame.
        Equal duplicates collapse; a pair that is both 1 and 0, or any other value, is refused.
        """
        codes = to_codes(_declared(frame, LABELS), LABELS, where)
        queries, query = (
            factorize(codes["query_id"]) if queries is None else (queries, encode(codes["query_id"], queries))
        )
        candidates, candidate = factorize(codes["candidate_id"])
        value = codes["value"].to_numpy().astype(np.int64)
        key = query * max(len(candidates), 1) + candidate
        order = np.argsort(2 * key + value)
        repeated = np.diff(key[order], prepend=-1) == 0
        torn = order[repeated & (np.diff(value[order], prepend=-1) != 0)]
        if len(torn):
            shown = [(queries[query[row]], candidates[candidate[row]]) for row in torn[:3].tolist()]
            raise InputError(
                f"{len(torn):,} pairs have contradictory labels",
                where=where,
                hint="Decide one label for each pair: eds truth decide.",
                faults=[f"{first} {second} is both 1 and 0" for first, second in shown],
            )
        rows = order[~repeated]
        return cls(queries, candidates, query[rows], candidate[rows], value[rows])

    @property
    def positives(self) -> Integers:
        """(queries,) int64: labelled positives of each query."""
        return np.bincount(self.query[self.value == 1], minlength=len(self.queries))

    @property
    def negatives(self) -> Integers:
        """(queries,) int64: labelled negatives of each query."""
        return np.bincount(self.query[self.value == 0], minlength=len(self.queries))

    def find(self, pairs: Pairs) -> Integers:
        """The index of each of `pairs` among these, -1 where it has no label."""
        return find_sorted(pairs.keys_among(self), self.keys)

    def find_ids(self, query: Any, candidate: Any) -> Integers:
        """The index of each (query id, candidate id) among these pairs, -1 where it has no label."""
        keys = _join(encode(query, self.queries), encode(candidate, self.candidates), self.candidates)
        return find_sorted(keys, self.keys)

    def labels_of(self, pairs: Pairs) -> Integers:
        """The label of each of `pairs`: 1, 0 or UNLABELLED."""
        index = self.find(pairs)
        return np.where(index >= 0, self.value[index] if len(self.value) else 0, UNLABELLED)

    def select(self, kept: Flags) -> "LabelledPairs":
        """Only the flagged pairs; the ids stay, so that arrays over queries still fit."""
        return replace(self, query=self.query[kept], candidate=self.candidate[kept], value=self.value[kept])

    def to_frame(self) -> pd.DataFrame:
        """The pairs as columns query_id, candidate_id, value: what `from_frame` reads."""
        return pd.DataFrame(
            {
                "query_id": decode(self.query, self.queries),
                "candidate_id": decode(self.candidate, self.candidates),
                "value": self.value,
            }
        )


@dataclass(frozen=True, eq=False)
class RankedLists(Pairs):
    """Rows of the models' lists; each array is int64 with one entry for a row, ranks count from 0."""

    models: list[str]
    model: Integers
    rank: Integers

    @classmethod
    def from_frame(
        cls, frame: pd.DataFrame, k: int | None = None, models: Sequence[str] | None = None
    ) -> "RankedLists":
        """The lists of a frame (columns model, query_id, candidate_id, rank), cut at depth k, of some models or all.

        Wrong columns or values, an unknown model and a pair that occurs twice in one list are refused. Whether the
        ranks form lists is not looked at: `check_ranks`, `check_complete`.
        """
        rows = _declared(frame, LISTS)
        if k is not None and "rank" in rows.columns and pd.api.types.is_numeric_dtype(rows["rank"]):
            rows = rows[~(rows["rank"] >= k)]
        if models is not None and "model" in frame.columns:
            _check_models(models, frame["model"])
            rows = rows[rows["model"].isin(list(models))]
        codes = to_codes(rows, LISTS)
        (names, model), (queries, query), (candidates, candidate) = (factorize(codes[name]) for name in LISTS.key)
        rank = codes["rank"].to_numpy().astype(np.int64)
        return cls(queries, candidates, query, candidate, names.to_pylist(), model, rank)

    def sizes(self) -> Integers:
        """Length of every list: queries x models."""
        shape = (len(self.queries), len(self.models))
        return np.bincount(self.query * shape[1] + self.model, minlength=shape[0] * shape[1]).reshape(shape)

    def select(self, rows: Flags | Integers) -> "RankedLists":
        """Only these rows; ids and models stay."""
        parts = {name: getattr(self, name)[rows] for name in ("query", "candidate", "model", "rank")}
        return replace(self, **parts)

    def sort(self) -> "RankedLists":
        """The rows by model, query and rank."""
        return self.select(np.lexsort((self.rank, self.query, self.model)))

    def check_ranks(self, tied: Collection[str] = ()) -> None:
        """Refuse a query in its own list, and two candidates at one rank except in the lists of the models `tied`."""
        depth = int(self.rank.max(initial=0)) + 1
        slot = (self.query * max(len(self.models), 1) + self.model) * depth + self.rank
        strict = np.array([name not in tied for name in self.models], np.bool_)[self.model]
        repeated = np.zeros(len(slot), np.bool_)
        repeated[strict] = _repeats(slot[strict])
        _refuse(
            [
                *self._row_faults(self._own(), "lists the query itself"),
                *self._row_faults(repeated, "has two candidates at one rank"),
            ]
        )

    def check_complete(self) -> None:
        """Refuse lists whose ranks do not count 0, 1, 2, ..., and a query in its own list; needs sorted rows."""
        number = self.model * max(len(self.queries), 1) + self.query
        starts = np.flatnonzero(np.diff(number, prepend=-1) != 0)
        expected = np.arange(len(number)) - np.repeat(starts, np.diff(np.append(starts, len(number))))
        checks = (
            (expected != self.rank, "ranks do not count 0, 1, 2, ... without gap or repeat for queries"),
            (self._own(), "the query is in its own list for"),
        )
        faults = []
        for wrong, what in checks:
            if models := [self.models[code] for code in np.unique(self.model[wrong]).tolist()]:
                queries = format_ids(self.queries, np.unique(self.query[wrong]))
                faults.append(f"{', '.join(models)}: {what} {queries}")
        _refuse(faults)

    def _own(self) -> Flags:
        """Rows in which the query lists itself."""
        if not len(self.query):
            return np.zeros(0, np.bool_)
        return np.asarray(encode(self.candidates, self.queries)[self.candidate] == self.query)

    def _row_faults(self, bad: Flags, what: str) -> list[str]:
        rows = np.flatnonzero(bad)
        return [
            f"row {row}: model {self.models[self.model[row]]}, query {self.queries[self.query[row]].as_py()!r} {what}"
            f" (rank {self.rank[row]})"
            for row in rows[:3].tolist()
        ] + ([f"and {len(rows) - 3:,} more rows"] if len(rows) > 3 else [])


@dataclass(frozen=True, eq=False)
class KnownRanks(RankedLists):
    """Ranks of some pairs in the models' full lists, without the lists; rank -1: the rules exclude the candidate.

    That is all that measures with labels need, and far cheaper than whole lists.
    """

    length: Integers  # models x queries: the full list

    @classmethod
    def from_frames(cls, ranks: pd.DataFrame, lengths: pd.DataFrame) -> "KnownRanks":
        """The ranks of `ranks` (model, query_id, candidate_id, rank) in lists of `lengths` (model, query_id, length).

        Refused: wrong columns or values, a pair or a rank that occurs twice in a list, a rank behind the list's end.
        """
        codes = to_codes(_declared(ranks, RANKS), RANKS)
        sizes = to_codes(_declared(lengths, LENGTHS), LENGTHS)
        models, queries = (unique_ids(codes[name], sizes[name]) for name in ("model", "query_id"))
        candidates, candidate = factorize(codes["candidate_id"])
        length = np.zeros((len(models), len(queries)), np.int64)
        length[encode(sizes["model"], models), encode(sizes["query_id"], queries)] = sizes["length"].to_numpy()
        rank = codes["rank"].to_numpy().astype(np.int64)
        model, query = encode(codes["model"], models), encode(codes["query_id"], queries)
        result = cls(queries, candidates, query, candidate, models.to_pylist(), model, rank, length)
        result._check()
        return result

    def _check(self) -> None:
        listed = self.select(self.rank >= 0).sort()
        same = [np.diff(part) == 0 for part in (listed.model, listed.query, listed.rank)]
        twice = np.unique(listed.query[1:][np.logical_and.reduce(same)])
        behind = np.unique(listed.query[listed.rank >= self.length[listed.model, listed.query]])
        faults = []
        if len(twice):
            faults.append(f"two candidates at one rank for queries {format_ids(self.queries, twice)}")
        if len(behind):
            faults.append(f"a rank behind the list's end for queries {format_ids(self.queries, behind)}")
        if faults:
            raise InputError("invalid ranks", where="ranks of pairs", hint="Rank the pairs again.", faults=faults)


def _declared(frame: pd.DataFrame, table: Table) -> pd.DataFrame:
    """The declared columns that the frame has; what is missing is for `to_codes` to refuse."""
    return frame[[name for name in table.names if name in frame.columns]]


def _join(query: Integers, candidate: Integers, candidates: pa.Array) -> Integers:
    known = (query >= 0) & (candidate >= 0)
    return np.where(known, query * max(len(candidates), 1) + candidate, -1)


def _check_models(models: Sequence[str], column: "pd.Series[str]") -> None:
    known = set(column.unique())
    unknown = [name for name in models if name not in known]
    if unknown or not models:
        raise InputError(
            f"no lists of model {', '.join(unknown)}" if unknown else "no model is named",
            where="table neighbors",
            hint=f"Known: {', '.join(sorted(map(str, known))) or 'none'}.",
        )


def _repeats(slot: Integers) -> Flags:
    """Rows whose slot occurred before; (rows,) bool."""
    if int(slot.max(initial=-1)) < 4 * len(slot) and np.bincount(slot).max(initial=0) < 2:
        return np.zeros(len(slot), np.bool_)  # the usual case, without a hash of all rows
    return pd.Series(slot).duplicated().to_numpy()


def _refuse(faults: list[str]) -> None:
    if faults:
        raise InputError(
            "the models' lists are not rankings", where="table neighbors", hint="Mine them again.", faults=faults
        )
