"""`eds analysis identification`: whether the models find the other pictures of the query's own product."""

from collections.abc import Sequence
from typing import Any

import click

from eds.cli.console import Console, command
from eds.cli.options import confidence
from eds.cli.render import format_table
from eds.project.analysis_store import keep

KINDS = ("Product-HR@{k}(average=capped)", "Product-HR@{k}(average=macro)", "Product-HR@{k}(average=slots)",
         "Product-HR@{k}(average=standard)", "Product-MRR@{k}(average=slots)",
         "Product-MRR@{k}(average=standard)")  # fmt: skip


@command(None, "identification", example="eds analysis identification --cut 5 --cut 9")
@click.option("--cut", "cuts", type=click.IntRange(1), multiple=True, default=(5, 9), help="Cut-off; several may be.")
@click.option("-m", "--model", "models", multiple=True, metavar="MODEL", help="Only this model (default: all).")
@click.option("--resamples", type=click.IntRange(0), default=2000, help="Resamples behind each limit; 0: no limits.")
@confidence
@click.option("--allow-missing", is_flag=True, help="Leave out images that a model has no vector of, and count them.")
def identification(
    console: Console,
    cuts: tuple[int, ...],
    models: tuple[str, ...],
    resamples: int,
    confidence: float,
    allow_missing: bool,
) -> None:
    """Tell how well each model recognises a product: other pictures of it in lists that keep the own product."""
    from eds.analysis import score_limits
    from eds.errors import InputError
    from eds.metrics import Measure, scores_table
    from eds.project.inputs import Inputs
    from eds.project.ranks_and_scores import own_pairs
    from eds.project.score import evaluate_models
    from eds.tables import TRUTH

    project = console.project
    inputs = Inputs(project)
    images = inputs.images()
    if not len(own_pairs(images)):
        raise InputError(
            "no query has another picture of its product among the candidates",
            where=str(project.path("images")),
            do="Identification needs product ids: bring them with eds images import --map product_id=COLUMN.",
        )
    measures = [Measure.parse(kind.format(k=cut)) for cut in cuts for kind in KINDS]
    empty = TRUTH.empty()[["query_id", "candidate_id", "value"]]
    evaluation = evaluate_models(inputs, measures, models, "embeddings", allow_missing=allow_missing, truth=empty)
    results, found = evaluation.results, evaluation.evidence
    table = (
        score_limits(results, resamples, confidence, project.config.project.seed)
        if resamples
        else scores_table(results)
    )
    pairs = own_pairs(images)
    counts = {
        "queries": int((images["role"] != "candidate").sum()),
        "queries_with_another_picture": int(pairs["query_id"].nunique()),
        "pairs": len(pairs),
    }
    document = {**counts, "scores": table[["model", "measure", "value", "low", "high", "n", "note"]]}
    kept = keep(console.project, "identification", document, ["images", "embeddings"])
    console.answer(document, lambda: f"{_told(document, list(found.sources))}\n{kept}")


def _told(document: dict[str, Any], models: Sequence[str]) -> str:
    from eds.project.score import format_value

    table = document["scores"]
    cells = {(row["model"], row["measure"]): row for row in table.to_dict(orient="records")}
    measures = list(dict.fromkeys(table["measure"]))
    rows = [[name, *(format_value(cells[model, name]) for model in models)] for name in measures]
    alone = document["queries"] - document["queries_with_another_picture"]
    return "\n".join(
        [
            f"{document['queries_with_another_picture']:,} queries have {document['pairs']:,} other pictures of their "
            f"products among the candidates; {alone:,} queries have none and are left out.",
            format_table(["measure", *models], rows),
        ]
    )
