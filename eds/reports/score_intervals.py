"""Confidence intervals of every measure over queries, computed once, model by model on two threads.

Micro ROC-AUC and PR-AUC are resampled together: one pass over the pairs gives both areas.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pandas as pd

from eds.analysis import score_limits
from eds.analysis.bootstrap import draw_queries, resampled_micro
from eds.intervals import percentile_interval
from eds.metrics import Result, scores_table
from eds.metrics.inputs import with_negatives
from eds.metrics.pair_scores import align_scores
from eds.pairs import LabelledPairs, Reals
from eds.reports.inputs import ReportInputs

THREADS = 2
AREAS = ("ROC-AUC", "PR-AUC")


def scores_with_intervals(inputs: ReportInputs) -> pd.DataFrame:
    """The results with confidence intervals: those of table scores, the others as `eds.analysis.score_limits`."""
    results: Sequence[Result] = inputs.require("results")
    table: pd.DataFrame = inputs.cached("intervals", lambda: _complete(inputs, results))
    return table


def _complete(inputs: ReportInputs, results: Sequence[Result]) -> pd.DataFrame:
    if inputs.table is None:
        return _compute(inputs, results)
    table = inputs.table[inputs.table["query_id"].isna()]
    known = pd.MultiIndex.from_frame(table[["model", "measure"]])
    wanted = pd.MultiIndex.from_tuples([(result.model, str(result.measure)) for result in results])
    parts = [table[known.isin(wanted)]]
    if rest := [result for result, is_known in zip(results, wanted.isin(known), strict=True) if not is_known]:
        parts.append(_compute(inputs, rest))
    return pd.concat(parts, ignore_index=True)


def _compute(inputs: ReportInputs, results: Sequence[Result]) -> pd.DataFrame:
    if not inputs.resamples:
        return scores_table(results)
    micro = [result for result in results if _is_micro(result) and inputs.scores is not None]
    rest = [result for result in results if not any(result is other for other in micro)]
    sides = _sides(inputs) if micro else {}
    models = list(dict.fromkeys(result.model for result in results))

    def for_model(model: str) -> pd.DataFrame:
        mine = [result for result in rest if result.model == model]
        parts = [score_limits(mine, inputs.resamples, inputs.confidence, inputs.seed)] if mine else []
        areas = [result for result in micro if result.model == model]
        parts += [_micro(areas, side, *pairs, inputs) for side, pairs in sides.items()]
        return pd.concat([part for part in parts if len(part)], ignore_index=True)

    with ThreadPoolExecutor(THREADS) as pool:
        return pd.concat(list(pool.map(for_model, models)), ignore_index=True)


def _is_micro(result: Result) -> bool:
    values = result.values
    return result.measure.name in AREAS and values is not None and values.resample is not None


def _sides(inputs: ReportInputs) -> dict[str, tuple[LabelledPairs, dict[str, Reals]]]:
    """By kind of negatives: the labelled pairs and every model's scores of them."""
    annotated = LabelledPairs.from_frame(inputs.labels, "table truth")
    sides = {"annotated": (annotated, align_scores(annotated, inputs.require("scores")))}
    if inputs.negatives is not None:
        sampled, _ = with_negatives(annotated, inputs.negatives)
        sides["sampled"] = (sampled, align_scores(sampled, inputs.require("scores")))
    return sides


def _micro(
    results: Sequence[Result], side: str, labelled: LabelledPairs, scores: dict[str, Reals], inputs: ReportInputs
) -> pd.DataFrame:
    mine = [result for result in results if result.measure.parameters["negatives"] == side]
    table = scores_table(mine)
    if not mine or mine[0].model not in scores:
        return table
    times = draw_queries(len(labelled.queries), inputs.resamples, inputs.seed)
    roc, precision = resampled_micro(labelled, scores[mine[0].model], times)
    intervals = [
        percentile_interval(roc if result.measure.name == "ROC-AUC" else precision, inputs.confidence)
        for result in mine
    ]
    defined = table["value"].notna()
    low, high = (pd.Series([interval[end] for interval in intervals], dtype="float64") for end in (0, 1))
    return table.assign(low=low.where(defined), high=high.where(defined))
