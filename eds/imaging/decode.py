"""Bytes of a picture to RGB pixels: decoded to their end, turned, laid on a background, cut to a box."""

import io
import struct
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageFile, UnidentifiedImageError

from eds.errors import ImageError
from eds.imaging.extra_formats import to_raster
from eds.imaging.locations import describe_error, read_bytes
from eds.io import Address

MAX_PIXELS = 100_000_000  # a picture that claims more is taken for a decompression bomb
DEEP_GREY = ("I;16", "I;16L", "I;16B", "I;16N")
NO_RANGE = ("I", "F")
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
Colour = tuple[int, int, int]


class Box(NamedTuple):
    """A part of the upright (EXIF-turned) picture in whole pixels; `right` and `bottom` lie behind the last."""

    left: int
    top: int
    right: int
    bottom: int


def open_rgb(
    path: Address, *, box: Box | None = None, background: Colour = (255, 255, 255), draft: int | None = None
) -> Image.Image:
    """The picture, or the part of it in `box`, as a fully decoded RGB image; ImageError tells why not.

    `box` is meant in the upright picture at its full size. `draft` lets a JPEG be decoded at 1/2, 1/4
    or 1/8 of its size as long as both sides of what is asked for keep `draft` pixels: quicker, but not
    the same pixels as a full decode, and therefore never done unasked.
    """
    return rgb_of(read_bytes(path), where=str(path), box=box, background=background, draft=draft)


