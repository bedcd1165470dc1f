"""The wild domain: snapshots of the same products.

Clutter behind, objects in front, a tilted and cropped frame, one-sided light, a colour cast, blur and noise.
"""

import numpy as np
from PIL import Image, ImageFilter

from eds.synthetic.garments.clutter import background, occlude, uniform
from eds.synthetic.garments.painter import Camera, Canvas, paint
from eds.synthetic.garments.person import wearer_cloths, worn
from eds.synthetic.garments.scene import Product, bounds, cast_shadow, draw_pose, finish, smooth
from eds.synthetic.garments.shapes import Piece
from eds.synthetic.products import stream

_WILD = 4  # the job of the random stream


def _camera(rng: np.random.Generator, pieces: list[Piece], size: int) -> Camera:
    left, top, right, bottom = bounds(pieces)
    zoom = min(1.0 / max(bottom - top, 1.2), 0.9 / max(right - left, 0.9)) * size * uniform(rng, 0.62, 1.25)
    mirror = bool(rng.random() < 0.5)
    squeeze = uniform(rng, 0.78, 1.0)
    x = (left + right) / 2 * (-squeeze if mirror else squeeze)
    y = (top + bottom) / 2 - 1.0
    return Camera(
        size=size,
        zoom=zoom,
        turn=uniform(rng, -0.28, 0.28),
        squeeze=squeeze,
        lean=uniform(rng, -0.14, 0.14),
        centre=(uniform(rng, 0.4, 0.6) - x * zoom / size, uniform(rng, 0.4, 0.6) - y * zoom / size),
        mirror=mirror,
        light=(0.75 if rng.random() < 0.5 else -0.75, uniform(rng, -0.9, -0.3)),
        harshness=uniform(rng, 0.8, 1.6),
    )


def _light(canvas: Canvas, rng: np.random.Generator) -> None:
    """Cast one-sided light, sometimes a bar of shade, and the colour of the lamp."""
    size = canvas.shape[1]
    y, x = np.mgrid[0:9, 0:9] / 8.0 - 0.5
    across, down = uniform(rng, -0.45, 0.45), uniform(rng, -0.35, 0.35)
    level = uniform(rng, 0.72, 1.12) * (1 + across * x + down * y)
    if rng.random() < 0.3:
        level = level * (1 - 0.3 * np.clip(3 * (x + uniform(rng, -0.8, 0.8) * y - uniform(rng, -0.4, 0.4)), 0, 1))
    plane = smooth(level * 120, size) / np.float32(120)
    warmth, tint = uniform(rng, -0.17, 0.17), uniform(rng, -0.06, 0.06)
    for channel, gain in enumerate((1 + warmth, 1 + tint, 1 - warmth)):
        canvas[channel] *= plane * np.float32(gain)


def _blurred(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Blur by focus or by a moving hand, in units of 256 pixels."""
    unit, kind = image.width / 256, float(rng.random())
    if kind < 0.35:
        return image.filter(ImageFilter.GaussianBlur(uniform(rng, 0.5, 2.0) * unit))
    if kind < 0.55:  # motion: a box in one direction
        reach = uniform(rng, 1.0, 4.0) * unit
        return image.filter(ImageFilter.BoxBlur((reach, 0.3) if rng.random() < 0.6 else (0.3, reach)))
    return image


def wild_view(product: Product, number: int, size: int) -> Image.Image:
    """Draw the snapshot `number` of a product."""
    rng = stream(product.seed, _WILD, product.key, number)
    pose = draw_pose(rng, 1.6)
    pieces = product.pieces(pose)
    camera = _camera(rng, pieces, size)
    canvas = background(rng, size)
    cloths = product.cloths()
    if rng.random() < 0.55:
        cloths |= wearer_cloths(rng)
        pieces = worn(product, pieces, pose, rng)
        shadow = 0.18  # the wall is farther away
    else:
        shadow = 0.34
    cast_shadow(canvas, pieces, camera, product.attributes.category in ("shoe", "bag"), shadow)
    paint(canvas, pieces, cloths, camera)
    occlude(canvas, rng)
    _light(canvas, rng)
    image = finish(canvas, rng, uniform(rng, 2.0, 9.0))
    return _blurred(image, rng)


def jpeg_quality(product: Product, number: int) -> int:
    """Return the JPEG quality of a snapshot: phones and shops compress more than studios."""
    return int(stream(product.seed, _WILD, product.key, number, 1).integers(55, 88))
