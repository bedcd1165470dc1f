"""Checkpoints of authors: wrapped, prefixed, with a second encoder and a projection, as MoCo and SwAV write them."""

import json
from pathlib import Path

import numpy as np
import pytest
import timm
import torch

from eds.backbones import load
from eds.errors import EdsError, InputError
from tests.backbones.pictures import pictures, timm_file
from tests.reference import backbones as slow

MOCO = "arch=timm:test_resnet&prefix=module.encoder_q."
SWAV = "arch=timm:test_resnet&prefix=module.&drop=projection_head&drop=prototypes"


@pytest.fixture
def trunk(tmp_path: Path) -> dict[str, torch.Tensor]:
    from safetensors.torch import load_file

    return load_file(timm_file(tmp_path, "test_resnet", classes=0))


def test_moco_takes_the_query_encoder(tmp_path: Path, trunk: dict[str, torch.Tensor]) -> None:
    state = {f"module.encoder_q.{name}": tensor for name, tensor in trunk.items()}
    state |= {f"module.encoder_k.{name}": tensor * 2 for name, tensor in trunk.items()}
    state |= {"module.encoder_q.fc.0.weight": torch.ones(3, 3), "module.queue": torch.ones(3, 9)}
    torch.save(
        {"epoch": 800, "arch": "resnet50", "state_dict": state, "optimizer": {"state": {}}}, tmp_path / "moco.pth.tar"
    )
    backbone = load(f"checkpoint:{tmp_path}/moco.pth.tar?{MOCO}")
    found = backbone.encode(np.stack([backbone.spec.preprocessing.pixels(image) for image in pictures()]))
    expected = slow.timm_vectors("test_resnet", tmp_path / "test_resnet.safetensors", pictures(), num_classes=0)
    assert slow.distance(found, expected) <= 1e-5
    assert backbone.spec.key_map == (("module.encoder_q.", ""),)
    assert backbone.spec.default_name.startswith("checkpoint-moco.pth.tar-")


def test_swav_drops_what_is_named_and_nothing_else(tmp_path: Path, trunk: dict[str, torch.Tensor]) -> None:
    state = {f"module.{name}": tensor for name, tensor in trunk.items()}
    state |= {"module.projection_head.0.weight": torch.ones(3, 3), "module.prototypes.weight": torch.ones(3, 3)}
    torch.save(state, tmp_path / "swav.pth.tar")
    assert (
        load(f"checkpoint:{tmp_path}/swav.pth.tar?{SWAV}").spec.dimension
        == timm.create_model("test_resnet").num_features
    )
    with pytest.raises(InputError) as caught:
        load(f"checkpoint:{tmp_path}/swav.pth.tar?{SWAV.removesuffix('&drop=prototypes')}")
    assert caught.value.faults == ("unexpected in the file (1): prototypes.weight",)


def saved(path: Path, tensors: dict[str, torch.Tensor], **told: object) -> Path:
    from safetensors.torch import save_file

    save_file(tensors, path, {"eds.training": json.dumps(told)})
    return path


def test_a_file_that_says_what_it_is_needs_its_path_only(tmp_path: Path, trunk: dict[str, torch.Tensor]) -> None:
    file = saved(tmp_path / "own.safetensors", trunk, options={"arch": "timm:test_resnet", "size": 48, "crop": "0"})
    short = load(f"checkpoint:{file}", device="cpu", runtime="torch").spec
    assert short == load(f"checkpoint:{file}?arch=timm:test_resnet&size=48&crop=0", device="cpu", runtime="torch").spec
    assert short.preprocessing.side == 48
    assert load(f"checkpoint:{file}?size=32&crop=0", device="cpu", runtime="torch").spec.preprocessing.side == 32


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"options": ["arch"]}, "the architecture is unknown"),
        ({"options": {"size": "48"}}, "the architecture is unknown"),
        ({"options": {"arch": "timm:hf-hub:somebody/model"}}, "timm has no model"),
        ({"options": {"arch": "module:os"}}, "the architecture is unknown"),
        ({"options": {"arch": "timm:test_resnet", "run": "me"}}, "unknown options"),
        ({"options": {"arch": "timm:test_vit"}}, "do not fit this architecture"),
    ],
)
def test_what_a_file_says_of_itself_is_trusted_no_further_than_a_user(
    tmp_path: Path, trunk: dict[str, torch.Tensor], told: dict[str, object], says: str
) -> None:
    with pytest.raises(EdsError, match=says):
        load(f"checkpoint:{saved(tmp_path / 'own.safetensors', trunk, **told)}", device="cpu", runtime="torch")


def test_the_architecture_must_be_told() -> None:
    with pytest.raises(InputError, match="arch=timm:resnet50"):
        load("checkpoint:/a/b.pth")
    with pytest.raises(InputError, match="cannot be random"):
        load("checkpoint:/a/b.pth?arch=timm:resnet50", random_init=True)


def test_a_file_of_our_own_that_cannot_be_read_is_told_as_that(
    tmp_path: Path, trunk: dict[str, torch.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path / "own.safetensors", trunk, options={"arch": "timm:test_resnet"})
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"own.safetensors: the safetensors file is damaged"):
        load(f"checkpoint:{path}")
    path.write_bytes(whole)

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    for text in (f"checkpoint:{path}", f"checkpoint:{path}?arch=timm:test_resnet"):
        with monkeypatch.context() as patched:
            patched.setattr("pathlib.Path.open", refused)  # safetensors itself says that there is no such file
            with pytest.raises(InputError, match=r"own.safetensors: it may not be read .*Ask its owner"):
                load(text)
    path.unlink()
    with pytest.raises(InputError, match=r"own.safetensors: weights file not found"):
        load(f"checkpoint:{path}")
