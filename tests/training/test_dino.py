"""DINO: its loss against plain arithmetic, the teacher's path, the crops, collapse, and runs that were killed."""

import math
import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file

from eds.backbones.tensor_file import read_tensors
from eds.backbones.trainable import trainable
from eds.errors import EdsError, InputError
from eds.training import dino as module
from eds.training.crops import LARGE, Crops, crop
from eds.training.dino import Dino, DinoTask, Pair, continue_dino
from eds.training.loop import STATE
from eds.training.networks import Trained
from eds.training.objectives.dino import Prototypes, dino_loss, measure_separation, update_teacher
from eds.training.pictures import prepare_images
from eds.training.plan import Plan
from eds.training.supervision import supervise
from tests.reference import dino as reference
from tests.training.conftest import draw

BASE = "timm:test_vit?random_init=true&size=64&crop=64&resize=squash"
PLAN = Plan(epochs=2, batch=10, learning_rate=1e-3, validation_share=0.25, test_share=0.25, seed=1, keep="last")
SMALL = Dino(Crops(64, 2, 32), prototypes=32, momentum=0.9)


def trained(images: pd.DataFrame, root: Path, folder: Path, plan: Plan = PLAN, dino: Dino = SMALL) -> Trained:
    torch.manual_seed(0)  # of the random network that training begins with
    network, told = trainable(BASE), supervise("product", images)
    folder.mkdir(parents=True, exist_ok=True)
    pixels = prepare_images(images, told.ids, root, network.preprocessing, folder)
    return continue_dino(network, pixels, told, plan, folder, dino)


@pytest.mark.parametrize("views", [(2, 2), (2, 5)])
def test_the_loss_is_that_of_plain_arithmetic(views: tuple[int, int]) -> None:
    rng = np.random.default_rng(sum(views))
    teacher, student = (rng.uniform(-1, 1, (count, 4, 6)) for count in views)
    centre = rng.uniform(-0.2, 0.2, 6)
    found = dino_loss([*torch.tensor(student)], [*torch.tensor(teacher)], torch.tensor(centre), 0.1, 0.04)
    assert found.item() == pytest.approx(reference.loss(student.tolist(), teacher.tolist(), centre.tolist(), 0.1, 0.04))


def test_no_gradient_reaches_the_teacher() -> None:
    student, teacher = (torch.randn(2, 3, 5, requires_grad=True) for _ in range(2))
    dino_loss([*student], [*teacher], torch.zeros(5), 0.1, 0.04).backward()  # type: ignore[no-untyped-call]
    assert student.grad is not None
    assert student.grad.abs().sum() > 0
    assert teacher.grad is None


def test_the_teacher_is_the_weighted_past_of_the_student() -> None:
    teacher, student = (torch.nn.BatchNorm1d(2) for _ in range(2))
    past = [torch.randn(2) for _ in range(4)]
    expected = teacher.weight.detach().clone()
    for weights in past:
        student.weight.data.copy_(weights)
        student.running_mean = weights.clone()
        update_teacher(teacher, student, 0.9)
        expected = 0.9 * expected + 0.1 * weights
    torch.testing.assert_close(teacher.weight.detach(), expected)
    assert torch.equal(teacher.running_mean, past[-1])  # type: ignore[arg-type]


@given(st.integers(2, 6), st.integers(2, 8), st.integers(0, 1000))
def test_targets_tell_apart_at_most_as_many_as_there_are(items: int, prototypes: int, seed: int) -> None:
    drawn = torch.from_numpy(np.random.default_rng(seed).dirichlet(np.full(prototypes, 0.2), items))
    told = measure_separation(drawn)
    assert -1e-9 <= told <= math.log(min(items, prototypes)) + 1e-9
    assert measure_separation(drawn[:1].expand(items, -1)) == pytest.approx(0, abs=1e-9)


def test_a_crop_shows_a_piece_of_the_asked_area() -> None:
    """Of pictures whose channels are the place itself, so that a crop tells where it was taken."""
    torch.manual_seed(0)
    ramp = (torch.arange(64) + 0.5) / 64
    place = torch.stack([ramp.expand(64, 64), ramp[:, None].expand(64, 64), torch.ones(64, 64)])
    seen = crop(place.expand(200, -1, -1, -1), LARGE, 32)
    gain = seen[:, 2]  # light and contrast moved all channels alike
    light = (gain - gain.mean(dim=(1, 2), keepdim=True)).abs().max()
    assert light < 1e-5
    wide = (seen[:, 0, 16, -1] - seen[:, 0, 16, 0]).abs()
    high = seen[:, 1, -1, 16] - seen[:, 1, 0, 16]
    assert (high > 0).all()  # flipped left and right only
    assert 0.3 < float(((seen[:, 0, 16, -1] - seen[:, 0, 16, 0]) < 0).float().mean()) < 0.7
    area = (wide * high * (32 / 31) ** 2).sort().values
    assert 0.36 * 0.6**2 < area[0] < area[-1] < 1.4**2