def rgb_of(
    data: bytes, *, where: str, box: Box | None = None, background: Colour = (255, 255, 255), draft: int | None = None
) -> Image.Image:
    """What `open_rgb` does, for the bytes of a file that were read already; `where` is its name in messages."""
    with decoding(data, where=where) as picture:
        stored = picture.size
        if draft is not None:
            width, height = stored_part(picture, box)
            picture.draft(None, (-(-stored[0] * draft // width), -(-stored[1] * draft // height)))
        picture.load()
        turn = orientation(picture)
        full = stored[::-1] if turn >= 5 else stored
        rgb = as_rgb(picture, background)
        if turn in TURNS:
            rgb = rgb.transpose(TURNS[turn])
        return rgb if box is None else crop(rgb, box, full)


@contextmanager
def decoding(data: bytes, where: str = "") -> Iterator[Image.Image]:
    """The picture in `data`, its header read; whatever Pillow complains of in the block becomes an ImageError."""
    with strict:
        try:
            with Image.open(io.BytesIO(to_raster(data))) as picture:
                if picture.width * picture.height > MAX_PIXELS:
                    raise ImageError(f"{picture.width:,} x {picture.height:,} pixels, more than {MAX_PIXELS:,}")
                yield picture
        except ImageError as error:
            raise ImageError(error.what, where=error.where or where, hint=error.hint) from error.__cause__
        except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
            raise ImageError(f"more than {MAX_PIXELS:,} pixels", where=where) from error
        except UnidentifiedImageError as error:
            raise ImageError("not a picture of a known format", where=where) from error
        except MemoryError:
            raise
        except Exception as error:  # Pillow's readers raise almost anything on damaged files
            raise ImageError(f"damaged: {describe_error(error)}", where=where) from error


def orientation(picture: Image.Image) -> int:
    """How the stored picture must be turned, 1 to 8 as in EXIF; damaged EXIF data are refused, not skipped.

    PNG may carry EXIF behind its pixels: load the picture first. TIFF is turned by Pillow as it loads.
    """
    raw = picture.info.get("exif")
    if picture.format == "TIFF" or not raw:
        return 1
    try:
        return _exif_turn(raw.removeprefix(b"Exif\0\0"))
    except (struct.error, ValueError) as error:
        raise ImageError(
            f"damaged EXIF data ({error}), so the orientation is unknown", hint="Remove or repair them."
        ) from error


def stored_size(picture: Image.Image) -> tuple[int, int]:
    """Width and height as the file is stored; Pillow swaps the sides of a turned TIFF by itself."""
    tags = getattr(picture, "tag_v2", {}) if picture.format == "TIFF" else {}
    return picture.size[::-1] if tags.get(274) in (5, 6, 7, 8) else picture.size


def as_rgb(picture: Image.Image, background: Colour = (255, 255, 255)) -> Image.Image:
    """A loaded picture of any mode as RGB, transparency laid on `background`; itself where it is so already."""
    if picture.mode in DEEP_GREY or (picture.mode == "I" and picture.format == "PNG"):
        return _from_deep_grey(picture, background)
    if picture.mode in NO_RANGE:
        raise ImageError(f"values of mode {picture.mode} have no stated range", hint="Save it with 8 or 16 bits.")
    if picture.has_transparency_data or picture.mode in ("La", "RGBa"):
        solid = {"La": "LA", "PA": "RGBA"}.get(picture.mode)
        clear = (picture.convert(solid) if solid else picture).convert("RGBA")
        canvas = Image.new("RGB", clear.size, background)
        canvas.paste(clear, mask=clear.getchannel("A"))
        return canvas
    return picture.convert("RGB") if picture.mode != "RGB" else picture


def _from_deep_grey(picture: Image.Image, background: Colour) -> Image.Image:
    """16-bit grey (h, w) to RGB: v -> v / 257, rounded; Pillow's own conversion would clip at 255."""
    values = np.asarray(picture).astype(np.uint32)
    rgb = np.repeat(((values + 128) // 257).astype(np.uint8)[:, :, None], 3, axis=2)
    clear = picture.info.get("transparency")
    if isinstance(clear, int):
        rgb[values == clear] = background
    return Image.fromarray(rgb)


def stored_part(picture: Image.Image, box: Box | None) -> tuple[int, int]:
    """Return the width and height, in the stored picture, of the part in `box`."""
    if box is None:
        return picture.size
    width, height = max(box.right - box.left, 1), max(box.bottom - box.top, 1)
    return (height, width) if orientation(picture) >= 5 else (width, height)


def crop(rgb: Image.Image, box: Box, full: tuple[int, int]) -> Image.Image:
    """The part in `box`, meant at the size `full`, of a picture that may be smaller by a draft."""
    if not (0 <= box.left < box.right <= full[0] and 0 <= box.top < box.bottom <= full[1]):
        raise ImageError(
            f"box {tuple(box)} does not lie in the upright picture of {full[0]} x {full[1]} pixels",
            hint="Give left, top, right, bottom with right and bottom behind the last pixel.",
        )
    across, down = rgb.width / full[0], rgb.height / full[1]  # below 1 after a draft only
    right, bottom = -int(-box.right * across // 1), -int(-box.bottom * down // 1)
    return rgb.crop((int(box.left * across), int(box.top * down), min(right, rgb.width), min(bottom, rgb.height)))


def _exif_turn(tiff: bytes) -> int:
    """Tag 274 of the first directory; struct.error or ValueError when the directory does not hold together."""
    order = {b"II": "<", b"MM": ">"}.get(tiff[:2])
    if order is None:
        raise ValueError("no byte order")
    magic, start = struct.unpack_from(order + "HI", tiff, 2)
    if magic != 42:
        raise ValueError("no TIFF header")
    (count,) = struct.unpack_from(order + "H", tiff, start)
    for number in range(count):
        tag, kind, amount, value = struct.unpack_from(order + "HHIH", tiff, start + 2 + 12 * number)
        if tag != 274:
            continue
        if (kind, amount) != (3, 1) or value > 8:
            raise ValueError(f"orientation {value}")
        return max(int(value), 1)  # 0 stands for "not said"
    return 1


class _StrictPillow:
    """While any thread is in it, a suspected bomb is an error and Pillow's limits are ours; then all is as before.

    Filters and limits are the process's, so they change with the first thread in and the last one out: a file has
    the same fate whatever other threads do. Who opens many pictures stays in it, as each change takes time.
    """

    def __init__(self) -> None:
        self._lock, self._inside, self._undo = threading.Lock(), 0, ExitStack()

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._undo.enter_context(warnings.catch_warnings())
                warnings.filterwarnings("ignore", module=r"PIL\.")  # of metadata that no pixel depends on
                warnings.simplefilter("error", Image.DecompressionBombWarning)
                self._undo.callback(setattr, Image, "MAX_IMAGE_PIXELS", Image.MAX_IMAGE_PIXELS)
                Image.MAX_IMAGE_PIXELS = MAX_PIXELS
                self._undo.callback(setattr, ImageFile, "LOAD_TRUNCATED_IMAGES", ImageFile.LOAD_TRUNCATED_IMAGES)
                ImageFile.LOAD_TRUNCATED_IMAGES = False

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._undo.close()


strict = _StrictPillow()
