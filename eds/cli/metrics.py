"""`eds metrics`: the measures there are, and every model's value of them: table scores."""

import shutil
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from eds.cli.console import Console, command
from eds.cli.options import (
    allow_missing,
    confidence,
    executor_option,
    named_files,
    pool_models_option,
    resamples_option,
    with_random,
)
from eds.cli.render import format_interval, format_table

if TYPE_CHECKING:
    import pandas as pd

    from eds.project.measures import MeasuresResult
    from eds.project.score import ScoreResult

WIDTH = 110  # of text that is not shown on a terminal
YES_NO = {True: "yes", False: "no"}
NOTES = 3  # lines of what must be known before the numbers are used


@click.group()
def metrics() -> None:
    """Score the models against the truth."""


@command(metrics, "list", example="eds metrics list --preset vsd", reads=True)
@click.option("--preset", metavar="NAME", help="Show only the measures of this preset.")
def list_(console: Console, preset: str | None) -> None:
    """List the measures with formula and conventions."""
    from eds.project.measures import list_measures

    console.show(list_measures(preset), render_measures)


@command(metrics, "score", example="eds metrics score -M vsd -M nDCG@10")
@click.option(
    "-M",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE|PRESET",
    help="A measure, as RR@10, or a preset (default: vsd, in short; trec where lists do not fit).",
)
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    metavar="MODEL",
    help="Score this model beside the generators; repeatable.",
)
@click.option(
    "--new",
    multiple=True,
    metavar="NAME=BACKBONE|FILE",
    callback=named_files,
    help="Add a model: a backbone, vectors, or a TREC run.",
)
@click.option(
    "--ids",
    multiple=True,
    metavar="NAME=FILE",
    callback=named_files,
    help="The image ids of a new model's vectors or run.",
)
@pool_models_option
@click.option(
    "--from",
    "source",
    type=click.Choice(["auto", "embeddings", "neighbors"]),
    default="auto",
    help="Where ranks come from (auto: vectors, else lists).",
)
@click.option("--by-query", is_flag=True, help="Store the value of every query, too.")
@resamples_option
@confidence
@with_random
@allow_missing
@click.option("--attribute", "attributes", multiple=True, metavar="COLUMN", help="A column for grades=attributes.")
@executor_option
@click.option("--explain", is_flag=True, help="Show every measure, and what each value rests on.")
@click.option("--brief", is_flag=True, help="Show one line for each model: its values, the best ones marked.")
def score(console: Console, explain: bool, brief: bool, **options: Any) -> None:
    """Score every model by the measures, and write table scores.

    Values of other models and measures that are up to date are kept in the table.
    """
    render = render_leaderboard if brief else partial(render_scores, explain=explain)
    console.show(console.project.score(**options), render)


def render_leaderboard(result: "ScoreResult") -> str:
    """Render a line for each model: its values without intervals, the best ones marked."""
    return format_table(list(result.leaderboard.columns), result.leaderboard.to_numpy().tolist())


def render_scores(result: "ScoreResult", *, explain: bool = False) -> str:
    """Render scores: models by measures, at most three notes, and on request what each value rests on."""
    lines = [line for line in (result.legend, *result.notes) if line]
    if not explain:
        more = len(result.measures) - len(result.shown) if result.shown else 0
        pointer = f"  {more} more measures: --explain" if more else ""
        return "\n".join([_table(result.summary), *lines[:NOTES]]) + pointer
    parts = [_table(result.tabulate(result.measures)), *lines, "", _rests_on(result), *result.remarks]
    for block in (_fairness(result), _pairs(result)):
        parts += ["", *block] if block else []
    return "\n".join(parts)


def _table(summary: "pd.DataFrame") -> str:
    """Render the table of models by measures; measures that do not fit beside each other follow below."""
    width = shutil.get_terminal_size((WIDTH, 24)).columns
    return format_table(list(summary.columns), summary.to_numpy().tolist(), width=width)


