"""Weights of the hubs, where there is no hub: told quickly, with the file and how to give it; never random ones."""

import time
from pathlib import Path

import huggingface_hub
import pytest
import torch
from huggingface_hub import constants

from eds.backbones import hub, load
from eds.errors import InputError


@pytest.fixture(autouse=True)
def _no_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")  # nobody listens there


@pytest.mark.parametrize(
    ("text", "wanted", "supply"),
    [
        ("timm:test_resnet.r160_in1k", "timm/test_resnet.r160_in1k/model.safetensors", "test_resnet.r160_in1k@/path/"),
        (
            "open_clip:ViT-B-32-quickgelu@openai",
            "timm/vit_base_patch32_clip_224.openai/open_clip_model",
            "gelu@openai=/path/",
        ),
    ],
)
@pytest.mark.parametrize("offline", [False, True])
def test_the_refusal_is_quick_and_names_the_file(
    text: str, wanted: str, supply: str, offline: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1" if offline else "0")
    start = time.monotonic()
    with pytest.raises(InputError) as caught:
        load(text)
    assert time.monotonic() - start < 20
    message = str(caught.value)
    assert wanted in message
    assert supply in message
    assert ("HF_HUB_OFFLINE is set" if offline else "cannot be reached") in message


def test_the_cache_is_used_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda _, name, revision: str(tmp_path / name))
    assert hub.weights_file("a/b", ["x.safetensors"], "", "") == tmp_path / "x.safetensors"


def test_files_of_an_address_are_looked_for_in_torchs_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path))
    with pytest.raises(InputError, match="cannot be reached"):
        hub.weights_file("", [], "http://127.0.0.1:9/w.pth", "")
    kept = tmp_path / "checkpoints" / "w.pth"
    kept.parent.mkdir()
    kept.write_bytes(b"x")
    assert hub.weights_file("", [], "http://127.0.0.1:9/w.pth", "") == kept


def test_a_transfer_falls_back_to_the_older_file_name_and_a_lost_one_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub.errors import EntryNotFoundError

    def old_only(repository: str, name: str, revision: str | None) -> str:
        if name == "model.safetensors":
            raise EntryNotFoundError("no such entry")
        return str(tmp_path / repository / name)

    def lost(repository: str, name: str, revision: str | None) -> str:
        raise hub._transfer_errors()[1]("connection lost")  # the root of what the transport raises

    names = ["model.safetensors", "pytorch_model.bin"]
    monkeypatch.setattr(hub, "_find_trouble", lambda place: "")
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", old_only)
    assert hub.weights_file("a/b", names, "", "") == tmp_path / "a/b/pytorch_model.bin"
    with pytest.raises(InputError, match="the repository has no such file"):
        hub.weights_file("a/b", names[:1], "", "")
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", lost)
    with pytest.raises(InputError, match="connection lost"):
        hub.weights_file("a/b", names, "", "")
