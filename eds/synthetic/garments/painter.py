"""Paint pieces on an image: anti-aliased outlines, soft light, folds, seams, and the shadows between pieces."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, cos, sin

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFilter

from eds.synthetic.garments.fabrics import Cloth, Plane, albedo, wave, weave
from eds.synthetic.garments.shapes import Folds, Piece, Points, Stroke

Canvas = npt.NDArray[np.float32]  # (3, height, width), 0 to 255: planes lie together, which numpy reads faster
FINE = 3  # masks are drawn this many times larger and reduced


@dataclass(frozen=True)
class Camera:
    """Garment units to pixels: x' = zoom * (matrix (x - middle)) + centre."""

    size: int
    zoom: float  # pixels per unit
    turn: float = 0.0  # radians
    squeeze: float = 1.0  # narrows the width, as a body turned aside does
    lean: float = 0.0  # shear
    centre: tuple[float, float] = (0.5, 0.5)  # of the picture, where the garment's middle (0, 1) lands
    mirror: bool = False
    light: tuple[float, float] = (-0.6, -0.8)  # where the light comes from
    harshness: float = 1.0

    @property
    def matrix(self) -> Points:
        """The 2 x 2 matrix, in pixels per unit, rounded so that all machines share it."""
        c, s = cos(self.turn), sin(self.turn)
        sx = -self.squeeze if self.mirror else self.squeeze
        raw = np.array([[c * sx, -s + c * self.lean], [s * sx, c + s * self.lean]]) * self.zoom
        return np.round(raw, 6)

    def project(self, points: Points) -> Points:
        """Return the pixel positions of garment points, (n, 2), on a grid of 1/16 pixel."""
        moved = points - np.array([0.0, 1.0])
        m = self.matrix
        x = moved[:, 0] * m[0, 0] + moved[:, 1] * m[0, 1] + self.centre[0] * self.size
        y = moved[:, 0] * m[1, 0] + moved[:, 1] * m[1, 1] + self.centre[1] * self.size
        return np.round(np.stack([x, y], axis=1) * 16) / 16

    def unproject(self, left: int, top: int, width: int, height: int, step: int = 1) -> tuple[Plane, Plane]:
        """Return the garment coordinates (u, v) of the pixels of a window, or of its cells of step x step pixels."""
        m = self.matrix
        determinant = m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]
        columns, rows = np.arange(-(-width // step)), np.arange(-(-height // step))
        x = left + step * (columns + 0.5) - self.centre[0] * self.size
        y = (top + step * (rows + 0.5) - self.centre[1] * self.size)[:, None]
        u = (x * m[1, 1]).astype(np.float32) - (y * m[0, 1]).astype(np.float32)
        v = (y * m[0, 0]).astype(np.float32) - (x * m[1, 0]).astype(np.float32)
        return u * np.float32(1 / determinant), v * np.float32(1 / determinant) + np.float32(1)


def fill(outlines: Sequence[Points], left: int, top: int, width: int, height: int, fine: int = FINE) -> Image.Image:
    """Draw pixel outlines into an anti-aliased mask of a window."""
    mask = Image.new("L", (width * fine, height * fine))
    pen = ImageDraw.Draw(mask)
    for outline in outlines:
        pen.polygon(((outline - (left, top)) * fine).ravel().tolist(), fill=255)
    return mask.reduce(fine)


def _strokes(strokes: Sequence[Stroke], camera: Camera, window: tuple[int, int, int, int]) -> Plane:
    """Draw seams and stitches of a window: how much darker (-) or lighter (+) each pixel gets."""
    left, top, width, height = window
    tone = np.zeros((height, width), dtype=np.float32)
    for strength in sorted({stroke.tone for stroke in strokes}):
        mask = Image.new("L", (width * FINE, height * FINE))
        pen = ImageDraw.Draw(mask)
        for stroke in strokes:
            if stroke.tone != strength:
                continue
            places = (camera.project(stroke.points) - (left, top)) * FINE
            pixels = max(1, round(stroke.width * camera.zoom * FINE))
            if stroke.dash:
                for start, end in _dashes(places, max(2.0 * FINE, stroke.dash * camera.zoom * FINE)):
                    pen.line([*start, *end], fill=255, width=pixels)
            else:
                pen.line(places.ravel().tolist(), fill=255, width=pixels, joint="curve")
        tone += np.asarray(mask.reduce(FINE), dtype=np.float32) * np.float32(strength / 255)
    return tone


def _dashes(places: Points, length: float) -> list[tuple[list[float], list[float]]]:
    found = []
    for start, end in pairwise(places):
        far = float(np.sqrt(((end - start) ** 2).sum()))
        count = max(1, int(far / length))
        for k in range(count):
            found.append(
                (
                    (start + (end - start) * (k / count)).tolist(),
                    (start + (end - start) * ((k + 0.55) / count)).tolist(),
                )
            )
    return found


def _fold_light(folds: Folds, u: Plane, v: Plane) -> Plane:
    """Return the brightness of folds, about -1 to 1, fanning out from the apex."""
    depth = np.maximum(v - np.float32(folds.apex[1]), np.float32(0.05))
    across = (u - np.float32(folds.apex[0])) / depth
    scale = np.float32(folds.count * (1.0 - folds.apex[1]))
    sway = v * np.float32(0.35) + np.float32(folds.phase)
    wide = wave(across * scale + np.float32(0.16) * wave(sway))
    narrow = wave(across * (scale * np.float32(1.83)) + sway * np.float32(0.7) + np.float32(folds.phase * 3 + 0.3))
    grown = np.clip((v - np.float32(folds.start)) * np.float32(1.8), 0, 1)
    return np.asarray((wide * np.float32(0.62) + narrow * np.float32(0.38)) * grown, dtype=np.float32)


def paint(canvas: Canvas, pieces: Sequence[Piece], cloths: Mapping[str, Cloth], camera: Camera) -> None:
    """Paint the pieces onto the canvas, from back to front."""
    for piece in pieces:
        _paint_piece(canvas, piece, cloths[piece.cloth], camera)


def _paint_piece(canvas: Canvas, piece: Piece, cloth: Cloth, camera: Camera) -> None:
    outlines = [camera.project(outline) for outline in piece.outlines]
    corners = np.concatenate(outlines)
    pad = 2 + ceil(0.08 * camera.zoom)
    left, top = (max(0, int(x) - pad) for x in corners.min(axis=0))
    right, bottom = (min(camera.size, ceil(x) + pad) for x in corners.max(axis=0))
    if right - left < 2 or bottom - top < 2:
        return
    window = (left, top, right - left, bottom - top)
    mask = fill(outlines, *window)
    alpha = np.asarray(mask, dtype=np.float32) * np.float32(1 / 255)
    shade, folds = _smooth_light(piece, mask, camera, window, cloth.drape)
    u, v = _cloth_coordinates(piece.grain, *camera.unproject(*window)) if cloth.needs_coordinates else (shade, shade)
    if folds is not None and cloth.needs_coordinates:
        u += folds * np.float32(0.012)  # the pattern follows the fold
    shade += weave(cloth, u, v, (left, top))
    if piece.strokes:
        shade += _strokes(piece.strokes, camera, window)
    # Seen is colour * lit + (255 - colour) * bright, times alpha: a factor of the colour, and a white part.
    bright = np.clip(shade - 1, 0, np.float32(0.6))
    bright *= np.float32(min(1.0, 1.1 * cloth.gloss + piece.shine + 0.25))
    bright *= alpha
    colours = albedo(cloth, u, v, camera.zoom)
    np.clip(shade, np.float32(0.12), 1, out=shade)
    shade *= alpha
    shade -= bright
    bright *= 255
    below = _shadow(mask, camera)
    below *= np.float32(-piece.lift)
    below += 1
    below *= 1 - alpha
    area = canvas[:, top:bottom, left:right]
    area *= below
    area += bright
    for channel, colour in enumerate(colours):
        area[channel] += colour * shade


def _cloth_coordinates(grain: float, u: Plane, v: Plane) -> tuple[Plane, Plane]:
    """Turn garment coordinates by the grain of the piece."""
    if not grain:
        return u, v
    c, s = np.float32(round(cos(grain), 6)), np.float32(round(sin(grain), 6))
    return u * c + v * s, v * c - u * s


def _smooth_light(
    piece: Piece, mask: Image.Image, camera: Camera, window: tuple[int, int, int, int], drape: float
) -> tuple[Plane, Plane | None]:
    """Return the light of the rim, the slope and the folds (1: the cloth's own colour), and the folds alone.

    All of it is smooth, so it is computed at a quarter of the size.
    """
    radius = max(1.0, piece.roundness * camera.zoom)
    coarse = 4 if radius >= 6 and min(mask.size) >= 16 else 1
    small = mask.reduce(coarse).filter(ImageFilter.GaussianBlur(radius / coarse))
    soft = np.asarray(small, dtype=np.float32)  # half at a straight rim, full inside
    padded = np.pad(soft, 1, mode="edge")
    gx = padded[1:-1, 2:] - padded[1:-1, :-2]
    gy = padded[2:, 1:-1] - padded[:-2, 1:-1]
    steep = np.float32(radius / coarse * -0.5 * 0.5 / 128)
    slope = np.clip((gx * np.float32(camera.light[0]) + gy * np.float32(camera.light[1])) * steep, -1, 1)
    shade: Plane = np.float32(1.03) - (1 - soft * np.float32(1 / 255)) * np.float32(0.42 * piece.relief)
    shade += slope * np.float32(0.55 * camera.harshness * piece.relief)
    folds = None
    if piece.folds is not None:
        grid = _cloth_coordinates(piece.grain, *camera.unproject(*window, coarse))
        folds = _fold_light(piece.folds, *grid)
        shade += folds * np.float32(piece.folds.strength * drape * camera.harshness)
        folds = enlarged(folds, *mask.size) if coarse > 1 else folds
    return enlarged(shade, *mask.size) if coarse > 1 else shade, folds


def enlarged(plane: Plane, width: int, height: int) -> Plane:
    """Enlarge a plane of 4 x 4 pixel cells to width x height pixels, linearly between the cells' middles.

    Written in numpy, because Pillow's resize takes ten times as long.
    """
    rows, columns = plane.shape
    padded = np.pad(plane, 1, mode="edge")
    middle, step = padded[1:-1], np.diff(padded, axis=0)
    tall = np.empty((rows, 4, columns + 2), dtype=np.float32)
    wide = np.empty((4 * rows, columns, 4), dtype=np.float32)
    for part, far in enumerate((-0.375, -0.125, 0.125, 0.375)):
        tall[:, part] = middle + np.float32(far) * (step[1:] if far > 0 else step[:-1])
    lines = tall.reshape(4 * rows, columns + 2)
    middle, step = lines[:, 1:-1], np.diff(lines, axis=1)
    for part, far in enumerate((-0.375, -0.125, 0.125, 0.375)):
        wide[:, :, part] = middle + np.float32(far) * (step[:, 1:] if far > 0 else step[:, :-1])
    return wide.reshape(4 * rows, 4 * columns)[:height, :width]


def _shadow(mask: Image.Image, camera: Camera) -> Plane:
    """Return the shadow that a piece casts on the pieces below it, away from the light."""
    radius = max(0.6, 0.022 * camera.zoom)
    coarse = 4 if radius >= 4 and min(mask.size) >= 16 else 1
    soft = mask.reduce(coarse).filter(ImageFilter.BoxBlur(radius / coarse))
    plane: Plane = np.asarray(soft, dtype=np.float32) * np.float32(1 / 255)
    dx, dy = (round(-part * 0.02 * camera.zoom) for part in camera.light)
    return shifted(enlarged(plane, *mask.size) if coarse > 1 else plane, dx, dy)


def shifted(plane: Plane, dx: int, dy: int) -> Plane:
    """Move a plane; the rim is repeated."""
    height, width = plane.shape
    rows = np.clip(np.arange(height) - dy, 0, height - 1)
    return plane[rows][:, np.clip(np.arange(width) - dx, 0, width - 1)]
