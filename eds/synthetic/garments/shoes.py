"""Silhouettes of shoes, seen from the side with the toe to the right, as pieces from back to front."""

import numpy as np

from eds.synthetic.attributes import Attributes
from eds.synthetic.garments.fittings import Pose
from eds.synthetic.garments.shapes import Folds, Piece, Stroke, line, path, ribbon
from eds.synthetic.garments.trims import buckle

_STITCH = 0.028


def _laces(first: tuple[float, float], last: tuple[float, float], count: int, reach: float) -> Piece:
    """Return laces that cross an opening between two ends."""
    bands = []
    for k in range(count):
        t = k / max(1, count - 1)
        x, y = first[0] + (last[0] - first[0]) * t, first[1] + (last[1] - first[1]) * t
        bands.append(
            ribbon(
                path(
                    (x - reach * 0.35, y + reach), (x + reach * 0.3, y + reach * 0.2, x + reach * 0.75, y - reach * 0.2)
                ),
                0.034,
            )
        )
    loop = path(
        last,
        (last[0] - 0.16, last[1] - 0.14, last[0] - 0.17, last[1] + 0.06),
        (last[0] - 0.1, last[1] + 0.05, last[0], last[1] + 0.02),
    )
    return Piece((*bands, ribbon(loop, 0.026)), "lace", relief=0.9, roundness=0.025, lift=0.5)


def _sneaker(product: Attributes) -> list[Piece]:
    collar = 0.78 - 0.30 * product.length  # high tops
    back = -0.80
    upper = path(
        (back, collar),
        (-0.72, collar + 0.02),
        (-0.5, collar + 0.16, -0.28, collar - 0.02),
        (-0.22, collar - 0.06),
        (-0.02, 0.80, 0.22, 0.93),
        (0.62, 0.98, 0.80, 1.10),
        (0.92, 1.2, 0.90, 1.32),
        (-0.80, 1.34),
        (-0.90, 1.1, back, collar),
    )
    lining = path(
        (back + 0.02, collar), (-0.5, collar - 0.05, -0.26, collar - 0.04), (-0.5, collar + 0.2, back + 0.02, collar)
    )
    tongue = path(
        (-0.36, collar + 0.02),
        (-0.32, collar - 0.16, -0.18, collar - 0.13),
        (-0.06, 0.78, 0.2, 0.93),
        (0.05, 0.98),
        (-0.36, collar + 0.06),
    )
    sole = path(
        (-0.88, 1.28),
        (0.0, 1.32, 0.62, 1.28),
        (0.82, 1.24, 0.93, 1.24),
        (0.99, 1.42, 0.86, 1.45),
        (-0.84, 1.46),
        (-0.94, 1.42, -0.88, 1.28),
    )
    toe = path(
        (0.52, 0.995), (0.64, 1.1, 0.60, 1.30), (0.90, 1.28), (0.92, 1.2, 0.82, 1.115), (0.68, 1.02, 0.52, 0.995)
    )
    heel = path((-0.865, 1.0), (-0.62, 1.02, -0.56, 1.3), (-0.84, 1.3), (-0.89, 1.16, -0.865, 1.0))
    eyes = path(
        (-0.24, collar + 0.0),
        (-0.06, 0.86, 0.2, 0.985),
        (0.36, 1.0),
        (0.22, 1.1, 0.06, 1.02),
        (-0.18, 0.93, -0.36, collar + 0.06),
    )
    swoosh = path((-0.45, 1.22), (-0.1, 1.2, 0.2, 1.06))
    strokes = (Stroke(swoosh, 0.07, -0.16), Stroke(swoosh + np.array([0.0, 0.05]), 0.008, -0.3, _STITCH))
    return [
        Piece((tongue,), "trim", relief=0.8, lift=0.2),
        Piece((lining,), "inside", lift=0.1),
        Piece((upper,), "main", strokes=strokes, relief=1.0, roundness=0.12, lift=0.2),
        Piece((toe,), "trim", relief=0.5, roundness=0.05, lift=0.25),
        Piece((heel,), "trim", relief=0.6, roundness=0.05, lift=0.25),
        Piece((eyes,), "main", relief=0.5, roundness=0.04, lift=0.35),
        *([_laces((0.15, 0.97), (-0.26, collar + 0.02), 5, 0.085)] if product.closure == "laces" else []),
        Piece(
            (sole,),
            "sole",
            relief=0.8,
            roundness=0.05,
            lift=0.3,
            strokes=(Stroke(path((-0.9, 1.40), (0.0, 1.42, 0.9, 1.39)), 0.014, -0.25),),
        ),
    ]


