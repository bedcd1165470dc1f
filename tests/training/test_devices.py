"""One run on several devices: the same loss and gradients as on one; here both devices are the processor."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from eds.backbones.trainable import trainable
from eds.errors import InputError
from eds.training.crops import Crops
from eds.training.deep_hash import _DeepHashTask, fit_deep_hash
from eds.training.devices import devices_of, spread
from eds.training.dino import Dino, DinoTask
from eds.training.finetune import _LabelTask
from eds.training.hash_objective import Design
from eds.training.networks import NetworkTask
from eds.training.plan import Plan
from eds.training.supervision import Supervision, supervise

SIDE, IMAGES = 16, 24
NETWORK = f"cnn:dsh?size={SIDE}&random_init=true"
PLAN = Plan(epochs=2, batch=8, keep="last", validation_share=0.2, test_share=0.2)
KINDS = ("hash", "labels", "dino")


def labels() -> Supervision:
    ids = [f"{row:02d}" for row in range(IMAGES)]
    products = [f"p{row // 2}" for row in range(IMAGES)]
    return supervise("product", pd.DataFrame({"image_id": ids, "product_id": products, "category": "c"}))


def pixels() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (IMAGES, SIDE, SIDE, 3)).astype(np.uint8)


def made(kind: str, device: str, objective: str = "talr-ap") -> NetworkTask:
    base, shared = trainable(NETWORK), (pixels(), labels())
    if kind == "hash":
        return _DeepHashTask(base, *shared, Design(8, objective), PLAN, 0, device, 1)
    if kind == "labels":
        return _LabelTask(base, *shared, PLAN, 0, device, 1)
    return DinoTask(base, *shared, PLAN, 0, device, Dino(Crops(SIDE, 2, SIDE), 8))


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_on_two_devices_has_the_loss_and_the_gradients_of_one(kind: str) -> None:
    found = []
    for device in ("cpu", "cpu,cpu"):
        task = made(kind, device)
        torch.manual_seed(0)
        loss = task.loss(np.arange(7), 1)  # parts of unequal size
        loss.backward()  # type: ignore[no-untyped-call]
        found.append((loss, [value.grad for value in task.module.parameters() if value.grad is not None]))
    (one, gradients), (two, others) = found
    torch.testing.assert_close(two, one)
    assert len(gradients) == len(others) > 0
    for wanted, got in zip(gradients, others, strict=True):
        torch.testing.assert_close(got, wanted)


@pytest.mark.parametrize("kind", KINDS)
def test_a_loss_is_computed_where_the_network_is(kind: str) -> None:
    """On device meta every operation with a tensor of the processor raises, as it would on a graphics card."""
    task = made(kind, "cpu", "dsh")  # it checks no value on the way, as talr does
    meta = torch.device("meta")
    task.module.to(meta)
    task.device, task.devices = meta, [meta]
    task._mean, task._std = task._mean.to(meta), task._std.to(meta)
    with pytest.raises(RuntimeError) as refused:
        task.loss(np.arange(8), 1).item()
    assert "cannot be called on meta tensors" in str(refused.value), "it comes as far as a value, which meta has not"


def test_running_means_are_kept_and_frozen_ones_do_not_move() -> None:
    norm = torch.nn.BatchNorm2d(4)
    network, pictures = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), norm), torch.randn(8, 3, 6, 6)

    def mean() -> torch.Tensor:
        assert norm.running_mean is not None
        return norm.running_mean.clone()

    before = mean()
    spread(network, pictures, devices_of("cpu,cpu"))
    assert not torch.equal(mean(), before)
    before = mean()
    network.eval()
    torch.testing.assert_close(spread(network, pictures, devices_of("cpu,cpu")), network(pictures))
    assert torch.equal(mean(), before)


def test_a_run_on_two_devices_is_that_of_one_but_for_rounding_and_another_to_resume(tmp_path: Path) -> None:
    def run(folder: Path, device: str, epochs: int) -> np.ndarray:
        plan = Plan(**{**vars(PLAN), "epochs": epochs})
        found = fit_deep_hash(trainable(NETWORK), pixels(), labels(), Design(8), plan, folder, device=device)
        return next(found.head.parameters()).detach().numpy()

    one, two = run(tmp_path / "one", "cpu", 2), run(tmp_path / "two", "cpu,cpu", 2)
    np.testing.assert_allclose(two, one, atol=1e-4)
    with pytest.raises(InputError, match="another run"):
        run(tmp_path / "two", "cpu", 2)


def test_devices_that_cannot_be_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    assert [str(device) for device in devices_of("cuda:0, cuda")] == ["cuda:0", "cuda"]
    with pytest.raises(InputError, match="cuda:1 does not exist"):
        devices_of("cuda:0,cuda:1")
    with pytest.raises(InputError, match="several kinds"):
        devices_of("cpu,cuda")
    with pytest.raises(InputError, match="device is ''"):
        devices_of("cuda,")
