"""The background of a snapshot (rooms, rails of clothes, streets, floors), and objects in front of the product."""

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from eds.synthetic.garments.painter import Camera, Canvas, enlarged, fill
from eds.synthetic.garments.palette import RGB, Colour, to_rgb, within_gamut
from eds.synthetic.garments.scene import smooth
from eds.synthetic.garments.shapes import Points, ellipse, path, ribbon


def uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """Draw a number between two bounds."""
    return low + (high - low) * float(rng.random())


def _tone(rng: np.random.Generator, low: float, high: float, hue: float, chroma: float = 0.045) -> RGB:
    """Draw a colour near the hue of the room."""
    return to_rgb(
        within_gamut(Colour(uniform(rng, low, high), uniform(rng, 0.005, chroma), (hue + uniform(rng, -40, 40)) % 360))
    )


def _leaves(rng: np.random.Generator, pen: ImageDraw.ImageDraw, side: int) -> None:
    x, y = uniform(rng, 0, 1) * side, uniform(rng, 0.35, 0.9) * side
    for _ in range(18):
        green = to_rgb(within_gamut(Colour(uniform(rng, 0.32, 0.58), 0.075, uniform(rng, 120, 150))))
        tip = (x + uniform(rng, -0.2, 0.2) * side, y + uniform(rng, -0.34, 0.04) * side)
        leaf = ribbon(path((x, y), ((x + tip[0]) / 2, tip[1], *tip)), 0.05 * side, 0.005 * side)
        pen.polygon(np.round(leaf).ravel().tolist(), fill=green)


def _room(rng: np.random.Generator, pen: ImageDraw.ImageDraw, side: int) -> None:
    hue = uniform(rng, 0, 360) if rng.random() < 0.4 else uniform(rng, 40, 95)
    horizon = round(side * uniform(rng, 0.62, 0.86))
    pen.rectangle([0, 0, side, side], fill=_tone(rng, 0.66, 0.93, hue))
    for _ in range(int(rng.integers(1, 4))):  # pictures and windows
        x, y, w, h = (uniform(rng, *span) * side for span in ((-0.1, 0.9), (-0.05, 0.35), (0.14, 0.34), (0.16, 0.4)))
        pen.rectangle([round(x), round(y), round(x + w), round(y + h)], fill=_tone(rng, 0.25, 0.6, hue))
        pen.rectangle([round(x + 5), round(y + 5), round(x + w - 5), round(y + h - 5)], fill=_tone(rng, 0.8, 0.97, hue))
        pen.rectangle(
            [round(x + w / 4), round(y + h / 4), round(x + 0.75 * w), round(y + 0.75 * h)],
            fill=_tone(rng, 0.4, 0.8, hue, 0.1),
        )
    ground = _tone(rng, 0.38, 0.7, 60)
    pen.rectangle([0, horizon, side, side], fill=ground)
    pen.rectangle([0, horizon - 6, side, horizon], fill=_tone(rng, 0.85, 0.96, hue))
    for k in range(1, 6):
        y = horizon + (side - horizon) * k * k // 25
        pen.line([0, y, side, y], fill=tuple(round(c * 0.85) for c in ground), width=2)
    if rng.random() < 0.6:  # a sofa or a cupboard
        x, w, h = uniform(rng, -0.3, 0.8) * side, uniform(rng, 0.3, 0.6) * side, uniform(rng, 0.15, 0.4) * side
        body = _tone(rng, 0.3, 0.75, hue, 0.09)
        pen.rounded_rectangle([round(x), round(horizon - h), round(x + w), round(horizon + 0.06 * side)], 14, fill=body)
        pen.line(
            [x + 6, horizon - h / 2, x + w - 6, horizon - h / 2], fill=tuple(round(c * 0.8) for c in body), width=3
        )
    if rng.random() < 0.6:
        _leaves(rng, pen, side)


def _rail(rng: np.random.Generator, pen: ImageDraw.ImageDraw, side: int) -> None:
    hue = uniform(rng, 0, 360)
    pen.rectangle([0, 0, side, side], fill=_tone(rng, 0.75, 0.93, hue, 0.02))
    bar = round(side * uniform(rng, 0.02, 0.2))
    x = -0.1 * side
    while x < side:
        w, drop = uniform(rng, 0.04, 0.11) * side, uniform(rng, 0.45, 0.8) * side
        cloth = _tone(rng, 0.25, 0.92, uniform(rng, 0, 360) if rng.random() < 0.3 else hue, 0.10)
        lean = uniform(rng, -0.03, 0.03) * side
        corners = [x, bar + 12, x + w, bar + 20, x + w + lean, bar + drop, x + lean, bar + drop]
        pen.polygon([round(c) for c in corners], fill=cloth)
        pen.line([x + w, bar + 20, x + w + lean, bar + drop], fill=tuple(round(c * 0.7) for c in cloth), width=4)
        pen.line([x + w / 2, bar, x + w / 2, bar + 16], fill=(120, 120, 124), width=2)
        x += w * uniform(rng, 0.85, 1.5)
    pen.line([0, bar, side, bar], fill=(96, 96, 100), width=6)


