"""The studio views of the catalogue. Snapshots are in wild.py."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageFilter

from eds.synthetic.attributes import Attributes
from eds.synthetic.garments import bags, shoes, tops, trousers
from eds.synthetic.garments.fabrics import Cloth, Plane, cloth_of, shaded
from eds.synthetic.garments.fittings import Pose
from eds.synthetic.garments.painter import Camera, Canvas, enlarged, fill, paint, shifted
from eds.synthetic.garments.palette import Colour, to_rgb, within_gamut
from eds.synthetic.garments.shapes import Piece
from eds.synthetic.products import stream

_DRAW = {
    "shirt": tops.shirt,
    "dress": tops.dress,
    "coat": tops.coat,
    "trousers": trousers.trousers,
    "skirt": trousers.skirt,
    "shoe": shoes.shoe,
    "bag": bags.bag,
}
_STUDIO_VIEWS, _NOISE = 2, 3  # jobs of the random streams


@dataclass(frozen=True)
class Product:
    """A product to draw: its attributes, and the seeds of its views."""

    attributes: Attributes
    key: int
    seed: int = 0

    def pieces(self, pose: Pose) -> list[Piece]:
        """Cut the product's pieces for a pose."""
        return _DRAW[self.attributes.category](self.attributes, pose)

    def cloths(self) -> dict[str, Cloth]:
        """Return every cloth that a piece may name."""
        product = self.attributes
        main = cloth_of(product)
        colour = Colour(product.lightness, product.chroma, product.hue)
        accent = Colour(product.accent_lightness, product.accent_chroma, product.accent_hue)
        own = Colour(product.lightness, product.chroma, product.hue)
        patterned = product.pattern in ("stripes", "checks", "dots", "floral")
        trim = main.accent if patterned else shaded(own, 0.86 if product.lightness > 0.35 else 1.25)
        belt_like = to_rgb(within_gamut(Colour(0.40, 0.06, 55.0))) if product.fabric == "denim" else trim
        fabric = "leather" if product.category in ("shoe", "bag") else product.fabric
        pale = product.lightness > 0.7
        return {
            "main": main,
            "trim": Cloth(belt_like, belt_like, fabric),
            "inside": Cloth(shaded(colour, 0.62), main.accent, "silk"),
            "button": Cloth(shaded(accent, 0.9, 0.6) if not pale else shaded(own, 0.7, 0.7), main.base, "silk"),
            "metal": Cloth((206, 178, 120) if product.hue < 180 else (188, 190, 196), (255, 255, 255), "leather"),
            "sole": Cloth(
                (236, 232, 224) if product.silhouette == "sneaker" else shaded(colour, 0.5, 0.6), main.accent, "cotton"
            ),
            "lace": Cloth((240, 237, 230) if product.lightness < 0.8 else shaded(own, 0.55), main.accent, "cotton"),
            "charm": Cloth(main.accent, main.base, "leather"),
        }


def draw_pose(rng: np.random.Generator, freedom: float) -> Pose:
    """Draw a pose; `freedom` 0 is the standard one."""
    a, b, c, d, phase = (float(x) for x in rng.random(5))
    return Pose(
        arms=0.24 + freedom * 0.36 * (a - 0.3),
        asymmetry=freedom * 0.4 * (b - 0.5),
        spread=freedom * 0.10 * (c - 0.2),
        swing=freedom * 0.22 * (d - 0.5),
        phase=phase,
    )


