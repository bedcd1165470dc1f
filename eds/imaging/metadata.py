"""Remove a picture's metadata and keep its pixels: EXIF (camera, place, author), XMP, IPTC, comments, previews.

The coded pixels stay byte by byte; nothing is decoded and coded again. Kept is what decides how the pixels look: their
orientation (as the only EXIF entry, if it is not upright), the ICC colour profile, gamma, resolution, transparency and
animation. Whatever follows the end of the picture (a second picture, a film) goes, too.

JPEG, PNG and WebP are rewritten; a file of another format is returned as it is if it holds nothing of that kind, else
refused, since its pixels could not be kept untouched.
"""

import re
import struct
import zlib
from collections.abc import Iterator

from eds.errors import ImageError
from eds.imaging.decode import decoding, orientation

HINT = "Save it as JPEG, PNG or WebP, or export with --keep-metadata."
UPRIGHT = 1
ORIENTATION = 0x0112
JPEG, PNG, WEBP = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"WEBP"
PNG_KEPT = {
    *(b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"sBIT", b"bKGD", b"hIST"),
    *(b"pHYs", b"cICP", b"mDCV", b"cLLI", b"acTL", b"fcTL", b"fdAT"),
}
WEBP_KEPT = {b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"ICCP"}
WEBP_EXIF, WEBP_XMP = 0x08, 0x04
MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")  # in the coded pixels: ends them
TELLING = {270, 271, 272, 305, 306, 315, 316, 700, 33432, 33723, 34377, 34665, 34853}  # tags of EXIF and TIFF


def without_metadata(data: bytes, where: str = "") -> bytes:
    """The picture file without its metadata; the same bytes if it has none. ImageError if that is not possible."""
    try:
        if data.startswith(JPEG):
            return b"".join(_jpeg(data))
        if data.startswith(PNG):
            return b"".join(_png(data))
        if data[:4] == b"RIFF" and data[8:12] == WEBP:
            return _webp(data)
        _refuse_telling(data)
    except ImageError as error:
        raise ImageError(error.what, where=where, hint=error.hint) from error
    except (struct.error, IndexError, ValueError) as error:
        raise ImageError(
            f"its metadata cannot be removed ({error})",
            where=where,
            hint=HINT,
        ) from error
    return data


def _orientation(data: bytes) -> int:
    """The orientation as everything in eds reads it."""
    with decoding(data) as image:
        if image.format == "PNG":  # which may have it behind the pixels
            image.load()
        return orientation(image)


def _exif(turn: int) -> bytes:
    """EXIF data with nothing but the orientation."""
    return b"MM\0*\0\0\0\x08" + struct.pack(">HHHIHHI", 1, ORIENTATION, 3, 1, turn, 0, 0)


def _jpeg(data: bytes) -> Iterator[bytes]:
    turn = _orientation(data)
    yield data[:2]
    written = turn == UPRIGHT
    position = 2
    while position < len(data):
        while data[position + 1] == 0xFF:  # fill bytes
            position += 1
        marker = data[position + 1]
        if data[position] != 0xFF or marker == 0:
            raise ValueError(f"no segment begins at byte {position:,}")
        if marker == 0xD9:
            yield data[position : position + 2]
            return
        end = position + 2 + struct.unpack_from(">H", data, position + 2)[0]
        segment = data[position:end]
        if not written and marker != 0xE0:  # behind JFIF's own segment, before everything else
            content = b"Exif\0\0" + _exif(turn)
            yield b"\xff\xe1" + struct.pack(">H", len(content) + 2) + content
            written = True
        if marker == 0xDA:
            found = MARKER.search(data, end)
            end = found.start() if found else len(data)
            segment = data[position:end]
        if _is_kept(marker, segment[4:]):
            yield segment
        position = end


def _is_kept(marker: int, content: bytes) -> bool:
    """Whether a JPEG's segment decides how the pixels look: all but APPn and COM, and of those three."""
    if marker == 0xE0:
        return content.startswith(b"JFIF\0")
    if marker == 0xE2:
        return content.startswith(b"ICC_PROFILE\0")
    if marker == 0xEE:
        return content.startswith(b"Adobe")
    return not (0xE0 <= marker <= 0xEF or marker == 0xFE)


def _png(data: bytes) -> Iterator[bytes]:
    turn = _orientation(data)
    yield data[:8]
    position = 8
    while position < len(data):
        (size,) = struct.unpack_from(">I", data, position)
        kind = data[position + 4 : position + 8]
        end = position + 12 + size
        if end > len(data):
            raise ValueError("it is truncated")
        if kind in PNG_KEPT:
            yield data[position:end]
        elif kind[0] & 0x20 == 0:
            raise ValueError(f"it has an unknown critical chunk {kind!r}")
        if kind == b"IHDR" and turn != UPRIGHT:
            content = b"eXIf" + _exif(turn)
            yield struct.pack(">I", len(content) - 4) + content + struct.pack(">I", zlib.crc32(content))
        if kind == b"IEND":
            return
        position = end
    raise ValueError("it is truncated")


def _webp(data: bytes) -> bytes:
    turn = _orientation(data)
    parts, position, end = [], 12, min(len(data), 8 + struct.unpack_from("<I", data, 4)[0])
    while position + 8 <= end:
        kind, (size,) = data[position : position + 4], struct.unpack_from("<I", data, position + 4)
        after = position + 8 + size + size % 2
        chunk = bytearray(data[position:after])
        if kind == b"VP8X":
            chunk[8] = chunk[8] & ~(WEBP_EXIF | WEBP_XMP) | (WEBP_EXIF if turn != UPRIGHT else 0)
        if kind in WEBP_KEPT:
            parts.append(bytes(chunk))
        position = after
    if turn != UPRIGHT:
        content = _exif(turn)
        parts.append(b"EXIF" + struct.pack("<I", len(content)) + content)
    body = WEBP + b"".join(parts)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _refuse_telling(data: bytes) -> None:
    with decoding(data) as image:
        tags = TELLING & ({*image.getexif()} | {*getattr(image, "tag_v2", ())})
        if tags or {"comment", "xmp", "XML:com.adobe.xmp", "photoshop"} & {*image.info}:
            raise ImageError(
                f"{image.format} keeps its metadata among the pixels, so they cannot be removed", hint=HINT
            )
