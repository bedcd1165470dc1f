"""The straight way to a JPEG's pixels gives what Pillow gives, or nothing."""

import io
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image

from eds.backbones.preprocessing import Preprocessing, Resize
from eds.imaging import MAX_PIXELS, rgb_of
from eds.imaging.jpegs import plain_rgb
from tests.privileges import needed

needed("simplejpeg")

DRAWN = np.random.default_rng(7).integers(0, 256, (61, 83, 3), dtype=np.uint8)


def file_of(picture: Image.Image, **saved: Any) -> bytes:
    file = io.BytesIO()
    picture.save(file, "JPEG", **saved)
    return file.getvalue()


def by_pillow(data: bytes) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.asarray(rgb_of(data, where="test"))


@given(
    width=st.integers(1, 83),
    height=st.integers(1, 61),
    quality=st.integers(1, 100),
    subsampling=st.sampled_from([0, 1, 2]),
    progressive=st.booleans(),
    restart=st.integers(0, 3),
    smooth=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_every_plain_jpeg_has_pillows_pixels(
    width: int, height: int, quality: int, subsampling: int, progressive: bool, restart: int, smooth: bool
) -> None:
    drawn = np.sort(DRAWN, axis=0) if smooth else DRAWN
    data = file_of(
        Image.fromarray(drawn[:height, :width]),
        quality=quality,
        subsampling=subsampling,
        progressive=progressive,
        restart_marker_blocks=restart,
        icc_profile=b"profile" if smooth else None,
        comment="a word",
    )
    found = plain_rgb(data, MAX_PIXELS)
    assert found is not None
    np.testing.assert_array_equal(found, by_pillow(data))


def turned() -> bytes:
    exif = Image.Exif()
    exif[274] = 6
    return file_of(Image.fromarray(DRAWN), exif=exif)


UNUSUAL = {
    "turned by EXIF": turned(),
    "grey": file_of(Image.fromarray(DRAWN[..., 0])),
    "CMYK": file_of(Image.fromarray(DRAWN).convert("CMYK")),
    "stored as RGB": file_of(Image.fromarray(DRAWN), keep_rgb=True),
    "cut short": file_of(Image.fromarray(DRAWN))[:-200],
    "without its end": file_of(Image.fromarray(DRAWN))[:-2],
    "only a header": file_of(Image.fromarray(DRAWN))[:160],
    "not a JPEG": b"\x89PNG\r\n\x1a\n" + bytes(64),
    "empty": b"",
}


@pytest.mark.parametrize("data", UNUSUAL.values(), ids=UNUSUAL)
def test_whatever_is_not_plain_is_left_to_pillow(data: bytes) -> None:
    assert plain_rgb(data, MAX_PIXELS) is None


def test_a_picture_of_too_many_pixels_is_left_to_pillow() -> None:
    data = file_of(Image.fromarray(DRAWN))
    assert plain_rgb(data, 61 * 83) is not None
    assert plain_rgb(data, 61 * 83 - 1) is None


@given(place=st.floats(0, 1), value=st.integers(0, 255), progressive=st.booleans())
@settings(max_examples=200, deadline=None)
@example(place=0.0, value=0, progressive=False)
def test_a_damaged_byte_never_gives_other_pixels_than_pillow(place: float, value: int, progressive: bool) -> None:
    data = bytearray(file_of(Image.fromarray(DRAWN), quality=60, progressive=progressive))
    data[int(place * (len(data) - 1))] = value
    found = plain_rgb(bytes(data), MAX_PIXELS)
    if found is None:
        return
    np.testing.assert_array_equal(found, by_pillow(bytes(data)))  # which raises if Pillow refuses it


@given(
    width=st.integers(8, 83),
    height=st.integers(8, 61),
    resize=st.sampled_from([kind for kind in get_args(Resize) if kind != "none"]),
    size=st.integers(8, 64),
    crop=st.integers(1, 64),
    channels=st.sampled_from(["RGB", "BGR"]),
)
@settings(max_examples=200, deadline=None)
@example(width=83, height=61, resize="shortest", size=61, crop=40, channels="RGB")
@example(width=83, height=61, resize="shortest", size=61, crop=40, channels="BGR")
def test_an_array_is_prepared_as_its_picture_is(
    width: int, height: int, resize: Any, size: int, crop: int, channels: Any
) -> None:
    rules = Preprocessing(
        resize, size, "bicubic", min(crop, size) if resize == "shortest" else None, channels, (0.4, 0.5, 0.6), (1, 1, 1)
    )
    array = DRAWN[:height, :width]
    np.testing.assert_array_equal(rules.pixels(array), rules.pixels(Image.fromarray(array)))
