"""Cloth: colour and weave at a point of a garment.

Pixels are computed with + - * /, comparisons, square roots, integer random numbers and a rounded sine table only:
these give the same bits on every processor, unlike exp, sin and similar functions of numpy.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import pi, sin

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from eds.synthetic.attributes import Attributes
from eds.synthetic.garments.palette import RGB, Colour, to_rgb, within_gamut
from eds.synthetic.products import stream

Plane = npt.NDArray[np.float32]  # (height, width)

_TURN = 1024
_SINE = np.array([round(sin(2 * pi * k / _TURN) * 4096) / 4096 for k in range(_TURN)], dtype=np.float32)
_GRAIN = (stream(20, 25).integers(-128, 128, size=(600, 600)) / 128.0).astype(np.float32)
_SLUB = np.asarray((_GRAIN + np.roll(_GRAIN, 1, 1) + np.roll(_GRAIN, 2, 1) + np.roll(_GRAIN, 3, 1)) / 2, np.float32)
TILE = 256  # pixels of a floral tile


def wave(turns: Plane) -> Plane:
    """Return the sine of `turns` full turns."""
    sampled: Plane = _SINE[(turns * _TURN).astype(np.int32) & (_TURN - 1)]
    return sampled


@dataclass(frozen=True)
class Cloth:
    """A fabric with its pattern. Gloss and drape follow from the fabric; they are not attributes."""

    base: RGB
    accent: RGB
    fabric: str = "cotton"
    pattern: str = "plain"
    period: float = 0.2  # of the pattern, in garment units
    direction: str = "across"
    span: tuple[float, float] = (0.2, 1.8)  # where a gradient starts and ends
    tile_key: int = 0  # which layout a floral print has

    @property
    def gloss(self) -> float:
        """How bright the highlights are."""
        return {"silk": 0.55, "leather": 0.6, "cotton": 0.2, "denim": 0.14, "knit": 0.08, "wool": 0.06}[self.fabric]

    @property
    def drape(self) -> float:
        """How deep folds fall."""
        return {"silk": 1.35, "leather": 0.75, "cotton": 1.0, "denim": 0.8, "knit": 0.7, "wool": 0.6}[self.fabric]

    @property
    def needs_coordinates(self) -> bool:
        """Whether its colour or weave depends on the position on the garment."""
        return self.pattern != "plain" or self.fabric in ("denim", "knit")


def cloth_of(product: Attributes) -> Cloth:
    """Return the main cloth of a product.

    The layout of a floral print follows from the scale, so that the image shows nothing that is not an attribute.
    """
    period = 0.075 + 0.15 * product.pattern_scale
    return Cloth(
        base=to_rgb(Colour(product.lightness, product.chroma, product.hue)),
        accent=to_rgb(Colour(product.accent_lightness, product.accent_chroma, product.accent_hue)),
        fabric=product.fabric,
        pattern=product.pattern,
        period=period * {"floral": 4.2, "dots": 1.1, "checks": 1.15}.get(product.pattern, 1.0),
        direction=product.direction,
        tile_key=int(product.pattern_scale * 5),
    )


def shaded(colour: Colour, lightness: float, chroma: float = 1.0) -> RGB:
    """Return a darker (factor < 1) or lighter relative of a colour."""
    return to_rgb(within_gamut(Colour(min(colour.lightness * lightness, 0.97), colour.chroma * chroma, colour.hue)))


@lru_cache(maxsize=64)
def _floral_tile(base: RGB, accent: RGB, key: int) -> npt.NDArray[np.float32]:
    """Draw a print that repeats seamlessly: blossoms of the accent, buds, and leaves between both colours."""
    scale, rng = 3, stream(31, key)
    side = TILE * scale
    image = Image.new("RGB", (side, side), base)
    pen = ImageDraw.Draw(image)
    leaf = tuple((2 * b + a) // 3 for a, b in zip(accent, base, strict=True))
    petal_light = tuple(min(255, (3 * a + 255) // 4) for a in accent)
    heart = tuple((a + 3 * b) // 4 for a, b in zip(accent, base, strict=True))
    cells = 4
    for cell in rng.permutation(cells * cells):
        row, column = divmod(int(cell), cells)
        kind, turn = int(rng.integers(4)), float(rng.random())
        x = (column + 0.5 * (row % 2) + 0.5 + 0.3 * (float(rng.random()) - 0.5)) * side / cells
        y = (row + 0.5 + 0.3 * (float(rng.random()) - 0.5)) * side / cells
        radius = side / cells * ((0.46, 0.36, 0.26, 0.3)[kind] + 0.06 * float(rng.random()))
        for dx in (-side, 0, side):
            for dy in (-side, 0, side):
                _blossom(pen, x + dx, y + dy, radius, turn, kind, (accent, petal_light, heart, leaf))
    return np.asarray(image.reduce(scale), dtype=np.float32)


def _blossom(
    pen: ImageDraw.ImageDraw,
    x: float,
    y: float,
    radius: float,
    turn: float,
    kind: int,
    inks: tuple[tuple[int, ...], ...],
) -> None:
    accent, light, heart, leaf = inks

    def disc(cx: float, cy: float, r: float, ink: tuple[int, ...]) -> None:
        pen.ellipse([round(cx - r), round(cy - r), round(cx + r), round(cy + r)], fill=ink)

    def at(part: float, far: float) -> tuple[float, float]:
        angle = 2 * pi * (turn + part)
        return x + far * radius * round(sin(angle + pi / 2), 6), y + far * radius * round(sin(angle), 6)

    for part in (0.15, 0.65) if kind < 3 else (0.0, 0.33, 0.66):  # leaves
        tip, left, right = at(part, 1.25), at(part + 0.08, 0.7), at(part - 0.08, 0.7)
        pen.polygon([(round(px), round(py)) for px, py in ((x, y), left, tip, right)], fill=leaf)
    if kind == 3:
        return
    for k in range(5):
        disc(*at(k / 5, 0.52), 0.36 * radius, accent)
        disc(*at(k / 5, 0.56), 0.2 * radius, light)
    disc(x, y, 0.24 * radius, heart)


def _band(turns: Plane, duty: float, sharp: float) -> Plane:
    """Return 1 within the first `duty` of every turn, 0 beyond, with an edge of one pixel (`sharp` pixels a turn)."""
    away = np.abs(turns - np.floor(turns) - np.float32(0.5))
    band: Plane = np.clip((np.float32(duty / 2) - away) * np.float32(sharp) + np.float32(0.5), 0, 1)
    return band


def _weights(cloth: Cloth, u: Plane, v: Plane, pixels: float) -> Plane:
    """Return the share of the accent colour at each point."""
    sharp = cloth.period * pixels
    if cloth.direction == "diagonal":
        u, v = (u + v) * np.float32(0.7071), (v - u) * np.float32(0.7071)
    elif cloth.direction == "along":
        u, v = v, u
    x, y = u * np.float32(1 / cloth.period), v * np.float32(1 / cloth.period)
    if cloth.pattern == "stripes":
        return _band(y, 0.45, sharp)
    if cloth.pattern == "checks":
        if cloth.direction == "along":  # a windowpane over a broken ground
            both = np.maximum(_band(x, 0.16, sharp), _band(y, 0.16, sharp))
            return np.maximum(both, np.float32(0.35) * np.maximum(_band(x, 0.6, sharp), _band(y, 0.6, sharp)))
        gingham: Plane = (_band(x, 0.5, sharp) + _band(y, 0.5, sharp)) * np.float32(0.5)
        return gingham
    if cloth.pattern == "dots":
        row = np.floor(y)
        x = x + (row - 2 * np.floor(row * np.float32(0.5))) * np.float32(0.5)  # every second row is shifted
        dx, dy = x - np.floor(x) - np.float32(0.5), y - row - np.float32(0.5)
        dots: Plane = np.clip(
            (np.float32(0.26) - np.sqrt(dx * dx + dy * dy)) * np.float32(sharp) + np.float32(0.5), 0, 1
        )
        return dots
    low, high = cloth.span
    part: Plane = np.clip((v - np.float32(low)) * np.float32(1 / (high - low)), 0, 1)
    eased: Plane = part * part * (3 - 2 * part)
    return eased


def albedo(cloth: Cloth, u: Plane, v: Plane, pixels: float) -> Sequence[Plane | np.float32]:
    """Return the three colour planes (0 to 255) at the points (u, v), a number each of a plain cloth.

    `pixels` is the length of a unit.
    """
    if cloth.pattern == "plain":
        return [np.float32(channel) for channel in cloth.base]
    if cloth.pattern == "floral":
        factor = np.float32(TILE / cloth.period)
        tile = _floral_tile(cloth.base, cloth.accent, cloth.tile_key)
        place = (((v + 4) * factor).astype(np.int32) % TILE) * TILE + ((u + 4) * factor).astype(np.int32) % TILE
        picked = tile.reshape(-1, 3)[place]
        return [picked[..., channel] for channel in range(3)]
    weight = _weights(cloth, u, v, pixels)
    return [np.float32(b) + np.float32(a - b) * weight for b, a in zip(cloth.base, cloth.accent, strict=True)]


@lru_cache(maxsize=8)
def _grain(slubbed: bool, repeats: int) -> Plane:
    """Return the threads of a cloth, repeated along both sides."""
    return np.tile(_SLUB if slubbed else _GRAIN, (repeats, repeats))


def weave(cloth: Cloth, u: Plane, v: Plane, corner: tuple[int, int]) -> Plane:
    """Return the relative brightness of the weave around 0; `corner` is the position of the piece in the image."""
    height, width = u.shape
    top, left = corner[1] % 83, corner[0] % 83
    source = _grain(cloth.fabric in ("cotton", "denim", "silk"), -(-(max(height + top, width + left)) // len(_GRAIN)))
    grain = source[top : top + height, left : left + width]
    if cloth.fabric == "denim":
        return grain * np.float32(0.045) + wave((u + v) * np.float32(22)) * np.float32(0.035)
    if cloth.fabric == "knit":
        stitch = np.abs(u * np.float32(17) - np.floor(u * np.float32(17)) - np.float32(0.5))
        return wave(u * np.float32(17)) * np.float32(0.06) + wave(v * np.float32(20) + stitch * 2) * np.float32(0.035)
    strength = {"cotton": 0.022, "silk": 0.008, "wool": 0.06, "leather": 0.035}[cloth.fabric]
    return grain * np.float32(strength)