def _loafer(product: Attributes) -> list[Piece]:
    upper = path(
        (-0.84, 0.86),
        (-0.80, 0.84),
        (-0.5, 1.06, -0.14, 1.03),
        (-0.10, 0.98),
        (0.3, 0.92, 0.62, 1.06),
        (0.93, 1.16, 0.91, 1.32),
        (-0.82, 1.33),
        (-0.92, 1.1, -0.84, 0.86),
    )
    lining = path((-0.83, 0.87), (-0.5, 0.95, -0.12, 0.92), (-0.14, 1.06), (-0.5, 1.08, -0.83, 0.87))
    tongue = path((-0.20, 0.89), (-0.08, 0.84, 0.02, 0.92), (0.12, 1.0), (-0.12, 1.06), (-0.20, 0.89))
    saddle = path(
        (-0.08, 0.985), (0.02, 0.925, 0.13, 0.955), (0.20, 1.1, 0.24, 1.32), (0.02, 1.32), (0.02, 1.14, -0.08, 0.985)
    )
    heel = 0.05 + 0.10 * product.length
    sole = path(
        (-0.86, 1.29),
        (0.92, 1.29),
        (0.97, 1.34, 0.88, 1.37),
        (-0.40, 1.37),
        (-0.44, 1.37 + heel),
        (-0.86, 1.37 + heel),
        (-0.86, 1.29),
    )
    apron = path((0.16, 1.05), (0.45, 1.06, 0.66, 1.12), (0.76, 1.10, 0.70, 1.075))
    seams = (
        Stroke(apron, 0.022, -0.34),
        Stroke(apron + np.array([0.0, 0.028]), 0.008, 0.22, _STITCH),
        Stroke(path((-0.58, 1.02), (-0.55, 1.2, -0.60, 1.3)), 0.010, -0.28),
        Stroke(path((-0.82, 0.90), (-0.5, 1.10, -0.10, 1.075)), 0.008, -0.22, _STITCH),
    )
    pieces = [
        Piece((lining,), "inside", lift=0.0),
        Piece((tongue,), "main", relief=0.9, roundness=0.05, lift=0.3),
        Piece((upper,), "main", relief=1.0, roundness=0.12, strokes=seams),
        Piece((saddle,), "main", relief=0.55, roundness=0.035, lift=0.35),
        Piece((sole,), "sole", relief=0.7, roundness=0.04, lift=0.3),
    ]
    if product.closure == "buckle":
        pieces.insert(4, buckle(0.075, 1.04, 0.085, 0.045))
    else:
        slot = path((0.03, 1.07), (0.08, 1.03, 0.13, 1.06))
        pieces.insert(4, Piece((ribbon(slot, 0.025),), "inside", relief=0.5, roundness=0.02, lift=0.0))
    return pieces


