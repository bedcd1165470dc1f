"""`eds metrics`: which measures there are, and what each model is worth by them: table scores."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from eds.cli.console import Console, command, given
from eds.cli.metrics_told import described, score_rows, told_list, told_scores
from eds.cli.options import bringing, executor_option, generator, with_random
from eds.project.evaluation import evaluated
from eds.project.labelled_pairs import measured_labels
from eds.project.new_models import bring, kept_if_used

if TYPE_CHECKING:
    import pandas as pd

    from eds.metrics import Measure, Result
    from eds.project import Project

OPTIONS = {
    "name": "preset", "texts": "measure", "models": "model", "runs": "run", "makers": "generator", "source": "from",
    "attributes": "attribute",
}  # fmt: skip  # parameters of `score` that are not called as their options
LABELS = ("truth", "suspects")  # the labels, and which of them are of random pairs


@click.group()
def metrics() -> None:
    """Tell what each model is worth against the truth."""


@command(metrics, "list", example="eds metrics list --preset vsd")
@click.option("--preset", "name", metavar="NAME", help="Only the measures of this preset.")
def list_(console: Console, name: str | None) -> None:
    """List every kind of measure with its formula and conventions, and the presets."""
    from eds.metrics import PRESETS, definitions, preset
    from eds.metrics.measure import definition_of

    if name:
        found = preset(name)
        kinds = list(dict.fromkeys(measure.name for measure in found.measures))
    else:
        kinds = list(definitions())
    rows = [described(definition_of(kind)) for kind in kinds]
    chosen = [preset(name)] if name else list(PRESETS.values())
    bundles = [
        {"preset": one.name, "meaning": one.meaning, "rules": one.rules, "measures": [*map(str, one.measures)]}
        for one in chosen
    ]
    console.answer({"measures": rows, "presets": bundles}, lambda: told_list(rows, bundles))


@command(metrics, "score", example="eds metrics score --preset vsd --by-query --json")
@click.option("--preset", "name", metavar="NAME", help="A bundle of measures: vsd (default), trec or hash.")
@click.option(
    "-M", "--measure", "texts", multiple=True, metavar="MEASURE", help="As RR@10; may be given several times."
)
@click.option(
    "-m", "--model", "models", multiple=True, metavar="MODEL|[NAME=]SPEC",
    help="Only this model (default: all); of a backbone that is new here the vectors are computed and kept.",
)  # fmt: skip
@bringing
@generator
@click.option(
    "--from", "source", type=click.Choice(["auto", "embeddings", "neighbors"]), default="auto",
    help="Where ranks and scores come from; auto: vectors where a model has them, else its lists.",
)  # fmt: skip
@click.option("--by-query", is_flag=True, help="Also a row for each query.")
@click.option("--resamples", type=click.IntRange(0), default=2000, help="Resamples behind each limit; 0: no limits.")
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, help="Of the limits.")
@with_random
@click.option("--allow-missing", is_flag=True, help="Leave out images that a model has no vector of, and count them.")
@click.option(
    "--attribute", "attributes", multiple=True, metavar="COLUMN", help="Of table images, for grades=attributes."
)
@executor_option
def score(
    console: Console,
    name: str | None,
    texts: tuple[str, ...],
    models: tuple[str, ...],
    vectors: tuple[str, ...],
    runs: tuple[str, ...],
    ids: tuple[str, ...],
    makers: tuple[str, ...],
    source: str,
    by_query: bool,
    resamples: int,
    level: float,
    with_random: bool,
    allow_missing: bool,
    attributes: tuple[str, ...],
) -> None:
    """Compute the measures for every model, from embeddings or lists and the truth, and store table scores.

    A model that had no part in the pool is new: which measures are fair to it, and against whom the labels there are do
    not decide, is told below the numbers.
    """
    from eds.cli.fairness_text import told_fair, with_fairness
    from eds.project.fairness import beside, judged_fair

    project = console.project
    measures = asked_measures(name, texts)
    words = _typed_options({
        "name": name, "texts": texts, "models": models, "vectors": vectors, "runs": runs, "ids": ids, "makers": makers,
        "source": source, "by_query": by_query, "resamples": resamples, "level": level, "with_random": with_random,
        "allow_missing": allow_missing, "attributes": attributes,
    })  # fmt: skip
    with project.writing("eds metrics score"), kept_if_used(project):
        measured_labels(project, measures, with_random=with_random)  # refused before anything is computed
        came = bring(console.project, models, vectors, runs, ids, partial=allow_missing)
        named = came if models else []
        also = beside(project, measures, named, source, makers)
        everything, found = evaluated(
            console.project,
            [*measures, *also],
            named,
            source,
            allow_missing=allow_missing,
            with_random=with_random,
            attributes=attributes,
        )
        results = [result for result in everything if result.measure not in also]
        table, sources = with_limits(console.project, results, resamples, level, by_query=by_query), found.sources
        parents = [project.path("images"), *(project.path(one) for one in LABELS if project.path(one).exists())]
        parents += [project.path(where, model) for model, where in sources.items()]
        rules = {f"neighbors.{key}": project.config.value(f"neighbors.{key}")
                 for key in ("exclude_product", "one_per_product", "category")}  # fmt: skip
        settings = {**rules, "project.seed": project.config.project.seed}
        made_by = project.provenance("metrics.score", settings, parents, params=words)
        project.write(table, "scores", made_by)
    fair = judged_fair(console.project, everything, found, makers, with_random=with_random, allow_missing=allow_missing)
    console.answer(
        with_fairness(score_rows(results, table), fair),
        lambda: "\n\n".join([told_scores(results, table, level), *told_fair(fair)]),
    )


def asked_measures(name: str | None, texts: Sequence[str]) -> "list[Measure]":
    """The preset's measures and those that are named, each once; the preset vsd where nothing is asked.

    A PR-AUC comes with the prevalence of its pairs, beside which it is to be read.
    """
    from eds.metrics import Measure, preset
    from eds.metrics.presets import with_chance

    chosen = list(preset(name or "vsd").measures) if name or not texts else []
    return with_chance([*chosen, *map(Measure.parse, texts)])


def scored(
    project: "Project",
    measures: "Sequence[Measure]",
    models: Sequence[str],
    source: str = "auto",
    *,
    by_query: bool = False,
    resamples: int = 2000,
    level: float = 0.95,
    allow_missing: bool = False,
    attributes: Sequence[str] = (),
) -> "tuple[list[Result], pd.DataFrame, dict[str, str]]":
    """Every model's measures, the table scores with limits, and where each model was taken from."""
    results, found = evaluated(project, measures, models, source, allow_missing=allow_missing, attributes=attributes)
    return results, with_limits(project, results, resamples, level, by_query=by_query), found.sources


def with_limits(
    project: "Project", results: "Sequence[Result]", resamples: int, level: float, *, by_query: bool = False
) -> "pd.DataFrame":
    """The results as table scores, each with its limits; and by query, if that is asked."""
    import pandas as pd

    from eds.analysis import score_limits
    from eds.metrics import scores_table

    if resamples:
        with project.progress("limits", "measures") as progress:
            seed = project.config.project.seed
            table = score_limits(results, resamples, level, seed, progress=progress)
    else:
        table = scores_table(results)
    if by_query:
        every = scores_table(results, by_query=True)
        table = pd.concat([table, every[every["query_id"].notna()]], ignore_index=True)
    return table


def _typed_options(values: dict[str, Any]) -> dict[str, Any]:
    """Of the parameters of `score` those that were typed, by the names of their options."""
    return {OPTIONS.get(name, name): value for name, value in given(values).items()}
