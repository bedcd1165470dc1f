"""Descriptors against plain loops and direct convolution."""

import sys

import numpy as np
import pytest
from PIL import Image

from eds.backbones import load
from eds.backbones.families import descriptor
from eds.errors import InputError, MissingExtraError, UnknownNameError
from tests.backbones.pictures import pictures
from tests.reference import backbones as slow

SIDE = descriptor.SIDE


def batch() -> descriptor.Pixels:
    return np.stack([np.asarray(image.resize((SIDE, SIDE))) for image in pictures(2)])


def test_hsv_is_the_histogram_of_the_standard_librarys_colours() -> None:
    bins = (descriptor.HUES, descriptor.SATURATIONS, descriptor.VALUES)
    expected = np.stack([slow.hsv(image, bins) for image in batch()])
    # values on a bin's edge may fall to either side of it: at most a few pixels of 16,384
    assert np.abs(descriptor.hsv(batch()) ** 2 - expected**2).max() <= 5 / SIDE**2


@pytest.mark.parametrize(("place", "direction"), [(0, 0), (2, 4)])
def test_gabor_is_the_direct_convolution(place: int, direction: int) -> None:
    image = batch()[0]
    angle = np.pi * direction / descriptor.ANGLES
    expected = slow.gabor(image, descriptor.FREQUENCIES[place], angle, descriptor.GRID)
    cells = descriptor.gabor(image[None]).reshape(len(descriptor.FREQUENCIES), descriptor.ANGLES, -1)
    # the filter is not centred here, which moves the answer by less than its radius
    assert cells[place, direction].mean() == pytest.approx(expected.mean(), rel=1e-6)


def test_lbp_counts_every_pixel_of_every_cell() -> None:
    found = descriptor.lbp(batch()).reshape(2, -1) ** 2
    first = found[:, : 16 * 10].reshape(2, 16, 10)
    assert first.sum(axis=2) == pytest.approx(np.ones((2, 16)))
    flat = descriptor.lbp(np.full((1, SIDE, SIDE, 3), 90, np.uint8))[0, :160].reshape(16, 10)
    assert flat[5, 8] == pytest.approx(1)  # all neighbours as bright: eight of eight


def test_hog_turns_with_the_picture() -> None:
    stripes = np.zeros((1, SIDE, SIDE, 3), np.uint8)
    stripes[:, :, ::8] = 255
    upright, lying = descriptor.hog(stripes), descriptor.hog(stripes.swapaxes(1, 2))
    assert upright.reshape(-1, 9).sum(0).argmax() != lying.reshape(-1, 9).sum(0).argmax()


@pytest.mark.parametrize("name", list(descriptor.DESCRIPTORS))
def test_a_flat_picture_has_a_vector_too(name: str) -> None:
    flat = np.full((1, SIDE, SIDE, 3), 255, np.uint8)
    assert np.linalg.norm(load(f"descriptor:{name}").encode(flat)) == pytest.approx(1)


def test_refusals() -> None:
    with pytest.raises(UnknownNameError, match="hsv, hog, lbp, gabor"):
        load("descriptor:sift")
    with pytest.raises(InputError) as caught:
        load("descriptor:hsv?size=64", random_init=True, precision="bfloat16")
    assert len(caught.value.faults) == 3
    with pytest.raises(InputError, match="not uint8"):
        load("descriptor:hsv").encode(np.zeros((1, 9, 9, 3), np.uint8))
    by_short_side = load("descriptor:hsv", resize="shortest").spec.preprocessing
    assert by_short_side.pixels(Image.new("RGB", (300, 200))).shape == (SIDE, SIDE, 3)


def test_a_descriptor_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "skimage.color", None)
    with pytest.raises(MissingExtraError, match="pip install scikit-image"):
        load("descriptor:hsv")
