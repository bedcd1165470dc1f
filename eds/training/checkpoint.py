"""The state of a run in one safetensors file, written atomically: after kill -9 the last complete epoch is there.

Tensors are named `model.*`, `best.*` and `adam.*`; everything else is JSON in the file's metadata. Reading runs no
code.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from eds.backbones.tensor_file import State, read_tensors, write_tensors
from eds.errors import InputError


@dataclass
class Checkpoint:
    """A run after its last complete epoch."""

    identity: Mapping[str, Any]  # what determines the weights; a run resumes only if it is equal
    model: State
    best: State
    adam: State
    epoch: int = 0  # completed epochs
    best_epoch: int = 0
    best_score: float = float("-inf")
    rows: list[dict[str, Any]] = field(default_factory=list)  # the log, one row per epoch


def save(path: Path, state: Checkpoint) -> None:
    """Write the state atomically."""
    parts = {"model": state.model, "best": state.best, "adam": state.adam}
    tensors = {f"{part}.{name}": tensor for part, found in parts.items() for name, tensor in found.items()}
    metadata = {
        "identity": state.identity,
        "epoch": state.epoch,
        "best_epoch": state.best_epoch,
        "best_score": state.best_score,
        "rows": state.rows,
    }
    write_tensors(path, tensors, metadata)


def load(path: Path, identity: Mapping[str, Any]) -> Checkpoint | None:
    """The state to resume from; None if there is none. Raises InputError if it belongs to another run."""
    if not path.exists():
        return None
    tensors, metadata = read_tensors(path)
    wanted = json.loads(json.dumps(identity))
    if metadata.get("identity") != wanted:
        there = metadata.get("identity") or {}
        faults = [
            f"{name}: stored {there.get(name)!r}, requested {wanted.get(name)!r}"
            for name in sorted({*there, *wanted})
            if there.get(name) != wanted.get(name)
        ]
        raise InputError(
            "the folder holds another run",
            where=str(path),
            hint="Use another name for the model, or start again: --replace.",
            faults=faults,
        )
    parts: dict[str, State] = {"model": {}, "best": {}, "adam": {}}
    for name, tensor in tensors.items():
        part, _, rest = name.partition(".")
        parts[part][rest] = tensor
    numbers = {name: metadata[name] for name in ("epoch", "best_epoch", "best_score", "rows")}
    return Checkpoint(identity, parts["model"], parts["best"], parts["adam"], **numbers)


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> State:
    """The optimizer's moments and step counts, by the number of the parameter."""
    found: State = {}
    for number, moments in optimizer.state_dict()["state"].items():
        kept = {name: value for name, value in moments.items() if value is not None}
        found |= {f"{number}.{name}": torch.as_tensor(value) for name, value in kept.items()}
    return found


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: State) -> None:
    """Restore what `optimizer_tensors` returned."""
    state = optimizer.state_dict()
    state["state"] = {}
    for name, tensor in tensors.items():
        number, _, moment = name.partition(".")
        state["state"].setdefault(int(number), {})[moment] = tensor
    optimizer.load_state_dict(state)
