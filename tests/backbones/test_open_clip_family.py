"""CLIP models against open_clip's own transform and encode_image; and the trap of the activation."""

from pathlib import Path

import numpy as np
import pytest

from eds.backbones import load
from eds.errors import InputError, UnknownNameError
from tests.backbones.pictures import TINY_CLIP, clip_file, pictures, timm_file
from tests.reference import backbones as slow


def test_vectors_are_encode_images_own(tmp_path: Path) -> None:
    path = clip_file(tmp_path)
    backbone = load(f"open_clip:{TINY_CLIP}@{path}")
    found = backbone.encode(np.stack([backbone.spec.preprocessing.pixels(image) for image in pictures()]))
    assert backbone.spec.dimension == 48
    assert slow.distance(found, slow.open_clip_vectors(TINY_CLIP, path, pictures())) <= 1e-5
    by_checkpoint = load(f"checkpoint:{path}?arch=open_clip:{TINY_CLIP}")
    alone = by_checkpoint.encode(backbone.spec.preprocessing.pixels(pictures()[0])[None])
    assert slow.distance(alone, found[:1]) <= 1e-5


def test_the_wrong_activation_is_refused_not_warned_of() -> None:
    with pytest.raises(InputError, match="Write open_clip:ViT-B-32-quickgelu@openai"):
        load("open_clip:ViT-B-32@openai")


def test_weights_of_another_model_are_refused(tmp_path: Path) -> None:
    clip_file(tmp_path)
    path = timm_file(tmp_path, "test_vit")
    with pytest.raises(InputError, match="do not fit this model") as caught:
        load(f"open_clip:{TINY_CLIP}@{path}")
    assert any("Missing key" in fault for fault in caught.value.faults)


@pytest.mark.parametrize(
    ("text", "error", "told"),
    [
        ("open_clip:ViT-B-33@openai", UnknownNameError, "Did you mean ViT-B-32"),
        ("open_clip:ViT-B-32-quickgelu", InputError, "tags: openai"),
        ("open_clip:ViT-B-32-quickgelu@/nowhere.pt", InputError, "neither a file nor a tag of .* or @TAG: openai"),
        ("open_clip:ViT-B-32@openai?output=logits", InputError, "unknown option output"),
    ],
)
def test_refusals(text: str, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        load(text)
