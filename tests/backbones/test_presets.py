"""The paper's models: fourteen, each text readable, each preprocessing the official one."""

import shlex
from pathlib import Path

import pytest
import timm

from eds.backbones import PRESETS, Preset, Request, load, preset_text
from eds.backbones.families.timm import OPTIONS
from eds.backbones.presets import CLIP
from eds.errors import InputError
from eds.registry import BACKBONES


def test_there_are_fourteen() -> None:
    assert len(PRESETS) == 14


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_the_text_says_the_preprocessing(preset: Preset) -> None:
    request = Request.parse(preset.text_in(Path("/weights")))
    assert request.loader in BACKBONES
    request.allow_only("arch", *OPTIONS)
    assert request.preprocessing(CLIP) == preset.preprocessing
    assert (request.name == f"/weights/{preset.file}") == bool(preset.file)
    assert (preset.preprocessing == CLIP) == (request.loader == "open_clip")


OF_TIMM = {name: preset for name, preset in PRESETS.items() if not preset.text.startswith("open_clip:")}


@pytest.mark.parametrize("preset", OF_TIMM.values(), ids=OF_TIMM)
def test_the_architecture_exists_and_has_the_dimension(preset: Preset) -> None:
    request = Request.parse(preset.text)
    name = request.option("arch").partition(":")[2] or request.name
    architecture, _, tag = name.partition(".")
    assert timm.is_model(architecture)
    assert name in (timm.list_pretrained() if tag else timm.list_models())
    import torch

    with torch.device("meta"):
        model = timm.create_model(name, num_classes=0)
    logits = request.option("output") == "logits"
    assert preset.dimension == (1000 if logits else model.num_features)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_file_of_the_users_changes_nothing_but_the_weights(preset: str) -> None:
    own, paper = Request.parse(preset_text(f"{preset}@/away/w.pth")), Request.parse(PRESETS[preset].text)
    assert own.options == paper.options
    assert own.loader == paper.loader
    assert (own.name if PRESETS[preset].file else own.weights.rpartition("=")[2]) == "/away/w.pth"


@pytest.mark.parametrize("preset", [name for name, preset in PRESETS.items() if not preset.file])
def test_what_is_advised_without_a_network_is_the_same_model(preset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda *_, **__: None)
    monkeypatch.setattr("torch.hub.get_dir", lambda: "/nowhere")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(InputError) as caught:
        load(PRESETS[preset].text)
    advised = Request.parse(shlex.split(str(caught.value).partition("name it: ")[2])[0].removesuffix("."))
    assert advised == Request.parse(preset_text(f"{preset}@/path/file.safetensors"))


def test_a_preset_without_its_file_or_with_an_empty_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        InputError, match=r"argus: its weights are on no hub \(weights not public\).*argus@/path/argus_d"
    ):
        preset_text("argus")
    with pytest.raises(InputError, match="dino@: no weights file after @"):
        preset_text("dino@")
    (tmp_path / "argus_densenet.pth").touch()
    assert preset_text("argus") == PRESETS["argus"].text