def test_a_student_learns_what_its_teacher_says() -> None:
    """Against fixed targets; in a run the loss may rise, for the centre spreads the targets at first."""
    torch.manual_seed(0)
    features, head = torch.randn(2, 8, 6), Prototypes(6, 12)
    teacher = [torch.randn(8, 12) * 0.2 for _ in range(2)]
    adam, losses = torch.optim.Adam(head.parameters(), lr=1e-2), []
    for _ in range(60):
        loss = dino_loss([head(view) for view in features], teacher, torch.zeros(12), 0.1, 0.04)
        adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        adam.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]


def test_the_teacher_is_what_comes_out(drawn: tuple[pd.DataFrame, Path], tmp_path: Path) -> None:
    found = trained(*drawn, tmp_path)
    state, _ = read_tensors(tmp_path / STATE)
    start = "model.teacher.backbone."
    teacher = {name.removeprefix(start): tensor for name, tensor in state.items() if name.startswith(start)}
    written = load_file(found.file)
    assert written.keys() == teacher.keys()
    assert all(torch.equal(tensor, teacher[name]) for name, tensor in written.items())
    student = {name: state[f"model.student.backbone.{name}"] for name in written}
    assert any(not torch.equal(tensor, written[name]) for name, tensor in student.items())


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from eds.training import loop
    from tests.training.test_dino import draw, trained

    kept, saved = loop.save, []

    def save(path, state):
        saved.append(state.epoch)
        if len(saved) == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        kept(path, state)

    loop.save = save
    root = Path(sys.argv[1])
    trained(draw(root / "pictures"), root / "pictures", root / "run")
"""


def test_a_killed_run_ends_with_the_weights_of_one_that_never_stopped(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path)],
        cwd=root,
        check=False,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    images = draw(tmp_path / "pictures")
    resumed = trained(images, tmp_path / "pictures", tmp_path / "run")
    whole = trained(images, tmp_path / "pictures", tmp_path / "whole")
    assert (resumed.resumed_at, whole.resumed_at) == (1, 0)
    assert resumed.sha256 == whole.sha256


def test_after_a_step_teacher_and_centre_move_and_frozen_layers_do_not(
    drawn: tuple[pd.DataFrame, Path], tmp_path: Path
) -> None:
    images, root = drawn
    network, told = (
        trainable("timm:test_resnet?random_init=true&size=64&crop=64&resize=squash"),
        supervise("product", images),
    )
    start = {name: tensor.clone() for name, tensor in network.network.state_dict().items()}
    pixels = prepare_images(images, told.ids, root, network.preprocessing, tmp_path)
    task = DinoTask(network, pixels, told, PLAN, 6, "cpu", SMALL)
    task.module.train()
    task.module.centre.uniform_(-0.1, 0.1)
    before, rows = task.module.centre.clone(), task.batches(0)[0]
    task.loss(rows, 0)
    answers = task._answers.clone()
    with torch.no_grad():
        for weight in task.module.student.parameters():
            weight.add_(0.1 if weight.requires_grad else 0.0)
    task.after_step(0.5)
    torch.testing.assert_close(task.module.centre, 0.9 * before + 0.1 * answers.mean(dim=0))
    names = [name for name, _ in network.network.named_parameters()]
    teacher = task.module.teacher["backbone"].state_dict()
    momentum = 0.95  # half the way from 0.9 to 1
    torch.testing.assert_close(teacher[names[-1]], start[names[-1]] + (1 - momentum) * 0.1)
    still = {name.rpartition(".")[0] for name in names[:6]}
    frozen = [name for name in start if name.rpartition(".")[0] in still]
    assert len(frozen) > 6
    assert all(torch.equal(teacher[name], start[name]) for name in frozen)


def test_a_collapse_ends_the_run_and_keeps_the_last_good_checkpoint(
    drawn: tuple[pd.DataFrame, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, calls = Pair.answers, []

    def flat(self: Pair, view: torch.Tensor, *, teacher: bool) -> torch.Tensor:
        calls.append(teacher)
        found = plain(self, view, teacher=teacher)
        return found * 0 if calls.count(True) > 4 else found  # from the second epoch on, of two batches each

    monkeypatch.setattr(Pair, "answers", flat)
    with pytest.raises(EdsError, match="the teacher has collapsed"):
        trained(*drawn, tmp_path)
    _, told = read_tensors(tmp_path / STATE)
    assert told["epoch"] == 1


def test_the_temperature_goes_straight_from_the_first_to_the_last() -> None:
    dino = replace(SMALL, first_temperature=0.04, teacher_temperature=0.07, temperature_epochs=3)
    assert [round(dino.temperature(epoch), 6) for epoch in range(5)] == [0.04, 0.05, 0.06, 0.07, 0.07]


def test_bad_input_is_told(drawn: tuple[pd.DataFrame, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError) as error:
        Dino(Crops(64), prototypes=1, momentum=1.0, teacher_temperature=0.0, temperature_epochs=-1)
    assert len(error.value.faults) == 4
    with pytest.raises(InputError, match="must be below"):
        Dino(Crops(64), teacher_temperature=0.2)
    with pytest.raises(InputError, match="local is -1"):
        Crops(64, -1)
    monkeypatch.setattr(module, "deepcopy", lambda network: network)
    with pytest.raises(InputError, match=r"does not accept crops of 17 pixels .*--local-size 64"):
        trained(*drawn, tmp_path, dino=replace(SMALL, crops=Crops(64, 2, 17)))
