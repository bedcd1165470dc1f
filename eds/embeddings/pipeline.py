"""Pictures from disk to the arrays that models take: threads decode ahead while the model computes.

Each picture is read and decoded once for all models that agree on background and draft, and resized
once for all that agree on their preprocessing. Results come in the order of the jobs, whatever the
number of threads; only a bounded number of pictures is ever decoded ahead.
"""

import hashlib
from collections import deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from PIL import Image

from eds.backbones import Backbone
from eds.embeddings.sources import Part
from eds.errors import ImageError
from eds.imaging import ELSEWHERE, MAX_PIXELS, Colour, Folders, Objects, folders_of, read_bytes, rgb_of, strict
from eds.imaging.jpegs import plain_rgb
from eds.io import Address, is_remote
from eds.parallel.cores import cores

Pixels = np.ndarray[Any, np.dtype[np.uint8]]  # (height, width, 3), or (n, height, width, 3) for a batch
CHUNK = 8  # pictures in one task: fewer hand-overs between threads


@dataclass(frozen=True)
class Prepared:
    """One picture, ready for every model that asked for it; or why there is none."""

    job: "Job"
    pixels: Mapping[Hashable, Pixels]  # by `pixels_key` of the preprocessing
    reason: str = ""


@dataclass(frozen=True)
class Job:
    """A picture to prepare: its row in the catalogue, where it is, and for which preprocessings."""

    row: int
    part: Part
    keys: frozenset[Hashable]


def prepared(
    jobs: Iterator[Job], image_root: Address, backbones: Sequence[Backbone], *, workers: int, ahead: int
) -> Iterator[Prepared]:
    """Prepare every job in `workers` threads, at most about `ahead` pictures before they are asked for."""
    folders = folders_of(image_root)
    workers = workers or (ELSEWHERE if is_remote(image_root) else 0)
    by_key = {backbone.spec.preprocessing.pixels_key: backbone for backbone in backbones}
    pool = ThreadPoolExecutor(threads(workers), thread_name_prefix="decode")
    waiting: deque[Future[list[Prepared]]] = deque()
    depth = max(2 * threads(workers), -(-ahead // CHUNK))
    try:
        while True:
            while len(waiting) < depth and (chunk := list(islice(jobs, CHUNK))):
                waiting.append(pool.submit(_prepare_all, chunk, folders, by_key))
            if not waiting:
                return
            yield from waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def threads(workers: int) -> int:
    """The number of threads that `workers` asks for: 0 means one per core that we may use."""
    return workers if workers > 0 else cores()


def _prepare_all(jobs: list[Job], folders: Folders | Objects, by_key: Mapping[Hashable, Backbone]) -> list[Prepared]:
    with strict:
        return [_prepare(job, folders, by_key) for job in jobs]


def _prepare(job: Job, folders: Folders | Objects, by_key: Mapping[Hashable, Backbone]) -> Prepared:
    part = job.part
    try:
        path = folders.located(part.path)
        data = read_bytes(path)
        if part.sha256 and hashlib.sha256(data).hexdigest() != part.sha256:
            raise ImageError("is not the file that was scanned", where=part.path, hint="Scan again: eds images scan.")
        opened: dict[tuple[Colour, int | None], Image.Image | Pixels] = {}
        ready: dict[Hashable, Pixels] = {}
        for key in job.keys:
            rules = by_key[key].spec.preprocessing
            # `size` is what the decoder must leave, and "none" means that the picture has its size already
            opening = (rules.background, rules.size if rules.draft and rules.resize != "none" else None)
            if opening not in opened:
                opened[opening] = _opened(data, path, part, *opening)
            ready[key] = rules.pixels(opened[opening])
    except ImageError as error:
        return Prepared(job, {}, str(error))
    except OSError as error:
        return Prepared(job, {}, f"{part.path}: {error.strerror or error}")
    return Prepared(job, ready)


def _opened(data: bytes, path: str, part: Part, background: Colour, draft: int | None) -> Image.Image | Pixels:
    """The picture: whole and as it is stored, mostly, and then straight to its pixels."""
    plain = plain_rgb(data, MAX_PIXELS) if part.box is None and draft is None else None
    return rgb_of(data, where=path, box=part.box, background=background, draft=draft) if plain is None else plain
