"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import click

from eds.cli.console import EXECUTOR

existing_file = click.Path(path_type=Path, exists=True, dir_okay=False)
new_file = click.Path(path_type=Path, dir_okay=False)
as_of = click.option("--as-of", metavar="TIME", help="Only acts up to this time (ISO 8601; UTC by default).")
campaign = click.option("--campaign", metavar="NAME", help="Only this campaign.")
confidence = click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    help="Confidence level of the intervals.",
)
EXECUTORS = ("plain", "serial", "pool", "ray")

generator = click.option(
    "-g", "--generator", "makers", multiple=True, metavar="MODEL",
    help="A model that made the pool (default: those that the suspects' sources name).",
)  # fmt: skip


with_random = click.option(
    "--with-random", is_flag=True, help="Measure on the labels of random pairs too, which serve p and recall."
)


allow_missing = click.option(
    "--allow-missing", is_flag=True, help="Leave out images that a model has no vector of, and count them."
)


outsider = click.option(
    "-o", "--outsider", "others", multiple=True, metavar="MODEL",
    help="A model to compare that did not make it (default: all others with vectors or lists).",
)  # fmt: skip


depth = click.option("-k", "k", type=click.IntRange(1), help="Depth of the pool (default: eds.toml).")


def comparing(function: Callable[..., None]) -> Callable[..., None]:
    """The options that `compared` takes."""
    for add in (allow_missing, with_random, depth, outsider, generator):
        function = add(function)
    return function


def bringing(function: Callable[..., None]) -> Callable[..., None]:
    """The options by which a command takes new models."""
    for add in (
        click.option(
            "--ids", "ids", multiple=True, metavar="NAME=FILE",
            help="Whose the rows of NAME's vectors are, or the ids.tsv of its run.",
        ),
        click.option("--run", "runs", multiple=True, metavar="NAME=FILE", help="A new model's TREC run (ranx' too)."),
        click.option(
            "--vectors", multiple=True, metavar="NAME=FILE",
            help="A new model's vectors, compared by cosine (else: eds embeddings import).",
        ),
    ):  # fmt: skip
        function = add(function)
    return function


def choose(name: str | None) -> None:
    """Let the rest of this command do its work there; None: where the settings say."""
    if name is not None:
        click.get_current_context().meta[EXECUTOR] = name


def executor_option(function: Callable[..., None]) -> Callable[..., None]:
    """Option --executor: where the verb works (Project.executor). The command's function does not get it."""
    return click.option(
        "--executor",
        type=click.Choice(EXECUTORS),
        expose_value=False,
        callback=lambda context, parameter, value: choose(value),
        help="Where the work is done (default: eds.toml).",
    )(function)


models_option = click.option(
    "-m", "--models", multiple=True, metavar="MODEL", help="Only this model; repeatable (default: all)."
)
explain_option = click.option("--explain", is_flag=True, help="Show what the result rests on.")


level = click.option(
    "--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, help="Of the limits."
)


def one_of(options: Any, *more: str) -> "click.Choice[str]":
    """The choice among the values of a closed set (eds.choices) or the members of a family of plug-ins."""
    return click.Choice([*more, *(get_args(options) or options)])
