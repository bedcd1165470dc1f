"""Generators against outsiders: the options of the analyses that compare them, and what all of them start from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from eds.cli.console import Console
from eds.cli.generators import allow_missing, generator, generator_lists, with_random
from eds.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from eds.cli.evidence import Evidence
    from eds.workspace import Project

TABLES = ["suspects", "truth", "embeddings", "neighbors"]  # what such an analysis reads
AUCS = ("macro_roc_auc", "micro_roc_auc", "macro_pr_auc", "micro_pr_auc")
outsider = click.option(
    "-o", "--outsider", "others", multiple=True, metavar="MODEL",
    help="A model to compare that did not make it (default: all others with vectors or lists).",
)  # fmt: skip
depth = click.option("-k", "k", type=click.IntRange(1), help="Depth of the pool (default: eds.toml).")


@dataclass(frozen=True)
class Compared:
    """The generators' lists, the labels, and every compared model's ranks (if asked for) and scores of the pairs."""

    lists: "pd.DataFrame"
    truth: "pd.DataFrame"
    evidence: "Evidence"
    scores: "pd.DataFrame"
    pooled: "pd.DataFrame | None"  # the pool's pairs, judged or not, whose ranks are known where they were asked for


def comparing(function: Callable[..., None]) -> Callable[..., None]:
    """The options that `compared` takes."""
    for add in (allow_missing, with_random, depth, outsider, generator):
        function = add(function)
    return function


def compared(
    console: Console,
    makers: Sequence[str],
    others: Sequence[str],
    k: int | None,
    with_random: bool,
    allow_missing: bool,
    *,
    whole: bool = True,
    with_pool: bool = False,
) -> Compared:
    """Generators and outsiders on the labelled pairs; `whole` counts ranks, too, `with_pool` those of the pool's pairs.

    Models without scores are told.
    """
    from eds.cli.evidence import gather
    from eds.cli.project_pairs import measured_pairs, pooled_pairs

    truth = measured_pairs(console.project, with_random=with_random)
    lists = generator_lists(console, makers, k, allow_missing=allow_missing)
    models = _models(console.project, lists, others)
    images = console.project.read("images")
    pooled = pooled_pairs(console.project) if with_pool else None
    found = gather(console, models, images, truth, lists=whole, besides=pooled, allow_missing=allow_missing)
    gone = sorted(set(lists["model"]) - set(models))
    if gone:
        console.say(f"Generators without vectors or lists are not evaluated: {', '.join(gone)}.")
    if found.scores is None or not len(found.scores):
        raise InputError(
            "no labelled pair has a score", where=str(console.project.root), do="Bring the models' vectors."
        )
    unscored = sorted(set(models) - set(found.scores["model"]))
    if unscored:
        console.say(f"No labelled pair has a score by {', '.join(unscored)}, so that there is no AUC of it.")
    return Compared(lists, truth, found, found.scores, pooled)


def _models(project: "Project", lists: "pd.DataFrame", others: Sequence[str]) -> dict[str, str]:
    """The generators and the outsiders, with where each is taken from; generators that are gone by now are missing."""
    from eds.cli.evidence import chosen_models

    there = chosen_models(project, ())
    makers = [name for name in sorted(lists["model"].unique()) if name in there]
    wrong = sorted(set(others) & set(makers))
    if wrong:
        raise InputError(f"{', '.join(wrong)} made the pool", where="option --outsider", do="Name other models.")
    return chosen_models(project, [*makers, *others]) if others else there
