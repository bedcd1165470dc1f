"""CLIP models against open_clip's own transform and encode_image; and the trap of the activation."""

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytest
import torch

from eds.backbones import load, weights
from eds.backbones.families.open_clip import _steps_of_file, _steps_of_tag, _tag_and_file
from eds.backbones.request import Request
from eds.errors import InputError, UnknownNameError
from tests.backbones.pictures import CLIP_CONFIG, TINY_CLIP, clip_file, pictures, timm_file
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
        ("open_clip:ViT-B-32-quickgelu@/nowhere.pt", InputError, "neither a file nor a tag of"),
        ("open_clip:ViT-B-32@openai?output=logits", InputError, "unknown option output"),
    ],
)
def test_refusals(text: str, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        load(text)


def test_a_file_is_prepared_for_as_its_tag_says() -> None:
    for name in ("ViT-B-16-SigLIP", "MobileCLIP2-S0", "PE-Core-B-16"):
        tag = open_clip.list_pretrained_tags_by_model(name)[0]
        wanted = open_clip.get_pretrained_cfg(name, tag)
        for steps in (
            _steps_of_tag(name, tag),
            _steps_of_file(Request.parse(f"open_clip:{name}@x.pt"), name, Path("x.pt")),
        ):
            assert steps["mean"] == wanted["mean"]
            assert steps["interpolation"] == wanted["interpolation"]
    with pytest.raises(InputError, match="unknown preprocessing"):  # its tags differ: nothing is guessed
        _steps_of_file(Request.parse("open_clip:ViT-L-14@x.pt"), "ViT-L-14", Path("x.pt"))
    own = "open_clip:ViT-L-14@x.pt?mean=0,0,0&std=1,1,1&resize=squash&interpolation=bilinear"
    assert _steps_of_file(Request.parse(own), "ViT-L-14", Path("x.pt"))


def test_a_tag_and_a_file_are_told_apart() -> None:
    name = "ViT-B-32-quickgelu"
    assert _tag_and_file(name, "openai") == ("openai", "")
    assert _tag_and_file(name, "openai=/data/a=b.pt") == ("openai", "/data/a=b.pt")
    assert _tag_and_file(name, "/data/a=b.pt") == ("", "/data/a=b.pt")
    with pytest.raises(InputError, match="trained with QuickGELU"):
        load("open_clip:ViT-B-32@openai=/data/own.pt")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A folder in the layout of a hub repository, as open_clip pushes it, with preprocessing of its own."""
    path = clip_file(tmp_path)
    folder = tmp_path / "fashion-clip"
    folder.mkdir()
    path.rename(folder / "open_clip_model.safetensors")
    steps = {"mean": [0.5, 0.5, 0.5], "std": [0.25, 0.25, 0.25], "interpolation": "bilinear", "resize_mode": "squash"}
    config = {"model_cfg": json.loads(CLIP_CONFIG), "preprocess_cfg": {"size": 64, "mode": "RGB", **steps}}
    (folder / "open_clip_config.json").write_text(json.dumps(config))
    return folder


def test_a_folder_and_a_hub_repository_equal_open_clips_own_call(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, transform = open_clip.create_model_from_pretrained(f"local-dir:{repository}")
    with torch.inference_mode():
        wanted = model.eval().encode_image(torch.stack([transform(image) for image in pictures()]))
    wanted = torch.nn.functional.normalize(wanted).numpy()

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    snapshot = tmp_path / "hub/models--org--fashion-clip/snapshots/0123"
    shutil.copytree(repository, snapshot)
    refs = tmp_path / "hub/models--org--fashion-clip/refs"
    refs.mkdir()
    (refs / "main").write_text("0123")
    for text in (f"open_clip:local-dir:{repository}", "open_clip:hf-hub:org/fashion-clip"):
        backbone = load(text)
        found = backbone.encode(np.stack([backbone.spec.preprocessing.pixels(image) for image in pictures()]))
        assert slow.distance(found, wanted) <= 1e-5
        assert str(tmp_path) not in backbone.spec.text
    by_file = load(f"checkpoint:{repository}/open_clip_model.safetensors?arch=open_clip:{TINY_CLIP}")
    assert by_file.spec.preprocessing == backbone.spec.preprocessing  # read from the configuration beside the file


def test_a_folder_without_a_configuration_is_refused(repository: Path) -> None:
    (repository / "open_clip_config.json").write_text('{"model_cfg": {}}')
    with pytest.raises(InputError, match="incomplete configuration"):
        load(f"open_clip:local-dir:{repository}")
    (repository / "open_clip_config.json").unlink()
    with pytest.raises(InputError, match="lacks a file"):
        load(f"open_clip:local-dir:{repository}")
    for text in ("open_clip:local-dir:/nowhere", "open_clip:hf-hub:org"):
        with pytest.raises(InputError):
            load(text)


@pytest.mark.filterwarnings("ignore")  # tracing is deprecated, but OpenAI's files are traces
def test_a_torchscript_archive_is_read_without_running_it(tmp_path: Path) -> None:
    path = clip_file(tmp_path)
    model = open_clip.create_model(TINY_CLIP)
    open_clip.load_checkpoint(model, str(path))

    class Released(torch.nn.Module):  # as OpenAI's files: all weights of a CLIP model, and three numbers beside them
        def __init__(self) -> None:
            super().__init__()
            for name, part in model.named_children():
                self.add_module(name, part)
            for name, tensor in [*model.named_parameters(recurse=False), *model.named_buffers(recurse=False)]:
                self.register_parameter(name, torch.nn.Parameter(tensor.detach().half(), requires_grad=False))
            self.register_buffer("input_resolution", torch.tensor(64))

        def forward(self, image: torch.Tensor) -> torch.Tensor:
            return self.visual(image)  # type: ignore[no-any-return, operator]

    archive = tmp_path / "released.pt"
    jit: Any = torch.jit
    jit.trace(Released().eval(), torch.zeros(1, 3, 64, 64), check_trace=False).save(str(archive))
    state = weights.read(archive)
    wanted = jit.load(str(archive)).state_dict()
    assert set(state) == set(wanted)
    assert all(torch.equal(state[name], wanted[name]) for name in wanted)
    found = load(f"open_clip:{TINY_CLIP}@{archive}").encode(np.zeros((1, 64, 64, 3), np.uint8))
    assert slow.distance(found, load(f"open_clip:{TINY_CLIP}@{path}").encode(np.zeros((1, 64, 64, 3), np.uint8))) < 1e-5


def test_a_torchscript_archive_with_code_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x/constants.pkl", b"")
        archive.writestr("x/data.pkl", b"cos\nsystem\n(S'touch /nowhere'\ntR.")
    with pytest.raises(InputError, match="no plain tensors"):
        weights.read(path)