def bounds(pieces: list[Piece]) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of all the pieces, in garment units."""
    corners = np.concatenate([outline for piece in pieces for outline in piece.outlines])
    (left, top), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
    return float(left), float(top), float(right), float(bottom)


def studio_camera(rng: np.random.Generator, pieces: list[Piece], size: int, view: int) -> Camera:
    """Place the camera: view 0 is the front, view 1 is wider, view 2 is closer, others are a mix."""
    left, top, right, bottom = bounds(pieces)
    # Long garments fill the frame; short ones stay visibly shorter, as in a shop's pictures.
    full = min(1.0 / max(bottom - top, 1.25), 1.0 / max(right - left, 0.9)) * 0.88 * size
    kind = view if view < 3 else int(rng.integers(1, 3))
    draws = [float(x) for x in rng.random(8)]
    zoom = full * (0.97 + 0.05 * draws[0], 0.86 + 0.14 * draws[0], 1.3 + 0.3 * draws[0])[kind]
    shift = ((draws[1] - 0.5) * (0.01, 0.08, 0.10)[kind], (draws[2] - 0.5) * (0.01, 0.05, 0.16)[kind])
    squeeze = (1.0, 0.86 + 0.14 * draws[3], 0.94 + 0.06 * draws[3])[kind]
    turn = (draws[4] - 0.5) * (0.02, 0.16, 0.12)[kind]
    mirror = kind > 0 and draws[5] < 0.35
    middle_x, middle_y = (left + right) / 2 * (-1 if mirror else 1), (top + bottom) / 2 - 1.0
    side = -1.0 if draws[6] < 0.3 and kind > 0 else 1.0
    return Camera(
        size=size,
        zoom=zoom,
        turn=turn,
        squeeze=squeeze,
        lean=(draws[7] - 0.5) * (0.0, 0.08, 0.06)[kind],
        mirror=mirror,
        centre=(0.5 + shift[0] - middle_x * squeeze * zoom / size, 0.5 + shift[1] - middle_y * zoom / size),
        light=(-0.6 * side, -0.8),
        harshness=0.85 + 0.3 * draws[6],
    )


def smooth(values: npt.NDArray[Any], size: int) -> Plane:
    """Enlarge a few 0-to-255 values to a smooth (size, size) plane."""
    small = Image.fromarray(np.clip(values, 0, 255).astype(np.uint8))
    quarter = -(-size // 4)
    cells = np.asarray(small.resize((quarter, quarter), Image.Resampling.BICUBIC), dtype=np.float32)
    return enlarged(cells, size, size)


def studio_background(rng: np.random.Generator, size: int, floor: float, house: bool) -> Canvas:
    """Return seamless studio paper: light from above, a soft horizon at `floor` (of the height), a darker rim.

    In the `house` studio, which takes the front views, the paper is white; elsewhere it is tinted.
    """
    pick, tint, depth, lift = (float(x) for x in rng.random(4))
    chroma = 0.0 if house else 0.006 if pick < 0.55 else 0.010 + 0.014 * depth
    lightness = 0.935 + 0.025 * lift if house else 0.90 + 0.06 * lift if pick < 0.85 else 0.80 + 0.06 * lift
    paper = to_rgb(Colour(lightness, chroma, 360 * tint))
    y, x = np.mgrid[0:13, 0:13] / 12.0
    glow = 1.045 - 0.16 * ((x - 0.5) ** 2 + (y - 0.42) ** 2)
    if floor < 1:
        glow = glow - 0.05 * np.clip((y - floor) * 6.0, 0.0, 1.0) + 0.045 * np.clip((y - floor - 0.15) * 3.0, 0.0, 1.0)
    plane = smooth(glow * 200.0, size) / np.float32(200)
    canvas = np.empty((3, size, size), dtype=np.float32)
    for channel, level in enumerate(paper):
        np.multiply(plane, np.float32(level), out=canvas[channel])
    return np.clip(canvas, 0, 255, out=canvas)


def cast_shadow(canvas: Canvas, pieces: list[Piece], camera: Camera, standing: bool, strength: float) -> None:
    """Darken the ground by the product's soft shadow: on the wall behind it, or on the floor."""
    size = camera.size
    coarse = max(1, size // 64)
    small = Camera(**{**camera.__dict__, "size": size // coarse, "zoom": camera.zoom / coarse})
    outlines = [small.project(outline) for piece in pieces for outline in piece.outlines]
    side = size // coarse
    if standing:
        corners = np.concatenate(outlines)
        (left, _), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
        thick = max(1.2, 0.035 * side)
        outlines = [
            np.array(
                [
                    [left + 1, bottom - thick],
                    [right, bottom - thick],
                    [right + 2, bottom + thick * 0.6],
                    [left, bottom + thick * 0.6],
                ]
            )
        ]
    mask = fill(outlines, 0, 0, side, side)
    if standing:
        soft = np.asarray(mask.filter(ImageFilter.GaussianBlur(side * 0.022)), dtype=np.float32)
        soft = np.maximum(soft, np.asarray(mask.filter(ImageFilter.GaussianBlur(side * 0.06)), dtype=np.float32))
    else:
        wide = np.asarray(mask.filter(ImageFilter.GaussianBlur(side * 0.035)), dtype=np.float32)
        soft = shifted(wide, round(-camera.light[0] * side * 0.03), round(side * 0.022))
    canvas *= 1 - smooth(soft, size) * np.float32(strength / 255)


def finish(canvas: Canvas, rng: np.random.Generator, grain: float) -> Image.Image:
    """Add the sensor's grain to the canvas (it also hides the steps of smooth tones) and return the image."""
    _, height, width = canvas.shape
    noise = rng.integers(-128, 128, size=(height, width), dtype=np.int8).astype(np.float32) * np.float32(grain / 128)
    noise += np.float32(0.5)
    canvas += noise
    np.clip(canvas, 0, 255, out=canvas)
    return Image.merge("RGB", [Image.fromarray(plane) for plane in canvas.astype(np.uint8)])


def studio_view(product: Product, view: int, size: int) -> Image.Image:
    """Draw one view of a product in the studio."""
    rng = stream(product.seed, _STUDIO_VIEWS, product.key, view)
    pieces = product.pieces(draw_pose(rng, 0.15 if view == 0 else 1.0))
    camera = studio_camera(rng, pieces, size, view)
    standing = product.attributes.category in ("shoe", "bag")
    canvas = studio_background(rng, size, 0.66 if standing else 1.0, house=view == 0)
    cast_shadow(canvas, pieces, camera, standing, 0.34 if standing else 0.26)
    paint(canvas, pieces, product.cloths(), camera)
    return finish(canvas, rng, 1.6)
