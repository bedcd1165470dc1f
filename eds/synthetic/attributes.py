"""The attribute vector of a product, and the true similarity of two products.

The similarity depends on the attributes alone, so it is independent of every backbone and of the drawing.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from eds.errors import TableError

Floats = npt.NDArray[np.float64]

SILHOUETTES: dict[str, tuple[str, ...]] = {  # neighbours in the list look alike
    "shirt": ("fitted", "straight", "boxy"),
    "dress": ("sheath", "a_line", "flared"),
    "trousers": ("skinny", "straight", "wide"),
    "skirt": ("pencil", "a_line", "flared"),
    "coat": ("fitted", "straight", "cocoon"),
    "shoe": ("sneaker", "loafer", "pump", "boot"),
    "bag": ("tote", "satchel", "bucket"),
}
CATEGORIES = tuple(SILHOUETTES)
SLEEVES = ("sleeveless", "cap", "short", "elbow", "long")
NECKLINES = ("boat", "round", "scoop", "square", "v")
COLLARS = ("plain", "band", "point", "lapel")
PATTERNS = ("plain", "gradient", "stripes", "checks", "dots", "floral")
DIRECTIONS = ("across", "along", "diagonal")
FABRICS = ("cotton", "denim", "knit", "wool", "silk", "leather")
CLOSURES = ("closed", "buttons", "zip", "laces", "buckle")
ABSENT = "none"


@dataclass(frozen=True)
class Attributes:
    """The complete visible truth about a product; `none` (text) means that its category has no such part."""

    category: str
    silhouette: str
    sleeve: str
    neckline: str
    collar: str
    length: float  # 0 shortest to 1 longest of its category (a shoe's shaft or heel, a bag's handle)
    hue: float  # Oklab hue in degrees, of the main colour
    chroma: float
    lightness: float
    accent_hue: float
    accent_chroma: float
    accent_lightness: float
    pattern: str
    pattern_scale: float  # 0 finest to 1 largest
    direction: str  # of stripes, checks and gradients
    fabric: str
    closure: str
    pockets: float  # how many
    belt: float  # 1 with a belt (a bag: with a charm), 0 without

    def columns(self) -> dict[str, str | float]:
        """Return the attributes as the columns of the images table; the category has a column already.

        A test checks that every attribute has one.
        """
        return {f"true_{name}": value for name, value in asdict(self).items() if name != "category"}


TRUE_COLUMNS = tuple(f"true_{field.name}" for field in fields(Attributes) if field.name != "category")

# The weight of each term in the true similarity; they add up to 1. Colour, pattern and shape carry it.
WEIGHTS: dict[str, float] = {
    "silhouette": 0.17,
    "sleeve": 0.09,
    "neckline": 0.06,
    "collar": 0.06,
    "length": 0.08,
    "colour": 0.20,
    "accent": 0.06,
    "pattern": 0.13,
    "pattern_scale": 0.02,
    "direction": 0.02,
    "fabric": 0.05,
    "closure": 0.03,
    "pockets": 0.015,
    "belt": 0.015,
}
# How much of a likeness is left between products of two categories; unlisted pairs: 0.2.
_KIN = {
    ("shirt", "dress"): 0.55,
    ("shirt", "coat"): 0.55,
    ("dress", "coat"): 0.45,
    ("dress", "skirt"): 0.5,
    ("trousers", "skirt"): 0.4,
}
_PATTERN_KIN = {
    ("plain", "gradient"): 0.5,
    ("stripes", "checks"): 0.5,
    ("dots", "floral"): 0.5,
    ("checks", "dots"): 0.25,
    ("stripes", "gradient"): 0.15,
}
_FABRIC_KIN = {
    ("cotton", "silk"): 0.5,
    ("cotton", "denim"): 0.5,
    ("knit", "wool"): 0.6,
    ("cotton", "wool"): 0.4,
    ("cotton", "knit"): 0.4,
    ("silk", "leather"): 0.3,
}
_COLOUR_REACH = 0.30  # Oklab distance from which two colours have nothing in common


def _table(names: tuple[str, ...], kin: Mapping[tuple[str, str], float], otherwise: float) -> Floats:
    table = np.full((len(names), len(names)), otherwise)
    np.fill_diagonal(table, 1.0)
    for (left, right), value in kin.items():
        i, j = names.index(left), names.index(right)
        table[i, j] = table[j, i] = value
    return table


def _steps(names: tuple[str, ...], per_step: float) -> Floats:
    place = np.arange(len(names))
    return np.asarray(np.maximum(0.0, 1.0 - per_step * np.abs(place[:, None] - place[None, :])), dtype=np.float64)


_SHAPES = tuple(f"{category}:{name}" for category, names in SILHOUETTES.items() for name in names)


def _shape_table() -> Floats:
    table = _table(_SHAPES, {}, 0.0)
    for category, names in SILHOUETTES.items():
        first = _SHAPES.index(f"{category}:{names[0]}")
        block = slice(first, first + len(names))
        # The shapes of shoes and bags are kinds of their own; those of clothes run from narrow to wide.
        table[block, block] = _table(names, {}, 0.15) if category in ("shoe", "bag") else _steps(names, 0.55)
    return table


KINSHIP = _table(CATEGORIES, _KIN, 0.2)
_TEXTS: dict[str, tuple[tuple[str, ...], Floats]] = {
    "silhouette": (_SHAPES, _shape_table()),
    "sleeve": (SLEEVES, _steps(SLEEVES, 0.4)),
    "neckline": (NECKLINES, _steps(NECKLINES, 0.45)),
    "collar": (COLLARS, _table(COLLARS, {("plain", "band"): 0.5, ("point", "lapel"): 0.4}, 0.1)),
    "pattern": (PATTERNS, _table(PATTERNS, _PATTERN_KIN, 0.0)),
    "direction": (DIRECTIONS, _table(DIRECTIONS, {}, 0.2)),
    "fabric": (FABRICS, _table(FABRICS, _FABRIC_KIN, 0.15)),
    "closure": (CLOSURES, _table(CLOSURES, {}, 0.2)),
}

Encoded = dict[str, npt.NDArray[Any]]


def encode(frame: pd.DataFrame) -> Encoded:
    """Turn the true_* columns (and category) into arrays of numbers that `compare` can broadcast."""
    missing = [name for name in ("category", *TRUE_COLUMNS) if name not in frame.columns]
    if missing:
        raise TableError(f"columns are missing: {', '.join(missing)}", where="images", hint="Use a drawn catalogue.")
    text = {name: frame[f"true_{name}"].astype(str) for name in _TEXTS}
    text["silhouette"] = frame["category"].astype(str) + ":" + text["silhouette"]
    encoded: Encoded = {"category": pd.Index(CATEGORIES).get_indexer(pd.Index(frame["category"].astype(str)))}
    faults = [f"category: {name}" for name in frame["category"][encoded["category"] < 0].unique()]
    for name, (known, _) in _TEXTS.items():
        codes = pd.Index(known).get_indexer(pd.Index(text[name]))
        faults += [f"true_{name}: {value}" for value in text[name][(codes < 0) & (text[name] != ABSENT)].unique()]
        encoded[name] = codes  # -1: the product has no such part
    if faults:
        raise TableError("unknown attribute values", where="images", hint="Use a drawn catalogue.", faults=faults)
    for prefix, name in (("", "colour"), ("accent_", "accent")):
        angle = np.deg2rad(frame[f"true_{prefix}hue"].to_numpy(dtype=np.float64))
        chroma = frame[f"true_{prefix}chroma"].to_numpy(dtype=np.float64)
        encoded[f"{name}_a"], encoded[f"{name}_b"] = chroma * np.cos(angle), chroma * np.sin(angle)
        encoded[f"{name}_l"] = frame[f"true_{prefix}lightness"].to_numpy(dtype=np.float64)
    for name in ("length", "pattern_scale", "pockets", "belt"):
        encoded[name] = frame[f"true_{name}"].to_numpy(dtype=np.float64)
    return encoded


def select(side: Encoded, rows: npt.NDArray[Any]) -> Encoded:
    """Return the encoded products at the rows (an array of any shape)."""
    return {name: values[rows] for name, values in side.items()}


def compare(left: Encoded, right: Encoded) -> dict[str, Floats]:
    """Return every term (and the factor of the category) of two sides, with broadcasting; NaN: not applicable."""

    def lookup(name: str) -> Floats:
        a, b = left[name], right[name]
        value = np.where((a >= 0) & (b >= 0), _TEXTS[name][1][a, b], 0.0)
        return np.where((a < 0) & (b < 0), np.nan, value)  # absent on both sides says nothing (Gower)

    def colour(name: str) -> Floats:
        squared = sum((left[f"{name}_{axis}"] - right[f"{name}_{axis}"]) ** 2 for axis in "abl")
        return np.asarray(np.maximum(0.0, 1.0 - np.sqrt(squared) / _COLOUR_REACH), dtype=np.float64)

    terms = {name: lookup(name) for name in _TEXTS}
    terms["colour"] = colour("colour")
    patterned = (left["pattern"] > 0) & (right["pattern"] > 0)  # an accent is hardly seen on a plain cloth
    terms["accent"] = np.where(patterned, colour("accent"), np.nan)
    terms["pattern_scale"] = np.where(patterned, 1.0 - np.abs(left["pattern_scale"] - right["pattern_scale"]), np.nan)
    terms["length"] = 1.0 - np.abs(left["length"] - right["length"])
    terms["pockets"] = np.maximum(0.0, 1.0 - np.abs(left["pockets"] - right["pockets"]) / 2.0)
    terms["belt"] = 1.0 - np.abs(left["belt"] - right["belt"])
    return {"category": KINSHIP[left["category"], right["category"]], **{name: terms[name] for name in WEIGHTS}}


def combine(terms: Mapping[str, Floats], weights: Mapping[str, float] = WEIGHTS) -> Floats:
    """Weigh the terms of `compare`: the category's factor times the weighted mean of the applicable terms."""
    total, weight = np.zeros(terms["category"].shape), np.zeros(terms["category"].shape)
    for name in WEIGHTS:
        says = ~np.isnan(terms[name])
        total += np.where(says, weights[name] * terms[name], 0.0)
        weight += np.where(says, weights[name], 0.0)
    return np.asarray(terms["category"] * total / weight, dtype=np.float64)


