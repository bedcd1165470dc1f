"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import click

from eds.cli.console import EXECUTOR
from eds.registry import EXECUTORS

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

pool_models_option = click.option(
    "-g", "--pool-model", "pool_models", multiple=True, metavar="MODEL",
    help="A model that made the pool (default: as suspects say).",
)  # fmt: skip
with_random = click.option("--with-random", is_flag=True, help="Measure on the labels of random pairs, too.")
allow_missing = click.option("--allow-missing", is_flag=True, help="Leave out images without a vector, and count them.")
resamples_option = click.option(
    "--resamples", type=click.IntRange(0), default=2000, help="Resamples behind each interval; 0: none."
)
other_models_option = click.option(
    "-o", "--other-model", "other_models", multiple=True, metavar="MODEL",
    help="Another model to compare (default: all).",
)  # fmt: skip
depth = click.option("-k", "k", type=click.IntRange(1), help="Depth of the pool (default: eds.toml).")


def comparing(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options of analyses that compare the models of the pool with others."""
    for add in (allow_missing, with_random, depth, other_models_option, pool_models_option):
        function = add(function)
    return function


def named_files(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Return the values NAME=FILE of an option as a dictionary; refuse a name that comes twice."""
    named: dict[str, str] = {}
    for text in values:
        name, equals, item = text.partition("=")
        if not equals or not name or not item:
            raise click.BadParameter(f"{text!r}: write {parameter.metavar}", context, parameter)
        if name in named:
            raise click.BadParameter(f"{name} is given twice", context, parameter)
        named[name] = item
    return named


def choose(name: str | None) -> None:
    """Let the rest of this command do its work there; None: where the settings say."""
    if name is not None:
        click.get_current_context().meta[EXECUTOR] = name


def executor_option(function: Callable[..., None]) -> Callable[..., None]:
    """Option --executor: where the verb works (Project.executor). The command's function does not get it."""
    return click.option(
        "--executor",
        type=one_of(EXECUTORS, "plain"),
        expose_value=False,
        callback=lambda context, parameter, value: choose(value),
        help="Where the work is done (default: eds.toml).",
    )(function)


models_option = click.option(
    "-m", "--models", multiple=True, metavar="MODEL", help="Only this model; repeatable (default: all)."
)
explain_option = click.option("--explain", is_flag=True, help="Show what the result rests on.")


def one_of(options: Any, *more: str) -> "click.Choice[str]":
    """The choice among the values of a closed set (eds.choices) or the members of a family of plug-ins."""
    return click.Choice([*more, *(get_args(options) or options)])
