"""Silhouettes of bags, as pieces from back to front."""

import numpy as np

from eds.synthetic.attributes import Attributes
from eds.synthetic.garments.fittings import Pose
from eds.synthetic.garments.shapes import Folds, Piece, Points, Stroke, box, ellipse, line, path, ribbon
from eds.synthetic.garments.trims import buckle

_STITCH = 0.028


def _rounded(left: float, top: float, right: float, bottom: float, low: float) -> Points:
    """Return a rectangle whose lower corners are rounded by `low`."""
    return path(
        (left, top),
        (right, top),
        (right + 0.02, bottom - low),
        (right + 0.02, bottom, right - low, bottom),
        (left + low, bottom),
        (left - 0.02, bottom, left - 0.02, bottom - low),
        (left, top),
    )


def _outline_stitch(points: Points, inset: float) -> Stroke:
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    return Stroke(middle + (points - middle) * (1 - inset), 0.009, -0.24, _STITCH)


def bag(product: Attributes, pose: Pose) -> list[Piece]:
    """Return a bag: tote, satchel with a flap, or bucket; `length` is the drop of its handle."""
    width, top, bottom, low = {
        "tote": (0.62, 0.80, 1.78, 0.05),
        "satchel": (0.72, 0.88, 1.70, 0.14),
        "bucket": (0.50, 0.82, 1.76, 0.16),
    }[product.silhouette]
    drop = 0.26 + 0.5 * product.length
    inner = 0.34 if product.silhouette != "satchel" else 0.20
    if product.silhouette == "bucket":
        inner = 0.42
    arc = path(
        (-inner, top + 0.1),
        (-inner, top - drop * 0.4, -inner * 0.6, top - drop, 0.0, top - drop),
        (inner * 0.6, top - drop, inner, top - drop * 0.4, inner, top + 0.1),
        steps=16,
    )
    behind = Piece((ribbon(arc + np.array([0.03, -0.03]), 0.05),), "trim", relief=0.9, roundness=0.03, lift=0.1)
    front = Piece((ribbon(arc, 0.055),), "trim", relief=0.9, roundness=0.03, lift=0.4)
    narrow = {"tote": 0.08, "satchel": 0.02, "bucket": -0.06}[product.silhouette]
    body = _rounded(-width, top, width, bottom, low)
    body[:, 0] *= 1 - narrow * (bottom - body[:, 1]) / (bottom - top) * (-1 if product.silhouette == "tote" else 1)
    opening = path(
        (-width * 0.97, top + 0.012),
        (0.0, top - 0.075, width * 0.97, top + 0.012),
        (0.0, top + 0.05, -width * 0.97, top + 0.012),
    )
    strokes = [_outline_stitch(body, 0.05)]
    if product.closure == "zip":
        strokes.append(Stroke(line((-width * 0.86, top + 0.09), (width * 0.86, top + 0.09)), 0.03, -0.4, 0.026))
    folds = Folds(1.6, 0.06, (0.0, -1.0), top + 0.1, pose.phase)
    pieces = [
        behind,
        Piece((opening,), "inside", lift=0.0),
        Piece(
            (body,),
            "main",
            folds=folds if product.silhouette != "satchel" else None,
            strokes=tuple(strokes),
            relief=0.95,
            roundness=0.11,
        ),
    ]
    if product.silhouette == "tote":
        base = _rounded(-width * 1.08, bottom - 0.17, width * 1.08, bottom, low)
        pieces.append(Piece((base,), "trim", relief=0.7, roundness=0.06, lift=0.15))
        for x in (-inner, inner):
            pieces.append(
                Piece(
                    (box(x - 0.045, top + 0.07, x + 0.045, top + 0.21),), "trim", relief=0.6, roundness=0.03, lift=0.35
                )
            )
    if product.silhouette == "bucket":
        cord = ribbon(path((-width * 1.03, top + 0.15), (0.0, top + 0.21, width * 1.03, top + 0.15)), 0.035)
        pieces.append(Piece((cord,), "trim", relief=0.9, roundness=0.02, lift=0.45))
    if product.pockets >= 1 and product.silhouette != "satchel":
        patch = _rounded(-width * 0.55, top + 0.34, width * 0.55, top + 0.70, 0.06)
        pieces.append(
            Piece((patch,), "main", relief=0.35, roundness=0.04, lift=0.35, strokes=(_outline_stitch(patch, 0.08),))
        )
    if product.silhouette == "satchel":
        flap = path(
            (-width, top - 0.01),
            (width, top - 0.01),
            (width * 0.98, top + 0.28),
            (width * 0.94, top + 0.44, width * 0.66, top + 0.44),
            (-width * 0.66, top + 0.44),
            (-width * 0.94, top + 0.44, -width * 0.98, top + 0.28),
            (-width, top - 0.01),
        )
        pieces.append(
            Piece((flap,), "main", relief=0.9, roundness=0.07, lift=0.5, strokes=(_outline_stitch(flap, 0.07),))
        )
        for sign in (-1.0, 1.0)[: int(product.pockets)]:
            side = _rounded(sign * 0.37 - 0.2, top + 0.5, sign * 0.37 + 0.2, bottom - 0.06, 0.05)
            pieces.append(
                Piece((side,), "main", relief=0.4, roundness=0.04, lift=0.35, strokes=(_outline_stitch(side, 0.09),))
            )
    pieces.append(front)
    if product.closure == "buckle":
        y = top + (0.42 if product.silhouette == "satchel" else 0.16)
        pieces.append(
            Piece(
                (box(-0.055, y - 0.30 if product.silhouette == "satchel" else top - 0.04, 0.055, y + 0.14),),
                "trim",
                relief=0.8,
                roundness=0.03,
                lift=0.45,
            )
        )
        pieces.append(buckle(0.0, y, 0.085, 0.06))
    for x in (-inner, inner):
        pieces.append(
            Piece((ellipse(x, top + 0.14, 0.028, 0.028, 14),), "metal", relief=1.0, roundness=0.02, lift=0.4, shine=0.5)
        )
    if product.belt:  # a charm that hangs from the handle
        pieces.append(
            Piece(
                (
                    ribbon(line((inner - 0.06, top + 0.05), (inner - 0.1, top + 0.26)), 0.016),
                    ellipse(inner - 0.11, top + 0.32, 0.07, 0.07),
                ),
                "charm",
                relief=1.2,
                roundness=0.05,
                lift=0.45,
            )
        )
    return pieces
