"""From text to backbone: names, settings, a user's own code; and what importing costs."""

import subprocess
import sys
from pathlib import Path

import pytest

from eds.backbones import load
from eds.errors import InputError, MissingExtraError, UnknownNameError

OWN = """
import {imported}
class Shade:
    def __init__(self, request):
        from eds.backbones.presets import IMAGENET
        self.spec = request.spec(IMAGENET, dimension=1)
    def encode(self, batch): return batch.mean(axis=(1, 2, 3))[:, None].astype("float32")
nothing = 3
empty = dict
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "eds_test_syntax.py").write_text("def :")
    for name, imported in {"shades": "json", "lacking": "no_such_package"}.items():
        (tmp_path / f"eds_test_{name}.py").write_text(OWN.format(imported=imported))
    monkeypatch.syspath_prepend(str(tmp_path))
    return "eds_test_shades"


def test_a_users_own_class_is_a_backbone(own: str) -> None:
    backbone = load(f"{own}:Shade?size=32&interpolation=bicubic", crop=16)
    assert (backbone.spec.preprocessing.side, backbone.spec.dimension) == (16, 1)
    assert backbone.spec.text == f"{own}:Shade?crop=16&interpolation=bicubic&size=32"


def test_what_is_no_backbone_is_refused(own: str) -> None:
    with pytest.raises(UnknownNameError, match="has no callable Shadow"):
        load(f"{own}:Shadow")
    with pytest.raises(UnknownNameError, match="has no callable nothing"):
        load(f"{own}:nothing")
    with pytest.raises(MissingExtraError, match="needs the package no_such_package"):
        load("eds_test_lacking:Shade")
    with pytest.raises(InputError, match=r"eds_test_syntax:X: it cannot be imported \(SyntaxError"):
        load("eds_test_syntax:X")
    with pytest.raises(InputError, match=r"it cannot be made \(TypeError: .*A factory takes the request|Correct it"):
        load(f"{own}:empty")
    with pytest.raises(UnknownNameError, match=r"Did you mean timm.*Python finds no module tim"):
        load("tim:resnet18")
    with pytest.raises(InputError, match="unknown setting sise"):
        load("descriptor:hsv", sise=3)


def test_importing_loads_no_network_library() -> None:
    heavy = {"torch", "timm", "open_clip", "openvino", "skimage", "torchvision"}
    code = f"import sys, eds.backbones; sys.exit(', '.join({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""
