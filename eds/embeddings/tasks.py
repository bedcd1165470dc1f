"""Vectors in parts: tasks compute those of some images each, then the parts are put together.

A task is given a part of table images and keeps its models from one task to the next. The parts are added in the order
of the table, by the writer of `compute`: the folders are the same, file by file, for models that give an image the
same bits in any batch. What is lacking is decided once and written down (plan.json): a run that was stopped,
even while parts were being put together, goes on from that plan, unless more is lacking by now.
"""

import base64
import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
import pandas as pd

from eds import io as storage
from eds import tables
from eds.backbones import Backbone, load
from eds.embeddings.encoding import Encoded, Progress, bad_images_error, encode_missing, new_model
from eds.embeddings.sources import USED, Sources
from eds.errors import EdsError, InputError
from eds.io import Address
from eds.parallel import Executor, Receipt, deliver
from eds.parallel.inputs import load_arrays, opened, save_arrays
from eds.parallel.outputs import disown, vouched
from eds.tables import Provenance
from eds.vectors import Vectors, Writer

Array = np.ndarray[Any, np.dtype[Any]]
Dtype = Literal["float32", "float16"]
PLAN = "plan.json"


@dataclass(frozen=True)
class Recipe:
    """How a task loads a model; the digest tells whether it is the same one."""

    name: str
    text: str
    digest: str
    device: str = "auto"
    runtime: str = "auto"
    precision: str = "float32"
    random_init: bool = False


@dataclass(frozen=True)
class Embed:
    """The vectors of some images by some models."""

    out: str
    images: Receipt
    sources: str  # digest of what these are made from, which the table may not tell: other pictures are another task
    root: str
    models: tuple[Recipe, ...]
    batch: int
    dtype: Dtype
    threads: int


class Embedder:
    """Does such tasks; keeps the models that it has loaded for as long as they are asked for."""

    def __init__(self) -> None:
        self._loaded: dict[Recipe, Backbone] = {}

    def __call__(self, spec: Embed) -> Receipt:
        """Compute one part; writes `bad`, and by model `<name>:vectors`, (n, width), and `<name>:places`, (n,)."""
        with opened([spec.images]) as (file,), TemporaryDirectory(prefix="eds-embed-") as folder:
            images = tables.read(file, USED)
            folders = {asked.name: Path(folder) / asked.name for asked in spec.models}
            catalogue, backbones = Sources(images, spec.root), self._backbones(spec)
            writers = {
                name: Writer(path, new_model(name, backbones[name], spec.dtype)) for name, path in folders.items()
            }
            encoded = encode_missing(
                catalogue, spec.root, backbones, writers, batch=spec.batch, workers=spec.threads, on_bad="skip"
            )
            for writer in writers.values():
                writer.finish(catalogue.wanted, Provenance("part"))
            row_of = pd.Index(images["image_id"])
            arrays: dict[str, Array] = {
                "bad": np.frombuffer(json.dumps(encoded.bad, sort_keys=True).encode(), dtype=np.uint8)
            }
            for name in folders:
                vectors = Vectors.open(folders[name])
                arrays[f"{name}:places"] = row_of.get_indexer(vectors.ids)
                arrays[f"{name}:vectors"] = vectors.take(np.arange(len(vectors)))
            return save_arrays(spec.out, len(images), arrays)

    def _backbones(self, spec: Embed) -> dict[str, Backbone]:
        self._loaded = {asked: made for asked, made in self._loaded.items() if asked in spec.models}
        for asked in spec.models:
            if asked not in self._loaded:
                self._loaded[asked] = _loaded(asked, spec)
        return {asked.name: self._loaded[asked] for asked in spec.models}


@dataclass(frozen=True)
class _Part:
    """Images that the same models lack, all within one range of the table."""

    images: Receipt
    sources: str
    range: int
    lacking: tuple[str, ...]


