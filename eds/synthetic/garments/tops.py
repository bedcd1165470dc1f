"""Silhouettes of tops: shirt, dress and coat, as pieces in garment coordinates, from back to front."""

import numpy as np

from eds.synthetic.attributes import Attributes
from eds.synthetic.garments.fittings import NECK, Pose, bodice, collar, neck_lining, sleeves
from eds.synthetic.garments.shapes import Folds, Piece, Stroke, flipped, line, mirrored, path
from eds.synthetic.garments.trims import belt, closing, front, pocket


def shirt(product: Attributes, pose: Pose) -> list[Piece]:
    """Return a shirt, blouse or T-shirt."""
    waist, hem, width = {"fitted": (0.37, 0.42, 0.27), "straight": (0.45, 0.46, 0.31), "boxy": (0.55, 0.56, 0.38)}[
        product.silhouette
    ]
    chest = {"fitted": 0.43, "straight": 0.46, "boxy": 0.52}[product.silhouette]
    length = 1.22 + 0.50 * product.length
    depth = NECK[product.neckline][1]
    seams = [Stroke(line((-hem, length - 0.045), (hem, length - 0.045)), 0.008, -0.24)]
    if product.closure == "buttons":
        seams += front(depth, length + 0.03)
    if product.silhouette == "fitted":
        seams += [Stroke(path((s * 0.27, 0.62), (s * 0.2, 0.9, s * 0.22, 1.12)), 0.008, -0.16) for s in (-1, 1)]
    body = Piece(
        (mirrored(bodice(product, waist, hem, length, chest)),),
        "main",
        strokes=tuple(seams),
        folds=Folds(3.4, 0.16, (0.15, -0.9), 0.42, pose.phase),
    )
    pieces = [neck_lining(product.neckline), *sleeves(product, pose, width, product.collar != "plain", chest), body]
    pieces += collar(product)
    pieces += closing(product, depth + 0.04, length, 0.02)
    pieces += [pocket(s * 0.24 - 0.09, 0.56, 0.19, 0.2, False) for s in (1, -1)[: int(product.pockets)]]
    return pieces + (belt(1.02, waist + 0.015) if product.belt else [])


def dress(product: Attributes, pose: Pose) -> list[Piece]:
    """Return a dress: a bodice, and below the waist seam a skirt."""
    hem = {"sheath": 0.36, "a_line": 0.56, "flared": 0.82}[product.silhouette]
    length = 1.40 + 0.56 * product.length
    hem = 0.38 + (hem - 0.38) * (0.55 + 0.45 * product.length)
    waist, depth = 0.325, NECK[product.neckline][1]
    top = bodice(product, waist, waist, 0.94, 0.42)
    skirt = path(
        (0.0, 0.9),
        (waist - 0.005, 0.9),
        (waist + 0.11 + 0.35 * (hem - 0.36), 1.08, hem + pose.swing, length),
        (hem * 0.55, length + 0.06, pose.swing, length + 0.06),
    )
    left = flipped(skirt) + np.array([2.0, 0.0]) * pose.swing * np.clip((skirt[:, 1:] - 0.94) / (length - 0.94), 0, 1)
    full = np.concatenate([skirt, left[::-1]])
    folds = Folds(
        {"sheath": 2.0, "a_line": 3.6, "flared": 5.2}[product.silhouette],
        {"sheath": 0.10, "a_line": 0.12, "flared": 0.17}[product.silhouette],
        (pose.swing * -0.4, 0.25),
        0.9,
        pose.phase,
    )
    darts = tuple(Stroke(path((s * 0.2, 0.58), (s * 0.15, 0.75, s * 0.16, 0.93)), 0.008, -0.2) for s in (-1, 1))
    seams = darts + (front(depth, 0.95) if product.closure == "buttons" else ())
    pieces = [neck_lining(product.neckline), *sleeves(product, pose, 0.27, product.collar == "band", 0.42)]
    pieces.append(
        Piece(
            (full,),
            "main",
            folds=folds,
            lift=0.2,
            strokes=(Stroke(line((-hem, length - 0.02), (0.0, length + 0.03), (hem, length - 0.02)), 0.008, -0.15),),
        )
    )
    pieces.append(
        Piece((mirrored(top),), "main", strokes=seams, folds=Folds(3.0, 0.09, (0.0, -0.8), 0.5, pose.phase), lift=0.25)
    )
    pieces += collar(product) + closing(product, depth + 0.04, 0.92, 0.018)
    return pieces + (belt(0.93, waist + 0.02, 0.0) if product.belt else [])


def coat(product: Attributes, pose: Pose) -> list[Piece]:
    """Return a coat: two fronts that overlap, collar or lapels, flap pockets, sometimes a belt."""
    waist, hem = {"fitted": (0.39, 0.52), "straight": (0.48, 0.50), "cocoon": (0.60, 0.46)}[product.silhouette]
    length = 1.32 + 0.62 * product.length
    depth, chest = NECK[product.neckline][1], 0.49
    opening = depth + (0.28 if product.collar == "lapel" else 0.02)
    double = 0.11 if product.collar == "lapel" and product.closure == "buttons" else 0.0
    overlap = Stroke(line((double + 0.06, opening - 0.08), (double + 0.06, length + 0.03)), 0.014, -0.34)
    seams = (
        overlap,
        Stroke(path((-0.36, 0.62), (-0.3, 1.0, -0.38, length)), 0.008, -0.14),
        Stroke(path((0.36, 0.62), (0.3, 1.0, 0.38, length)), 0.008, -0.14),
    )
    body = Piece(
        (mirrored(bodice(product, waist, hem, length, chest)),),
        "main",
        strokes=seams,
        folds=Folds(2.8, 0.15, (0.0, -1.2), 0.55, pose.phase),
        relief=1.05,
        roundness=0.09,
    )
    pieces = [neck_lining(product.neckline), *sleeves(product, pose, 0.36, True, chest), body, *collar(product)]
    pieces += [pocket(s * 0.3 - 0.1, 1.12, 0.2, 0.085, True) for s in (1, -1)[: int(product.pockets)]]
    pieces += closing(
        product, opening + 0.02, length + 0.025 if product.closure == "zip" else min(length - 0.2, 1.35), 0.03, double
    )
    return pieces + (belt(0.98, waist + 0.02, 0.42) if product.belt else [])
