"""Thumbnails: how large they are, and a picture made small without ever holding all of it as RGB.

A picture of 100 million pixels takes 0.1 to 0.4 GB as it is stored and several times that while it is converted. So it
is converted in bands, each reduced by a whole number as soon as it is RGB; at the end a good filter brings it to size.
"""

from collections.abc import Mapping
from typing import Any

from PIL import Image

from eds.imaging.decode import TURNS, Box, Colour, as_rgb, crop, decoding, open_rgb, orientation, stored_part
from eds.imaging.locations import inside
from eds.io import Address

SIDES = {  # the longest side of a thumbnail in pixels, by where it is shown
    "annotator": 320,  # pictures in a grid; sharp on dense screens
    "contact page": 320,
    "report": 220,  # a report is one file: its galleries hold hundreds
    "contact sheet": 176,  # one picture of many images
    "strip": 176,
    "hash benchmark": 56,
}
BAND = 1 << 22  # pixels that are converted at a time
SPARE = 2  # before the last filter a side keeps this many times the pixels that are asked for

WHITE: Colour = (255, 255, 255)


def shrunk_rgb(
    data: bytes, longest: int, *, where: str, box: Box | None = None, background: Colour = WHITE
) -> Image.Image:
    """The picture in `data`, or the part of it in `box`, as RGB with no side longer than `longest`.

    `box` is meant in the upright picture at its full size. A smaller picture keeps its size.
    """
    with decoding(data, where=where) as picture:
        stored, part = picture.size, stored_part(picture, box)
        wanted = SPARE * longest
        picture.draft(None, (-(-stored[0] * wanted // part[0]), -(-stored[1] * wanted // part[1])))
        picture.load()
        drafted = max(part[0] * picture.width // stored[0], part[1] * picture.height // stored[1])
        rgb = _reduced(picture, max(drafted // wanted, 1), background)
        turn = orientation(picture)
        if turn in TURNS:
            rgb = rgb.transpose(TURNS[turn])
        full = stored[::-1] if turn >= 5 else stored
        result = rgb if box is None else crop(rgb, box, full)
        result.thumbnail((longest, longest), Image.Resampling.LANCZOS)
        return result


def thumbnail(root: Address, image: Mapping[Any, Any], side: int) -> Image.Image:
    """A row of table images, or its box if it has one, as RGB with no side longer than `side`; else ImageError."""
    from pandas import isna

    from eds.tables import BOX

    edges = [int(image[edge]) for edge in BOX if not isna(image[edge])]
    box = Box(*edges) if len(edges) == len(BOX) else None
    result = open_rgb(inside(root, str(image["path"])), box=box, draft=side)
    result.thumbnail((side, side), Image.Resampling.LANCZOS)
    return result


def _reduced(picture: Image.Image, factor: int, background: Colour) -> Image.Image:
    """A loaded picture as RGB, `factor` times smaller in both directions (the mean of each square)."""
    width, height = picture.size
    if factor == 1 and width * height <= BAND:
        return as_rgb(picture, background)
    result = Image.new("RGB", (-(-width // factor), -(-height // factor)))
    rows = max(BAND // width // factor, 1) * factor
    for top in range(0, height, rows):
        band = picture.crop((0, top, width, min(top + rows, height)))
        band.format = picture.format  # which says what values of 32 bits mean
        result.paste(as_rgb(band, background).reduce(factor), (0, top // factor))
    return result
