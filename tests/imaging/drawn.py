"""Small pictures whose pixels are known, and how they come out of `open_rgb`."""

import io
import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from eds.imaging import open_rgb

Pixels = npt.NDArray[np.uint8]


def corners(height: int = 4, width: int = 6) -> Pixels:
    """(h, w, 3) uint8: no two pixels alike, so that every turn shows."""
    grid = np.zeros((height, width, 3), np.uint8)
    grid[..., 0] = np.arange(height)[:, None] * 20
    grid[..., 1] = np.arange(width)[None, :] * 20
    grid[..., 2] = 200
    return grid


def shown(path: Path, **options: object) -> Pixels:
    return np.asarray(open_rgb(path, **options))  # type: ignore[arg-type]


def exif(value: int, order: str = "<") -> bytes:
    mark = b"II" if order == "<" else b"MM"
    return b"Exif\0\0" + mark + struct.pack(order + "HIHHHIHHI", 42, 8, 1, 274, 3, 1, value, 0, 0)


def jpeg(side: int = 64, **options: object) -> bytes:
    stream = io.BytesIO()
    draw = np.random.default_rng(1).integers(0, 256, (side, side, 3), dtype=np.uint8)
    Image.fromarray(draw).save(stream, "JPEG", **options)
    return stream.getvalue()
