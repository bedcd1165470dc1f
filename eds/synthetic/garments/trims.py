"""Trimmings: buttons, belts, pockets, plackets, zips and buckles, in garment coordinates."""

import numpy as np

from eds.synthetic.attributes import Attributes
from eds.synthetic.garments.shapes import Pair, Piece, Stroke, box, ellipse, line, path, ribbon, ring


def buttons(places: list[Pair], radius: float = 0.024) -> Piece:
    """Return a row of buttons as one piece."""
    holes = tuple(
        Stroke(line((x + dx, y), (x + dx, y + 0.004)), 0.008, -0.5) for x, y in places for dx in (-0.007, 0.007)
    )
    return Piece(
        tuple(ellipse(x, y, radius, radius, 16) for x, y in places),
        "button",
        relief=1.1,
        roundness=0.02,
        lift=0.5,
        strokes=holes,
    )


def belt(y: float, half: float, drop: float = 0.0) -> list[Piece]:
    """Return a belt with its buckle, and with a tail that hangs down by `drop`."""
    band = path((-half, y - 0.04), (0.0, y, half, y - 0.04), (half, y + 0.045), (0.0, y + 0.085, -half, y + 0.045))
    pieces = [Piece((band,), "trim", relief=0.8, roundness=0.04, lift=0.4)]
    if drop:
        tail = ribbon(path((0.06, y + 0.03), (0.12, y + 0.2, 0.09, y + drop)), 0.075)
        pieces.append(Piece((tail,), "trim", relief=0.8, roundness=0.04, lift=0.4))
    frame = ring(-0.065, y - 0.045, 0.065, y + 0.085, 0.026)
    return [*pieces, Piece((frame,), "metal", relief=0.8, roundness=0.02, lift=0.5, shine=0.5)]


def pocket(x: float, y: float, width: float, height: float, flap: bool) -> Piece:
    """Return a patch pocket; with its flap it is a band over a slit."""
    shape = box(x, y, x + width, y + height)
    if not flap:
        shape = np.concatenate([shape[:3], line((x + width / 2, y + height + 0.035)), shape[3:]])
    seam = Stroke(np.concatenate([shape * 1.0, shape[:1]]), 0.010, -0.28)
    top = Stroke(line((x, y + 0.035), (x + width, y + 0.035)), 0.008, -0.22, 0.03)
    return Piece((shape,), "main", relief=0.25, roundness=0.03, lift=0.3, strokes=(seam, top))


def front(top: float, bottom: float) -> tuple[Stroke, ...]:
    """Return the two seams of a button placket."""
    return (
        Stroke(line((0.055, top), (0.055, bottom)), 0.009, -0.26),
        Stroke(line((-0.055, top), (-0.055, bottom)), 0.007, -0.12),
    )


def closing(product: Attributes, top: float, bottom: float, radius: float, double: float = 0.0) -> list[Piece]:
    """Return the buttons (in two rows `double` from the middle) or the zip of a front."""
    if product.closure == "buttons":
        count = max(3, round((bottom - top) / 0.21))
        ys = [top + (bottom - top) * (k + 0.35) / count for k in range(count)]
        return [buttons([(x, y) for y in ys for x in ((-double, double) if double else (0.0,))], radius)]
    if product.closure == "zip":
        teeth = Stroke(line((0.0, top), (0.0, bottom)), 0.022, -0.45, 0.022)
        tape = box(-0.026, top, 0.026, bottom)
        pull = box(-0.018, top + 0.05, 0.018, top + 0.14)
        return [
            Piece((tape,), "metal", relief=0.5, roundness=0.02, lift=0.25, strokes=(teeth,)),
            Piece((pull,), "metal", relief=0.8, roundness=0.02, lift=0.5, shine=0.5),
        ]
    return []


def buckle(x: float, y: float, rx: float, ry: float) -> Piece:
    """Return a metal frame around (x, y)."""
    return Piece(
        (ring(x - rx, y - ry, x + rx, y + ry, 0.45 * min(rx, ry)),),
        "metal",
        relief=0.8,
        roundness=0.02,
        lift=0.5,
        shine=0.5,
    )
