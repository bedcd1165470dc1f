"""Text ids as small integers, which is what stages compute on.

A *code* is the place of an id among the distinct ids in ascending order: by Unicode code point, which is
how their UTF-8 bytes sort too. So codes sort as their ids do, whatever the row order.

A *word* is 64 bits that stand for an id by itself, the same in every table and on every machine: draws that
are keyed by words do not depend on what other ids there are.
"""

import hashlib
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]
Words = NDArray[np.uint64]


def text(column: Any) -> pa.Array:
    """A text column (Arrow or pandas) as one Arrow array of strings."""
    array = column if isinstance(column, (pa.Array, pa.ChunkedArray)) else pa.array(column, from_pandas=True)
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    return array if array.type == pa.string() else array.cast(pa.string())


def coded(column: Any) -> pa.DictionaryArray:
    """A text column as codes into its distinct ids, in any order; itself where eds.schema.to_codes made it."""
    return column if isinstance(column, pa.DictionaryArray) else text(column).dictionary_encode()


def distinct(*columns: Any) -> pa.Array:
    """The distinct ids of all the columns (Arrow or pandas), ascending.

    >>> distinct(["b", "a"], ["é", "a"]).to_pylist()
    ['a', 'b', 'é']
    """
    names = pc.unique(pa.chunked_array([coded(column).dictionary for column in columns], pa.string()))
    return names.take(pc.sort_indices(names))


def encode(column: Any, names: pa.Array) -> Integers:
    """Each id's place among `names`, -1 where it is none of them; (rows,) int64.

    >>> encode(["c", "a"], pa.array(["a", "b"]))
    array([-1,  0])
    """
    codes = coded(column)
    places, rows = located(codes.dictionary, names), codes.indices.to_numpy(zero_copy_only=False)
    return places[rows] if len(places) else np.zeros(len(rows), np.int64)


def located(ids: pa.Array, names: pa.Array) -> Integers:
    """As `encode`, for ids of which few or none stand there twice.

    >>> located(pa.array(["c", "a"]), pa.array(["a", "b"]))
    array([-1,  0])
    """
    places: Integers = pc.fill_null(pc.index_in(ids, value_set=names), -1).to_numpy(zero_copy_only=False)
    return places.astype(np.int64)


def numbered(column: Any) -> tuple[pa.Array, Integers]:
    """The distinct ids of a column without gaps, ascending, and each row's place: `distinct` and `encode` in one.

    >>> names, codes = numbered(["b", "a", "b"])
    >>> names.to_pylist(), codes.tolist()
    (['a', 'b'], [1, 0, 1])
    """
    codes = coded(column)
    order = pc.sort_indices(codes.dictionary)
    places = np.empty(len(order), np.int64)
    places[order.to_numpy()] = np.arange(len(order))
    return codes.dictionary.take(order), places[codes.indices.to_numpy()]


def decode(codes: Integers, names: pa.Array) -> "pd.Series[str]":
    """The ids of these codes, (rows,) int64, as a text column."""
    found: pd.Series[str] = pa.chunked_array([names.take(pa.array(codes))]).to_pandas()
    return found


def places_of(keys: Integers, sorted_keys: Integers) -> Integers:
    """Each key's place among the ascending ones, -1 where it is none of them; (rows,) int64.

    >>> places_of(np.array([7, 4]), np.array([3, 7]))
    array([ 1, -1])
    """
    if not len(sorted_keys):
        return np.full(len(keys), -1, np.int64)
    places = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return np.where(sorted_keys[places] == keys, places, -1)


def contains(sorted_keys: Integers, keys: Integers) -> Flags:
    """For each key whether it stands among the ascending ones; (rows,) bool."""
    return np.asarray(places_of(keys, sorted_keys) >= 0)


def word(text: str) -> int:
    """64 bits that stand for a text, the same everywhere.

    >>> f"{word('a'):x}"
    '40f89e395b66422f'
    """
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def words(column: Any) -> Words:
    """The word of every id; (rows,) uint64. Each distinct one is hashed once."""
    codes = coded(column)
    found = np.array([word(name) for name in codes.dictionary.to_pylist()], dtype=np.uint64)
    return found[codes.indices.to_numpy()] if len(found) else np.empty(0, np.uint64)


def scramble(values: Words) -> Words:
    """Neighbouring words become unrelated ones (the finaliser of splitmix64); (rows,) uint64."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    scrambled: Words = values ^ (values >> np.uint64(31))
    return scrambled


def shown(ids: pa.Array, rows: Integers, most: int = 3) -> str:
    """A few of the ids, as a message tells them.

    >>> shown(pa.array(["a", "b", "c"]), np.arange(3), most=2)
    "'a', 'b' and 1 more"
    """
    told = ", ".join(repr(ids[row].as_py()) for row in rows[:most].tolist())
    return told + (f" and {len(rows) - most:,} more" if len(rows) > most else "")
