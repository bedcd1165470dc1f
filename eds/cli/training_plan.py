"""What the commands of `eds training` share: the options of a run, its plan, and its folder."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eds import choices
from eds.cli.options import one_of

if TYPE_CHECKING:
    from eds.project import Project
    from eds.training.plan import Plan

PLAN = (
    "epochs", "batch", "learning_rate", "warm_up", "weight_decay", "patience", "keep", "watched", "held_out", "group",
    "seed",
)  # fmt: skip
Command = Callable[..., None]


def plan_options(learning_rate: float, keep: str | None = "best") -> Callable[[Command], Command]:
    """The options that every training takes."""

    def decorate(function: Command) -> Command:
        for add in (
            click.option("--seed", type=int, help="Of the split, the start and the batches (default: the project's)."),
            click.option("--held-out", type=float, default=0.2, help="Share of the products whose score is told."),
            click.option("--watched", type=float, default=0.1, help="Share of the products that early stop looks at."),
            click.option(
                "--keep", type=one_of(choices.KeptWeights), default=keep,
                help="Which epoch's weights: the best on what is watched, or the last (no early stop)."
                + ("" if keep else " Default: best with labels, last with dino."),
            ),
            click.option("--patience", type=int, default=10, help="Epochs without a better watched score; then stop."),
            click.option("--group", type=int, default=4, help="Similar images that meet in a batch."),
            click.option("--weight-decay", type=float, default=5e-5, help="Adam's."),
            click.option("--warm-up", type=float, default=1.0, help="Epochs in which the learning rate rises."),
            click.option("--learning-rate", type=float, default=learning_rate, help="Adam's, after the warm-up."),
            click.option("--batch", type=int, default=64, help="Images in a batch."),
            click.option("--epochs", type=int, default=50, help="At most."),
        ):  # fmt: skip
            function = add(function)
        return function

    return decorate


def planned(project: "Project", options: Mapping[str, Any]) -> "Plan":
    """The numbers of a run; the seed is the project's where none is given."""
    from eds.training.plan import Plan

    values = {name: options[name] for name in PLAN if options.get(name) is not None}
    return Plan(**{"seed": project.config.project.seed, **values})


def run_folder(project: "Project", name: str) -> Path:
    """Where the run keeps its state."""
    return project.root / "training" / name
