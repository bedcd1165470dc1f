import hashlib
import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from eds.synthetic.attributes import CATEGORIES, PATTERNS, SILHOUETTES
from eds.synthetic.garments.palette import Colour, to_rgb, within_gamut
from eds.synthetic.garments.scene import Product, studio_view
from eds.synthetic.garments.wild import wild_view
from eds.synthetic.products import draw_products

PRODUCTS = [Product(attributes, key, 5) for key, attributes in enumerate(draw_products(60, seed=5))]


def oklab(rgb: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The way back from sRGB, written down apart from the palette's forward one."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    lms = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    mix = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    return np.asarray(mix @ np.cbrt(lms @ linear))


def crude(product: Product, view: int = 0) -> npt.NDArray[np.float64]:
    """A tiny picture: what a crude eye sees."""
    image = studio_view(product, view, 64).resize((12, 12))
    return np.asarray(image, dtype=np.float64).ravel()


@pytest.mark.parametrize("hue", range(0, 360, 40))
def test_the_palette_inverts(hue: int) -> None:
    colour = within_gamut(Colour(0.65, 0.11, float(hue)))
    lightness, a, b = oklab(np.array(to_rgb(colour)) / 255)
    assert lightness == pytest.approx(0.65, abs=0.01)
    assert math.hypot(a, b) == pytest.approx(colour.chroma, abs=0.01)
    assert abs((math.degrees(math.atan2(b, a)) - hue + 180) % 360 - 180) < 4


def test_pixels_are_the_same_on_every_machine() -> None:
    """Pinned before JPEG, whose encoder may differ. It may change with Pillow's rasteriser: then look, and pin anew."""
    digest = hashlib.sha256()
    for product in PRODUCTS[:14]:
        digest.update(studio_view(product, 1, 48).tobytes())
        digest.update(wild_view(product, 0, 48).tobytes())
    assert digest.hexdigest() == "eef16235791d2a1c5d1653428657b55d2810a4e6f20aa94eeb407334651fdf6f"


def test_views_differ_and_come_back_the_same() -> None:
    first = [studio_view(PRODUCTS[0], view, 64).tobytes() for view in range(4)]
    assert len(set(first)) == 4
    assert [studio_view(PRODUCTS[0], view, 64).tobytes() for view in range(4)] == first


@pytest.mark.parametrize("size", [32, 50, 97, 300])
def test_any_size_is_drawn(size: int) -> None:
    assert studio_view(PRODUCTS[2], 0, size).size == (size, size)
    assert wild_view(PRODUCTS[2], 0, size).size == (size, size)


@pytest.mark.parametrize("category", CATEGORIES)
def test_every_silhouette_and_pattern_is_drawn_in_its_own_way(category: str) -> None:
    base = next(p for p in PRODUCTS if p.attributes.category == category)
    shapes = {
        studio_view(Product(replace(base.attributes, silhouette=name), 1), 0, 48).tobytes()
        for name in SILHOUETTES[category]
    }
    assert len(shapes) == len(SILHOUETTES[category])
    prints = {
        studio_view(
            Product(replace(base.attributes, pattern=name, direction="across", fabric="cotton"), 1), 0, 48
        ).tobytes()
        for name in PATTERNS
    }
    assert len(prints) == len(PATTERNS)


@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.parametrize("hue", [30.0, 150.0, 270.0])
def test_the_colour_of_the_middle_follows_true_hue(category: str, hue: float) -> None:
    found = next(p for p in PRODUCTS if p.attributes.category == category).attributes
    clear = replace(
        found, pattern="plain", fabric="cotton", hue=hue, chroma=0.12, lightness=0.62, belt=0.0, pockets=0.0
    )
    image = np.asarray(studio_view(Product(clear, 3), 0, 96), dtype=np.float64) / 255
    seen = oklab(image.reshape(-1, 3).T)
    chroma = np.hypot(seen[1], seen[2])
    clear_pixels = chroma > 0.6 * chroma.max()
    angle = math.degrees(math.atan2(seen[2][clear_pixels].mean(), seen[1][clear_pixels].mean()))
    assert abs((angle - hue + 180) % 360 - 180) < 15


def test_products_alike_give_pictures_alike() -> None:
    """Over variants of a product, the drawing follows the truth: a small change moves pixels less than a large one."""
    near, far = [], []
    for product in PRODUCTS[:21]:
        base = product.attributes
        small = replace(base, lightness=base.lightness + (0.03 if base.lightness < 0.6 else -0.03))
        large = replace(base, lightness=0.3 if base.lightness > 0.6 else 0.9, hue=(base.hue + 180) % 360)
        seen = crude(product)
        near.append(np.abs(crude(replace(product, attributes=small)) - seen).mean())
        far.append(np.abs(crude(replace(product, attributes=large)) - seen).mean())
    assert (np.array(near) < np.array(far)).all()


def test_views_of_a_product_are_more_alike_than_other_products_of_its_category() -> None:
    """Only on average: poses, framing and backgrounds are meant to make it hard."""
    same, other = [], []
    for category in ("dress", "bag", "skirt"):
        group = [p for p in PRODUCTS if p.attributes.category == category][:5]
        pictures = [(crude(p, 0), crude(p, 1)) for p in group]
        for i, (_, second) in enumerate(pictures):
            distances = [float(np.abs(first - second).mean()) for first, _ in pictures]
            same.append(distances[i])
            other += distances[:i] + distances[i + 1 :]
    assert np.mean(same) < 0.8 * np.mean(other)
