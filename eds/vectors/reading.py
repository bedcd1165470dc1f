"""Opening a folder of vectors, and reading from it by row and by image."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from eds import tables
from eds.errors import InputError, TableError
from eds.io.files import digest
from eds.vectors.model import REMAKE, Array, LostShardError, Model, Shard, open_shard, read_model, stored_dtype, unpack
from eds.vectors.verified import altered_shards

SHOWN = 5  # unknown ids that a message names


class Vectors:
    """The vectors of one model, memory-mapped: opened at once, read where they are asked for."""

    def __init__(self, folder: Path, model: Model, shards: Sequence[Array]) -> None:
        self.folder, self.model = folder, model
        self._shards = list(shards)
        self._starts = np.cumsum([0, *(len(shard) for shard in shards)])

    @classmethod
    def open(cls, folder: str | Path) -> "Vectors":
        """The vectors in `folder`; refused, with all faults, if a file is missing or not what was written."""
        folder = Path(folder)
        model = read_model(folder)
        faults: list[str] = []
        shards = [_open_shard(folder, shard, model, faults) for shard in model.shards]
        if not faults:
            faults += altered_shards(folder, model).values()
        only_lost = len(faults)
        rows = sum(shard.rows for shard in model.shards)
        if rows != model.rows:
            faults.append(f"model.json lists {model.rows:,} rows, its shards have {rows:,}")
        listed = tables.read_provenance(folder / "ids.parquet", tables.EMBEDDINGS)[1]
        if listed != model.rows:
            faults.append(f"model.json lists {model.rows:,} rows, ids.parquet has {listed:,}")
        made_by = model.provenance.command if len(faults) == only_lost else ""
        _refuse(faults, folder, f"Make what is lost again: {made_by}." if made_by else REMAKE)
        return cls(folder, model, [shard for shard in shards if shard is not None])

    def __len__(self) -> int:
        return self.model.rows

    @cached_property
    def ids(self) -> Array:
        """Image ids in row order, shard after shard; (rows,) of str."""
        return np.asarray(self.id_column.to_numpy(zero_copy_only=False), dtype=object)

    @cached_property
    def sources(self) -> Array:
        """Digest of file and box behind each row, None where unknown; (rows,) of str."""
        frame = tables.read(self.folder / "ids.parquet", tables.EMBEDDINGS, ["source"])
        return np.asarray(_text(frame["source"]).to_numpy(zero_copy_only=False), dtype=object)

    @cached_property
    def id_column(self) -> pa.Array:
        """The same as Arrow text, which takes a fifth of the memory."""
        return _text(tables.read(self.folder / "ids.parquet", tables.EMBEDDINGS, ["image_id"])["image_id"])

    def blocks(self, rows: int) -> Iterator[tuple[int, Array]]:
        """Every vector as stored, in row order: (number of the first row, view of at most `rows` vectors).

        A block never reaches over the end of a shard, so nothing is copied.
        """
        if rows < 1:
            raise InputError(f"a block of {rows} rows is impossible", hint="Give a number from 1 up.")
        for start, shard in zip(self._starts.tolist(), self._shards, strict=False):
            for first in range(0, len(shard), rows):
                yield start + first, shard[first : first + rows]

    def rows_of(self, ids: Sequence[str] | Array | pa.Array) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The row of each id, (n,) int64; unknown ids are refused by name."""
        asked = ids if isinstance(ids, pa.Array) else _text(pd.Series(ids, dtype=object))
        coded = asked.dictionary_encode()
        found = pc.index_in(self.id_column, value_set=coded.dictionary)  # few needles, many rows: hash the needles
        row_of_code = np.full(len(coded.dictionary), -1, dtype=np.int64)
        hits = np.flatnonzero(found.is_valid().to_numpy(zero_copy_only=False))
        row_of_code[found.drop_null().to_numpy()] = hits
        unknown = np.flatnonzero(row_of_code < 0)
        if asked.null_count or len(unknown):
            more = ", …" if len(unknown) > SHOWN else ""
            named = [str(coded.dictionary[code]) for code in unknown[:SHOWN].tolist()] or ["(empty)"]
            raise InputError(
                f"{max(len(unknown), 1):,} images have no vector: {', '.join(named)}{more}",
                where=str(self.folder),
                hint=f"Compute them: eds embeddings compute; there are vectors of {len(self):,} images.",
            )
        rows: np.ndarray[Any, np.dtype[np.int64]] = row_of_code[coded.indices.to_numpy()]
        return rows

    def gather(self, ids: Sequence[str] | Array) -> np.ndarray[Any, np.dtype[np.float32]]:
        """The vectors of these ids in their order, (n, dimension) float32; codes as -1 and 1."""
        stored = self.take(self.rows_of(ids))
        if self.model.dtype == "bits":
            return unpack(stored, self.model.dimension)
        return stored.astype(np.float32, copy=False)

    def gather_packed(self, ids: Sequence[str] | Array) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """The packed codes of these ids in their order, (n, ceil(bits / 8)) uint8; bits only."""
        if self.model.dtype != "bits":
            raise InputError(
                f"the vectors are {self.model.dtype}, not bits", where=str(self.folder), hint="Ask for them unpacked."
            )
        return self.take(self.rows_of(ids))

    def take(self, rows: Array) -> Array:
        """The vectors of these rows, (n,) int64, as stored: (n, width). Reads each shard once, forwards."""
        found = np.empty((len(rows), self.model.width), dtype=stored_dtype(self.model.dtype))
        order = np.argsort(rows, kind="stable")
        ordered = np.asarray(rows)[order]
        cuts = np.searchsorted(ordered, self._starts)
        for shard, start, low, high in zip(self._shards, self._starts.tolist(), cuts[:-1], cuts[1:], strict=False):
            if high > low:
                found[order[low:high]] = shard[ordered[low:high] - start]
        return found

    def verify(self) -> None:
        """Hold every shard against its digest, and ids.parquet against the shards; all faults at once."""
        faults = [
            f"{shard.file} is not the file that was written (its sha256 differs)"
            for shard in self.model.shards
            if digest(self.folder / shard.file) != shard.sha256  # of the bytes as they are now, whatever is remembered
        ]
        places = tables.read(self.folder / "ids.parquet", tables.EMBEDDINGS, ["shard", "row"])
        counts = [shard.rows for shard in self.model.shards]
        shards = np.repeat([shard.number for shard in self.model.shards], counts)
        rows = np.concatenate([np.arange(0), *(np.arange(count) for count in counts)])
        if not (np.array_equal(places["shard"], shards) and np.array_equal(places["row"], rows)):
            faults.append("ids.parquet does not list the rows of the shards in their order")
        _refuse(faults, self.folder)


def _open_shard(folder: Path, shard: Shard, model: Model, faults: list[str]) -> Array | None:
    try:
        return open_shard(folder / shard.file, shard.rows, model.width, model.dtype)
    except LostShardError as error:
        faults.append(error.what)
        return None


def _text(series: "pd.Series[Any]") -> pa.Array:
    array = pa.array(series, type=pa.string(), from_pandas=True)
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _refuse(faults: list[str], folder: Path, hint: str = REMAKE) -> None:
    if faults:
        what = faults[0] if len(faults) == 1 else f"{len(faults)} faults"
        raise TableError(what, where=str(folder), hint=hint, faults=faults if len(faults) > 1 else ())
