"""`eds analysis`: one command per analysis, made from its options; and what a benchmark costs."""

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from eds.cli.console import Console, command
from eds.cli.options import explain_option, plugin_option
from eds.cli.render_analyses import render_analysis
from eds.cli.render_budget import render_budget
from eds.registry import ANALYSES

if TYPE_CHECKING:
    from collections.abc import Callable

    from eds.project.planning import DrawsResult, UtilisationResult


class Analyses(click.Group):
    """A command for each analysis, and budget."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the analyses; imports none."""
        return [*self.commands, *ANALYSES.names()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of an analysis, with the options that the analysis declares."""
        if cmd_name in self.commands or cmd_name not in ANALYSES:
            return self.commands.get(cmd_name)
        from eds.project.analyse import analysis_options

        made = _analysis_command(cmd_name)
        made.params[:0] = [plugin_option(option) for option in analysis_options(cmd_name)]
        return made

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the analyses without importing them."""
        with formatter.section("Commands"):
            own = [(name, made.get_short_help_str()) for name, made in self.commands.items()]
            formatter.write_dl([*own, *((name, ANALYSES.help(name)) for name in ANALYSES.names())])


def _analysis_command(name: str) -> click.Command:
    @command(None, name, example=f"eds analysis {name} --json")
    @explain_option
    def analyse(console: Console, explain: bool, **options: Any) -> None:
        result = console.project.analyse(name, **options)
        console.show(result, partial(render_analysis, explain=explain))
        if not (console.project.read_only or console.project.dry_run):
            console.say(f"Stored in {result.file}.")

    analyse.help = f"{ANALYSES.help(name)}\n\nThe result is stored in analysis/{name}.json."
    return analyse


@click.group(cls=Analyses)
def analysis() -> None:
    """Analyse the pairs, the labels and the models."""


class Count(click.ParamType):  # type: ignore[type-arg]
    """A whole number from 1 up, which may be written 1e9 or 1_000_000."""

    name = "count"

    def convert(self, value: "str | int", param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number; refuse a fraction, and what is too large to be counted."""
        try:
            number = int(value) if str(value).replace("_", "").isdigit() else float(value)
        except ValueError:
            number = 0.5
        if not 1 <= number <= 1e15 or number != int(number):
            self.fail(f"{value!r} is not a whole number from 1 up, like 52712 or 1e9.", param, ctx)
        return int(number)


COUNT = Count()


def budget_options(function: "Callable[..., None]") -> "Callable[..., None]":
    """Add the options of `eds analysis budget`."""
    at_least_one, price = click.IntRange(1), click.FloatRange(0)
    for add in (
        click.option("--calibrate", is_flag=True, help="Measure mining now, which takes some seconds."),
        click.option("--terabyte-monthly", type=price, default=0.0, help="Price of a stored terabyte a month."),
        click.option("--machine-hourly", type=price, default=0.0, help="Price of a machine by the hour."),
        click.option("--machines", type=COUNT, default=1, help="Machines like this one that share the work."),
        click.option("--hourly", type=float, help="An expert's pay by the hour (default: eds.toml)."),
        click.option("--seconds", type=float, help="An expert's seconds for a pair (default: eds.toml)."),
        click.option("--experts", type=at_least_one, help="Experts who judge every pair (default: eds.toml)."),
        click.option("--prevalence", type=float, help="Share of positives among all pairs, for --wanted."),
        click.option("--wanted", type=at_least_one, help="Positives that random pairs should yield."),
        click.option("--pool", "pool_size", type=at_least_one, help="Size of the pool (default: the project's)."),
        click.option("-k", "k", type=at_least_one, help="Depth of the pool (default: eds.toml)."),
        click.option("--models", type=at_least_one, help="Number of models (default: those with lists)."),
        click.option("--outside", is_flag=True, help="The queries are not among the candidates."),
        click.option("--images", type=COUNT, help="Candidates, as 52712 or 1e9 (default: the project's)."),
        click.option("--queries", type=COUNT, help="Queries (default: the project's)."),
    ):
        function = add(function)
    return function


@command(analysis, "budget", example="eds analysis budget --queries 2000 --images 52712 --models 6 -k 6", reads=True)
@budget_options
@explain_option
def budget(console: Console, explain: bool, **options: Any) -> None:
    """Plan judgements, machines, time and money.

    Pairs, hours and money of judging the pool, all pairs, or random pairs until they yield as many positives; and the
    time, money and storage of embedding and mining. Works without a project, given --queries, --images and --models.
    """
    from eds.project.budget import BudgetOptions, plan_budget

    result = plan_budget(console.project_here, BudgetOptions(**options))
    console.show(result, partial(render_budget, explain=explain))


@command(analysis, "draws", example="eds analysis draws --error 0.001 --failure 0.05", reads=True)
@click.option("--error", type=float, required=True, help="Largest error of p that is accepted (eps).")
@click.option("--failure", type=float, default=0.05, help="Chance of a larger error (q).")
@click.option("--prevalence", type=float, help="p, if it is known roughly (default: any p below the error).")
def draws(console: Console, **options: Any) -> None:
    """Plan the random pairs for an estimate of p.

    Chebyshev's bound b = 1 / (eps q). Works without a project.
    """
    from eds.project.planning import plan_draws

    console.show(plan_draws(**options), render_draws)


@command(analysis, "utilisation", example="eds analysis utilisation --diameter 2", reads=True)
@click.option("--diameter", type=click.IntRange(1), required=True, help="Smallest class diameter, in bits (h).")
def utilisation(console: Console, **options: Any) -> None:
    """Bound the share of the code space in use.

    The bound (h + 1) / (2 h + 1) holds for two or more classes, each closer to itself than to others. Works without a
    project; CodeUsage measures what a model uses.
    """
    from eds.project.planning import bound_utilisation

    console.show(bound_utilisation(**options), render_utilisation)


def render_draws(result: "DrawsResult") -> str:
    """The number of pairs, and what it promises."""
    return (
        f"{result.draws:,} uniform random pairs: the estimate of p errs by {result.error:g} or more with a chance "
        f"of at most {result.failure:g} ({result.formula})."
    )


def render_utilisation(result: "UtilisationResult") -> str:
    """The bound with its formula."""
    return (
        f"At most {100 * result.bound:.1f} % of any great circle of the code space is used by classes of diameter "
        f"{result.diameter} or more ({result.formula})."
    )
