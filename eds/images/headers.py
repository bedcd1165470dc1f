"""The quick check of a scan: the size in an image's header, and whether the file is complete, without decoding.

It finds truncated files, because JPEG and PNG have an end marker, but not damage in the middle, which a
full decode finds. Files of other formats are fully decoded here, so that no truncated file passes.
"""

import struct

from eds.errors import ImageError
from eds.imaging import MAX_PIXELS, decoding, stored_size

PNG = b"\x89PNG\r\n\x1a\n"
JPEG = b"\xff\xd8\xff"
FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # markers of a frame header
ALONE = frozenset(range(0xD0, 0xD8)) | {0x01}  # markers without a length
TAIL = 1 << 16  # bytes after the end marker that some programs write


def read_stated_size(data: bytes) -> tuple[int, int]:
    """Width and height as stored; raises ImageError if header or end marker are missing."""
    if data.startswith(JPEG):
        size, ended = _jpeg_size(data), data.rfind(b"\xff\xd9", -TAIL) >= 0
    elif data.startswith(PNG) and data[12:16] == b"IHDR" and len(data) > 32:
        size, ended = struct.unpack_from(">II", data, 16), data.rfind(b"IEND", -TAIL) >= 0
    else:
        with decoding(data) as picture:
            stored = stored_size(picture)
            picture.load()
            return stored
    if not ended:
        raise ImageError("truncated: the end marker is missing")
    if size[0] * size[1] > MAX_PIXELS:
        raise ImageError(f"{size[0]:,} x {size[1]:,} pixels, more than {MAX_PIXELS:,}")
    if not all(size):
        raise ImageError("damaged: the header states a size of 0")
    return int(size[0]), int(size[1])


def _jpeg_size(data: bytes) -> tuple[int, int]:
    """The size in the first frame header; the segments before it are skipped by their lengths."""
    at, end = 2, len(data)
    while at + 9 <= end:
        if data[at] != 0xFF:
            raise ImageError("damaged: invalid header")
        marker = data[at + 1]
        if marker in FRAMES:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        if marker == 0xFF:  # padding
            at += 1
        elif marker in ALONE:
            at += 2
        else:
            at += 2 + (data[at + 2] << 8 | data[at + 3])
    raise ImageError("truncated: no frame header")
