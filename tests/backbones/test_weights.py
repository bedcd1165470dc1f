"""Weights files: plain tensors only, fitted without a gap, told with all their faults."""

import pickle
from pathlib import Path
from typing import Any

import pytest
import torch

from eds.backbones import weights
from eds.errors import InputError


class Evil:
    """Unpickles to a call that makes this folder: the file that must never be trusted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, tuple[Path]]:
        return Path.mkdir, (self.folder,)


def state() -> weights.State:
    return {"a.weight": torch.ones(2, 3), "a.bias": torch.zeros(2)}


def test_a_file_that_runs_code_is_not_read(tmp_path: Path) -> None:
    path, made = tmp_path / "evil.pth", tmp_path / "was here"
    torch.save({"state_dict": state(), "args": Evil(made)}, path)
    with pytest.raises(InputError, match=r"no plain tensors, or is damaged \(it calls getattr\)"):
        weights.read(path)
    (tmp_path / "evil.pkl").write_bytes(pickle.dumps(Evil(made)))
    with pytest.raises(InputError, match="no plain tensors"):
        weights.read(tmp_path / "evil.pkl")
    assert not made.exists()


@pytest.mark.parametrize("name", ["torn.pth", "torn.safetensors"])
def test_a_damaged_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(InputError, match="damaged"):
        weights.read(tmp_path / name)


def test_the_dictionary_inside_is_found_or_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.pth"
    torch.save({"epoch": 3, "state_dict": state(), "optimizer": {"lr": 0.1}}, path)
    assert weights.read(path).keys() == state().keys()
    torch.save({"student": state(), "teacher": {"a.weight": torch.zeros(2, 3)}}, path)
    with pytest.raises(InputError, match="several sets of weights: student, teacher"):
        weights.read(path)
    assert weights.read(path, "teacher")["a.weight"].sum() == 0
    torch.save({"epoch": 3}, path)
    with pytest.raises(InputError, match="no tensors"):
        weights.read(path)


def test_all_that_does_not_fit_is_told() -> None:
    network = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    fits = network.state_dict()
    del fits["1.num_batches_tracked"]  # old files lack it
    weights.fit(network, {**fits, "head.weight": torch.ones(1)}, "here", ["head"])
    with pytest.raises(InputError) as caught:
        weights.fit(
            network,
            {"0.weight": torch.ones(2, 4), "0.bias": torch.ones(2), "headed.x": torch.ones(1)},
            "here",
            ["head"],
        )
    assert caught.value.faults == (
        "missing from the file (4): 1.weight, 1.bias, 1.running_mean, 1.running_var",
        "unexpected in the file (1): headed.x",
        "of another shape (1): 0.weight has shape (2, 4), the network (2, 3)",
    )


def test_the_digest_is_of_tensors_not_of_their_order() -> None:
    turned = dict(reversed(state().items()))
    assert weights.tensors_digest(turned) == weights.tensors_digest(state())
    assert weights.tensors_digest({**state(), "a.bias": torch.full((2,), 1e-9)}) != weights.tensors_digest(state())
    half = {name: tensor.to(torch.bfloat16) for name, tensor in state().items()}
    assert weights.tensors_digest(half) != weights.tensors_digest(state())
    assert weights.tensors_digest({"n": torch.tensor(3)}) != weights.tensors_digest({"n": torch.tensor(4)})


def test_tensors_under_other_names_fit_in_their_order_and_the_refusal_says_so(tmp_path: Path) -> None:
    def network() -> torch.nn.Module:
        return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Conv2d(4, 5, 1))

    torch.manual_seed(1)
    trained = network()
    theirs = {f"features.{number}": tensor for number, tensor in enumerate(trained.state_dict().values())}
    theirs |= {"head.weight": torch.ones(9, 5), "head.bias": torch.ones(9)}
    theirs = {name: tensor for name, tensor in theirs.items() if tensor.ndim}  # without the counter of the batch norm
    with pytest.raises(InputError, match="match=order"):
        weights.fit(network(), theirs, "a.pth")
    ours, found = network(), weights.in_order(network(), theirs)
    assert found is not None
    weights.fit(ours, found, "a.pth")
    picture = torch.rand(2, 3, 8, 8)
    assert torch.equal(ours.eval()(picture), trained.eval()(picture))
    turned = {"b": theirs["features.1"], **theirs}
    assert weights.in_order(network(), turned) is None