def similarity_parts(left: pd.DataFrame, right: pd.DataFrame) -> pd.DataFrame:
    """Return the terms behind `similarity`, one column each (`category` is the factor); NaN: not applicable."""
    return pd.DataFrame(compare(encode(left), encode(right)))


def similarity(left: pd.DataFrame, right: pd.DataFrame) -> Floats:
    """Return the true visual similarity of two products, row by row, in [0, 1].

    Formula: S = k(category, category') * sum_a w_a s_a / sum_a w_a over the terms a that say something; k is 1
        within a category, w is `WEIGHTS`, each s_a is in [0, 1]: ordered kinds lose a fixed step per place,
        unordered ones read a table of kinship, a colour is max(0, 1 - d / 0.30) with d the Oklab distance,
        lengths and scales are 1 - |x - x'|.
    Source: J. C. Gower, A general coefficient of similarity and some of its properties, Biometrics 27 (1971).
    Conventions: a part absent on both sides says nothing (its weight is left out), absent on one side is 0;
        accent and pattern scale speak only where both products are patterned; symmetric; 1 for equal attributes.
        Of a product with itself it is 1; views, wild or not, are not looked at. An expert calls a pair similar from
        about 0.80 on: within a collection (see `products.py`) products with close colours and the same print, and
        hardly any pair of two collections. The collection itself is not a term: what counts is what can be seen.

    Example:
        >>> from eds.synthetic.products import draw_products
        >>> frame = pd.DataFrame([{"category": p.category, **p.columns()} for p in draw_products(2, seed=1)])
        >>> similarity(frame, frame).round(3).tolist()
        [1.0, 1.0]

    """
    return combine(compare(encode(left), encode(right)))
