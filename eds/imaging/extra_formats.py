"""Formats that Pillow does not read: HEIC through pillow-heif, SVG through resvg (extra `formats`).

An SVG is drawn with its longer side at 1,024 pixels, without system fonts and without files of this machine: a
reference to anything outside the drawing is an error.
"""

import gzip
import re
import zlib
from functools import cache
from importlib.util import find_spec

from eds.distribution import install
from eds.errors import ImageError

HEIC = ("heic", "heif")
VECTOR = ("svg", "svgz")
SIDE = 1024  # pixels of a drawing's longer side
DPI = 96  # of lengths in pt, mm or in, as CSS has it; the package assumes 0, and refuses them
MOST = 20 << 20  # bytes of an unpacked drawing
INSTALL = f"Run: {install('formats')}."
LEAD = rb"(?>(?:<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[[^\]]*\]\s*)?>)\s*)*+"  # atomic: no file may make the search slow
SVG = re.compile(rb"^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?" + LEAD + rb"<svg[\s>]", re.DOTALL)
ENTITIES = 100  # of a drawing
ENTITY = re.compile(r"""<!ENTITY\s+[\w.:-]+\s+(?:"([^"&%<]*)"|'([^'&%<]*)')\s*>""")  # a text: no file, no other entity
OUTSIDE = re.compile(r"""(?:href\s*=\s*|url\(\s*)["']?\s*(?!data:|#|["'])[^\s"')>]""")  # not of the drawing itself


def readable_suffixes() -> frozenset[str]:
    """The suffixes that the installed packages read."""
    names = (*(HEIC if find_spec("pillow_heif") else ()), *(VECTOR if find_spec("resvg_py") else ()))
    return frozenset(f".{name}" for name in names)


def picture_suffixes() -> frozenset[str]:
    """The suffixes of pictures that the extra reads, installed or not."""
    return frozenset(f".{name}" for name in (*HEIC, *VECTOR))


def to_raster(data: bytes) -> bytes:
    """The bytes that Pillow reads: a drawing as PNG; anything else as it is."""
    if data[:2] == b"\x1f\x8b":
        data = _unpacked(data)
    if data[4:8] == b"ftyp":
        register_heic()
        return data
    return _drawn(data) if SVG.match(data[:4096]) else data


@cache
def register_heic() -> None:
    """Let Pillow read HEIC, if the package is installed."""
    if find_spec("pillow_heif"):
        import pillow_heif

        pillow_heif.register_heif_opener()


def _unpacked(data: bytes) -> bytes:
    try:
        unpacked = zlib.decompressobj(wbits=31).decompress(data, MOST + 1)
    except (zlib.error, gzip.BadGzipFile) as error:
        raise ImageError(f"damaged: {error}") from error
    if len(unpacked) > MOST:
        raise ImageError(f"the drawing unpacks to more than {MOST >> 20} MB")
    return unpacked


def _drawn(data: bytes) -> bytes:
    if not find_spec("resvg_py"):
        raise ImageError("SVG is not read without the package resvg-py", hint=INSTALL)
    import resvg_py

    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ImageError("the drawing is not UTF-8") from error
    declared = len(ENTITY.findall(text))
    if declared < text.count("<!ENTITY") or declared > ENTITIES:
        raise ImageError("the drawing declares XML entities that are not plain text", hint="Save it as plain SVG.")
    if OUTSIDE.search(re.sub(r"xmlns(:\w+)?\s*=\s*(\"[^\"]*\"|'[^']*')", "", text)):
        raise ImageError("the drawing refers to other files", hint="Save it with its pictures embedded.")
    try:  # both sides given: the drawing is fitted into the square and keeps its proportions
        return bytes(resvg_py.svg_to_bytes(svg_string=text, skip_system_fonts=True, width=SIDE, height=SIDE, dpi=DPI))
    except ValueError as error:
        raise ImageError(f"damaged drawing ({error})") from error
