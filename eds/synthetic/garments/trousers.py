"""Silhouettes of trousers and skirts, as pieces in garment coordinates, from back to front."""

import numpy as np

from eds.synthetic.attributes import Attributes
from eds.synthetic.garments.fittings import Pose, both
from eds.synthetic.garments.shapes import Folds, Piece, Stroke, box, flipped, line, path, ribbon, ring
from eds.synthetic.garments.trims import buttons


def _waistband(y: float, half: float, product: Attributes) -> list[Piece]:
    """Return the waistband with loops and its fastening."""
    band = path(
        (-half, y), (0.0, y + 0.03, half, y), (half + 0.012, y + 0.10), (0.0, y + 0.13, -half - 0.012, y + 0.10)
    )
    inside = path((-half, y), (0.0, y - 0.035, half, y), (0.0, y + 0.03, -half, y))
    edge = Stroke(path((-half, y + 0.085), (0.0, y + 0.115, half, y + 0.085)), 0.008, -0.22, 0.03)
    pieces = [Piece((inside,), "inside", lift=0.0), Piece((band,), "main", relief=0.5, strokes=(edge,), lift=0.3)]
    if product.belt:
        strap = path(
            (-half - 0.01, y + 0.02),
            (0.0, y + 0.05, half + 0.01, y + 0.02),
            (half + 0.015, y + 0.085),
            (0.0, y + 0.115, -half - 0.015, y + 0.085),
        )
        frame = ring(-0.06, y + 0.02, 0.06, y + 0.125, 0.024)
        pieces.append(Piece((strap,), "trim", relief=0.8, roundness=0.04, lift=0.4))
        pieces.append(Piece((frame,), "metal", relief=0.8, roundness=0.02, lift=0.4, shine=0.5))
    loops = tuple(box(x - 0.014, y - 0.002, x + 0.014, y + 0.125) for x in (-half * 0.62, half * 0.62))
    pieces.append(Piece(loops, "main", relief=0.8, roundness=0.02, lift=0.4))
    if product.closure == "buttons" and not product.belt:
        pieces.append(buttons([(0.0, y + 0.07)], 0.028))
    return pieces


def trousers(product: Attributes, pose: Pose) -> list[Piece]:
    """Return trousers: two legs below a waistband, fly, pockets, crease or turn-up."""
    knee, ankle = {"skinny": (0.155, 0.105), "straight": (0.19, 0.175), "wide": (0.25, 0.31)}[product.silhouette]
    length = 1.02 + 0.93 * product.length
    at_knee = 0.36 if product.silhouette != "wide" else 0.40
    hip, half, crotch = at_knee + 0.02, 0.31, 0.66
    part = min(1.0, (length - crotch) / 1.25)  # short legs end before the leg has narrowed
    end = 0.205 + (ankle - 0.205) * part  # from the thigh's width to the ankle's
    # Wide legs hang side by side, so their middle moves out until they part.
    middle = max(0.205 + (pose.spread + 0.02) * part, end + 0.012 + (pose.spread + 0.02) * part)
    inner = max(0.015, min(middle - knee - 0.01, middle - end))
    leg = path(
        (-0.02, 0.06),
        (half, 0.06),
        (hip + 0.03, 0.28, hip, 0.5),
        (max(hip, middle + knee) + 0.01, 0.9, middle + end, length),
        (middle, length + 0.03, middle - end, length - 0.005),
        (inner, 0.95, 0.012, crotch),
        (-0.02, 0.5),
    )
    crease = Stroke(path((0.2, 0.3), (0.22, 0.8, middle, length - 0.02)), 0.014, 0.10)
    shadow = Stroke(path((0.215, 0.3), (0.235, 0.8, middle + 0.012, length - 0.02)), 0.012, -0.14)
    hem = Stroke(line((middle - end, length - 0.05), (middle + end, length - 0.05)), 0.009, -0.26)
    inseam = Stroke(path((0.02, crotch), (0.03, 0.9, middle - end + 0.02, length)), 0.012, -0.15)
    dressy = product.fabric in ("wool", "cotton")
    strokes = [hem, inseam, *([crease, shadow] if dressy else [])]
    folds = Folds(4.0, 0.12, (0.16, -0.6), 0.15, pose.phase)
    if product.pockets >= 1:
        opening = (
            path((0.20, 0.19), (0.215, 0.3, half + 0.045, 0.33))
            if product.fabric == "denim"
            else path((0.235, 0.17), (0.3, 0.28, half + 0.052, 0.38))
        )
        strokes += [Stroke(opening, 0.016, -0.36), Stroke(opening + np.array([0.0, 0.025]), 0.008, -0.2, 0.03)]
    right, left = both(
        Piece((leg,), "main", folds=folds, strokes=tuple(strokes), relief=1.1, roundness=0.09, lift=0.28)
    )
    fly = [
        Stroke(line((0.0, 0.16), (0.0, crotch)), 0.012, -0.34),
        Stroke(path((0.075, 0.16), (0.08, 0.42, 0.0, 0.5)), 0.008, -0.24, 0.03),
    ]
    if product.closure == "zip":
        fly.append(Stroke(line((0.02, 0.18), (0.02, 0.46)), 0.018, 0.3, 0.02))
    front = Piece(
        (path((-0.1, 0.1), (0.12, 0.1), (0.12, 0.45), (0.0, 0.62), (-0.1, 0.45)),),
        "main",
        folds=folds,
        strokes=tuple(fly),
        relief=0.0,
        lift=0.0,
    )
    pieces = [left, right, front]
    if product.pockets >= 2:  # cargo pockets on the thighs
        x = middle * 0.62 + 0.14
        patch = box(x, 0.82, x + 0.15, 1.0)
        flap = Stroke(line((x, 0.87), (x + 0.15, 0.87)), 0.012, -0.3)
        if length > 1.12:
            pieces += both(
                Piece(
                    (patch,),
                    "main",
                    relief=0.3,
                    roundness=0.03,
                    lift=0.35,
                    strokes=(Stroke(np.concatenate([patch, patch[:1]]), 0.01, -0.28), flap),
                )
            )
    return pieces + _waistband(0.02, half - 0.005, product)


