"""Images that lie inside other files: written below the image root, where a catalogue expects them."""

import io
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from PIL import Image

from eds.images.columns import rename_columns
from eds.images.sources import Catalogue, Source, finish_rows
from eds.imaging import inside
from eds.io.files import replacing

MOST_BYTES = 1 << 33  # that a file's own statement of its size makes a reader ask for


@dataclass(frozen=True)
class ImageArrays:
    """Images of one size as a dataset publishes them, with its columns: phase, category and perhaps others."""

    name: str  # of the dataset's folder
    pixels: NDArray[np.uint8]  # (n, high, wide) grey or (n, high, wide, 3) RGB
    rows: pd.DataFrame


def write_arrays(arrays: ImageArrays, source: Source) -> Catalogue:
    """Write each image as PNG, `NAME/PHASE/NUMBER.png`, numbered by phase from 0; the rows as a catalogue.

    `source.columns` names the dataset's columns that become ours, as category=coarse.
    """
    where, number = str(source.files[0]), arrays.rows.groupby("phase").cumcount()
    paths = [f"{arrays.name}/{phase}/{at:05d}.png" for phase, at in zip(arrays.rows["phase"], number, strict=True)]
    rows, mapping = rename_columns(arrays.rows.assign(path=paths), source.columns, where)
    rows = finish_rows(rows, where)
    for path, picture in zip(paths, arrays.pixels, strict=True):
        write_image(_png(picture), path, source.folder)
    written = f"{len(rows):,} images written as {arrays.name}/PHASE/NUMBER.png below {source.folder}"
    used = [f"{ours} is {theirs}" for ours, theirs in mapping.items() if ours in source.columns or theirs != ours]
    return Catalogue(rows, notes=(written, *used))


def write_image(data: bytes, path: str, root: Path) -> str:
    """Write an image at this path below the root, unless it is there already; return the path."""
    file = inside(root, path)
    if not (file.is_file() and file.stat().st_size == len(data) and file.read_bytes() == data):
        with replacing(file, durable=False) as temporary:
            temporary.write_bytes(data)
    return path


def folder_name(name: str) -> str:
    """A name without the signs that a path must not hold.

    >>> folder_name("cifar 10/batches")
    'cifar-10-batches'
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-") or "images"


def _png(picture: NDArray[np.uint8]) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, "PNG")
    return stream.getvalue()
