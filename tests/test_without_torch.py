"""What an install without torch can do: these tests run there, too (make test-lean)."""

import importlib.util

import numpy as np
import pytest
import skimage.data
from PIL import Image

from eds.backbones import load
from eds.errors import MissingExtraError

CATS = {281, 282, 285}  # of ImageNet's classes


def cat() -> Image.Image:
    return Image.fromarray(getattr(skimage.data, "chelsea")())  # noqa: B009 - the function has no types


def test_a_network_of_a_package_recognises_a_cat() -> None:
    backbone = load("wheel:efficientnet_lite0?output=logits", threads=1)
    pixels = backbone.spec.preprocessing.pixels(cat())
    assert set(np.argsort(-backbone.encode(pixels[None])[0])[:3].tolist()) == CATS


def test_descriptors_need_no_extra() -> None:
    backbone = load("descriptor:hog")
    pixels = backbone.spec.preprocessing.pixels(cat())
    assert backbone.encode(pixels[None]).shape == (1, 1764)


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="torch is installed")
def test_what_needs_torch_says_what_to_install() -> None:
    with pytest.raises(MissingExtraError, match="backbone family timm needs the package timm") as caught:
        load("timm:resnet50")
    assert caught.value.hint == 'Run: pip install "eds-benchmark[vision]".'
    with pytest.raises(MissingExtraError, match="runtime torch needs the package torch"):
        load("wheel:efficientnet_lite0", runtime="torch")
