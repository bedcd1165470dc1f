"""Pixels: torchvision's, to the byte; parameters: refused together; digests: of meaning, not of spelling."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from eds.backbones import Preprocessing
from eds.backbones.presets import IMAGENET
from eds.errors import ImageError, InputError
from tests.reference import backbones as slow

STEPS = st.builds(
    lambda resize, crop, more, interpolation, channels: Preprocessing(
        resize, crop + more, interpolation, crop, channels, (0.5,) * 3, (0.5,) * 3
    ),
    st.sampled_from(["squash", "shortest"]),
    st.integers(1, 40),
    st.integers(0, 13),
    st.sampled_from(["nearest", "bilinear", "bicubic", "lanczos"]),
    st.sampled_from(["RGB", "BGR"]),
)


@given(STEPS, st.integers(1, 90), st.integers(1, 90), st.integers(0, 99))
def test_pixels_are_torchvisions(steps: Preprocessing, width: int, height: int, seed: int) -> None:
    noise = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    image = Image.fromarray(noise)
    np.testing.assert_array_equal(steps.pixels(image), slow.pixels(image, steps))


@given(st.integers(1, 60), st.integers(1, 60))
def test_longest_is_timms_border_mode(width: int, height: int) -> None:
    from timm.data.transforms_factory import create_transform

    noise = np.random.default_rng(7).integers(0, 256, (height, width, 3), dtype=np.uint8)
    image, mean = Image.fromarray(noise), (0.2, 0.5, 0.7)
    theirs = create_transform(
        (3, 24, 24), crop_pct=0.8, crop_mode="border", interpolation="bicubic", mean=mean, normalize=False
    )
    ours = Preprocessing("longest", 30, "bicubic", 24, "RGB", mean, (1.0,) * 3).pixels(image)
    np.testing.assert_array_equal(ours, np.asarray(theirs(image)).transpose(1, 2, 0))


def test_a_picture_of_the_right_size_is_left_alone_and_another_refused() -> None:
    steps = IMAGENET.changed(resize="none", size=20)
    noise = np.random.default_rng(1).integers(0, 256, (20, 20, 3), dtype=np.uint8)
    np.testing.assert_array_equal(steps.pixels(Image.fromarray(noise)), noise)
    with pytest.raises(ImageError, match=r"21 x 20 pixels, the model takes 20 x 20"):
        steps.pixels(Image.new("RGB", (21, 20)))


def test_what_cannot_be_done_is_refused() -> None:
    with pytest.raises(ImageError, match="too thin: 1 x 5000"):
        IMAGENET.changed(resize="shortest").pixels(Image.new("RGB", (1, 5000)))
    with pytest.raises(ImageError, match="the image is L, not RGB"):
        IMAGENET.pixels(Image.new("L", (9, 9)))


def test_all_faults_at_once() -> None:
    with pytest.raises(InputError) as caught:
        Preprocessing("squish", 0, "cubic", 3, "RGBA", (0.5,), (0.0,) * 3, (0, 0, 256))  # type: ignore[arg-type]
    assert [fault.split()[0] for fault in caught.value.faults] == [
        "resize",
        "interpolation",
        "channels",
        "size",
        "mean",
        "std",
        "background",
    ]


def test_a_new_size_or_resize_sees_the_whole_square_it_names() -> None:
    timms = Preprocessing("shortest", 256, "bicubic", 224, "RGB", (0.5,) * 3, (0.5,) * 3)
    assert (timms.changed(resize="squash").size, timms.changed(resize="squash").crop) == (224, None)
    assert (timms.changed(size=176).side, timms.changed(size=256, crop=200).side) == (176, 200)
    assert timms.changed(interpolation="bilinear").crop == 224


def test_equal_pixels_have_an_equal_key() -> None:
    other = IMAGENET.changed(mean=(0.5,) * 3, std=(0.5,) * 3)
    assert other.pixels_key == IMAGENET.pixels_key
    assert other.digest != IMAGENET.digest
    assert IMAGENET.changed(crop=224).digest == IMAGENET.digest
    for name, value in {"draft": True, "background": (0, 0, 0), "channels": "BGR", "crop": 9}.items():
        assert IMAGENET.changed(**{name: value}).pixels_key != IMAGENET.pixels_key
    assert Preprocessing.from_json(IMAGENET.to_json()) == IMAGENET
