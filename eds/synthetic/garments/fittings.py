"""Parts that tops share: poses, bodies, sleeves, necks and collars.

Shoulders lie at about y = 0.15 in garment coordinates; `Pose` moves the parts that a body moves.
"""

from dataclasses import dataclass
from math import cos, sin

import numpy as np

from eds.synthetic.attributes import Attributes
from eds.synthetic.garments.shapes import (
    Folds,
    Piece,
    Points,
    Stroke,
    box,
    flipped,
    line,
    mirrored,
    path,
    ribbon,
)


@dataclass(frozen=True)
class Pose:
    """The differences between two views of a product, except for camera and light."""

    arms: float = 0.24  # the angle of the sleeves, radians from hanging down
    asymmetry: float = 0.0  # the left arm's further angle
    spread: float = 0.0  # of the legs
    swing: float = 0.0  # of skirts, to one side
    phase: float = 0.0  # where folds fall


NECK = {  # half width and depth of the opening
    "boat": (0.30, 0.13),
    "round": (0.21, 0.20),
    "scoop": (0.24, 0.36),
    "square": (0.23, 0.30),
    "v": (0.20, 0.46),
}
_REACH = {"cap": 0.17, "short": 0.36, "elbow": 0.60, "long": 1.12}


def _opening(neckline: str) -> Points:
    """Return the right half of the neck's opening, from the middle up to the shoulder."""
    width, depth = NECK[neckline]
    if neckline == "v":
        return path((0.0, depth), (width * 0.62, depth * 0.42, width, 0.05))
    if neckline == "square":
        return line((0.0, depth), (width * 0.86, depth), (width, 0.05))
    return path((0.0, depth), (width * 0.86, depth, width, 0.05))


def bodice(product: Attributes, waist: float, hem: float, length: float, chest: float = 0.45) -> Points:
    """Return the right half of a body from the middle of the neck round the shoulder to the middle of the hem."""
    neck = _opening(product.neckline)
    shoulder = 0.42 if product.sleeve != "sleeveless" else 0.36
    side = path(
        (neck[-1][0], neck[-1][1]),
        (shoulder * 0.75, 0.085, shoulder, 0.15),
        (shoulder - 0.045, 0.40, chest, 0.60),
        (waist, 0.80, waist, 1.0),
        (waist, 0.5 * (1.0 + length), hem, length),
        (hem * 0.5, length + 0.035, 0.0, length + 0.035),
    )
    return np.concatenate([neck, side[1:]])


def neck_lining(neckline: str) -> Piece:
    """Return the inside of the back, seen through the neck's opening."""
    width, depth = NECK[neckline]
    inside = path((0.0, 0.085), (width * 0.6, 0.08, width - 0.004, 0.05), (width * 0.9, depth, 0.0, depth + 0.05))
    label = box(-0.045, 0.115, 0.045, 0.15)
    return Piece(
        (mirrored(inside),), "inside", relief=0.9, lift=0.0, strokes=(Stroke(label, 0.02, 0.4),) if depth > 0.18 else ()
    )


def _sleeve(product: Attributes, angle: float, width: float, pose: Pose, cuff: bool, chest: float) -> list[Piece]:
    """Return the right sleeve (and its cuff), hanging `angle` away from the body."""
    reach = _REACH[product.sleeve]
    along, across = np.array([sin(angle), cos(angle)]), np.array([cos(angle), -sin(angle)])
    top, armpit = np.array([0.385, 0.125]), np.array([chest - 0.035, 0.60])
    middle = (top + armpit) / 2
    end = middle + along * reach + across * (0.03 if reach < 0.5 else 0.0)
    slim = width * (0.62 if reach > 0.8 else 0.9)
    out, back = end + across * slim / 2, end - across * slim / 2
    if reach < 0.3:
        back = armpit + along * 0.02
    bulge = top + across * 0.13 + along * 0.16
    elbow = (bulge + out) / 2 + across * 0.035
    outline = path(
        (float(top[0]), float(top[1])),
        (*(top + across * 0.09 + along * 0.03), *bulge),
        (*elbow, *out),
        tuple(end + along * 0.02),
        tuple(back),
        (*((back + armpit) / 2 + across * 0.025), *armpit),
        tuple(middle - across * 0.10),
    )
    far = middle - along * 1.2
    folds = Folds(7.0, 0.10, (float(far[0]), float(far[1])), phase=pose.phase + angle)
    hem = Stroke(np.stack([out - along * 0.06, back - along * 0.06]), 0.01, -0.28)
    pieces = [Piece((outline,), "main", grain=-angle, folds=folds, strokes=() if cuff else (hem,), lift=0.18)]
    if cuff and reach > 0.5:
        band = np.stack([out, back, back - along * 0.10, out - along * 0.10])
        band[[0, 3]] += across * 0.012
        pieces.append(Piece((band,), "trim", grain=-angle, relief=0.8, roundness=0.05))
    return pieces


