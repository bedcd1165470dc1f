"""Prepared images on disk: decoded once, memory-mapped, read by batch, so that memory use does not grow with them."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eds.backbones import Preprocessing
from eds.embeddings.sources import Sources
from eds.errors import ImageError, InputError
from eds.imaging import inside, open_rgb
from eds.io.files import replacing, write_text

Progress = Callable[[int, int], None]
PIXELS = "pixels.npy"


def prepare_images(
    images: pd.DataFrame,
    ids: Sequence[str],
    root: Path,
    steps: Preprocessing,
    folder: Path,
    progress: Progress | None = None,
) -> NDArray[np.uint8]:
    """Prepare these images in order, uint8 (n, side, side, 3), memory-mapped from `folder`.

    Raises one InputError for all unreadable images. The result of an earlier call with the same inputs is reused.
    """
    ordered = images.set_index("image_id", drop=False).loc[list(ids)].reset_index(drop=True)
    sources = Sources(ordered, root)
    digest = hashlib.sha256("\n".join([steps.digest, *map(str, sources.digests)]).encode()).hexdigest()
    file, note = folder / PIXELS, folder / f"{PIXELS}.sha256"
    if not (file.exists() and note.exists() and note.read_text(encoding="utf-8") == digest):
        faults = list(sources.bad.values())
        with replacing(file) as temporary:
            shape = (len(ids), steps.side, steps.side, 3)
            pixels = np.lib.format.open_memmap(temporary, mode="w+", dtype=np.uint8, shape=shape)
            for row, part in enumerate(sources.parts(np.arange(len(ids)))):
                if row in sources.bad:
                    continue
                try:
                    picture = open_rgb(inside(root, part.path), box=part.box, background=steps.background)
                    pixels[row] = steps.pixels(picture)
                except ImageError as error:
                    faults.append(str(error))
                if progress:
                    progress(row + 1, len(ids))
            pixels.flush()
            if faults:
                hint = "Correct them, or leave them out of table images:"
                raise InputError(
                    f"{len(faults):,} images cannot be read", where=str(root), hint=hint, faults=faults[:10]
                )
        write_text(note, digest)
    pixels_on_disk: NDArray[np.uint8] = np.load(file, mmap_mode="r")
    return pixels_on_disk
