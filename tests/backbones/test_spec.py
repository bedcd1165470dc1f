"""Specs: one text, one digest, one name for one model."""

from dataclasses import replace
from typing import Any

from eds.backbones import BackboneSpec
from eds.backbones.presets import IMAGENET

SPEC = BackboneSpec("timm", "resnet50.tv2_in1k", "", "ab", (("module.", ""),), "avg", 2048, IMAGENET)


def test_every_field_is_in_the_digest() -> None:
    other: dict[str, Any] = {
        "loader": "a",
        "name": "a",
        "weights": "a",
        "weights_sha256": "a",
        "key_map": (),
        "pooling": "a",
        "dimension": 1,
        "preprocessing": IMAGENET.changed(draft=True),
        "normalise": False,
        "licence": "a",
        "random_init": True,
        "similarity": "dot",
        "precision": "bfloat16",
        "runtime": "torch",
        "options": (("size", "9"),),
    }
    assert set(other) == set(BackboneSpec.__dataclass_fields__)
    digests = {replace(SPEC, **{name: value}).digest for name, value in other.items()}
    assert len(digests | {SPEC.digest}) == len(other) + 1
    assert BackboneSpec.from_json(SPEC.to_json()) == SPEC


def test_names_are_readable_and_differ_where_the_model_does() -> None:
    changed = [
        SPEC,
        replace(SPEC, weights="moco.pth"),
        replace(SPEC, options=(("size", "9"),)),
        replace(SPEC, options=(("precision", "bfloat16"),)),
        replace(SPEC, name="x" * 200),
        replace(SPEC, loader="my.code"),
    ]
    names = [spec.default_name for spec in changed]
    assert names[:2] == ["timm-resnet50.tv2_in1k", "timm-resnet50.tv2_in1k-moco.pth"]
    assert names[2].startswith("timm-resnet50.tv2_in1k-")
    assert len(set(names)) == len(names)
    assert max(map(len, names)) <= 100