def encode_in_parts(
    images: pd.DataFrame,
    catalogue: Sources,
    image_root: Address,
    writers: Mapping[str, Writer],
    recipes: Sequence[Recipe],
    executor: Executor,
    *,
    batch: int,
    dtype: Dtype,
    on_bad: Literal["skip", "fail"],
    progress: Progress | None = None,
) -> Encoded:
    """What `encode_missing` does, done by tasks at an executor; `progress` gets (tasks done, tasks).

    The models that encode are loaded from the recipes where the tasks run.
    """
    root = str(image_root if storage.is_remote(image_root) else storage.local_path(image_root).resolve())
    parts = _planned(images, catalogue, writers, executor, [[asdict(recipe) for recipe in recipes], root, batch, dtype])
    specs = [
        Embed(
            executor.at(f"vectors-{number:05d}.npz"),
            part.images,
            part.sources,
            root,
            tuple(recipe for recipe in recipes if recipe.name in part.lacking),
            batch,
            dtype,
            executor.settings.threads,
        )
        for number, part in enumerate(parts)
    ]
    fresh = [not vouched(Embedder, spec) for spec in specs]
    clock = time.monotonic()
    made = executor.finish(Embedder, specs, progress, gpus=executor.settings.gpus)
    share = (time.monotonic() - clock) / max(
        1, sum(len(part.lacking) for part, new in zip(parts, fresh, strict=True) if new)
    )
    assembly = _Assembly(catalogue, writers)
    for number in sorted({part.range for part in parts}):
        assembly.add_range(
            [
                (part, receipt, share if new else None)
                for part, receipt, new in zip(parts, made, fresh, strict=True)
                if part.range == number
            ]
        )
    if assembly.bad and on_bad == "fail":
        raise bad_images_error(assembly.bad, catalogue)
    assembly.refuse_incomplete(executor)
    return Encoded(assembly.bad, assembly.computed)


def forget_plan(executor: Executor) -> None:
    """Let the next run decide what is lacking, though parts may stay."""
    storage.put(executor.at(PLAN), b"{}")


class _Assembly:
    """Puts parts into the folders, row by row in the order of the table, whatever is there already left out."""

    def __init__(self, catalogue: Sources, writers: Mapping[str, Writer]) -> None:
        self.catalogue, self.writers = catalogue, writers
        self.bad = dict(catalogue.bad)
        self.computed = dict.fromkeys(writers, 0)
        self._lacking = {name: writer.lacking(catalogue.wanted) for name, writer in writers.items()}
        self._row_of = pd.Index(catalogue.wanted["image_id"])

    def add_range(self, parts: Sequence[tuple[_Part, Receipt, float | None]]) -> None:
        """Add the parts of one range of the table, each with the seconds that it took for each of its models."""
        rows: dict[str, list[Array]] = {name: [] for name in self.writers}
        vectors: dict[str, list[Array]] = {name: [] for name in self.writers}
        seconds = dict.fromkeys(self.writers, 0.0)
        timed = all(share is not None for _, _, share in parts)
        for part, receipt, share in parts:
            with opened([part.images, receipt]) as (images, result):
                names, arrays = tables.read(images, USED, ["image_id"])["image_id"], load_arrays(result)
            row = self._row_of.get_indexer(names)
            bad = json.loads(arrays["bad"].tobytes())
            self.bad |= {int(row[int(place)]): why for place, why in bad.items()}
            if bad:
                disown(receipt.url)  # a picture may be repaired before the next run under the same name
            for name in part.lacking:
                rows[name].append(row[arrays[f"{name}:places"]])
                vectors[name].append(arrays[f"{name}:vectors"])
                seconds[name] += share or 0.0
        for name in self.writers:
            if rows[name]:
                self._add(
                    name, np.concatenate(rows[name]), np.concatenate(vectors[name]), seconds[name] if timed else None
                )

    def refuse_incomplete(self, executor: Executor) -> None:
        """Raise EdsError if an image lacks a vector without being bad; what was added is kept."""
        faults = []
        for name, writer in self.writers.items():
            writer.flush()
            lacks = writer.lacking(self.catalogue.wanted)
            lacks[list(self.bad)] = False
            faults += [f"{name}: {int(lacks.sum()):,}"] if lacks.any() else []
        if faults:
            raise EdsError(
                "the parts do not hold the vectors of all images",
                where=str(executor.work),
                hint="Remove that folder, and compute again: eds embeddings compute.",
                faults=[f"{fault} images without a vector" for fault in faults],
            )

    def _add(self, name: str, row: Array, vectors: Array, seconds: float | None) -> None:
        order = np.argsort(row)
        order = order[self._lacking[name][row[order]]]
        wanted = self.catalogue.wanted.iloc[row[order]]
        self.writers[name].add(wanted["image_id"].tolist(), wanted["source"].tolist(), vectors[order], seconds=seconds)
        self.computed[name] += len(order)


