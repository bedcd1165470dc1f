"""Encode images in this process: one pass serves all models; each fills batches, its vectors go to its shards."""

import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from eds.backbones import Backbone
from eds.embeddings.pipeline import Job, Pixels, Prepared, prepared
from eds.embeddings.sources import Sources
from eds.errors import EdsError, ImageError, InputError
from eds.io import Address
from eds.vectors import Model, Writer, pack

Progress = Callable[[int, int], None]
ROOMS = 2  # batches of a model that have been gathered and are not vectors yet
SHOWN = 20  # bad images that are named; the rest is counted


@dataclass(frozen=True)
class Encoded:
    """What became of the images: the reason by row of the bad ones, and how many vectors each model got."""

    bad: dict[int, str]
    computed: dict[str, int]


def encode_missing(
    catalogue: Sources,
    image_root: Address,
    backbones: Mapping[str, Backbone],
    writers: Mapping[str, Writer],
    *,
    batch: int,
    workers: int,
    on_bad: Literal["skip", "fail"],
    progress: Progress | None = None,
) -> Encoded:
    """Write the vectors that the writers lack, in one pass over the images; `progress` gets (images done, images)."""
    readable = np.ones(len(catalogue.wanted), dtype=bool)
    readable[list(catalogue.bad)] = False
    lacking = {name: writer.lacking(catalogue.wanted) & readable for name, writer in writers.items()}
    with ThreadPoolExecutor(1, thread_name_prefix="encode") as encoder:
        fillers = {name: _Filler(name, backbones[name], writers[name], batch, encoder) for name in backbones}
        try:
            bad = _run(catalogue, image_root, fillers, lacking, workers, on_bad, progress)
            for filler in fillers.values():
                filler.finish()
        except EdsError:
            for writer in writers.values():
                writer.abandon()
            raise
    return Encoded(bad, {name: filler.computed for name, filler in fillers.items()})


def new_model(name: str, backbone: Backbone, dtype: Literal["float32", "float16"]) -> Model:
    """The model of a backbone, before it has vectors."""
    spec = backbone.spec
    return Model(
        name=name,
        spec=json.loads(spec.to_json()),
        dimension=spec.dimension,
        dtype="bits" if spec.similarity == "hamming" else dtype,
        similarity=spec.similarity,
        preprocessing_digest=spec.preprocessing.digest,
        weights_digest=spec.weights_sha256,
    )


def _run(
    catalogue: Sources,
    image_root: Address,
    fillers: Mapping[str, "_Filler"],
    lacking: Mapping[str, np.ndarray[Any, np.dtype[np.bool_]]],
    workers: int,
    on_bad: str,
    progress: Progress | None,
) -> dict[int, str]:
    """Send every picture that some model lacks through those models; returns row -> reason of the bad ones."""
    bad: dict[int, str] = dict(catalogue.bad)
    needed = np.flatnonzero(np.any(list(lacking.values()), axis=0)) if lacking else np.arange(0)
    jobs = (
        Job(row, part, frozenset(filler.key for name, filler in fillers.items() if lacking[name][row]))
        for row, part in zip(needed.tolist(), catalogue.parts(needed), strict=True)
    )
    backbones = [filler.backbone for filler in fillers.values()]
    ahead = 2 * max((filler.batch for filler in fillers.values()), default=1)
    digests = catalogue.digests.array
    if progress:
        progress(0, len(needed))
    stream = _waited(prepared(jobs, image_root, backbones, workers=workers, ahead=ahead))
    for count, (ready, waited) in enumerate(stream, start=1):
        if ready.reason:
            bad[ready.job.row] = ready.reason
        refused = bad and on_bad == "fail"  # then no more is computed, yet all the rest is read, to tell every fault
        for name, filler in fillers.items():
            if lacking[name][ready.job.row] and not refused:
                filler.take(ready, str(digests[ready.job.row]), waited)
        if progress:
            progress(count, len(needed))
    if bad and on_bad == "fail":
        raise bad_images_error(bad, catalogue)
    return bad


def _waited(stream: Iterator[Prepared]) -> Iterator[tuple[Prepared, float]]:
    """Each item with the seconds that it kept us waiting."""
    while True:
        begun = time.perf_counter()
        ready = next(stream, None)
        if ready is None:
            return
        yield ready, time.perf_counter() - begun


