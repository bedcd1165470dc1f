"""The products of a catalogue: attribute vectors drawn by seed, some of them variants of earlier ones."""

from dataclasses import replace

import numpy as np

from eds.synthetic.attributes import ABSENT, CATEGORIES, NECKLINES, PATTERNS, SILHOUETTES, SLEEVES, Attributes
from eds.synthetic.garments.palette import accent_colour, base_colour

_RELATIVES = 0.45  # the share of products that vary an earlier one, as a season's range does
_FABRICS = {
    "shirt": ("cotton", "cotton", "silk", "knit", "denim"),
    "dress": ("cotton", "silk", "knit", "wool"),
    "trousers": ("denim", "cotton", "wool", "leather"),
    "skirt": ("cotton", "denim", "silk", "wool", "leather"),
    "coat": ("wool", "wool", "cotton", "leather"),
    "shoe": ("leather", "leather", "cotton", "knit"),
    "bag": ("leather", "leather", "cotton", "denim"),
}


def stream(*key: int) -> np.random.Generator:
    """Return the random generator of a key (seed, job, product, view)."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(list(key))))


def _one(rng: np.random.Generator, names: tuple[str, ...]) -> str:
    return names[int(rng.integers(len(names)))]


def _share(rng: np.random.Generator) -> float:
    return round(float(rng.random()), 3)


def _pattern(rng: np.random.Generator, category: str, fabric: str) -> str:
    plain = {"leather": 0.85, "denim": 0.9}.get(fabric, 0.36)
    return "plain" if rng.random() < plain or (category == "shoe" and rng.random() < 0.5) else _one(rng, PATTERNS[1:])


def _direction(rng: np.random.Generator, pattern: str) -> str:
    if pattern == "gradient":
        return _one(rng, ("across", "diagonal"))
    return _one(rng, ("across", "along", "diagonal")) if pattern in ("stripes", "checks") else ABSENT


def _closure(rng: np.random.Generator, category: str, silhouette: str, collar: str) -> str:
    if category == "coat":
        return _one(rng, ("buttons", "buttons", "zip"))
    if category == "shirt":
        return "buttons" if collar == "point" else _one(rng, ("closed", "closed", "buttons"))
    if category == "shoe":
        choice = {"sneaker": ("laces",), "boot": ("laces", "zip", "closed"), "loafer": ("closed", "buckle")}
        return _one(rng, choice.get(silhouette, ("closed", "buckle")))
    if category == "bag":
        return _one(rng, ("zip", "buckle", "closed") if silhouette != "satchel" else ("buckle", "zip"))
    return _one(
        rng,
        {
            "dress": ("closed", "closed", "buttons"),
            "skirt": ("closed", "buttons", "zip"),
            "trousers": ("buttons", "zip"),
        }[category],
    )


def _draw(rng: np.random.Generator) -> Attributes:
    category = _one(rng, CATEGORIES)
    silhouette = _one(rng, SILHOUETTES[category])
    fabric = _one(rng, _FABRICS[category])
    base = base_colour(rng, fabric)
    accent = accent_colour(rng, base)
    pattern = _pattern(rng, category, fabric)
    worn_on_top = category in ("shirt", "dress", "coat")
    collar = ABSENT
    if worn_on_top:
        collar = _one(
            rng,
            {
                "shirt": ("plain", "plain", "band", "point"),
                "dress": ("plain", "plain", "band"),
                "coat": ("lapel", "lapel", "point", "band"),
            }[category],
        )
    neckline = ABSENT
    if worn_on_top:
        neckline = _one(rng, NECKLINES) if collar == "plain" else "v" if collar == "lapel" else "round"
    sleeve = ABSENT
    if worn_on_top:
        sleeve = _one(rng, ("elbow", "long", "long", "long") if category == "coat" else SLEEVES)
    return Attributes(
        category=category,
        silhouette=silhouette,
        sleeve=sleeve,
        neckline=neckline,
        collar=collar,
        length=_share(rng),
        hue=base.hue,
        chroma=base.chroma,
        lightness=base.lightness,
        accent_hue=accent.hue,
        accent_chroma=accent.chroma,
        accent_lightness=accent.lightness,
        pattern=pattern,
        pattern_scale=_share(rng),
        direction=_direction(rng, pattern),
        fabric=fabric,
        closure=_closure(rng, category, silhouette, collar),
        pockets=float(rng.integers(3)) if category in ("shirt", "trousers", "coat", "skirt", "bag") else 0.0,
        belt=float(rng.random() < 0.3) if category != "shoe" else 0.0,
    )


def _vary(rng: np.random.Generator, parent: Attributes) -> Attributes:
    """Change one to three attributes of an earlier product: colourway, print, length, cut or detail."""
    child = parent
    for change in rng.permutation(5)[: int(rng.integers(1, 4))]:
        if change == 0:
            base = base_colour(rng, child.fabric)
            accent = accent_colour(rng, base)
            child = replace(
                child,
                hue=base.hue,
                chroma=base.chroma,
                lightness=base.lightness,
                accent_hue=accent.hue,
                accent_chroma=accent.chroma,
                accent_lightness=accent.lightness,
            )
        elif change == 1:
            pattern = _pattern(rng, child.category, child.fabric)
            child = replace(child, pattern=pattern, direction=_direction(rng, pattern), pattern_scale=_share(rng))
        elif change == 2:
            child = replace(child, length=_share(rng))
        elif change == 3 and child.sleeve != ABSENT:
            child = replace(child, sleeve=_one(rng, SLEEVES if child.category != "coat" else ("elbow", "long")))
        else:
            child = replace(child, belt=1.0 - child.belt if child.category != "shoe" else 0.0)
    return child


def draw_products(count: int, seed: int = 0) -> tuple[Attributes, ...]:
    """Draw `count` products. A longer catalogue of the same seed starts with the products of the shorter one.

    The first products cycle through the categories, so that a small catalogue has all of them.
    """
    products: list[Attributes] = []
    for index in range(count):
        rng = stream(seed, 1, index)
        if index >= 2 * len(CATEGORIES) and rng.random() < _RELATIVES:
            parent = products[int(rng.integers(index))]
            child = _vary(rng, parent)
            while child == parent:  # some changes draw what was there already
                child = _vary(rng, parent)
            products.append(child)
            continue
        product = _draw(rng)
        while index < 2 * len(CATEGORIES) and product.category != CATEGORIES[index % len(CATEGORIES)]:
            product = _draw(rng)
        products.append(product)
    return tuple(products)