def _rests_on(result: "ScoreResult") -> str:
    """Render what each measure rests on; where models differ, from the least to the most."""
    heads = [
        "measure",
        "n",
        "queries skipped",
        "unlabelled",
        "similar not found",
        "behind their product",
        "pairs without a score",
    ]
    rows = []
    for name, part in result.counts.items():
        why = sorted({reason for counts in part for reason in counts["skipped_because"]})
        skipped = _range([counts["queries_skipped"] for counts in part]) + (f" {', '.join(why)}" if why else "")
        others = [
            [counts["pairs_unlabelled"] for counts in part],
            [counts["counts"].get("positives not found") for counts in part],
            [counts["counts"].get("positives behind another image of their product") for counts in part],
            [counts["pairs_without_score"] for counts in part],
        ]
        rows.append([name, _range([counts["n"] for counts in part]), skipped, *map(_range, others)])
    return (
        f"{format_table(heads, rows)}\n"
        "Unlabelled: items of the lists, of AUC pairs of the pool. Similar not found: not among the first k; behind"
        " their product: another image of their product is in the list instead."
    )


def _fairness(result: "ScoreResult") -> list[str]:
    """Render which measures are fair to newcomers: each pool model scored again as if it were new."""
    if not result.fairness:
        return []
    not_for = result.fairness[0].not_for
    heads = ["measure", "fair to newcomers", "largest shift", "of", "order changes", "reason"]
    rows = []
    for item in result.fairness:
        largest = item.largest
        shift = "-" if largest is None else format_interval(largest.shift, largest.low, largest.high)
        model = "-" if largest is None else largest.model
        rows.append([item.measure, item.grade, shift, model, len(item.swaps), item.reason or "-"])
    return [
        format_table(heads, rows),
        "Each pool model scored again as if it were new: without the labels of the pairs that only it proposed.",
        *([f"No measure is fair on {', '.join(not_for)}: trained on these labels."] if not_for else []),
    ]


def _pairs(result: "ScoreResult") -> list[str]:
    """Render every two models by the first measure, and by the others each pair with a newcomer."""
    heads = [
        "measure",
        "model",
        "against",
        "difference",
        "adjusted p",
        "beyond sampling error",
        "decided by labels",
        "compared on",
        "to judge",
    ]
    rows = []
    for number, part in enumerate(result.comparison):
        for pair in part.pairs:
            if number and not {pair.first, pair.second} & set(result.comparison.newcomers):
                continue
            decided = "-" if pair.decided_by_labels is None else YES_NO[pair.decided_by_labels]
            beyond = "-" if pair.basis == "none" else YES_NO[pair.beyond_sampling]
            rows.append(
                [
                    str(part.measure),
                    pair.first,
                    pair.second,
                    format_interval(pair.difference, pair.low, pair.high),
                    _number(pair.p_adjusted),
                    beyond,
                    decided,
                    pair.basis,
                    "-" if pair.to_judge is None else f"{pair.to_judge:,}",
                ]
            )
    return [format_table(heads, rows)] if rows else []


def render_measures(result: "MeasuresResult") -> str:
    """Render the measures and presets."""
    import textwrap

    def block(label: str, text: str) -> str:
        return textwrap.fill(text, WIDTH, initial_indent=f"  {label:<13}", subsequent_indent=" " * 15)

    parts = []
    for row in result.measures:
        lines = [row["measure"], f"  {row['meaning']}", block("formula", row["formula"])]
        parts.append("\n".join([*lines, block("conventions", row["conventions"]), block("computed on", row["needs"])]))
    for preset in result.presets:
        lines = [f"preset {preset['preset']}", f"  {preset['meaning']}", block("lists", preset["rules"])]
        parts.append("\n".join([*lines, block("measures", ", ".join(preset["measures"]))]))
    return "\n\n".join(parts)


def _range(values: Sequence[int | None]) -> str:
    known = sorted({value for value in values if value is not None})
    if not known:
        return "-"
    return f"{known[0]:,}" if len(known) == 1 else f"{known[0]:,} to {known[-1]:,}"


def _number(value: float) -> str:
    return "-" if value != value else f"{value:.3f}"