def sleeves(product: Attributes, pose: Pose, width: float, cuff: bool, chest: float = 0.45) -> list[Piece]:
    """Return both sleeves, or none."""
    if product.sleeve == "sleeveless":
        return []
    right = _sleeve(product, pose.arms, width, pose, cuff, chest)
    left = _sleeve(product, pose.arms + pose.asymmetry, width, pose, cuff, chest)
    return right + [on_the_left(piece) for piece in left]


def on_the_left(piece: Piece) -> Piece:
    """Return the mirror image of a piece; its folds differ a little."""
    folds = piece.folds
    if folds is not None:
        folds = Folds(folds.count, folds.strength, (-folds.apex[0], folds.apex[1]), folds.start, folds.phase + 0.4)
    strokes = tuple(Stroke(flipped(s.points), s.width, s.tone, s.dash) for s in piece.strokes)
    return Piece(
        tuple(flipped(o) for o in piece.outlines),
        piece.cloth,
        -piece.grain,
        folds,
        strokes,
        piece.relief,
        piece.roundness,
        piece.lift,
    )


def both(piece: Piece) -> list[Piece]:
    """Return a piece of the right side and its mirror image."""
    return [piece, on_the_left(piece)]


def collar(product: Attributes) -> list[Piece]:
    """Return the collar, or the binding of an opening without one."""
    neck = _opening(product.neckline)
    width, depth = NECK[product.neckline]
    if product.collar == "plain":  # a binding along the opening
        whole = np.concatenate([flipped(neck)[::-1], neck[1:]])
        whole[[0, -1]] += np.array([[0.014, 0.022], [-0.014, 0.022]])  # the ends go under the shoulder's edge
        ribbed = 0.055 if product.fabric in ("knit", "cotton") else 0.03
        return [Piece((ribbon(whole, ribbed),), "main", grain=0.6, relief=0.6, roundness=0.03, lift=0.3)]
    if product.collar == "band":
        whole = np.concatenate([flipped(neck)[::-1], neck[1:]])
        return [Piece((ribbon(whole - np.array([0.0, 0.02]), 0.095),), "trim", relief=0.9, roundness=0.05, lift=0.35)]
    if product.collar == "point":
        flap = path(
            (0.0, depth + 0.01),
            (width * 0.8, depth * 0.8, width + 0.015, 0.0),
            (width + 0.06, 0.05, width + 0.07, 0.1),
            (width * 0.95, depth + 0.10),
            (0.0, depth + 0.01),
        )
        edge = line((0.02, depth + 0.015), (width * 0.95 - 0.015, depth + 0.075), (width + 0.045, 0.1))
        return both(
            Piece(
                (flap,),
                "trim",
                grain=0.5,
                relief=0.6,
                roundness=0.04,
                lift=0.42,
                strokes=(Stroke(edge, 0.008, -0.22, 0.03),),
            )
        )
    lapel = path(
        (0.0, depth + 0.28),
        (width * 0.45, depth * 0.62, width - 0.03, 0.01),
        (width + 0.05, 0.02, width + 0.085, 0.10),
        (width + 0.035, 0.28),
        (width + 0.13, 0.27),
        (0.21, depth + 0.10, 0.0, depth + 0.30),
    )
    notch = line((width + 0.035, 0.28), (width * 0.62, 0.235))
    return both(
        Piece(
            (lapel,), "main", grain=0.35, relief=0.7, roundness=0.045, lift=0.45, strokes=(Stroke(notch, 0.012, -0.4),)
        )
    )
