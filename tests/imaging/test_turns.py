"""Pictures that are stored turned come out upright, for every EXIF orientation."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from eds.imaging import Box
from tests.imaging.drawn import corners, exif, shown

# What a viewer does with each EXIF orientation, as numpy says it.
TURNED = {
    1: lambda a: a,
    2: lambda a: a[:, ::-1],
    3: lambda a: a[::-1, ::-1],
    4: lambda a: a[::-1],
    5: lambda a: a.transpose(1, 0, 2),
    6: lambda a: np.rot90(a, -1),
    7: lambda a: np.rot90(a, 2).transpose(1, 0, 2),
    8: lambda a: np.rot90(a, 1),
}


@pytest.mark.parametrize("value", range(1, 9))
@pytest.mark.parametrize("kind", ["png", "webp", "tif"])
def test_exif_turn(tmp_path: Path, value: int, kind: str) -> None:
    path = tmp_path / f"a.{kind}"
    if kind == "tif":
        Image.fromarray(corners()).save(path, tiffinfo={274: value})
    elif kind == "webp":
        Image.fromarray(corners()).save(path, lossless=True, exif=exif(value, ">"))
    else:
        Image.fromarray(corners()).save(path, exif=exif(value))
    np.testing.assert_array_equal(shown(path), TURNED[value](corners()))


def test_exif_turn_of_a_jpeg_and_its_box_in_the_upright_picture(tmp_path: Path) -> None:
    flat = np.full((32, 64, 3), 255, np.uint8)
    flat[:16, 32:] = 0  # a dark field at the top right, which a quarter turn brings to the bottom right
    Image.fromarray(flat).save(tmp_path / "a.jpg", quality=95, exif=exif(6))
    assert shown(tmp_path / "a.jpg").shape == (64, 32, 3)
    dark = shown(tmp_path / "a.jpg", box=Box(16, 32, 32, 64))
    light = shown(tmp_path / "a.jpg", box=Box(0, 0, 16, 32))
    assert dark.shape == (32, 16, 3)
    assert dark.max() < 30
    assert light.min() > 225
