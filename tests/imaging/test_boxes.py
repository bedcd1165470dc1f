"""A part of a picture, and a smaller decode of the same part."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from eds.errors import ImageError
from eds.imaging import Box, open_rgb
from tests.imaging.drawn import corners, exif, shown


def test_box(tmp_path: Path) -> None:
    Image.fromarray(corners(10, 12)).save(tmp_path / "a.png")
    np.testing.assert_array_equal(shown(tmp_path / "a.png", box=Box(2, 3, 7, 10)), corners(10, 12)[3:10, 2:7])


@pytest.mark.parametrize("box", [(0, 0, 13, 5), (0, 0, 5, 11), (3, 0, 3, 5), (5, 0, 2, 5), (-1, 0, 5, 5)])
def test_a_box_outside_the_picture_is_refused(tmp_path: Path, box: tuple[int, int, int, int]) -> None:
    Image.fromarray(corners(10, 12)).save(tmp_path / "a.png")
    with pytest.raises(ImageError, match="12 x 10"):
        open_rgb(tmp_path / "a.png", box=Box(*box))


def test_draft_is_smaller_but_the_same_part(tmp_path: Path) -> None:
    ramp = np.linspace(0, 255, 800)[None, :, None].repeat(640, axis=0).repeat(3, axis=2).astype(np.uint8)
    Image.fromarray(ramp).save(tmp_path / "a.jpg", quality=95, exif=exif(6))
    assert open_rgb(tmp_path / "a.jpg", draft=80).size == (80, 100)
    part = open_rgb(tmp_path / "a.jpg", box=Box(0, 400, 640, 800), draft=100)
    assert min(part.size) >= 100
    whole = open_rgb(tmp_path / "a.jpg", box=Box(0, 400, 640, 800))
    small = np.asarray(whole.resize(part.size, Image.Resampling.BOX)).astype(int)
    assert np.abs(small - np.asarray(part)).mean() < 2
