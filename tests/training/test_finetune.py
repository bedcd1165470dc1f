"""Fine-tuning a tiny network: it learns, a run goes on to the same bytes, and the file loads as a backbone."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

from eds.backbones import load
from eds.backbones.trainable import Trainable, trainable
from eds.errors import InputError
from eds.training import checkpoint, loop
from eds.training.finetune import Finetuned, finetune
from eds.training.pictures import prepared
from eds.training.plan import Plan
from eds.training.supervision import supervise

BASE = "timm:test_resnet?random_init=true&size=64&crop=64&resize=squash"
PLAN = Plan(epochs=2, patience=9, batch=8, learning_rate=1e-3, held_out=0.34, seed=1)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> tuple[pd.DataFrame, Path]:
    """Six products of four noisy pictures."""
    root = tmp_path_factory.mktemp("pictures")
    rng, rows = np.random.default_rng(0), []
    for product in range(6):
        colours = rng.integers(0, 256, (4, 4, 3))
        for view in range(4):
            noise = rng.normal(0, 20, (64, 64, 3))
            array = np.clip(np.kron(colours, np.ones((16, 16, 1))) + noise, 0, 255).astype(np.uint8)
            Image.fromarray(array).save(root / f"{product}-{view}.png")
            rows.append((f"{product}-{view}", f"{product}-{view}.png", f"p{product}", f"c{product % 2}"))
    images = pd.DataFrame(rows, columns=["image_id", "path", "product_id", "category"])
    boxes = dict.fromkeys(("box_left", "box_top", "box_right", "box_bottom"), pd.array([None] * len(rows), "Int64"))
    return images.assign(sha256=None, **boxes), root


def trained(drawn: tuple[pd.DataFrame, Path], folder: Path, plan: Plan = PLAN, labels: str = "both") -> Finetuned:
    images, root = drawn
    network, told = trainable(BASE), supervise(labels, images)
    folder.mkdir(parents=True, exist_ok=True)
    pixels = prepared(images, told.ids, root, network.preprocessing, folder)
    return finetune(network, pixels, told, plan, folder)


def test_the_loss_falls_and_the_file_loads_as_a_backbone(drawn: tuple[pd.DataFrame, Path], tmp_path: Path) -> None:
    found = trained(drawn, tmp_path, replace(PLAN, epochs=6))
    assert found.rows[-1]["loss"] < 0.7 * found.rows[0]["loss"]
    _, root = drawn
    backbone = load(found.text, device="cpu", runtime="torch")
    picture = np.stack([backbone.prepare(Image.open(root / "0-0.png").convert("RGB"))])
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
        prepared(lost, lost["image_id"].tolist(), root, network.preprocessing, tmp_path)
    assert not (tmp_path / "pixels.npy").exists()
