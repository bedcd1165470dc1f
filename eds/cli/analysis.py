"""`eds analysis`: what the tables say: cost before anybody starts, overlap of the models."""

from typing import TYPE_CHECKING, Any

import click

from eds.cli.analysis_bias import bias
from eds.cli.analysis_identification import identification
from eds.cli.analysis_prevalence import COLUMNS, prevalence
from eds.cli.analysis_robustness import leave_one_out, reusability
from eds.cli.analysis_scale import COUNT, NAMES, machine_options, told_scale
from eds.cli.console import Console, command
from eds.cli.render import format_share, format_table
from eds.project.budget import (
    check_counts,
    count_images,
    count_models,
    plans,
    project_budget,
    scale_document,
    settings_of,
)
from eds.project.mine import check_depth, read_heads
from eds.project.pool import models_with_whole_ties

if TYPE_CHECKING:
    from eds.project import Project


@click.group()
def analysis() -> None:
    """Tell what the pairs and labels say."""


for _one in (prevalence, leave_one_out, reusability, bias, identification):
    analysis.add_command(_one)


@command(analysis, "budget", example="eds analysis budget --queries 2000 --images 52712 --models 6 -k 6")
@click.option("--queries", type=COUNT, help="Queries (default: the project's).")
@click.option("--images", type=COUNT, help="Candidates, as 52712 or 1e9 (default: the project's).")
@click.option("--outside", is_flag=True, help="The queries are not among the candidates (with --queries, --images).")
@click.option("--models", type=click.IntRange(1), help="Models (default: those that have lists).")
@click.option("-k", "k", type=click.IntRange(1), help="Depth of the pool (default: eds.toml).")
@click.option("--pool", "pool_size", type=click.IntRange(1), help="Size of the pool (default: the project's, if made).")
@click.option("--wanted", type=click.IntRange(1), help="Positives that random pairs should yield.")
@click.option("--prevalence", type=float, help="Share of positives among all pairs, for --wanted.")
@click.option("--experts", type=click.IntRange(1), help="Experts who judge every pair (default: eds.toml).")
@click.option("--seconds", type=float, help="An expert's seconds for a pair (default: eds.toml).")
@click.option("--hourly", type=float, help="An expert's pay by the hour (default: eds.toml).")
@machine_options
def budget(console: Console, queries: int | None, images: int | None, outside: bool, **options: Any) -> None:
    """Tell what a benchmark costs: pairs, hours and money by pool, all pairs and random ones, how sure they make you.

    And machines: time, money and storage for each model, from what was measured here; what is assumed is told.

    Random pairs: as many as would yield the pool's positives, where labelled random pairs have told how rare they are;
    or give --wanted and --prevalence.
    """
    machine = {name: options.pop(name) for name in NAMES}
    if queries is not None or images is not None:
        check_counts(console.project_here, queries=queries, images=images, models=options["models"])
        common = None
        if queries is None or images is None:
            asked, offered, common = count_images(console.project)
            queries, images = queries or asked, images or offered
        models, k = options.pop("models") or count_models(console.project), options.pop("k")
        inside = 0 if outside else min(queries, images, queries if common is None else common)
        embedded = images + queries - inside
        found = plans(console.project_here, queries, images, models, k, inside, **options)
    else:
        if options["wanted"] is None and options["prevalence"] is None:
            options |= _known(console.project)
        models = options["models"] or count_models(console.project)
        found = project_budget(console.project, **options)
        roles = console.project.read("images", columns=["role"])["role"]
        queries, embedded = int((roles != "candidate").sum()), len(roles)
    settings = settings_of(console.project_here).budget
    sure = _certainty(queries, found)
    scale = scale_document(
        console.project_here, embedded, queries, models, round(sure["pairs"]), options["experts"] or settings.experts,
        options["seconds"] or settings.seconds, **machine,
    )  # fmt: skip
    document = {"plans": found, "currency": settings.currency, "certainty": sure, "machines": scale}
    parts = told_budget(found, settings.currency), _told_certainty(sure), told_scale(scale, settings.currency)
    console.answer(document, "\n\n".join(parts))