def bad_images_error(bad: Mapping[int, str], catalogue: Sources) -> ImageError:
    """The error where bad images are not to be skipped."""
    faults = [f"{catalogue.image_id(row)}: {reason}" for row, reason in sorted(bad.items())]
    more = [f"and {len(bad) - SHOWN:,} more: eds images check lists all"] if len(bad) > SHOWN else []
    return ImageError(
        f"{len(bad):,} images cannot be read" if len(bad) > 1 else "1 image cannot be read",
        hint="Repair them or take them out of the catalogue; or leave such images out: --on-bad skip.",
        faults=faults[:SHOWN] + more,
    )


@dataclass
class _Filler:
    """Gathers pictures into batches for one model; while one becomes vectors, the next stands ready."""

    name: str
    backbone: Backbone
    writer: Writer
    batch: int
    encoder: ThreadPoolExecutor  # one thread for all models: networks share no cores
    computed: int = 0
    _ids: list[str] = field(default_factory=list)
    _digests: list[str] = field(default_factory=list)
    _pixels: list[Pixels] = field(default_factory=list)
    _seconds: float = 0.0
    _rooms: list[Pixels] = field(default_factory=list)
    _encoding: "deque[Future[None]]" = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.key = self.backbone.spec.preprocessing.pixels_key

    def take(self, ready: Prepared, source: str, waited: float) -> None:
        """Take one picture, for which we waited so many seconds; begin to encode when the batch is full."""
        if all(batch.done() for batch in self._encoding):  # else the waiting cost no time
            self._seconds += waited
        if ready.reason:
            return
        self._ids.append(ready.job.part.image_id)
        self._digests.append(source)
        self._pixels.append(ready.pixels[self.key])
        if len(self._ids) == self.batch:
            self._begin()

    def finish(self) -> None:
        """Compute the vectors of the pictures that wait, if any."""
        if self._ids:
            self._begin()
        while self._encoding:
            self._settle()

    def _begin(self) -> None:
        if len(self._encoding) == ROOMS:
            self._settle()
        pixels = np.stack(self._pixels, out=self._room())
        self._encoding.append(self.encoder.submit(self._encode, self._ids, self._digests, pixels, self._seconds))
        self._ids, self._digests, self._pixels, self._seconds = [], [], [], 0.0

    def _settle(self) -> None:
        """Wait for the first batch that has been begun; whatever went wrong with it is raised here."""
        self._encoding.popleft().result()

    def _encode(self, ids: list[str], digests: list[str], pixels: Pixels, seconds: float) -> None:
        begun = time.perf_counter()
        vectors = self._encoded(pixels)
        if self.writer.model.dtype == "bits":
            _refuse_no_codes(vectors, ids, self.name)
            vectors = pack(vectors)
        self.writer.add(ids, digests, vectors, seconds=seconds + time.perf_counter() - begun)
        self.computed += len(ids)

    def _encoded(self, pixels: Pixels) -> np.ndarray[Any, np.dtype[np.float32]]:
        try:
            return self.backbone.encode(pixels)
        except EdsError:
            raise
        except Exception as error:  # a device out of memory, a backbone of the user's own
            raise InputError(
                f"model {self.name} fails on a batch of {len(pixels)} pictures ({type(error).__name__}: {error})",
                where=self.backbone.spec.text,
                hint="Repair it, or try a smaller --batch. What is finished is kept.",
            ) from error

    def _room(self) -> Pixels:
        """Memory for a batch, (n, height, width, 3), in turn: fresh pages cost more than the copying."""
        if len(self._rooms) < ROOMS:
            self._rooms.append(np.empty((self.batch, *self._pixels[0].shape), dtype=np.uint8))
        else:
            self._rooms.append(self._rooms.pop(0))
        return self._rooms[-1][: len(self._pixels)]


def _refuse_no_codes(vectors: np.ndarray[Any, np.dtype[np.float32]], ids: list[str], name: str) -> None:
    wrong = np.flatnonzero(~np.isfinite(vectors).all(axis=1)).tolist()
    if wrong:
        raise InputError(f"model {name} gave codes that are not finite", faults=[ids[row] for row in wrong])
