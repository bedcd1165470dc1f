"""Writing a folder of vectors so that no crash costs more than one shard.

A shard is written whole, then its receipt (`00000.ids.parquet`: images, sources, digest, seconds); a
shard without a receipt does not count. `partial.json` says which model the receipts belong to, so two
models never mix. `finish` keeps what is wanted, copies the live rows of shards that hold dead ones,
and writes ids.parquet and model.json; only then are old shards removed. A process that dies anywhere
in this leaves a folder from which the next run goes on.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from eds import tables
from eds.errors import InputError, TableError
from eds.io.files import digest, replacing, write_text
from eds.tables import EMBEDDINGS, Provenance
from eds.vectors.folder import empty_if_other, lost_ids, receipt, refuse_other, sweep, write_receipt
from eds.vectors.model import Array, LostShardError, Model, Shard, lost_shards, open_shard, read_model, stored_dtype
from eds.vectors.reading import Vectors
from eds.vectors.verified import altered_shards

SHARD_ROWS = 4096  # a crash costs at most as many vectors; a multiple of every usual batch
FIRST_ROWS = 256  # of the first shard; each is twice the one before, so that a crash of a short run costs little too
MANY_SMALL = 16  # shards less than half full before they are gathered into full ones
SHOWN = 3
LISTED = ["image_id", "shard", "row", "source"]
TEXT = EMBEDDINGS.empty()["image_id"].dtype  # what text is in this version of pandas


@dataclass
class _Pending:
    """Vectors that wait until their shard is full."""

    ids: list[str] = field(default_factory=list)
    sources: list[str | None] = field(default_factory=list)
    blocks: list[Array] = field(default_factory=list)
    timed: int = 0
    seconds: float = 0.0

    @property
    def rows(self) -> int:
        return len(self.ids)


class Writer:
    """Adds vectors to a folder, shard by shard; knows what is there already."""

    def __init__(self, folder: Path, model: Model, *, shard_rows: int = SHARD_ROWS, replace: bool = False) -> None:
        """Begin or resume. A folder made by another model is refused, or emptied with `replace`."""
        self.folder, self.model, self.shard_rows = folder, model, shard_rows
        if replace:
            empty_if_other(folder, model)
        refuse_other(folder, model)
        self._old = read_model(folder) if (folder / "model.json").exists() else None
        if not (folder / "partial.json").exists():
            folder.mkdir(parents=True, exist_ok=True)
            write_text(folder / "partial.json", json.dumps(model.identity, sort_keys=True))
        self._pending = _Pending()
        self._shards: dict[int, Shard] = {}
        self._lost: set[int] = set()  # shards that are gone or cut: their rows are lacking
        self._seconds, self._timed = 0.0, 0
        self._listed = self._read_listed()

    def add(
        self, ids: Sequence[str], sources: Sequence[str | None], vectors: Array, *, seconds: float | None = None
    ) -> None:
        """Add vectors, (n, dimension) float or (n, width) packed uint8, that took `seconds` to make.

        Every full shard is written at once. Refused: vectors that are not finite, or all zero.
        """
        ids, sources, stored = list(ids), list(sources), self._as_stored(ids, vectors)
        if seconds is not None:
            self._pending.seconds += seconds
        first = 0
        while first < len(stored):
            pending = self._pending
            part = slice(first, first + self._room - pending.rows)
            pending.ids += ids[part]
            pending.sources += sources[part]
            pending.blocks.append(stored[part])
            pending.timed += len(stored[part]) if seconds is not None else 0
            first += len(stored[part])
            if pending.rows == self._room:
                self.flush()

    def flush(self) -> None:
        """Write what is pending as a shard, full or not."""
        pending, self._pending = self._pending, _Pending()
        if not pending.rows:
            return
        number = self._next
        name = f"{number:05d}.npy"
        with replacing(self.folder / name) as temporary:
            with temporary.open("wb") as stream:
                np.save(stream, np.concatenate(pending.blocks), allow_pickle=False)
            shard = Shard(name, pending.rows, digest(temporary))
        listed = pd.DataFrame({"image_id": pending.ids, "source": pending.sources}, dtype=TEXT)
        listed = listed.assign(shard=number, row=np.arange(pending.rows))
        write_receipt(self.folder, self._named(listed), shard, pending.timed, pending.seconds)
        self._seconds, self._timed = self._seconds + pending.seconds, self._timed + pending.timed
        self._shards[number] = shard
        self._listed.append(listed)

    def abandon(self) -> None:
        """Take the folder away again if no shard of it was ever finished: it would be called begun for ever."""
        if self._shards or self._lost or self._old:
            return
        sweep(self.folder, None)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()

    def lacking(self, wanted: pd.DataFrame) -> Array:
        """Which rows of `wanted` (image_id, source) have no vector of that source yet; (n,) bool."""
        places = self._chosen(wanted)
        return ~wanted["image_id"].isin(places["image_id"]).to_numpy()

    def finish(self, wanted: pd.DataFrame, provenance: Provenance) -> Model:
        """Make the folder hold exactly those rows of `wanted` (image_id, source) that were added.

        A folder that holds them already, from the same provenance, is left untouched.
        """
        self.flush()
        if self._old and self._nothing_new(wanted, provenance):
            sweep(self.folder, self._old)
            return self._old
        self._compact(wanted)
        listed = self._chosen(wanted)
        numbers = sorted(set(listed["shard"].tolist()))
        old = self._old
        model = replace(
            self.model,
            rows=len(listed),
            shards=tuple(self._shards[number] for number in numbers),
            seconds=round((old.seconds if old else 0.0) + self._seconds, 3),
            images_per_second=round(self._timed / self._seconds, 3)
            if self._seconds
            else (old.images_per_second if old else 0.0),
            provenance=provenance,
        )
        self._receipts_for_old_shards()
        (self.folder / "model.json").unlink(missing_ok=True)
        tables.write(self._named(listed), EMBEDDINGS, self.folder / "ids.parquet", provenance)
        write_text(self.folder / "timing.json", model.times_to_json())
        write_text(self.folder / "model.json", model.to_json())
        sweep(self.folder, model)
        return model

    @property
    def _next(self) -> int:
        """The number of the next shard; never that of a lost one, which model.json and its receipt still describe."""
        return max({*self._shards, *self._lost}, default=-1) + 1

    @property
    def _room(self) -> int:
        """The rows of the next shard."""
        return min(self.shard_rows, FIRST_ROWS << min(self._next, 16))

    def _as_stored(self, ids: Sequence[str], vectors: Array) -> Array:
        model = self.model
        packed = model.dtype == "bits"
        if vectors.ndim != 2 or len(vectors) != len(ids) or vectors.shape[1] != model.width:
            raise InputError(
                f"an array of shape {vectors.shape} for {len(ids)} images",
                where=f"model {model.name}",
                hint=f"Give ({len(ids)}, {model.width}) {'packed bytes' if packed else 'numbers'}.",
            )
        if packed and vectors.dtype != np.uint8:
            raise InputError(f"codes come as {vectors.dtype}", where=f"model {model.name}", hint="Pack them to uint8.")
        with np.errstate(over="ignore"):
            stored = np.ascontiguousarray(vectors, dtype=stored_dtype(model.dtype))
        if not packed:
            bad = bad_rows(stored)
            if bad:
                raise InputError(
                    f"model {model.name} gave vectors that cannot be used",
                    where=str(self.folder),
                    hint="Look at those images; if they are sound, the model or its precision is not.",
                    faults=[f"{ids[row]}: {reason}" for row, reason in list(bad.items())[:SHOWN]]
                    + ([f"and {len(bad) - SHOWN:,} more"] if len(bad) > SHOWN else []),
                )
        return stored

    @property
    def _done(self) -> pd.DataFrame:
        self._listed = [pd.concat(self._listed, ignore_index=True)] if self._listed else [EMBEDDINGS.empty()[LISTED]]
        return self._listed[0]

    def _named(self, listed: pd.DataFrame) -> pd.DataFrame:
        return listed.assign(model=self.model.name)[EMBEDDINGS.names]

    def _read_listed(self) -> list[pd.DataFrame]:
        """Every row of every finished shard: the old folder's, then those of an interrupted run."""
        parts = []
        if self._old:
            if lost := lost_ids(self.folder):
                raise TableError(lost, where=str(self.folder), hint="Compute the vectors again: --replace.")
            self._lost = {*lost_shards(self.folder, self._old), *altered_shards(self.folder, self._old)}
            self._shards = {shard.number: shard for shard in self._old.shards if shard.number not in self._lost}
            listed = tables.read(self.folder / "ids.parquet", EMBEDDINGS, LISTED)
            parts.append(listed[~listed["shard"].isin(self._lost)])
        for path in sorted(self.folder.glob("*.ids.parquet")):
            number = int(path.name.removesuffix(".ids.parquet"))
            if number in self._shards or number in self._lost:
                continue
            listed, made = tables.read(path, EMBEDDINGS, LISTED), tables.read_provenance(path, EMBEDDINGS)[0]
            file = f"{number:05d}.npy"
            try:
                open_shard(self.folder / file, len(listed), self.model.width, self.model.dtype)
            except LostShardError:
                self._lost.add(number)
                continue
            if digest(self.folder / file) != made.parents[file]:
                self._lost.add(number)
                continue
            self._shards[number] = Shard(file, len(listed), made.parents[file])
            self._seconds += made.settings["seconds"]
            self._timed += made.settings["timed"]
            parts.append(listed)
        return parts

    def _chosen(self, wanted: pd.DataFrame) -> pd.DataFrame:
        """For each wanted image the newest finished row of the wanted source."""
        found = self._done.merge(wanted[["image_id", "source"]], on="image_id", how="inner", suffixes=("", "_wanted"))
        same = (found["source"] == found["source_wanted"]) | (found["source"].isna() & found["source_wanted"].isna())
        found = found.loc[same.to_numpy(dtype=bool, na_value=False), LISTED].sort_values(["shard", "row"])
        return found[~found["image_id"].duplicated(keep="last")]

    def _compact(self, wanted: pd.DataFrame) -> None:
        """Copy the live rows of shards with dead ones (and of many small ones) into new shards."""
        chosen = self._chosen(wanted)
        live = chosen["shard"].value_counts()
        counts = dict(zip(live.index.tolist(), live.tolist(), strict=True))
        broken = {number for number, count in counts.items() if count < self._shards[number].rows}
        small = {number for number in counts if self._shards[number].rows * 2 < self.shard_rows}
        moved = broken | (small if len(small) > MANY_SMALL else set())
        for number in sorted(moved):
            shard = self._shards[number]
            array = open_shard(self.folder / shard.file, shard.rows, self.model.width, self.model.dtype)
            rows = chosen[chosen["shard"] == number].sort_values("row")
            self.add(rows["image_id"].tolist(), none_for_missing(rows["source"]), array[rows["row"].to_numpy()])
        self.flush()

    def _nothing_new(self, wanted: pd.DataFrame, provenance: Provenance) -> bool:
        old = self._old
        if old is None or self._lost or provenance != old.provenance or len(self._done) != old.rows:
            return False
        return len(self._chosen(wanted)) == old.rows

    def _receipts_for_old_shards(self) -> None:
        """So that every shard has one in the moment in which model.json is away."""
        done = self._done
        for number, shard in self._shards.items():
            if not (self.folder / receipt(number)).exists():
                write_receipt(self.folder, self._named(done[done["shard"] == number]), shard, 0, 0.0)


