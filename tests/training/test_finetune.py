"""Fine-tuning a tiny network: it learns, a run goes on to the same bytes, and the file loads as a backbone."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

from eds.backbones import load
from eds.backbones.tensor_file import read_tensors
from eds.backbones.trainable import Trainable, trainable
from eds.errors import InputError
from eds.training import checkpoint, loop
from eds.training.batches import split
from eds.training.finetune import finetune
from eds.training.networks import Trained
from eds.training.pictures import prepare_images
from eds.training.plan import Plan
from eds.training.supervision import supervise

BASE = "timm:test_resnet?random_init=true&size=64&crop=64&resize=squash"
PLAN = Plan(epochs=2, patience=9, batch=8, learning_rate=1e-3, validation_share=0.25, test_share=0.25, seed=1)


def trained(drawn: tuple[pd.DataFrame, Path], folder: Path, plan: Plan = PLAN, labels: str = "both") -> Trained:
    images, root = drawn
    network, told = trainable(BASE), supervise(labels, images)
    folder.mkdir(parents=True, exist_ok=True)
    pixels = prepare_images(images, told.ids, root, network.preprocessing, folder)
    return finetune(network, pixels, told, plan, folder)


def test_the_loss_falls_and_the_file_loads_as_a_backbone(drawn: tuple[pd.DataFrame, Path], tmp_path: Path) -> None:
    found = trained(drawn, tmp_path, replace(PLAN, epochs=6))
    assert found.rows[-1]["loss"] < 0.7 * found.rows[0]["loss"]
    _, root = drawn
    backbone = load(found.text, device="cpu", runtime="torch")
    picture = np.stack([backbone.spec.preprocessing.pixels(Image.open(root / "0-0.png").convert("RGB"))])
    base = trainable(BASE)
    from safetensors.torch import load_file

    base.network.load_state_dict(load_file(found.file))
    steps = base.preprocessing
    values = torch.from_numpy(picture).permute(0, 3, 1, 2).float() / 255
    mean, std = (torch.tensor(part).view(1, 3, 1, 1) for part in (steps.mean, steps.std))
    with torch.no_grad():
        expected = base.network.eval()((values - mean) / std).numpy()
    expected /= np.linalg.norm(expected)
    np.testing.assert_allclose(backbone.encode(picture), expected, atol=1e-5)
    assert backbone.spec.preprocessing == steps


def test_a_run_that_stopped_goes_on_to_the_same_bytes(drawn: tuple[pd.DataFrame, Path], tmp_path: Path) -> None:
    whole = trained(drawn, tmp_path / "whole")
    kept, calls = checkpoint.save, []

    def dying(path: Path, state: object) -> None:
        calls.append(path)
        if len(calls) == 2:
            raise KeyboardInterrupt
        kept(path, state)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "save", dying)
        with pytest.raises(KeyboardInterrupt):
            trained(drawn, tmp_path / "cut")
    again = trained(drawn, tmp_path / "cut")
    assert again.resumed_at == 1
    assert again.sha256 == whole.sha256


def test_bad_input_is_told(drawn: tuple[pd.DataFrame, Path], tmp_path: Path) -> None:
    images, root = drawn
    with pytest.raises(InputError, match="cannot be trained"):
        trainable("descriptor:hsv")
    with pytest.raises(InputError, match="a classifier needs two classes"):
        trained((images.assign(category="one"), root), tmp_path / "a", labels="category")
    network: Trainable = trainable(BASE)
    lost = images.assign(path=images["path"].replace("0-0.png", "none.png"))
    with pytest.raises(InputError, match="1 images cannot be read"):
        prepare_images(lost, lost["image_id"].tolist(), root, network.preprocessing, tmp_path)
    assert not (tmp_path / "pixels.npy").exists()


def test_frozen_layers_stay_as_they_are_to_the_bit(drawn: tuple[pd.DataFrame, Path], tmp_path: Path) -> None:
    """Their weights, and the running means that training mode would move."""
    images, root = drawn
    network, told = trainable(BASE), supervise("product", images)
    start = {name: tensor.clone() for name, tensor in network.network.state_dict().items()}
    pixels = prepare_images(images, told.ids, root, network.preprocessing, tmp_path)
    finetune(network, pixels, told, replace(PLAN, keep="last"), tmp_path, frozen=6)
    now = network.network.state_dict()
    names = [name for name, _ in network.network.named_parameters()]
    changed = {name for name in start if not torch.equal(start[name], now[name])}
    assert set(names[:6]).isdisjoint(changed)
    assert set(names[6:]) <= changed
    still = {name.rpartition(".")[0] for name in names[:6]}
    assert not [name for name in changed if name.rpartition(".")[0] in still]
    with pytest.raises(InputError, match="are to be frozen"):
        finetune(network, pixels, told, PLAN, tmp_path / "b", frozen=len(names))


def test_the_score_is_told_on_products_that_chose_nothing(drawn: tuple[pd.DataFrame, Path], tmp_path: Path) -> None:
    """The validation part decides the epoch; relabelling the test products changes only the test score."""
    plain = trained(drawn, tmp_path / "a", replace(PLAN, epochs=3), "product")
    assert plain.validation_score == max(row["validation_score"] for row in plain.rows)
    images, root = drawn
    network, told = trainable(BASE), supervise("product", images)
    parts = split(told, PLAN.validation_share, PLAN.test_share, PLAN.seed)
    pixels = np.array(prepare_images(images, told.ids, root, network.preprocessing, tmp_path / "a"))
    pixels[parts.test] = np.random.default_rng(1).integers(0, 256, pixels[parts.test].shape)
    other = finetune(network, pixels, told, replace(PLAN, epochs=3), tmp_path / "b")
    assert other.sha256 == plain.sha256
    assert other.test_score != plain.test_score
    assert [row["validation_score"] for row in other.rows] == [row["validation_score"] for row in plain.rows]


def test_a_gpu_that_is_not_there_is_refused(
    drawn: tuple[pd.DataFrame, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    images, root = drawn
    network, told = trainable(BASE), supervise("both", images)
    pixels = prepare_images(images, told.ids, root, network.preprocessing, tmp_path)
    with pytest.raises(InputError, match="device cuda does not exist"):
        finetune(network, pixels, told, PLAN, tmp_path, device="cuda")


def test_a_checkpoint_that_may_not_be_read_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "state.safetensors").touch()
    monkeypatch.setattr("pathlib.Path.open", refused)  # safetensors itself says that there is no such file
    with pytest.raises(InputError, match=r"may not be read .*Ask its owner"):
        read_tensors(tmp_path / "state.safetensors")