def _pump(product: Attributes) -> list[Piece]:
    rise = 0.18 + 0.42 * product.length  # the heel
    top = 1.36 - rise - 0.28
    upper = path(
        (-0.80, top - 0.06),
        (-0.5, top + 0.26, 0.02, 1.10 - rise * 0.18),
        (0.26, 1.14, 0.40, 1.10),
        (0.72, 1.16, 0.93, 1.34),
        (0.3, 1.40, 0.22, 1.38),
        (-0.2, 1.36, -0.42, 1.36 - rise * 0.9),
        (-0.6, 1.33 - rise, -0.82, 1.36 - rise),
        (-0.92, top + 0.1, -0.80, top - 0.06),
    )
    lining = path(
        (-0.79, top - 0.05),
        (-0.3, top + 0.02, 0.36, 1.11),
        (0.1, 1.16, 0.02, 1.12 - rise * 0.18),
        (-0.5, top + 0.28, -0.79, top - 0.05),
    )
    heel = path(
        (-0.86, 1.33 - rise),
        (-0.52, 1.33 - rise),
        (-0.66, 1.42 - rise * 0.3, -0.70, 1.42),
        (-0.80, 1.42),
        (-0.78, 1.42 - rise * 0.5, -0.86, 1.33 - rise),
    )
    sole = path(
        (0.93, 1.335),
        (0.6, 1.43, 0.2, 1.415),
        (-0.2, 1.40, -0.44, 1.38 - rise * 0.9),
        (-0.4, 1.35 - rise * 0.9),
        (-0.15, 1.36, 0.22, 1.375),
        (0.6, 1.39, 0.93, 1.335),
    )
    pieces = [
        Piece((lining,), "inside", lift=0.0),
        Piece((heel,), "trim", relief=1.0, roundness=0.05),
        Piece((upper,), "main", relief=1.0, roundness=0.09),
        Piece((sole,), "sole", relief=0.4, roundness=0.03),
    ]
    if product.closure == "buckle":
        strap = ribbon(path((-0.66, top + 0.12), (-0.2, top - 0.16, 0.10, 1.14 - rise * 0.15)), 0.06)
        pieces += [
            Piece((strap,), "main", relief=0.8, roundness=0.03, lift=0.4),
            buckle(-0.12, top + 0.08, 0.05, 0.045),
        ]
    return pieces


def _boot(product: Attributes) -> list[Piece]:
    top = 0.62 - 0.52 * product.length
    upper = path(
        (-0.80, top),
        (-0.45, top + 0.04, -0.14, top),
        (-0.12, 0.6, -0.06, 0.78),
        (0.1, 0.98, 0.42, 1.04),
        (0.84, 1.12, 0.86, 1.42),
        (-0.80, 1.42),
        (-0.86, 1.1, -0.76, 0.8),
        (-0.82, 0.6, -0.80, top),
    )
    inside = path((-0.80, top), (-0.45, top - 0.06, -0.14, top), (-0.45, top + 0.06, -0.80, top))
    heel = 0.06 + 0.12 * (1 - product.length)
    sole = path(
        (-0.83, 1.40),
        (0.86, 1.40),
        (0.93, 1.44, 0.86, 1.48),
        (-0.34, 1.48),
        (-0.38, 1.48 + heel),
        (-0.84, 1.48 + heel),
        (-0.83, 1.40),
    )
    cap = path((0.44, 1.05), (0.56, 1.2, 0.50, 1.41), (0.85, 1.41), (0.84, 1.12, 0.44, 1.05))
    strokes = [
        Stroke(path((-0.79, 1.05), (-0.5, 0.92, -0.1, 1.0), (0.05, 1.1, 0.12, 1.4)), 0.012, -0.28),
        Stroke(path((-0.79, 1.08), (-0.5, 0.95, -0.1, 1.03), (0.02, 1.12, 0.09, 1.4)), 0.008, -0.18, _STITCH),
    ]
    if product.closure == "zip":
        strokes.append(Stroke(line((-0.48, top + 0.06), (-0.44, 1.1)), 0.026, -0.42, 0.024))
    folds = Folds(2.2, 0.07, (-2.5, 0.9), -9.0, 0.2)
    pieces = [
        Piece((inside,), "inside", lift=0.0),
        Piece((upper,), "main", relief=1.05, roundness=0.13, folds=folds, strokes=tuple(strokes)),
        Piece((cap,), "main", relief=0.5, roundness=0.06, lift=0.25),
    ]
    if product.closure == "laces":
        pieces.append(_laces((0.2, 1.02), (-0.16, top + 0.1), 6 + int(4 * product.length), 0.09))
    return [*pieces, Piece((sole,), "sole", relief=0.7, roundness=0.04, lift=0.3)]


def shoe(product: Attributes, pose: Pose) -> list[Piece]:
    """Return a shoe from its side."""
    kinds = {"sneaker": _sneaker, "loafer": _loafer, "pump": _pump, "boot": _boot}
    return kinds[product.silhouette](product)