@command(analysis, "overlap", example="eds analysis overlap -k 6 --json")
@click.option("-k", "k", type=click.IntRange(1), help="Depth of the lists (default: eds.toml).")
@click.option("--models", multiple=True, metavar="MODEL", help="Only this model; may be given several times.")
def overlap(console: Console, k: int | None, models: tuple[str, ...]) -> None:
    """Tell how far the models propose the same pairs; --json holds the matrices for a heat map."""
    from eds.suspects import overlap as compare
    from eds.suspects import shared_ranks

    project = console.project
    depth, names = k or project.config.suspects.k, models or project.models("neighbors")
    ties = models_with_whole_ties(project, names, None)
    proposed = read_heads(project, names, depth, ties)
    check_depth(project, names, depth, f"overlap at k = {depth}")
    asked = int((project.read("images", columns=["role"])["role"] != "candidate").sum())
    document = compare(shared_ranks(proposed, ties), depth, asked)
    console.answer({"k": depth, **document}, lambda: _told_overlap(document, depth))


def told_budget(plans: list[dict[str, Any]], currency: str = "") -> str:
    """The plans as a table; money only where a pay is known."""
    paid = any(plan["money"] is not None for plan in plans)
    heads = ["plan", "pairs", "judgements", "hours", "times fewer"] + ([f"money {currency}".strip()] if paid else [])
    names = ["pairs", "judgements", "hours", "times_fewer"] + (["money"] if paid else [])
    return format_table(heads, [[plan["name"], *(_figure(plan[name]) for name in names)] for plan in plans])


def _known(project: "Project") -> dict[str, Any]:
    """What random pairs would have to yield, where labels have told it."""
    from eds.analysis.analyses.prevalence import pool_report

    if not (project.path("truth").exists() and project.path("suspects").exists()):
        return {}
    found = pool_report(project.read("images", columns=COLUMNS), project.read("suspects"), project.read("truth"))
    positives, random = found["pool"]["positive"], found["random"]
    if not positives or not random or not random.get("p_map"):
        return {}
    return {"wanted": positives, "prevalence": random["p_map"]}


def _certainty(queries: int, plans: list[dict[str, Any]]) -> dict[str, float]:
    """What the queries and the pool's pairs make sure of."""
    from eds.analysis.power import certainty

    pairs = next(plan["pairs"] for plan in reversed(plans) if plan["name"].startswith("pool"))
    return {"queries": queries, "pairs": pairs, **certainty(queries, round(pairs))}


def _told_certainty(sure: dict[str, float]) -> str:
    return "\n".join(
        [
            "What that buys, at 95 %:",
            f"  {sure['queries']:,} queries: a difference of {sure['smallest_difference']:.3f} between two models is"
            " seen four times in five (where the queries' differences spread by 0.15)",
            f"  {round(sure['pairs']):,} judged pairs: a rate is known to within {sure['half_width']:.2%} at worst;"
            f" were they random and none of them similar, p would be below {sure['p_below']:.3%}",
        ]
    )


def _figure(value: float) -> float:
    """A number as it is read: whole from 100 up."""
    return round(value) if value >= 100 or value == round(value) else round(value, 2)


def _told_overlap(document: dict[str, Any], k: int) -> str:
    models = document["models"]
    rows = [
        [name, *(format_share(share) for share in shares), document["unique_by_model"][name]]
        for name, shares in zip(models, document["overlap"], strict=True)
    ]
    exactly = ", ".join(f"{count:,} by {j}" for j, count in enumerate(document["proposed_by_exactly"], 1))
    return "\n".join(
        [
            f"Shared candidates of two models' lists at k = {k} (intersection / k):",
            format_table(["model", *models, "only here"], rows),
            f"Mean of two models {format_share(document['mean_pairwise_overlap'])}; {document['raw']:,} proposals, "
            f"{document['unique']:,} different pairs, duplication {format_share(document['duplication_rate'])}.",
            f"Pairs proposed by exactly so many models: {exactly}.",
        ]
    )
