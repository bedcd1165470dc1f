"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from eds.choices import GivenRole
from eds.cli.console import EXECUTOR, YES
from eds.registry import EXECUTORS

if TYPE_CHECKING:
    from eds.plugin_options import Option

existing_file = click.Path(path_type=Path, exists=True, dir_okay=False)
new_file = click.Path(path_type=Path, dir_okay=False)
as_of = click.option("--as-of", metavar="TIME", help="Only judgements up to this time (ISO 8601; UTC by default).")
campaign = click.option("--campaign", metavar="NAME", help="Only this campaign.")
confidence = click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    help="Confidence level of the intervals.",
)
KINDS: dict[Any, Any] = {Path: existing_file, int: int, float: float}  # of plug-ins' options; others are text
SHORT = {"measure": ("-M",), "model": ("-m",), "pool_model": ("-g",), "other_model": ("-o",)}

pool_models_option = click.option(
    "-g",
    "--pool-model",
    "pool_models",
    multiple=True,
    metavar="MODEL",
    help="A model that made the pool (default: as suspects say).",
)
with_random = click.option("--with-random", is_flag=True, help="Measure on the labels of random pairs, too.")
allow_missing = click.option("--allow-missing", is_flag=True, help="Leave out images without a vector, and count them.")
resamples_option = click.option(
    "--resamples", type=click.IntRange(0), default=2000, help="Resamples behind each interval; 0: none."
)


def plugin_option(option: "Option") -> click.Option:
    """Return the click option of a plug-in's option; one that may be repeated is named in the singular."""
    word = option.name.removesuffix("s") if option.multiple else option.name
    names = [option.name, f"-{word}" if len(word) == 1 else f"--{word.replace('_', '-')}", *SHORT.get(word, ())]
    if option.type is bool:
        return click.Option(names, is_flag=True, help=option.help)
    kind: Any = click.Choice(option.choices) if option.choices else KINDS.get(option.type, str)
    default = tuple(map(str, option.default)) if option.multiple else option.default
    metavar = option.type.__name__.upper() if kind is str and option.type is not str else None
    metavar = "MODEL" if word.endswith("model") else metavar
    return click.Option(names, type=kind, default=default, multiple=option.multiple, help=option.help, metavar=metavar)


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


def noted_flag(name: str, key: str, help_text: str, **settings: Any) -> "Callable[[Callable[..., None]], Any]":
    """A flag that the console reads (Console.project); the command's function does not get it."""

    def note(context: click.Context, parameter: click.Parameter, value: bool) -> None:
        context.meta[key] = value

    return click.option(name, is_flag=True, expose_value=False, callback=note, help=help_text, **settings)


spending = noted_flag("--yes", YES, "Add pairs to judge without asking, for scripts.", envvar="EDS_YES")


role_option = click.option(
    "--role",
    type=click.Choice(get_args(GivenRole)),
    help="generator: its lists make the pool; evaluated: it is only compared.",
)
models_option = click.option(
    "-m", "--models", multiple=True, metavar="MODEL", help="Only this model; repeatable (default: all)."
)
explain_option = click.option("--explain", is_flag=True, help="Show what the result rests on.")


def one_of(options: Any, *more: str) -> "click.Choice[str]":
    """The choice among the values of a closed set (eds.choices) or the members of a family of plug-ins."""
    return click.Choice([*more, *(get_args(options) or options)])
