"""Open an image as RGB, or raise an error that says why not.

An image is rotated as its EXIF data say, transparency is laid on a stated background, CMYK, palettes,
grey and 16 bits become 8-bit RGB, and of an animation the first frame counts. Nothing is guessed: a
picture that does not decode to its end, whose orientation is unknown, or whose values have no stated
range is refused with an `ImageError`. Images are in a folder, or remote (`s3://`, see eds.io).
Not here: colour profiles, which are not applied.
"""

from eds.errors import ImageError
from eds.imaging.decode import (
    MAX_PIXELS,
    TURNS,
    Box,
    Colour,
    as_rgb,
    decoding,
    open_rgb,
    orientation,
    rgb_of,
    stored_size,
    strict,
)
from eds.imaging.decoder import Decoder
from eds.imaging.locations import ELSEWHERE, MAX_BYTES, Folders, Objects, Status, folders_of, inside, read_bytes
from eds.imaging.thumbnails import SIDES, shrunk_rgb, thumbnail

__all__ = [
    "ELSEWHERE",
    "MAX_BYTES",
    "MAX_PIXELS",
    "SIDES",
    "TURNS",
    "Box",
    "Colour",
    "Decoder",
    "Folders",
    "ImageError",
    "Objects",
    "Status",
    "as_rgb",
    "decoding",
    "folders_of",
    "inside",
    "open_rgb",
    "orientation",
    "read_bytes",
    "rgb_of",
    "shrunk_rgb",
    "stored_size",
    "strict",
    "thumbnail",
]