def write(folder: Path, model: Model, ids: Sequence[str], vectors: Array, *, shard_rows: int = SHARD_ROWS) -> Vectors:
    """Write vectors that fit in memory, (n, dimension) float or (n, width) packed uint8, and open them."""
    writer = Writer(folder, model, shard_rows=shard_rows, replace=True)
    wanted = pd.DataFrame({"image_id": list(ids), "source": [None] * len(ids)}, dtype=object)
    if wanted["image_id"].duplicated().any():
        raise InputError("duplicate image ids", where=f"model {model.name}", hint="Keep one row per image.")
    writer.add(ids, [None] * len(ids), vectors)
    writer.finish(wanted, model.provenance)
    return Vectors.open(folder)


def bad_rows(vectors: Array) -> dict[int, str]:
    """Rows of (n, d) floats that no similarity can use, with the reason.

    >>> bad_rows(np.array([[1.0, 2.0], [0.0, 0.0], [1.0, np.nan], [1e30, 1e30]]))
    {1: 'all zero', 2: 'not finite', 3: '1.4e+30 long'}
    """
    with np.errstate(over="ignore", invalid="ignore"):
        length = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    bad = np.flatnonzero(~usable(length))
    return {row: _badness(vectors[row], long) for row, long in zip(bad.tolist(), length[bad].tolist(), strict=True)}


def _badness(vector: Array, length: float) -> str:
    if not np.isfinite(vector).all():
        return "not finite"
    return f"{length:.2g} long" if vector.any() else "all zero"


def usable(length: Array) -> Array:
    """Whether a vector of that length can be compared in float32 at all; (n,) bool.

    >>> usable(np.array([0.0, 1.0, np.nan, np.inf]))
    array([False,  True, False, False])
    """
    return np.asarray((length > 1e-30) & (length < 1e30))


def none_for_missing(values: "pd.Series[Any]") -> list[str | None]:
    """The column as a list; whatever pandas uses for a missing text becomes None."""
    return [None if missing else str(value) for value, missing in zip(values, values.isna(), strict=True)]