def skirt(product: Attributes, pose: Pose) -> list[Piece]:
    """Return a skirt that hangs from a waistband; flared ones fall in deep folds."""
    flare = {"pencil": 0.33, "a_line": 0.62, "flared": 0.90}[product.silhouette]
    top, half = 0.28, 0.31
    length = 0.95 + 0.90 * product.length
    hem = 0.40 + (flare - 0.40) * (0.6 + 0.4 * product.length)
    belly = {"pencil": (0.43, 0.72), "a_line": (0.42, 0.62), "flared": (0.44, 0.55)}[product.silhouette]
    wavy = {"pencil": 0.0, "a_line": 0.010, "flared": 0.020}[product.silhouette]
    side = path((half, top + 0.06), (*belly, hem, length))
    shift = np.clip((side[:, 1] - top) / (length - top), 0, 1) * pose.swing
    along = np.linspace(1, -1, 120)
    bend = along * (1 + 0.16 * along * along)  # waves crowd where the cloth turns away at the sides
    turns = {"pencil": 0.0, "a_line": 14.0, "flared": 18.0}[product.silhouette]
    waves = np.sin(bend * turns + pose.phase * 6) + 0.45 * np.sin(bend * turns * 0.57 + pose.phase * 3)
    depth = length + 0.07 * (1 - along**2) + wavy * waves
    bottom = np.stack([along * hem + pose.swing, depth], axis=1)
    right = side + np.stack([shift, 0 * shift], axis=1)
    left = flipped(side) + np.stack([shift, 0 * shift], axis=1)
    outline = np.concatenate([right, bottom, left[::-1]])
    folds = Folds(
        {"pencil": 1.6, "a_line": 3.4, "flared": 5.0}[product.silhouette],
        {"pencil": 0.055, "a_line": 0.13, "flared": 0.20}[product.silhouette],
        (-0.3 * pose.swing, -0.35 if product.silhouette != "pencil" else -2.0),
        top + 0.1,
        pose.phase,
    )
    strokes = [Stroke(bottom * np.array([0.985, 1.0]) - np.array([0.0, 0.045]), 0.008, -0.2)]
    if product.silhouette == "pencil":
        strokes += [Stroke(line((s * 0.17, top + 0.1), (s * 0.15, top + 0.3)), 0.01, -0.25) for s in (-1, 1)]
        strokes.append(Stroke(line((0.14, length - 0.3), (0.15, length + 0.06)), 0.016, -0.4))
    if product.closure == "zip":
        strokes.append(Stroke(path((half - 0.05, top + 0.08), (half, 0.6, half + 0.03, 0.72)), 0.016, -0.35, 0.02))
    pieces = [Piece((outline,), "main", folds=folds, strokes=tuple(strokes))]
    if product.closure == "buttons":
        ys = [top + 0.2 + 0.17 * k for k in range(int((length - top - 0.2) / 0.17))]
        pieces.append(
            Piece(
                (ribbon(line((0.0, top + 0.1), (pose.swing * 0.9, length + 0.05)), 0.12),),
                "main",
                folds=folds,
                relief=0.25,
                roundness=0.03,
                lift=0.25,
            )
        )
        pieces.append(buttons([(pose.swing * 0.9 * (y - top) / (length - top), y) for y in ys], 0.024))
    for sign in (1.0, -1.0)[: int(product.pockets)]:
        slit = path((sign * 0.17, top + 0.13), (sign * 0.2, top + 0.3, sign * 0.365, top + 0.32))
        pieces[0] = Piece((outline,), "main", folds=folds, strokes=(*pieces[0].strokes, Stroke(slit, 0.016, -0.34)))
    return pieces + _waistband(top - 0.02, half + 0.005, product)
