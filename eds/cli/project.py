"""`eds init`, `status`, `standing`, `run`, `completion`: the project as a whole."""

import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import get_completion_class

from eds.cli.console import FOLDER, Console, command
from eds.cli.options import confidence, spending
from eds.cli.render import format_estimate, format_interval, format_prevalence, format_rate, format_table
from eds.errors import EdsError

if TYPE_CHECKING:
    from eds.project.prevalence import Estimate
    from eds.project.run import RunResult
    from eds.project.standing import ModelStanding, StandingResult
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


@command(None, "standing", example="eds standing --project demo", reads=True)
@confidence
def standing(console: Console, confidence: float) -> None:
    """Show what the labels say so far, and what more would.

    p, p_k, positives and recall; P@k and AUC of each model; how narrow intervals become with more draws, and the pairs
    and hours that tell every two models apart. Limits "at every look" hold however often you look.
    """
    console.show(console.project.standing(confidence=confidence), render_standing)


@command(None, "run", example="eds run --project demo")
@spending
def run(console: Console) -> None:
    """Make every table that is missing or stale, in order.

    Pairs for the experts are added only where somebody agrees to their price, or with --yes.
    """
    console.show(console.project.run(), render_plan if console.project.dry_run else render_run)


def render_standing(result: "StandingResult") -> str:
    """Shares, models, plans, and how the intervals shrink."""

    def shown(estimate: "Estimate | None", digits: int) -> str:
        return "not known" if estimate is None else format_estimate(estimate, digits)

    rate = result.pool_rate.to_dict()
    share = "p, by random pairs alone" if result.p_by_draws else "p, similar pairs of all"
    rows = [
        [share, shown(result.p, 3), shown(result.p_at_every_look, 3)],
        ["p_k of the judged pool", format_rate(rate), ""],
        ["recall, held by the pool", shown(result.recall, 1), shown(result.recall_at_every_look, 1)],
    ]
    lines = [format_table(["share", "value", "at every look"], rows)]
    if result.positives is not None:
        low, high = result.positives.low, result.positives.high
        lines.append(
            "Similar pairs in all, by the pool's labels and the random pairs outside it: "
            f"{result.positives.value:,.0f} [{low:,.0f}, {high:,.0f}]."
        )
        lines += ["p is by random pairs alone, so the two can differ."] if result.p_by_draws else []
    if result.models:
        cells = [
            [
                one.model,
                f"{one.judged:,} of {one.proposed:,}",
                format_rate(
                    {
                        "rate": one.precision,
                        "low": one.precision_low,
                        "high": one.precision_high,
                        "no_interval": one.no_interval,
                    }
                ),
                _format_area(one),
            ]
            for one in result.models
        ]
        lines += ["", format_table(["model", "judged", f"P@{result.k}", "ROC-AUC (macro)"], cells)]
    lines += ["", *(plan.text for plan in result.plans)] if result.plans else []
    if len(result.growth):
        steps = [
            [row["further"], f"{row['hours']:,.1f}", f"{100 * row['p_width']:.3f}", f"{100 * row['recall_width']:.1f}"]
            for row in result.growth.to_dict(orient="records")
        ]
        lines += ["", format_table(["further draws", "hours", "width of p, %", "width of recall, %"], steps)]
    lines += ["", *(f"Missing: {text}." for text in result.missing)] if result.missing else []
    return "\n".join([*lines, "", result.looking, f"Universe: {result.universe}."])


def _format_area(model: "ModelStanding") -> str:
    value, low, high = (math.nan if part is None else part for part in (model.auc, model.auc_low, model.auc_high))
    return format_interval(value, low, high)


def render_run(result: "RunResult") -> str:
    """The price of the pairs that were added, then the status."""
    added = f"To judge the new pairs: {result.price.cost}.\n\n" if result.price and result.price.pairs else ""
    return added + render_status(result.status)


def render_plan(result: "RunResult") -> str:
    """What a run would make, and what it would cost."""
    if result.price is None and "suspects" in result.made:
        cost = " What the pool adds is known once the lists are there; it is asked before it is added."
    elif result.price and result.price.pairs:
        text = result.price.text
        cost = f" It {text.replace('adds', 'adds at most', 1) if result.at_most else text}."
    else:
        cost = ""
    return f"A run makes {', '.join(result.made) or 'nothing'}.{cost}"


def render_status(status: "StatusResult") -> str:
    """A line of counts, then a row for each table: what made it, and why it is stale."""
    counts = Counter(state.condition for state in status.tables)
    heads, rows = ["table", "condition", "rows", "made by"], []
    heads += ["why"] if any(state.reasons for state in status.tables) else []
    for state in status.tables:
        row = [state.path, state.condition, state.rows, _shorten(state.made_by), "; ".join(state.reasons) or None]
        rows.append(row[: len(heads)])
    table = format_table(heads, rows)
    facts = f"\n\n{_render_shares(status)}" if status.universe else ""
    if status.pictures and status.pictures.text:
        facts += f"\nPictures: {status.pictures.text}."
    if status.models:
        by_role = (f"{role}: {', '.join(names)}" for role, names in status.models.items())
        facts += f"\nModels: {'; '.join(by_role)}."
    if status.training:
        by_state = (f"{state}: {', '.join(names)}" for state, names in status.training.items())
        facts += f"\nTraining runs: {'; '.join(by_state)}."
    return f"{', '.join(f'{count} {condition}' for condition, count in counts.items())}\n\n{table}{facts}"


def _render_shares(status: "StatusResult") -> str:
    """The universe, and what the labels say of it."""
    shares, universe = status.shares, status.universe
    words = f"Universe: {universe.text}." if universe else ""
    if shares is None:
        return words
    known = [f"p_k {format_rate(shares.p_k.to_dict())}"] if shares.p_k.labelled else []
    known += [f"p {format_prevalence(shares.p)}"] if shares.p else []
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
