"""The state of a run in one safetensors file, written whole or not at all: what kill -9 leaves is the last epoch's.

Tensors are named `model.*`, `best.*` and `adam.*`; what is no tensor stands in the file's metadata as JSON. No code is
run when it is read.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from eds.backbones.weights import METADATA_KEY, refuse_forbidden
from eds.errors import InputError
from eds.io.files import replacing

State = dict[str, Tensor]


@dataclass
class Checkpoint:
    """A run after its last whole epoch."""

    identity: Mapping[str, Any]  # what decides the weights; a run goes on only if it is the same
    model: State
    best: State
    adam: State
    epoch: int = 0  # epochs that are done
    best_epoch: int = 0
    best_score: float = float("-inf")
    rows: list[dict[str, Any]] = field(default_factory=list)  # the log, an epoch each


def save(path: Path, state: Checkpoint) -> None:
    """Write the state, whole or not at all."""
    parts = {"model": state.model, "best": state.best, "adam": state.adam}
    tensors = {f"{part}.{name}": tensor for part, found in parts.items() for name, tensor in found.items()}
    told = {
        "identity": state.identity, "epoch": state.epoch, "best_epoch": state.best_epoch,
        "best_score": state.best_score, "rows": state.rows,
    }  # fmt: skip
    write_tensors(path, tensors, told)


def load(path: Path, identity: Mapping[str, Any]) -> Checkpoint | None:
    """The state to go on from; None where there is none. That of another run is refused."""
    if not path.exists():
        return None
    tensors, told = read_tensors(path)
    wanted = json.loads(json.dumps(identity))
    if told.get("identity") != wanted:
        there = told.get("identity") or {}
        faults = [f"{name}: there {there.get(name)!r}, asked for {wanted.get(name)!r}"
                  for name in sorted({*there, *wanted}) if there.get(name) != wanted.get(name)]  # fmt: skip
        raise InputError(
            "another run has begun here", where=str(path),
            do="Give the model another name, or start again: --replace.", faults=faults,
        )  # fmt: skip
    parts: dict[str, State] = {"model": {}, "best": {}, "adam": {}}
    for name, tensor in tensors.items():
        part, _, rest = name.partition(".")
        parts[part][rest] = tensor
    numbers = {name: told[name] for name in ("epoch", "best_epoch", "best_score", "rows")}
    return Checkpoint(identity, parts["model"], parts["best"], parts["adam"], **numbers)


def write_tensors(path: Path, tensors: State, told: Mapping[str, Any]) -> None:
    """Tensors and what is told of them, in one file."""
    from safetensors.torch import save_file

    plain = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    with replacing(path) as temporary:
        temporary.touch()
        usual = temporary.stat().st_mode & 0o777
        save_file(plain, temporary, {METADATA_KEY: json.dumps(told, sort_keys=True)})
        temporary.chmod(usual)  # safetensors lets nobody but the owner read, unlike every other file of a project


def read_tensors(path: Path) -> tuple[State, dict[str, Any]]:
    """What `write_tensors` wrote."""
    from safetensors import SafetensorError, safe_open

    refuse_forbidden(path)
    try:
        with safe_open(path, framework="pt") as file:
            told = json.loads((file.metadata() or {}).get(METADATA_KEY, "null"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (no mapping)
    except (SafetensorError, OSError, ValueError) as error:
        raise InputError(
            f"the checkpoint is damaged ({error})", where=str(path), do="Start again: --replace."
        ) from error
    if not isinstance(told, dict):
        raise InputError("not a checkpoint of eds", where=str(path), do="Start again: --replace.")
    return tensors, told


def adam_tensors(optimizer: torch.optim.Optimizer) -> State:
    """Adam's moments and step counts, by number of the parameter."""
    found: State = {}
    for number, moments in optimizer.state_dict()["state"].items():
        found |= {f"{number}.{name}": torch.as_tensor(value) for name, value in moments.items()}
    return found


def restore_adam(optimizer: torch.optim.Optimizer, tensors: State) -> None:
    """Put back what `adam_tensors` gave."""
    state = optimizer.state_dict()
    state["state"] = {}
    for name, tensor in tensors.items():
        number, _, moment = name.partition(".")
        state["state"].setdefault(int(number), {})[moment] = tensor
    optimizer.load_state_dict(state)
