"""How well models recognise a product in other images.

Lists keep the query's own product, and its other images are what should be found. Of models that were trained here the
values are also over queries whose product they were trained on (seen), and over the others (unseen).
"""

from dataclasses import dataclass
from typing import Any

from eds.analysis.inputs import AnalysisInputs, option
from eds.analysis.score_intervals import score_limits
from eds.analysis.seen import COLUMNS, seen_and_unseen
from eds.errors import InputError
from eds.metrics import Measure, ScoringInputs, evaluate
from eds.metrics.product_retrieval import own_pairs
from eds.tables import TRUTH

KINDS = (
    "Product-HR@{k}(average=capped)",
    "Product-HR@{k}(average=macro)",
    "Product-HR@{k}(average=slots)",
    "Product-HR@{k}(average=standard)",
    "Product-MRR@{k}(average=slots)",
    "Product-MRR@{k}(average=standard)",
)
SHOWN = ["model", "measure", "value", "low", "high", "no_interval", "n", "note"]
INPUTS = ("images", "own_ranks")


@dataclass(frozen=True)
class Options:
    """What to compute."""

    cuts: tuple[int, ...] = option((5, 9), "Cut-off of the measures; repeatable.")
    resamples: int = option(2000, "Resamples behind each interval; 0: none.")
    confidence: float = option(0.95, "Confidence level of the intervals.")


def analyse(inputs: AnalysisInputs, options: Options) -> dict[str, Any]:
    """Count the queries that have another image of their product, and score every model on these images."""
    images = inputs.require("images")
    pairs = own_pairs(images)
    if not len(pairs):
        raise InputError(
            "no query has another image of its product among the candidates",
            where="table images",
            hint="Identification needs product ids: eds images import --map product_id=COLUMN.",
        )
    measures = [Measure.parse(kind.format(k=cut)) for cut in options.cuts for kind in KINDS]
    labels = TRUTH.empty()[["query_id", "candidate_id", "value"]]
    results = evaluate(ScoringInputs(labels, images=images, own_ranks=inputs.require("own_ranks")), measures)
    table = score_limits(results, options.resamples, options.confidence, inputs.seed)
    shown = [*SHOWN]
    if inputs.trained:  # models that were trained on some of these products
        values = seen_and_unseen(results, images, inputs.trained)
        shown[3:3] = COLUMNS
        for name in COLUMNS:
            keys = zip(table["model"], table["measure"], strict=True)
            table[name] = [values.get((model, str(measure), name)) for model, measure in keys]
    return {
        "queries": int((images["role"] != "candidate").sum()),
        "queries_with_another_picture": int(pairs["query_id"].nunique()),
        "pairs": len(pairs),
        "scores": table[shown],
    }
