"""Every measure's limits over queries, computed once, model by model on two threads.

Micro ROC and PR are drawn again together: one pass over the pairs gives both areas.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pandas as pd

from eds.analysis import score_limits
from eds.analysis.bootstrap import draw_queries, resampled_micro
from eds.intervals import percentile_interval
from eds.metrics import Result, scores_table
from eds.metrics.evidence import with_negatives
from eds.metrics.pair_scores import align_scores
from eds.pairs import LabelledPairs, Reals
from eds.reports.material import Material

THREADS = 2
AREAS = ("ROC-AUC", "PR-AUC")


def with_limits(material: Material) -> pd.DataFrame:
    """The table scores with limits, as `eds.analysis.score_limits` gives it."""
    results: Sequence[Result] = material.need("results")
    table: pd.DataFrame = material.once("limits", lambda: _computed(material, results))
    return table


def _computed(material: Material, results: Sequence[Result]) -> pd.DataFrame:
    if not material.resamples:
        return scores_table(results)
    micro = [result for result in results if _is_micro(result) and material.scores is not None]
    rest = [result for result in results if result not in micro]
    sides = _sides(material) if micro else {}
    models = list(dict.fromkeys(result.model for result in results))

    def of(model: str) -> pd.DataFrame:
        mine = [result for result in rest if result.model == model]
        parts = [score_limits(mine, material.resamples, material.level, material.seed)] if mine else []
        areas = [result for result in micro if result.model == model]
        parts += [_micro(areas, side, *told, material) for side, told in sides.items()]
        return pd.concat([part for part in parts if len(part)], ignore_index=True)

    with ThreadPoolExecutor(THREADS) as pool:
        return pd.concat(list(pool.map(of, models)), ignore_index=True)


def _is_micro(result: Result) -> bool:
    values = result.values
    return result.measure.name in AREAS and values is not None and values.resample is not None


def _sides(material: Material) -> dict[str, tuple[LabelledPairs, dict[str, Reals]]]:
    """By kind of negatives: the labelled pairs and every model's scores of them."""
    annotated = LabelledPairs.from_frame(material.labels, "table truth")
    found = {"annotated": (annotated, align_scores(annotated, material.need("scores")))}
    if material.negatives is not None:
        drawn, _ = with_negatives(annotated, material.negatives)
        found["sampled"] = (drawn, align_scores(drawn, material.need("scores")))
    return found


def _micro(
    results: Sequence[Result], side: str, labelled: LabelledPairs, scores: dict[str, Reals], material: Material
) -> pd.DataFrame:
    mine = [result for result in results if result.measure.parameters["negatives"] == side]
    table = scores_table(mine)
    if not mine or mine[0].model not in scores:
        return table
    times = draw_queries(len(labelled.queries), material.resamples, material.seed)
    roc, precision = resampled_micro(labelled, scores[mine[0].model], times)
    limits = [
        percentile_interval(roc if result.measure.name == "ROC-AUC" else precision, material.level) for result in mine
    ]
    defined = table["value"].notna()
    low, high = (pd.Series([one[end] for one in limits], dtype="float64") for end in (0, 1))
    return table.assign(low=low.where(defined), high=high.where(defined))
