"""The drawing vocabulary: outlines built of curves, and the pieces a garment is sewn from.

Garment coordinates: x to the right with the middle at 0, y down; a frame shows about x in [-1, 1], y in [0, 2].
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.float64]  # (n, 2)
Pair = tuple[float, float]


@dataclass(frozen=True)
class Folds:
    """Soft folds that fan out from a point (far away: parallel) and grow from `start` downwards."""

    count: float = 3.0  # folds per unit of width at the distance 1 from the apex
    strength: float = 0.12
    apex: Pair = (0.0, -3.0)
    start: float = -9.0
    phase: float = 0.0


@dataclass(frozen=True)
class Stroke:
    """A seam (dark, tone < 0), a highlight (tone > 0), or stitches (dash > 0), drawn on a piece."""

    points: Points
    width: float = 0.012
    tone: float = -0.35
    dash: float = 0.0


@dataclass(frozen=True)
class Piece:
    """A part cut from one cloth: its outlines, how its pattern is turned, how it rounds, folds and casts shadow."""

    outlines: tuple[Points, ...]
    cloth: str = "main"
    grain: float = 0.0  # turn of the pattern in radians (a sleeve's differs from the body's)
    folds: Folds | None = None
    strokes: tuple[Stroke, ...] = ()
    relief: float = 1.0  # how strongly the rim darkens, as if it turned away
    roundness: float = 0.075  # how far from the rim it turns, in garment units
    lift: float = 0.22  # the darkness of the shadow on what lies below
    shine: float = 0.0  # adds to the cloth's gloss (buckles, patent)


def path(start: Pair, *segments: Sequence[float], steps: int = 10) -> Points:
    """Sample a path: a segment of 2 numbers is a line to, of 4 a quadratic, of 6 a cubic Bézier curve."""
    points = [np.array([start])]
    for segment in segments:
        here = points[-1][-1]
        control = np.array(segment, dtype=np.float64).reshape(-1, 2)
        if len(control) == 1:
            points.append(control)
            continue
        t = (np.arange(1, steps + 1) / steps)[:, None]
        s = 1 - t
        if len(control) == 2:
            points.append(s * s * here + 2 * s * t * control[0] + t * t * control[1])
        else:
            points.append(
                s * s * s * here + 3 * s * s * t * control[0] + 3 * s * t * t * control[1] + t * t * t * control[2]
            )
    return np.concatenate(points)


def mirrored(right_half: Points) -> Points:
    """Close an outline whose right half runs from the top middle to the bottom middle."""
    return np.concatenate([right_half, flipped(right_half)[::-1]])


def flipped(points: Points) -> Points:
    """Mirror at the middle line x = 0."""
    return np.asarray(points * np.array([-1.0, 1.0]), dtype=np.float64)


def ribbon(line: Points, width: float, end_width: float | None = None) -> Points:
    """Return the outline of a band along a line, `width` wide (running to `end_width`)."""
    step = np.gradient(line, axis=0)
    step /= np.maximum(np.sqrt((step * step).sum(axis=1, keepdims=True)), 1e-9)
    normal = step[:, ::-1] * np.array([-1.0, 1.0])
    half = np.linspace(width, width if end_width is None else end_width, len(line))[:, None] / 2
    return np.concatenate([line + normal * half, (line - normal * half)[::-1]])


def ellipse(x: float, y: float, rx: float, ry: float, steps: int = 28) -> Points:
    """Return the outline of an ellipse."""
    turns = [2 * pi * k / steps for k in range(steps)]
    return np.array([[x + rx * cos(t), y + ry * sin(t)] for t in turns])


def box(left: float, top: float, right: float, bottom: float) -> Points:
    """Return the outline of an upright rectangle."""
    return np.array([[left, top], [right, top], [right, bottom], [left, bottom]])


def line(*points: Pair) -> Points:
    """Return a straight-lined path through the points."""
    return np.array(points, dtype=np.float64)


def ring(left: float, top: float, right: float, bottom: float, band: float) -> Points:
    """Return the outline of a rectangular frame `band` wide: out along the rim, back along the hole."""
    rim, hole = box(left, top, right, bottom), box(left + band, top + band, right - band, bottom - band)
    return np.concatenate([rim, rim[:1], hole[:1], hole[::-1]])
