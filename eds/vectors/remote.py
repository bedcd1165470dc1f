"""A folder of vectors that lies elsewhere: read in ranges where it is, or copy_remote here whole.

`open_remote` fetches model.json and ids.parquet, and of the shards only the rows that are asked for: for looking
up some images, or one pass over all. `copy_remote` brings everything, each shard held against its digest: for work that
passes over the vectors often. A shard that is missing, cut or another array is named, with all the others.
"""

import io
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from eds import io as storage
from eds import tables
from eds.errors import InputError, TableError
from eds.io import StorageError
from eds.vectors.model import Array, Model, Shard, open_shard, read_model, stored_dtype
from eds.vectors.reading import Vectors

HEADER = 4096  # bytes in which the header of a shard has room
GAP = 1 << 16  # bytes that are rather read than left out between two ranges
LARGEST = 1 << 24  # bytes of one range
AT_ONCE = 8  # ranges
PUT_AGAIN = "Put the folder there again, model.json last."


class RangedShard:
    """A shard elsewhere, (rows, width): what is indexed, by a slice or by ascending rows, is read then."""

    def __init__(self, address: storage.Address, rows: int, width: int, kind: np.dtype[Any]) -> None:
        """Look at header and size; InputError if it is another array, or cut."""
        self.shape, self.dtype, self._address = (rows, width), kind, address
        name, size = storage.name_of(address), storage.size(address)
        stream = io.BytesIO(storage.read(address, 0, min(HEADER, size)))
        try:
            readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
            shape, turned, found = readers[np.lib.format.read_magic(stream)](stream)
        except (ValueError, KeyError, EOFError) as error:
            raise InputError(f"{name} is damaged ({error})") from error
        if (shape, found, turned) != (self.shape, kind, False):
            raise InputError(f"{name} holds {found} {shape}, not {kind} {self.shape}")
        self._start, self._row = stream.tell(), width * kind.itemsize
        if size != self._start + rows * self._row:
            raise InputError(f"{name} is truncated: {size:,} of {self._start + rows * self._row:,} bytes")

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, asked: "slice | Array") -> Array:
        if isinstance(asked, slice):
            first, behind, _ = asked.indices(len(self))
            return self._range(first, behind)
        firsts, counts = _runs(np.asarray(asked), self._row)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            parts = list(pool.map(lambda run: self._range(run[0], run[0] + run[1]), zip(firsts, counts, strict=True)))
        starts = np.cumsum([0, *counts[:-1]])  # (runs,) row of each run's first vector among those that were read
        run = np.searchsorted(firsts, asked, side="right") - 1
        rows = starts[run] + asked - np.asarray(firsts)[run]
        found: Array = np.concatenate([self._range(0, 0), *parts])[rows]
        return found

    def _range(self, first: int, behind: int) -> Array:
        data = storage.read(self._address, self._start + first * self._row, (behind - first) * self._row)
        return np.frombuffer(data, self.dtype).reshape(-1, self.shape[1])


def open_remote(address: storage.Address) -> Vectors:
    """The vectors at an address, their shards read in ranges; refused, with all faults, if they are not whole."""
    folder = Path(tempfile.mkdtemp(prefix="eds-vectors-"))
    try:
        model = _described(address, folder)
        faults: list[str] = []
        kind = stored_dtype(model.dtype)

        def ranged(shard: Shard) -> RangedShard:
            return RangedShard(_at(address, shard), shard.rows, model.width, kind)

        shards: list[Any] = [_attempt(ranged, shard, faults) for shard in model.shards]
        _refuse(faults, address)
        opened = _Remote(folder, model, shards)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    opened.address = address
    weakref.finalize(opened, shutil.rmtree, folder, ignore_errors=True)
    return opened


def copy_remote(address: storage.Address, folder: Path, progress: Callable[[int, int], None] | None = None) -> Path:
    """The folder of vectors at an address as a folder here; what a run before has fetched is not fetched again."""
    model = _described(address, folder)
    faults: list[str] = []

    def copy(shard: Shard) -> None:
        fetched = storage.fetched(_at(address, shard), folder / "fetched", shard.sha256)
        open_shard(fetched, shard.rows, model.width, model.dtype)
        (folder / shard.file).unlink(missing_ok=True)
        os.link(fetched, folder / shard.file)

    for done, shard in enumerate(model.shards, start=1):
        _attempt(copy, shard, faults)
        if progress:
            progress(done, len(model.shards))
    _refuse(faults, address)
    return folder


class _Remote(Vectors):
    """Vectors whose shards are elsewhere; ids.parquet and model.json are copies that go with the object."""

    address: storage.Address

    def verify(self) -> None:
        """Hold every shard against its digest: reads all of them."""
        faults: list[str] = []
        for shard in self.model.shards:
            if storage.digest(_at(self.address, shard)) != shard.sha256:
                faults.append(f"{shard.file} is not the file that was written (its sha256 differs)")
        _refuse(faults, self.address)


def _described(address: storage.Address, folder: Path) -> Model:
    """Fetch model.json and ids.parquet; they must list as many rows as the shards have."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("model.json", "ids.parquet"):
        try:
            data = storage.read(storage.join(address, name))
        except storage.AbsentError as error:
            raise TableError(
                f"there are no finished vectors: {name} is missing",
                where=str(address),
                hint="Give the address of a folder embeddings/<model>.",
            ) from error
        (folder / name).write_bytes(data)
    model = read_model(folder)
    listed = tables.read_provenance(folder / "ids.parquet", tables.EMBEDDINGS)[1]
    odd = [shard.file for shard in model.shards if not re.fullmatch(r"[0-9]+\.npy", shard.file)]
    _refuse([f"model.json names a shard {name!r}" for name in odd], address)
    rows = sum(shard.rows for shard in model.shards)
    if not rows == model.rows == listed:
        _refuse([f"model.json lists {model.rows:,} rows, its shards {rows:,}, ids.parquet {listed:,}"], address)
    return model


def _at(address: storage.Address, shard: Shard) -> storage.Address:
    return storage.join(address, shard.file)


def _attempt(act: "Callable[[Shard], RangedShard | None]", shard: Shard, faults: list[str]) -> "RangedShard | None":
    """What `act` gives of a shard; one that is not what it should be becomes a fault, a storage that fails goes on."""
    try:
        return act(shard)
    except StorageError as error:
        if not isinstance(error, (storage.AbsentError, storage.TruncatedError)):
            raise
        faults.append(f"{shard.file}: {error.what}")
    except InputError as error:
        faults.append(error.what)
    return None


def _runs(rows: Array, size: int) -> tuple[list[int], list[int]]:
    """Ascending rows, (n,) int64, of `size` bytes each, as ranges: first rows, and how many; small gaps are read along.

    >>> _runs(np.array([0, 0, 2, 900]), 1 << 14)
    ([0, 900], [3, 1])
    """
    if not len(rows):
        return [], []
    firsts, behind, most = [int(rows[0])], [int(rows[0]) + 1], max(1, LARGEST // size)
    for row in np.unique(rows)[1:].tolist():
        if (row - behind[-1]) * size <= GAP and row - firsts[-1] < most:
            behind[-1] = row + 1
        else:
            firsts.append(row)
            behind.append(row + 1)
    return firsts, [end - first for first, end in zip(firsts, behind, strict=True)]


def _refuse(faults: list[str], address: storage.Address) -> None:
    if faults:
        what = faults[0] if len(faults) == 1 else f"{len(faults)} faults"
        raise TableError(what, where=str(address), hint=PUT_AGAIN, faults=faults if len(faults) > 1 else ())
