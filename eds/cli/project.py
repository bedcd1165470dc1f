"""`eds init`, `status`, `run`, `completion`: the project as a whole."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import get_completion_class

from eds.cli.console import FOLDER, Console, command
from eds.cli.options import spending
from eds.cli.render import format_estimate, format_rate, format_table
from eds.errors import EdsError

if TYPE_CHECKING:
    from eds.project.run import RunResult
    from eds.project.status import StatusResult

WIDEST = 48  # of a command, in a table for people


@command(None, "init", example="eds init my-catalogue")
@click.argument("where", type=FOLDER, required=False)
def init(console: Console, where: Path | None) -> None:
    """Create a project in a folder."""
    from eds.project import Project

    folder = where or console.folder
    Project.refuse_existing(folder)
    console.would_begin("make", str(folder / "eds.toml"))
    project = Project.create(folder)
    shown = str(project.root)
    console.answer(
        {"project": shown},
        f"Made {shown}/eds.toml.\n"
        f"Next: put pictures in {shown}/{project.config.images.root}, name models in eds.toml, then eds run -p {shown}",
    )


@command(None, "status", example="eds status --project demo --json", reads=True)
def status(console: Console) -> None:
    """Show the status of every table."""
    console.show(console.project.status(), render_status)


@command(None, "run", example="eds run --project demo")
@spending
def run(console: Console) -> None:
    """Make every table that is missing or stale, in order.

    Pairs for the experts are added only where somebody agrees to their price, or with --yes.
    """
    console.show(console.project.run(), render_plan if console.project.dry_run else render_run)


def render_run(result: "RunResult") -> str:
    """The price of the pairs that were added, then the status."""
    added = f"To judge the new pairs: {result.price.cost}.\n\n" if result.price and result.price.pairs else ""
    return added + render_status(result.status)


def render_plan(result: "RunResult") -> str:
    """What a run would make, and what it would cost."""
    price = f" It {result.price.text}." if result.price and result.price.pairs else ""
    return f"A run makes {', '.join(result.made) or 'nothing'}.{price}"


def render_status(status: "StatusResult") -> str:
    """A line of counts, then a row for each table: what made it, and why it is stale."""
    counts = Counter(state.condition for state in status.tables)
    rows = [
        (state.path, state.condition, state.rows, _shorten(state.made_by), "; ".join(state.reasons) or None)
        for state in status.tables
    ]
    table = format_table(("table", "condition", "rows", "made by", "why"), rows)
    facts = f"\n\n{_render_shares(status)}" if status.universe else ""
    if status.pictures and status.pictures.text:
        facts += f"\nPictures: {status.pictures.text}."
    if status.models:
        by_role = (f"{role}: {', '.join(names)}" for role, names in status.models.items())
        facts += f"\nModels: {'; '.join(by_role)}."
    return f"{', '.join(f'{count} {condition}' for condition, count in counts.items())}\n\n{table}{facts}"


def _render_shares(status: "StatusResult") -> str:
    """The universe, and what the labels say of it."""
    shares, universe = status.shares, status.universe
    words = f"Universe: {universe.text}." if universe else ""
    if shares is None:
        return words
    known = [f"p_k {format_rate(shares.p_k.to_dict())}"] if shares.p_k.labelled else []
    known += [f"p {format_estimate(shares.p, 2)}"] if shares.p else []
    known += [f"pool recall {format_estimate(shares.recall)}"] if shares.recall else []
    known += [f"found so far {format_estimate(shares.found)}"] if shares.found else []
    return f"{words} {'; '.join(known)}." if known else words


def _shorten(made_by: str) -> str | None:
    """The first command that made a table, cut if it is long, and the number of later ones; --json has them all.

    >>> _shorten("eds suspects pool -k 6; eds suspects random -n 500; eds suspects negatives -n 5")
    'eds suspects pool -k 6; and 2 more'
    """
    first, *others = made_by.split("; ")
    cut = first if len(first) <= WIDEST else f"{first[: WIDEST - 1]}…"
    return (f"{cut}; and {len(others)} more" if others else cut) or None


@command(None, "completion", example="eds completion bash >> ~/.bashrc", reads=True)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(console: Console, shell: str) -> None:
    """Print the completion script for a shell."""
    from eds.cli import cli

    found = get_completion_class(shell)
    if found is None:
        raise EdsError(f"no completion for {shell}")
    script = found(cli, {}, "eds", "_EDS_COMPLETE").source()
    console.answer({"shell": shell, "script": script}, script)
