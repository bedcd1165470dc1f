"""Text ids as small integers, ascending by code point: a pair becomes one int64, whatever the row order."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]


def distinct(*columns: Any) -> pa.Array:
    """The distinct ids of all the columns (Arrow or pandas), ascending."""
    names = pc.unique(pa.chunked_array([pc.unique(_text(column)) for column in columns], pa.string()))
    return names.take(pc.sort_indices(names))


def encode(column: Any, names: pa.Array) -> Integers:
    """Each id's place among `names`, -1 where it is none of them; (rows,) int64."""
    coded = _text(column).dictionary_encode()
    places = pc.fill_null(pc.index_in(coded.dictionary, value_set=names), -1).to_numpy(zero_copy_only=False)
    rows = coded.indices.to_numpy(zero_copy_only=False)
    return places.astype(np.int64)[rows] if len(places) else np.zeros(len(rows), np.int64)


def decode(codes: Integers, names: pa.Array) -> "pd.Series[str]":
    """The ids of these codes, as a text column."""
    found: pd.Series[str] = pa.chunked_array([names.take(pa.array(codes))]).to_pandas()
    return found


def places_of(keys: Integers, sorted_keys: Integers) -> Integers:
    """Each key's place among the ascending ones, -1 where it is none of them; (rows,) int64."""
    if not len(sorted_keys):
        return np.full(len(keys), -1, np.int64)
    places = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return np.where(sorted_keys[places] == keys, places, -1)


def shown(ids: pa.Array, rows: Integers, most: int = 3) -> str:
    """A few of the ids, as a message tells them."""
    told = ", ".join(repr(ids[row].as_py()) for row in rows[:most].tolist())
    return told + (f" and {len(rows) - most:,} more" if len(rows) > most else "")


def _text(column: Any) -> pa.Array:
    array = column if isinstance(column, (pa.Array, pa.ChunkedArray)) else pa.array(column, from_pandas=True)
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    return array if array.type == pa.string() else array.cast(pa.string())
