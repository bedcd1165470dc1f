"""Every kind of picture becomes RGB: transparency, palettes, inks, depths, animations, by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from eds.errors import ImageError
from eds.imaging import open_rgb
from tests.imaging.drawn import shown


def test_alpha_lies_on_the_stated_background(tmp_path: Path) -> None:
    rgba = np.zeros((1, 3, 4), np.uint8)
    rgba[0] = [[200, 100, 0, 255], [200, 100, 0, 0], [200, 100, 0, 51]]  # solid, clear, a fifth
    Image.fromarray(rgba).save(tmp_path / "a.png")
    expected = [[200, 100, 0], [10, 20, 30], [48, 36, 24]]  # 10 + (200 - 10) / 5 and so on
    np.testing.assert_array_equal(shown(tmp_path / "a.png", background=(10, 20, 30))[0], expected)


def test_grey_with_alpha_and_grey_with_a_clear_value(tmp_path: Path) -> None:
    Image.fromarray(np.array([[[80, 255], [80, 0]]], np.uint8)).save(tmp_path / "la.png")
    np.testing.assert_array_equal(shown(tmp_path / "la.png")[0], [[80] * 3, [255] * 3])
    Image.fromarray(np.array([[80, 90]], np.uint8)).save(tmp_path / "l.png", transparency=90)
    np.testing.assert_array_equal(shown(tmp_path / "l.png", background=(1, 2, 3))[0], [[80] * 3, [1, 2, 3]])


@pytest.mark.parametrize("kind", ["png", "gif"])
def test_palette_with_and_without_transparency(tmp_path: Path, kind: str) -> None:
    picture = Image.fromarray(np.array([[0, 1, 2]], np.uint8))
    picture = picture.convert("P")
    picture.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255] + [0] * 759)
    picture.putdata([0, 1, 2])
    picture.save(tmp_path / f"p.{kind}")
    np.testing.assert_array_equal(shown(tmp_path / f"p.{kind}")[0], [[255, 0, 0], [0, 255, 0], [0, 0, 255]])
    picture.save(tmp_path / f"t.{kind}", transparency=1)
    np.testing.assert_array_equal(
        shown(tmp_path / f"t.{kind}", background=(7, 8, 9))[0], [[255, 0, 0], [7, 8, 9], [0, 0, 255]]
    )


def test_palette_with_partial_transparency(tmp_path: Path) -> None:
    picture = Image.new("P", (2, 1))
    picture.putpalette([200, 0, 0, 0, 200, 0])
    picture.putdata([0, 1])
    picture.save(tmp_path / "p.png", transparency=bytes([51, 255]))
    np.testing.assert_array_equal(shown(tmp_path / "p.png", background=(0, 0, 0))[0], [[40, 0, 0], [0, 200, 0]])


def test_cmyk(tmp_path: Path) -> None:
    ink = np.array([[[0, 0, 0, 0], [255, 0, 0, 0], [0, 0, 0, 255]]], np.uint8)
    picture = Image.merge("CMYK", [Image.fromarray(ink[..., place]) for place in range(4)])
    picture.save(tmp_path / "a.tif")
    np.testing.assert_array_equal(shown(tmp_path / "a.tif")[0], [[255] * 3, [0, 255, 255], [0] * 3])
    picture.resize((48, 16), Image.Resampling.NEAREST).save(tmp_path / "a.jpg", quality=95)
    rgb = shown(tmp_path / "a.jpg").astype(int)
    assert abs(rgb[8, 8] - 255).max() < 12
    assert rgb[8, 40].max() < 12


@pytest.mark.parametrize("kind", ["png", "tif"])
def test_sixteen_bits_are_scaled_not_clipped(tmp_path: Path, kind: str) -> None:
    values = np.array([[0, 128, 129, 257, 32768, 65535]], np.uint16)
    Image.fromarray(values).save(tmp_path / f"a.{kind}")
    expected = [round(float(value) / 257) for value in values[0]]
    assert expected == [0, 0, 1, 1, 128, 255]
    for channel in range(3):
        np.testing.assert_array_equal(shown(tmp_path / f"a.{kind}")[0, :, channel], expected)


def test_a_clear_value_among_sixteen_bits(tmp_path: Path) -> None:
    picture = Image.fromarray(np.array([[257, 40000, 65535]], np.uint16))
    picture.save(tmp_path / "a.png", transparency=40000)
    np.testing.assert_array_equal(shown(tmp_path / "a.png", background=(1, 2, 3))[0], [[1] * 3, [1, 2, 3], [255] * 3])


def test_one_bit_and_grey(tmp_path: Path) -> None:
    Image.fromarray(np.array([[0, 255]], np.uint8)).convert("1").save(tmp_path / "one.png")
    np.testing.assert_array_equal(shown(tmp_path / "one.png")[0], [[0] * 3, [255] * 3])
    Image.fromarray(np.array([[7, 99]], np.uint8)).save(tmp_path / "grey.bmp")
    np.testing.assert_array_equal(shown(tmp_path / "grey.bmp")[0], [[7] * 3, [99] * 3])


@pytest.mark.parametrize("kind", ["gif", "png", "webp"])
def test_an_animation_gives_its_first_frame(tmp_path: Path, kind: str) -> None:
    frames = [Image.new("RGB", (4, 4), colour) for colour in [(255, 0, 0), (0, 0, 255)]]
    options: dict[str, Any] = {"lossless": True} if kind == "webp" else {}
    frames[0].save(tmp_path / f"a.{kind}", save_all=True, append_images=frames[1:], **options)
    np.testing.assert_array_equal(shown(tmp_path / f"a.{kind}"), np.full((4, 4, 3), [255, 0, 0]))


def test_values_without_a_range_are_refused(tmp_path: Path) -> None:
    Image.fromarray(np.array([[0.0, 1e6]], np.float32)).save(tmp_path / "a.tif")
    with pytest.raises(ImageError, match="no stated range"):
        open_rgb(tmp_path / "a.tif")
