"""The training loop: an optimizer with its schedule, a score per epoch, early stopping, and checkpoints to resume from.

An interrupted run resumes from its last complete epoch and ends with the weights of an uninterrupted one: batches and
random numbers follow from (seed, epoch), and the optimizer's moments are stored. Weights or a loss that are not finite
end the run; the last good checkpoint stays. A run that starts again replaces an earlier one after its first epoch, file
by file: until then nothing is lost.
"""

import csv
import io
import math
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from eds.backbones.tensor_file import State
from eds.errors import EdsError, InputError
from eds.io.files import write_text
from eds.pairs import Integers
from eds.training.checkpoint import Checkpoint, load, optimizer_tensors, restore_optimizer, save
from eds.training.event_log import EventLog
from eds.training.plan import Plan

Progress = Callable[[int, int], None]
STATE, LOG = "state.safetensors", "log.csv"
COLUMNS = ("epoch", "loss", "validation_score", "learning_rate", "seconds")  # of the log


class Task(Protocol):
    """What is trained, its batches and loss, and its score."""

    @property
    def module(self) -> torch.nn.Module:
        """The module with all weights."""

    def batches(self, epoch: int) -> list[Integers]:
        """The rows of each batch of the epoch."""

    def loss(self, rows: Integers, epoch: int) -> Tensor:
        """The loss of a batch; smaller is better."""

    def after_step(self, done: float) -> None:
        """Called after each step of the optimizer; `done` is the completed share of all steps of the run."""

    def score(self) -> float:
        """The score on the validation split; larger is better. NaN if there is none."""


@dataclass(frozen=True)
class Fitted:
    """The result of a run."""

    best: State
    best_epoch: int
    best_score: float
    rows: list[dict[str, Any]]
    resumed_at: int  # epochs that an earlier call completed


def fit(
    task: Task,
    plan: Plan,
    folder: Path,
    identity: Mapping[str, Any],
    *,
    progress: Progress | None = None,
    restart: bool = False,
    autocast: Callable[[], AbstractContextManager[Any]] = nullcontext,
) -> Fitted:
    """Train `task.module` by the plan and load the weights of the kept epoch.

    Resumes from the state in `folder`; `restart` ignores the state of an earlier run there.
    """
    wanted = [parameter for parameter in task.module.parameters() if parameter.requires_grad]
    optimizer = create_optimizer(wanted, plan)
    state = None if restart else load(folder / STATE, identity)
    if state is None:
        start = _copy_state(task.module)
        state = Checkpoint(identity, start, start, {})
        if plan.keep == "best":  # the weights it begins with are a candidate, too: a run that only harms keeps them
            state.best_score = _score(task)
            if math.isnan(state.best_score):
                raise InputError(
                    "there are no validation images to choose an epoch by",
                    where="table splits",
                    hint="Keep the last epoch (--keep last), or draw validation images: eds training split.",
                )
    else:
        task.module.load_state_dict(state.model)
        restore_optimizer(optimizer, state.adam)
    resumed_at = state.epoch
    events = EventLog(folder, resumed_at) if plan.log == "tensorboard" else None
    while state.epoch < plan.epochs and state.epoch - state.best_epoch < plan.patience:
        started = time.perf_counter()
        loss = _epoch(task, plan, optimizer, state, folder, autocast)
        score = _score(task)
        state.epoch += 1
        state.model, state.adam = _copy_state(task.module), optimizer_tensors(optimizer)
        if plan.keep == "last" or score > state.best_score:
            state.best, state.best_score, state.best_epoch = state.model, score, state.epoch
        rate = optimizer.param_groups[0]["lr"]
        row = {"epoch": state.epoch, "loss": loss, "validation_score": score, "learning_rate": rate}
        state.rows.append({**row, "seconds": round(time.perf_counter() - started, 3)})
        save(folder / STATE, state)
        write_text(folder / LOG, _as_csv(state.rows))
        if events:
            events.add(state.rows[-1])
        if progress:
            progress(state.epoch, plan.epochs)
    if events:
        events.close()
    task.module.load_state_dict(state.best)
    task.module.eval()
    return Fitted(state.best, state.best_epoch, state.best_score, state.rows, resumed_at)


def create_optimizer(parameters: list[torch.nn.Parameter], plan: Plan) -> torch.optim.Optimizer:
    """The optimizer of a plan."""
    shared: dict[str, Any] = {"lr": plan.learning_rate, "weight_decay": plan.weight_decay}
    if plan.optimizer == "sgd":
        return torch.optim.SGD(parameters, momentum=plan.momentum, **shared)
    kind = torch.optim.AdamW if plan.optimizer == "adamw" else torch.optim.Adam
    return kind(parameters, betas=(plan.momentum, 0.999), **shared)


def _score(task: Task) -> float:
    task.module.eval()
    with torch.no_grad():
        return task.score()


def _epoch(
    task: Task,
    plan: Plan,
    optimizer: torch.optim.Optimizer,
    state: Checkpoint,
    folder: Path,
    autocast: Callable[[], AbstractContextManager[Any]],
) -> float:
    """Run one epoch; return the mean loss of its batches."""
    batches = task.batches(state.epoch)
    losses = []
    trained = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    task.module.train()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed((plan.seed << 20) + state.epoch)
        for step, rows in enumerate(batches):
            for group in optimizer.param_groups:
                group["lr"] = plan.rate(state.epoch * len(batches) + step, len(batches))
            optimizer.zero_grad(set_to_none=True)
            with autocast():
                loss = task.loss(rows, state.epoch)
            losses.append(loss.item())
            if not math.isfinite(losses[-1]):
                raise _diverged(f"the loss is {losses[-1]}", step, state, folder)
            loss.backward()  # type: ignore[no-untyped-call]
            if plan.clip:
                torch.nn.utils.clip_grad_norm_(trained, plan.clip)
            optimizer.step()
            task.after_step((state.epoch * len(batches) + step + 1) / (plan.epochs * len(batches)))
    if not all(
        torch.isfinite(tensor).all() for tensor in task.module.state_dict().values() if tensor.is_floating_point()
    ):
        raise _diverged("weights are not finite", len(batches) - 1, state, folder)
    return sum(losses) / len(losses)


def _diverged(what: str, step: int, state: Checkpoint, folder: Path) -> EdsError:
    kept = f"the checkpoint after epoch {state.epoch} is kept" if state.epoch else "no epoch was finished"
    return EdsError(
        f"{what} in epoch {state.epoch + 1}, batch {step + 1}; {kept}",
        where=str(folder),
        hint="Lower the learning rate, or lengthen the warm-up, and start again: --replace.",
    )


def _copy_state(module: torch.nn.Module) -> State:
    return {name: tensor.detach().cpu().clone() for name, tensor in module.state_dict().items()}


def _as_csv(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