def _planned(
    images: pd.DataFrame, catalogue: Sources, writers: Mapping[str, Writer], executor: Executor, identity: list[Any]
) -> list[_Part]:
    """The parts to compute: those of a run of the same that was stopped, else cut now and written down."""
    columns = images[USED.names].reset_index(drop=True)
    sources = pd.util.hash_pandas_object(catalogue.wanted, index=False).to_numpy()
    rows = pd.util.hash_pandas_object(columns, index=False).to_numpy()
    identity = [*identity, _digest(rows.tobytes()), _digest(sources.tobytes()), executor.settings.images]
    key = _digest(json.dumps(identity).encode())
    readable = np.ones(len(images), dtype=bool)
    readable[list(catalogue.bad)] = False
    lacking = np.column_stack([writer.lacking(catalogue.wanted) & readable for writer in writers.values()])
    begun = _begun(executor, key, lacking)
    if begun is None:
        storage.put(executor.at(PLAN), json.dumps({"key": key, "lacking": _packed(lacking)}).encode())
    else:
        lacking = begun
    needed = np.flatnonzero(lacking.any(axis=1))
    parts: list[_Part] = []
    for number, first in enumerate(range(0, len(needed), executor.settings.images)):
        rows_here = needed[first : first + executor.settings.images]
        for pattern in np.unique(lacking[rows_here], axis=0):
            here = rows_here[(lacking[rows_here] == pattern).all(axis=1)]
            names = tuple(name for name, lacks in zip(writers, pattern.tolist(), strict=True) if lacks)
            saved = _saved(columns.iloc[here], executor.at(f"images-{len(parts):05d}.parquet"))
            parts.append(_Part(saved, _digest(sources[here].tobytes()), number, names))
    return parts


def _begun(executor: Executor, key: str, lacking: Array) -> Array | None:
    """What the run lacked, (images, models) bool, that was stopped; None if there is none, or more is lacking now."""
    if not storage.exists(executor.at(PLAN)):
        return None
    found = json.loads(storage.read(executor.at(PLAN)))
    if found.get("key") != key or "lacking" not in found:
        return None
    flat = np.unpackbits(np.frombuffer(base64.b64decode(found["lacking"]), dtype=np.uint8), count=lacking.size)
    planned = flat.astype(bool).reshape(lacking.shape)
    return None if (lacking & ~planned).any() else planned


def _packed(lacking: Array) -> str:
    return base64.b64encode(np.packbits(lacking).tobytes()).decode()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _saved(images: pd.DataFrame, address: str) -> Receipt:
    made = Provenance("part")
    return deliver(address, len(images), lambda path: tables.write(images.reset_index(drop=True), USED, path, made))


def _loaded(asked: Recipe, spec: Embed) -> Backbone:
    backbone = load(
        asked.text,
        device=asked.device,
        runtime=asked.runtime,
        threads=spec.threads,
        random_init=asked.random_init,
        precision=asked.precision,
    )
    if backbone.spec.digest != asked.digest:
        raise InputError(
            f"this machine makes another model of {asked.text}: its weights or its preprocessing differ",
            where=spec.out,
            hint="Bring the same weights and the same versions of eds, torch and timm to every node.",
        )
    return backbone
