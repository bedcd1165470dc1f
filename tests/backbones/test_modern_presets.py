"""Models by the names that people say: what is listed of them is what their libraries say."""

import json
from pathlib import Path

import open_clip
import pytest
import timm
import torch
from click.testing import CliRunner

from eds.backbones import MODERN, PRESETS, Request, load, preset_text
from eds.backbones.modern_presets import PAPER, Facts, NamedModel, state_of
from eds.cli import cli
from eds.errors import InputError

OF_TIMM = {name: model for name, model in MODERN.items() if model.text.startswith("timm:")}
OF_OPEN_CLIP = {name: model for name, model in MODERN.items() if "@" in model.text}
FILES = {name: preset for name, preset in PRESETS.items() if preset.file}


@pytest.mark.parametrize("model", OF_TIMM.values(), ids=OF_TIMM)
def test_facts_of_timm(model: NamedModel) -> None:
    name = Request.parse(model.text).name
    config = timm.get_pretrained_cfg(name)
    assert config is not None
    assert (config.hf_hub_id, config.license, config.input_size[-1]) == (
        model.facts.repository,
        model.facts.licence,
        model.facts.side,
    )
    with torch.device("meta"):
        network = timm.create_model(name)
    assert model.dimension == network.num_features
    assert model.facts.megabytes == sum(one.numel() for one in network.parameters()) * 4 // 10**6


@pytest.mark.parametrize("model", OF_OPEN_CLIP.values(), ids=OF_OPEN_CLIP)
def test_facts_of_open_clip(model: NamedModel) -> None:
    request = Request.parse(model.text)
    config, known = (
        open_clip.get_model_config(request.name),
        open_clip.get_pretrained_cfg(request.name, request.weights),
    )
    assert known["hf_hub"].rstrip("/") == model.facts.repository
    assert (config["embed_dim"], config["vision_cfg"]["image_size"]) == (model.dimension, model.facts.side)


@pytest.mark.parametrize("name", [name for name in PRESETS if name not in FILES and name != "clip"])
def test_facts_of_the_papers_models(name: str) -> None:
    config = timm.get_pretrained_cfg(Request.parse(PRESETS[name].text).name)
    assert config is not None
    assert (config.hf_hub_id, config.license) == (PAPER[name].repository, PAPER[name].licence)
    assert PRESETS[name].preprocessing.size == PAPER[name].side


def test_dinov3_is_its_class_token() -> None:
    assert load("timm:vit_small_patch16_dinov3.lvd1689m?pooling=token", random_init=True).spec.pooling == "token"
    assert "pooling=token" in preset_text("dinov3")


def test_a_file_of_ones_own() -> None:
    assert Request.parse(preset_text("dinov3@/w/d.safetensors")).weights == "/w/d.safetensors"
    assert Request.parse(preset_text("siglip2@/w/s.bin")).weights == "webli=/w/s.bin"
    assert Request.parse(preset_text("dreamsim@/w/d.onnx")).name == "/w/d.onnx"
    with pytest.raises(InputError, match="local-dir:/path/folder"):
        preset_text("fashionsiglip@/w/f.bin")


def test_a_model_that_no_hub_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"dreamsim: its weights are on no hub .*-m dreamsim@/path/dreamsim.onnx"):
        preset_text("dreamsim")


@pytest.mark.parametrize("name", ["dinov2", "siglip2", "fashionsiglip", "fashionclip"])
def test_absent_weights_are_one_clear_line(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda *_, **__: None)
    monkeypatch.setattr("torch.hub.get_dir", lambda: str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(InputError) as caught:
        load(preset_text(name))
    assert "\n" not in str(caught.value)


def test_where_the_weights_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    facts = Facts(224, "mit", 9, "org/name")
    assert state_of(facts) == "to download"
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert state_of(facts).startswith("no network")
    kept = tmp_path / "models--org--name" / "snapshots" / "abc"
    kept.mkdir(parents=True)
    (kept / "config.json").touch()
    assert state_of(facts).startswith("no network")
    (kept / "model.safetensors").touch()
    assert state_of(facts) == "here"
    assert state_of(facts, str(kept / "model.safetensors")) == "your file, here"


def test_weights_of_a_package_are_here_where_it_is_installed() -> None:
    assert state_of(Facts(224, "mit", 9, package="json")) == "here"
    assert "eds-benchmark[offline]" in state_of(Facts(224, "mit", 9, package="no_such_package"))


def test_the_demo_s_network_has_the_name_that_its_tables_show() -> None:
    from eds.project.demo import MODELS

    assert f"lite0={MODERN['lite0'].text}" in MODELS


def test_a_mistyped_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError) as error:
        preset_text("dinov22")
    assert "dinov2?" in str(error.value)


def test_the_list_has_all_and_needs_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["embeddings", "list", "--presets", "--json"], catch_exceptions=False)
    listed = {one["preset"]: one for one in json.loads(done.stdout)["presets"]}
    assert list(listed) == [*PRESETS, *MODERN]
    assert all(one["megabytes"] or one["weights"] == "your file, not here" for one in listed.values())
