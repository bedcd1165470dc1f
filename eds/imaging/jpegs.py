"""A plain JPEG straight to an array: the very pixels that Pillow gives, in two thirds of the time.

Both rest on libjpeg-turbo; whether they agree here is tried once. Whatever is not a plain upright
three-colour JPEG without a single warning is left to `eds.imaging`, which also words what is wrong.
"""

import io
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

Pixels = npt.NDArray[np.uint8]

START, SCAN = 0xD8, 0xDA
FRAMES = (0xC0, 0xC1, 0xC2)  # baseline, extended, progressive
JFIF, PROFILE = 0xE0, 0xE2
NO_PIXELS = (0xC4, 0xDB, 0xDD, 0xFE)  # tables, restart interval, comment: they turn and colour nothing


def plain_rgb(data: bytes, largest: int) -> Pixels | None:
    """The picture as uint8 (height, width, 3); None when it is not plain, or has more than `largest` pixels."""
    decoder = _decoder()
    if decoder is None or not _plain(data, largest):
        return None
    try:
        decoded: Pixels = decoder.decode_jpeg(data, colorspace="RGB", strict=True)
    except ValueError:  # damaged, or odd enough for a warning
        return None
    return decoded


def _plain(data: bytes, largest: int) -> bool:
    """Whether all that stands before the first scan is known, and leaves three colours and no turn."""
    if data[:2] != bytes((0xFF, START)):
        return False
    place, framed = 2, False
    while place + 4 <= len(data) and data[place] == 0xFF:
        kind, length = data[place + 1], int.from_bytes(data[place + 2 : place + 4])
        body = data[place + 4 : place + 2 + length]
        if kind == SCAN:
            return framed
        if kind in FRAMES and len(body) >= 6:
            height, width = int.from_bytes(body[1:3]), int.from_bytes(body[3:5])
            framed = body[0] == 8 and body[5] == 3 and 0 < height * width <= largest
        elif not (
            kind in NO_PIXELS
            or (kind == JFIF and body[:5] == b"JFIF\0")
            or (kind == PROFILE and body[:12] == b"ICC_PROFILE\0")
        ):
            return False
        place += 2 + length
    return False


@cache
def _decoder() -> Any:
    """Module simplejpeg, if it is installed and gives Pillow's pixels of a picture full of edges."""
    try:
        import simplejpeg
    except ImportError:
        return None
    drawn = np.random.default_rng(0).integers(0, 256, (37, 53, 3), dtype=np.uint8)
    for settings in ({"subsampling": 2}, {"subsampling": 1}, {"subsampling": 0}, {"progressive": True}):
        file = io.BytesIO()
        Image.fromarray(drawn).save(file, "JPEG", quality=90, **settings)
        by_pillow = np.asarray(Image.open(io.BytesIO(file.getvalue())))
        if not np.array_equal(by_pillow, simplejpeg.decode_jpeg(file.getvalue(), colorspace="RGB")):
            return None
    return simplejpeg
