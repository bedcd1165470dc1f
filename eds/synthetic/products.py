"""The products of a catalogue: attribute vectors drawn by seed, in collections that vary a base design."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from eds.synthetic.attributes import (
    ABSENT,
    CATEGORIES,
    NECKLINES,
    PATTERNS,
    SILHOUETTES,
    SLEEVES,
    Attributes,
    combine,
    compare,
    encode,
    select,
)
from eds.synthetic.garments.palette import Colour, accent_colour, base_colour, within_gamut

COLLECTION_SIZE = 12
_MEMBERSHIP = 7  # the job of the random stream that assigns products to collections
_APART = 0.72  # the true similarity that base designs of two collections stay below
_TRIES = 40  # redrawings of a base design, before it is taken although it is like another one
_POCKETED = ("shirt", "trousers", "coat", "skirt", "bag")
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


def _draw_base(rng: np.random.Generator, category: str) -> Attributes:
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
        pockets=float(rng.integers(3)) if category in _POCKETED else 0.0,
        belt=float(rng.random() < 0.3) if category != "shoe" else 0.0,
    )


@dataclass(frozen=True)
class _Collection:
    """A base design, and the colourways (main colour, accent) and prints (pattern, scale, direction) it comes in."""

    base: Attributes
    colourways: tuple[tuple[Colour, Colour], ...]
    prints: tuple[tuple[str, float, str], ...]


def _shifted(rng: np.random.Generator, colour: Colour, reach: float) -> Colour:
    """Return a tint of a colour: up to `reach` lighter or darker, in about the same hue."""
    lightness = colour.lightness + 2 * reach * (float(rng.random()) - 0.5)
    hue = (colour.hue + 160 * reach * (float(rng.random()) - 0.5)) % 360
    return within_gamut(Colour(min(max(lightness, 0.2), 0.965), colour.chroma, hue))


def _near(rng: np.random.Generator, share: float, reach: float) -> float:
    """Return a share near another one."""
    return round(min(max(share + 2 * reach * (float(rng.random()) - 0.5), 0.0), 1.0), 3)


def _neighbour(rng: np.random.Generator, names: tuple[str, ...], name: str) -> str:
    """Return the next kind up or down an ordered list."""
    return names[min(max(names.index(name) + (1 if rng.random() < 0.5 else -1), 0), len(names) - 1)]


def _draw_collection(rng: np.random.Generator, base: Attributes) -> _Collection:
    main = Colour(base.lightness, base.chroma, base.hue)
    accent = Colour(base.accent_lightness, base.accent_chroma, base.accent_hue)
    colourways = [(main, accent), (_shifted(rng, main, 0.12), accent)]
    for _ in range(int(rng.integers(1, 3))):
        other = base_colour(rng, base.fabric)
        colourways.append((other, accent_colour(rng, other)))
    prints = [(base.pattern, base.pattern_scale, base.direction)]
    pattern = "plain" if base.pattern != "plain" else _pattern(rng, base.category, base.fabric)
    prints.append((pattern, _share(rng), _direction(rng, pattern)))
    return _Collection(base, tuple(colourways), tuple(prints))


def _member(rng: np.random.Generator, collection: _Collection) -> Attributes:
    """Vary the design as a range does: colourway and print, length and details; a little in every product."""
    base, ways, pick = collection.base, collection.colourways, float(rng.random())
    colour, accent = ways[0 if pick < 0.5 else 1 if pick < 0.75 else int(rng.integers(2, len(ways)))]
    colour, accent = _shifted(rng, colour, 0.03), _shifted(rng, accent, 0.03)
    pattern, scale, direction = collection.prints[0 if rng.random() < 0.75 else 1]
    return replace(
        base,
        **_details(rng, base),
        length=_near(rng, base.length, 0.16),
        hue=colour.hue,
        chroma=colour.chroma,
        lightness=colour.lightness,
        accent_hue=accent.hue,
        accent_chroma=accent.chroma,
        accent_lightness=accent.lightness,
        pattern=pattern,
        pattern_scale=_near(rng, scale, 0.1),
        direction=direction,
    )


def _details(rng: np.random.Generator, base: Attributes) -> dict[str, Any]:
    """Return the few details of a design that a member has in another way."""
    details: dict[str, Any] = {}
    if rng.random() < 0.06 and base.category not in ("shoe", "bag"):  # whose silhouettes are kinds of their own
        details["silhouette"] = _neighbour(rng, SILHOUETTES[base.category], base.silhouette)
    if rng.random() < 0.2 and base.sleeve != ABSENT:
        details["sleeve"] = _neighbour(rng, SLEEVES[3:] if base.category == "coat" else SLEEVES, base.sleeve)
    if rng.random() < 0.15 and base.collar == "plain":
        details["neckline"] = _neighbour(rng, NECKLINES, base.neckline)
    if rng.random() < 0.1:
        details["closure"] = _closure(rng, base.category, base.silhouette, base.collar)
    if rng.random() < 0.2 and base.category in _POCKETED:
        details["pockets"] = float(rng.integers(3))
    if rng.random() < 0.15 and base.category != "shoe":
        details["belt"] = 1.0 - base.belt
    return details


def _apart(design: Attributes, others: Sequence[Attributes]) -> bool:
    """Whether a design is unlike the base designs of all other collections."""
    rivals = [other for other in others if other.category == design.category]
    if not rivals:
        return True
    encoded = encode(pd.DataFrame([{"category": other.category, **other.columns()} for other in (design, *rivals)]))
    terms = compare(select(encoded, np.array([0])), select(encoded, np.arange(1, len(rivals) + 1)))
    return float(combine(terms).max()) < _APART


def draw_collections(count: int, seed: int = 0, size: int = COLLECTION_SIZE) -> tuple[int, ...]:
    """Return the collection of each product; a longer catalogue of the same seed starts like the shorter one.

    One in `size` products opens a collection, the others join one at random that has fewer than 1.5 times `size`:
    sizes vary, and some products stay alone. The first products open one collection in each category.
    """
    rng = stream(seed, _MEMBERSHIP)
    found: list[int] = []
    members: list[int] = []
    for _ in range(count):
        opens, joins = (float(x) for x in rng.random(2))
        growing = [number for number, held in enumerate(members) if held < 1.5 * size]
        if len(members) < len(CATEGORIES) or opens * size < 1 or not growing:
            found.append(len(members))
            members.append(1)
        else:
            found.append(growing[int(joins * len(growing))])
            members[found[-1]] += 1
    return tuple(found)


def draw_products(count: int, seed: int = 0, size: int = COLLECTION_SIZE) -> tuple[Attributes, ...]:
    """Draw `count` products in collections of about `size`, and some alone.

    A longer catalogue of the same seed starts with the products of the shorter one. The first collections cycle
    through the categories, so that a small catalogue has all of them.
    """
    products: list[Attributes] = []
    collections: list[_Collection] = []
    for index, collection in enumerate(draw_collections(count, seed, size)):
        rng = stream(seed, 1, index)
        if collection == len(collections):
            bases = [known.base for known in collections]
            base = _draw_base(rng, CATEGORIES[collection % len(CATEGORIES)])
            for _ in range(_TRIES):
                if _apart(base, bases):
                    break
                base = _draw_base(rng, base.category)
            collections.append(_draw_collection(rng, base))
            products.append(base)
        else:
            products.append(_member(rng, collections[collection]))
    return tuple(products)
