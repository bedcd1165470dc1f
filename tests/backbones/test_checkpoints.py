"""Checkpoints of authors: wrapped, prefixed, with a second encoder and a projection, as MoCo and SwAV write them."""

from pathlib import Path

import numpy as np
import pytest
import timm
import torch

from eds.backbones import load
from eds.errors import InputError
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


def test_the_architecture_must_be_told() -> None:
    with pytest.raises(InputError, match="arch=timm:resnet50"):
        load("checkpoint:/a/b.pth")
    with pytest.raises(InputError, match="never random"):
        load("checkpoint:/a/b.pth?arch=timm:resnet50", random_init=True)
