"""The paper's models: fourteen, each text readable, each preprocessing the official one."""

from pathlib import Path

import pytest
import timm

from eds.backbones import BACKBONES, PRESETS, Preset, Request
from eds.backbones.presets import CLIP
from eds.backbones.timm_models import OPTIONS


def test_there_are_fourteen() -> None:
    assert len(PRESETS) == 14


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_the_text_says_the_preprocessing(preset: Preset) -> None:
    request = Request.parse(preset.text_in(Path("/weights")))
    assert request.loader in BACKBONES.entries()
    request.only("arch", *OPTIONS)
    assert request.preprocessing(CLIP) == preset.preprocessing
    assert (request.name == f"/weights/{preset.file}") == bool(preset.file)
    assert (preset.preprocessing == CLIP) == (request.loader == "open_clip")


OF_TIMM = {name: preset for name, preset in PRESETS.items() if not preset.text.startswith("open_clip:")}


@pytest.mark.parametrize("preset", OF_TIMM.values(), ids=OF_TIMM)
def test_the_architecture_exists_and_has_the_dimension(preset: Preset) -> None:
    request = Request.parse(preset.text)
    name = request.one("arch").partition(":")[2] or request.name
    architecture, _, tag = name.partition(".")
    assert timm.is_model(architecture)
    assert name in (timm.list_pretrained() if tag else timm.list_models())
    import torch

    with torch.device("meta"):
        model = timm.create_model(name, num_classes=0)
    logits = request.one("output") == "logits"
    assert preset.dimension == (1000 if logits else model.num_features)
