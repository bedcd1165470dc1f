"""The person who wears or carries the product in a snapshot: a faceless figure of a few pieces."""

from math import cos, sin

import numpy as np

from eds.synthetic.garments.fabrics import Cloth
from eds.synthetic.garments.fittings import Pose, both
from eds.synthetic.garments.palette import Colour, to_rgb, within_gamut
from eds.synthetic.garments.scene import Product
from eds.synthetic.garments.shapes import Folds, Piece, ellipse, mirrored, path, ribbon

_SKIN = ((0.86, 0.045, 62.0), (0.78, 0.06, 60.0), (0.68, 0.07, 58.0), (0.54, 0.07, 54.0), (0.42, 0.055, 50.0))
_HAIR = ((0.22, 0.01, 50.0), (0.30, 0.04, 50.0), (0.42, 0.07, 55.0), (0.72, 0.09, 82.0), (0.60, 0.01, 80.0))


def wearer_cloths(rng: np.random.Generator) -> dict[str, Cloth]:
    """Draw skin, hair and the other clothes of the figure."""

    def plain(lightness: float, chroma: float, hue: float, fabric: str) -> Cloth:
        colour = to_rgb(within_gamut(Colour(lightness, chroma, hue)))
        return Cloth(colour, colour, fabric)

    other = (0.25 + 0.65 * float(rng.random()), 0.07 * float(rng.random()), 360 * float(rng.random()))
    return {
        "skin": plain(*_SKIN[int(rng.integers(len(_SKIN)))], "silk"),
        "hair": plain(*_HAIR[int(rng.integers(len(_HAIR)))], "wool"),
        "other": plain(*other, "cotton"),
        "below": plain(0.22 + 0.3 * float(rng.random()), 0.05, 250.0, "denim"),
    }


def _arm(angle: float) -> list[Piece]:
    shoulder, along = np.array([0.355, 0.25]), np.array([sin(angle), cos(angle)])
    hand = shoulder + along * 1.30
    elbow = shoulder + along * 0.65 + np.array([0.02, 0.0])
    limb = ribbon(path(tuple(shoulder), (*elbow, *hand)), 0.17, 0.09)
    return [
        Piece(
            (limb, ellipse(shoulder[0] - 0.01, shoulder[1], 0.09, 0.10), ellipse(hand[0], hand[1] + 0.05, 0.065, 0.10)),
            "skin",
            roundness=0.09,
            lift=0.15,
        )
    ]


def _upper_body(pieces: list[Piece], pose: Pose, bare_legs: bool) -> list[Piece]:
    """Dress the figure in a garment whose first piece is the lining behind the neck."""
    legs = both(
        Piece(
            (ribbon(path((0.17, 0.7), (0.18, 1.6, 0.19, 2.9)), 0.30, 0.17),),
            "skin" if bare_legs else "below",
            roundness=0.1,
        )
    )
    right, left = _arm(pose.arms), _arm(pose.arms + pose.asymmetry)
    arms = right + [both(piece)[1] for piece in left]
    hair = Piece(
        (ellipse(0.0, -0.34, 0.25, 0.29), mirrored(path((0.0, -0.5), (0.3, -0.4, 0.25, 0.02), (0.0, 0.06)))),
        "hair",
        lift=0.0,
    )
    chest = mirrored(path((0.0, -0.2), (0.095, -0.2), (0.10, 0.02, 0.27, 0.09), (0.26, 0.62), (0.0, 0.66)))
    head = ellipse(0.0, -0.30, 0.185, 0.25)
    fringe = mirrored(path((0.0, -0.60), (0.24, -0.60, 0.215, -0.20), (0.17, -0.42, 0.0, -0.44)))
    return [
        *legs,
        *arms,
        hair,
        pieces[0],
        Piece((chest,), "skin", roundness=0.1, lift=0.0),
        Piece((head,), "skin", roundness=0.12, lift=0.25),
        Piece((fringe,), "hair", lift=0.2),
        *pieces[1:],
    ]


def _lower_body(pieces: list[Piece], pose: Pose) -> list[Piece]:
    """Put a plain top above trousers or a skirt, and legs and shoes below."""
    legs = both(
        Piece((ribbon(path((0.16, 0.7), (0.18, 1.4, 0.205 + pose.spread, 2.15)), 0.26, 0.11),), "skin", roundness=0.08)
    )
    shoes = both(Piece((ellipse(0.23 + pose.spread, 2.17, 0.13, 0.075),), "below", lift=0.0))
    top = mirrored(
        path((0.0, -0.72), (0.16, -0.74), (0.40, -0.66), (0.36, -0.4, 0.39, -0.2), (0.30, 0.0, 0.31, 0.12), (0.0, 0.16))
    )
    arms = both(Piece((ribbon(path((0.42, -0.58), (0.62, -0.1, 0.50, 0.5)), 0.19, 0.10),), "skin", roundness=0.08))
    sleeves = both(Piece((ribbon(path((0.37, -0.62), (0.47, -0.45, 0.52, -0.25)), 0.26),), "other"))
    folds = Folds(2.5, 0.08, (0.0, -3.0), -0.5, pose.phase)
    return [*legs, *shoes, *arms, *sleeves, Piece((top,), "other", folds=folds), *pieces]


def worn(product: Product, pieces: list[Piece], pose: Pose, rng: np.random.Generator) -> list[Piece]:
    """Return the pieces with a figure around them."""
    category, bare = product.attributes.category, bool(rng.random() < 0.5)
    if category in ("shirt", "dress", "coat"):
        return _upper_body(pieces, pose, bare or category == "dress")
    if category in ("trousers", "skirt"):
        return _lower_body(pieces, pose)
    if category == "bag":
        top = min(float(outline[:, 1].min()) for piece in pieces for outline in piece.outlines)
        arm = ribbon(path((0.5, top - 1.6), (0.25, top - 0.5, 0.0, top + 0.0)), 0.20, 0.13)
        fingers = tuple(ellipse(-0.09 + 0.06 * k, top + 0.035, 0.036, 0.075, 16) for k in range(4))
        return [*pieces, Piece((arm,), "skin", roundness=0.09), Piece(fingers, "skin", roundness=0.03, lift=0.3)]
    if product.attributes.silhouette == "pump":
        return pieces
    leg = path((-0.78, -1.5), (-0.20, -1.5), (-0.24, 0.4, -0.26, 1.05), (-0.70, 1.1), (-0.72, 0.4, -0.78, -1.5))
    return [Piece((leg,), "skin" if bare else "below", folds=Folds(2.0, 0.06, (-2.0, 0.3)), roundness=0.12), *pieces]