def _street(rng: np.random.Generator, pen: ImageDraw.ImageDraw, side: int) -> None:
    hue, dusk = uniform(rng, 0, 360), bool(rng.random() < 0.4)
    low, high = (0.28, 0.45) if dusk else (0.55, 0.85)
    pen.rectangle([0, 0, side, side], fill=_tone(rng, low + 0.1, high + 0.1, 240))
    x = 0.0
    while x < side:
        w = uniform(rng, 0.12, 0.32) * side
        front = _tone(rng, low, high, hue)
        pen.rectangle([round(x), round(uniform(rng, -0.1, 0.3) * side), round(x + w), side], fill=front)
        for k in range(3):
            top = side * (0.1 + 0.22 * k)
            glass = (250, 224, 170) if dusk and rng.random() < 0.6 else tuple(round(c * 0.72) for c in front)
            pen.rectangle([round(x + w * 0.25), round(top), round(x + w * 0.75), round(top + 0.13 * side)], fill=glass)
        x += w
    pen.rectangle(
        [0, round(side * uniform(rng, 0.72, 0.88)), side, side], fill=_tone(rng, low - 0.05, high - 0.15, 80, 0.02)
    )
    for _ in range(16 if dusk else 4):  # lights out of focus
        r, cx, cy = uniform(rng, 0.015, 0.045) * side, uniform(rng, 0, 1) * side, uniform(rng, 0, 0.7) * side
        light = to_rgb(within_gamut(Colour(uniform(rng, 0.8, 0.95), 0.08, uniform(rng, 30, 110))))
        pen.ellipse([round(cx - r), round(cy - r), round(cx + r), round(cy + r)], fill=light)


def _lying(rng: np.random.Generator, pen: ImageDraw.ImageDraw, side: int) -> None:
    """Return a bed, a rug or boards seen from above, with objects on them."""
    hue = uniform(rng, 0, 360)
    ground = _tone(rng, 0.5, 0.92, hue, 0.06)
    pen.rectangle([0, 0, side, side], fill=ground)
    if rng.random() < 0.5:
        for k in range(0, side, side // 6):
            pen.line([k, 0, k, side], fill=tuple(round(c * 0.86) for c in ground), width=3)
    for _ in range(int(rng.integers(1, 5))):
        x, y = (uniform(rng, -0.05, 1.05) * side for _ in range(2))
        w, h, lean = uniform(rng, 0.1, 0.3) * side, uniform(rng, 0.1, 0.3) * side, uniform(rng, -0.1, 0.1) * side
        corners = [x, y, x + w, y + lean, x + w - lean, y + h + lean, x - lean, y + h]
        pen.polygon([round(c) for c in corners], fill=_tone(rng, 0.25, 0.95, hue + 90, 0.1))


def background(rng: np.random.Generator, size: int) -> Canvas:
    """Draw the background, more or less out of focus."""
    side = 256  # things behind are drawn at one scale: their line widths are pixels
    image = Image.new("RGB", (side, side))
    kind = int(rng.integers(4))
    (_room, _rail, _street, _lying)[kind](rng, ImageDraw.Draw(image), side)
    blur = uniform(rng, 0.8, 4.5) if kind != 3 else uniform(rng, 0.6, 1.5)
    image = image.reduce(2).filter(ImageFilter.GaussianBlur(blur / 2))  # what is out of focus needs half the pixels
    quarter = -(-size // 4)
    image = image.resize((quarter, quarter), Image.Resampling.BICUBIC)
    canvas = np.empty((3, size, size), dtype=np.float32)
    for channel, band in enumerate(image.split()):
        canvas[channel] = enlarged(np.asarray(band, dtype=np.float32), size, size)
    rumples = 10 if kind == 3 else 4
    canvas *= smooth(rng.integers(96 if kind == 3 else 110, 140, size=(rumples, rumples)), size) / np.float32(126)
    return canvas


def _in_the_way(rng: np.random.Generator, kind: int) -> list[Points]:
    x, y = uniform(rng, -0.7, 0.7), uniform(rng, 0.3, 1.7)
    if kind == 0:  # a sleeve, a strap, a door's edge
        tilt = uniform(rng, -1.6, 1.6)
        return [
            ribbon(
                path((x - 1.7, y - tilt), (x, y + uniform(rng, -0.5, 0.5), x + 1.7, y + tilt)), uniform(rng, 0.08, 0.36)
            )
        ]
    side = 1.0 if rng.random() < 0.5 else -1.0
    if kind == 1:  # a shoulder, a bag, a head at the rim
        return [ellipse(side * uniform(rng, 0.75, 1.1), y, uniform(rng, 0.25, 0.5), uniform(rng, 0.3, 0.6))]
    root = (side * 1.1, y + 0.3)
    tips = [(side * uniform(rng, 0.2, 0.8), y + uniform(rng, -0.6, 0.3)) for _ in range(5)]
    return [ribbon(path(root, ((root[0] + tip[0]) / 2, tip[1] - 0.1, *tip)), 0.16, 0.01) for tip in tips]


def occlude(canvas: Canvas, rng: np.random.Generator) -> None:
    """Draw up to three objects in front of the product, out of focus."""
    size = canvas.shape[1]
    side = -(-size // 4)  # nothing sharp is drawn, so a quarter of the pixels does
    camera = Camera(size=side, zoom=side / 2.0)
    for _ in range(int(rng.choice(4, p=(0.4, 0.35, 0.2, 0.05)))):
        kind = int(rng.integers(3))
        mask = fill([camera.project(outline) for outline in _in_the_way(rng, kind)], 0, 0, side, side, fine=1)
        mask = mask.filter(ImageFilter.GaussianBlur(uniform(rng, 1.2, 5.0) * side / 256))
        alpha = enlarged(np.asarray(mask, dtype=np.float32) * np.float32(1 / 255), size, size)
        round_light = smooth(rng.integers(90, 140, size=(4, 4)), size) / np.float32(120)
        colour = _tone(rng, 0.2, 0.8, uniform(rng, 0, 360) if kind < 2 else 130.0, 0.09)
        for channel in range(3):
            canvas[channel] += alpha * (round_light * np.float32(colour[channel]) - canvas[channel])
