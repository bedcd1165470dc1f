"""Colours in Oklab's cylindrical coordinates (lightness, chroma, hue), their distributions, and conversion to sRGB.

Oklab (Björn Ottosson, 2020) is used because equal distances in it look about equally different: colours are drawn and
compared in the same space.
"""

import math
from typing import NamedTuple

import numpy as np

RGB = tuple[int, int, int]


class Colour(NamedTuple):
    """Lightness in [0, 1], chroma in about [0, 0.2], hue in degrees [0, 360)."""

    lightness: float
    chroma: float
    hue: float


def _linear(colour: Colour) -> tuple[float, float, float]:
    angle = math.radians(colour.hue)
    a, b = colour.chroma * math.cos(angle), colour.chroma * math.sin(angle)
    long = (colour.lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (colour.lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (colour.lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )


def to_rgb(colour: Colour) -> RGB:
    """Return the nearest sRGB colour, each channel 0 to 255.

    >>> to_rgb(Colour(1.0, 0.0, 0.0)), to_rgb(Colour(0.6, 0.12, 25.0))
    ((255, 255, 255), (189, 97, 91))
    """

    def encode(x: float) -> int:
        x = min(max(x, 0.0), 1.0)
        return round(255 * (12.92 * x if x <= 0.0031308 else 1.055 * x ** (1 / 2.4) - 0.055))

    red, green, blue = _linear(colour)
    return encode(red), encode(green), encode(blue)


def within_gamut(colour: Colour) -> Colour:
    """Lower the chroma until sRGB contains the colour, so that the attribute is the drawn colour."""
    chroma = colour.chroma
    while chroma > 0 and not all(-0.002 <= x <= 1.002 for x in _linear(colour._replace(chroma=chroma))):
        chroma -= 0.005
    return Colour(round(colour.lightness, 3), round(max(chroma, 0.0), 3), round(colour.hue, 1))


def _between(rng: np.random.Generator, low: float, high: float) -> float:
    return low + (high - low) * float(rng.random())


# Kinds of base colour: (probability, lightness from-to, chroma from-to). Real rails are half neutrals.
_KINDS = (
    (0.14, (0.90, 0.965), (0.004, 0.022)),  # whites, ivory
    (0.12, (0.20, 0.31), (0.004, 0.03)),  # black, ink, charcoal
    (0.10, (0.52, 0.80), (0.008, 0.035)),  # greys, stone, taupe
    (0.26, (0.68, 0.88), (0.045, 0.085)),  # powder colours
    (0.20, (0.34, 0.55), (0.05, 0.10)),  # deep, muted colours
    (0.18, (0.52, 0.76), (0.11, 0.17)),  # clear colours
)


def base_colour(rng: np.random.Generator, fabric: str) -> Colour:
    """Draw a garment's main colour; denim is blue or black, leather mostly brown, black or wine."""
    if fabric == "denim":
        return within_gamut(Colour(_between(rng, 0.30, 0.74), _between(rng, 0.035, 0.085), _between(rng, 246, 264)))
    if fabric == "leather" and rng.random() < 0.75:
        lightness, chroma, hue = ((0.24, 0.01, 60.0), (0.42, 0.075, 52.0), (0.62, 0.085, 66.0), (0.36, 0.09, 18.0))[
            int(rng.integers(4))
        ]
        return within_gamut(Colour(lightness + _between(rng, -0.03, 0.05), chroma, hue + _between(rng, -6, 6)))
    pick, total = float(rng.random()), 0.0
    lightness_range, chroma_range = _KINDS[-1][1:]
    for probability, *ranges in _KINDS:
        total += probability
        if pick < total:
            lightness_range, chroma_range = ranges
            break
    return within_gamut(Colour(_between(rng, *lightness_range), _between(rng, *chroma_range), _between(rng, 0, 360)))


def accent_colour(rng: np.random.Generator, base: Colour) -> Colour:
    """Draw the colour of pattern and trimmings: different in lightness, harmonious in hue."""
    step = _between(rng, 0.26, 0.46)
    lightness = base.lightness - step if base.lightness > 0.56 else base.lightness + step
    hue = base.hue + (0.0, 28.0, -28.0, 150.0, 180.0)[int(rng.integers(5))] + _between(rng, -8, 8)
    chroma = _between(rng, 0.01, 0.03) if rng.random() < 0.35 else _between(rng, 0.05, 0.13)
    return within_gamut(Colour(min(max(lightness, 0.2), 0.96), chroma, hue % 360))
