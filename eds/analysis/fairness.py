"""Which measures are fair to a model that had no part in choosing the judged pairs, and which only more labels decide.

This file has the rule by which a measure is called fair to new models. The verdict on a measure depends on how it
treats items without a label:

    counts it as not similar (HR, MRR, P, AP ...)   capped by judged@k: fair where nearly all first k are judged
    leaves it open (RBP)                            an interval: fair where it is narrow
    passes over it (bpref, AUC, condensed ...)      as far as it hardly changes for makers that are treated as new
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from eds.analysis.analyses.bias import undecided_by_labels
from eds.analysis.analyses.reusability import reusability_table
from eds.analysis.inputs import AnalysisInputs
from eds.metrics import Measure, Result
from eds.metrics.judged_lists import JudgedLists
from eds.metrics.measures.incomplete import judged as judged_places
from eds.metrics.single_list import mean
from eds.pairs import Reals

SMALL = 0.02  # of a share or a change: below it a measure serves new models
KEPT = 0.9  # tau_b of the models' order before and after
FAIR, SELF_REMOVED, UNFAIR, UNKNOWN = "fair", "fair without own finds", "not fair", "not known"
BY_LABELS = ("truth", "votes")  # grades of codes that hang on what is labelled
COLUMNS = ("model", "measure", "verdict", "kind", "value", "judged", "at_most", "change", "undecided_with")


@dataclass(frozen=True, eq=False)
class Fairness:
    """`verdicts`: a row for each new model and measure; `reuse`: each maker as if it were new, by measure."""

    verdicts: pd.DataFrame
    reuse: pd.DataFrame


def fair_to_new(part: pd.DataFrame) -> bool:
    """Whether one measure's rows of `reusability_table` call it fair to new models.

    Formula: no |drop| above SMALL, and the least tau_b of the models' order at least KEPT (or undefined).
    Source: specification 13.4: a benchmark is reusable for new models on the metrics with small drops.
    Conventions: a maker without a value does not count; no value at all: not fair.
    Example, run by doctest:
    >>> fair_to_new(pd.DataFrame({"drop": [0.01, -0.02], "kendall_tau_b": [1.0, 0.95]}))
    True
    """
    tau = part["kendall_tau_b"].min()
    return bool(part["drop"].abs().max() <= SMALL and (np.isnan(tau) or tau >= KEPT))


def intervals(lists: Mapping[str, JudgedLists], measure: Measure) -> tuple[dict[str, float], dict[str, float]]:
    """By model the least and the largest value that labels of the unlabelled items could give; empty: undefined.

    Formula: RBP and RBP + residual; P@k, VSD-HR@k and that + the share of places among the first k without a label.
    Source: specification 13.5.
    Conventions: P and VSD-HR and that share over queries with a positive, which stay the same queries; RBP with a
    cut-off leaves everything behind it open.
    Example: see tests/analysis/test_fairness.py.
    """
    low: dict[str, float] = {}
    high: dict[str, float] = {}
    for name, result in lists.items():
        if measure.definition.most is not None:
            low[name], high[name] = mean(measure.by_query(result)), mean(measure.most_by_query(result))
    return low, high


def least_to_decide(mine: tuple[float, float], other: tuple[float, float], step: float) -> int | None:
    """The fewest labels of a model's places after which its interval could lie beside the other's; None: all cannot.

    Formula: each label moves one end by `step`: the lower one up where it is similar, the upper one down where it is
    not; the least n with low + n step > the other's high, or high - n step < the other's low, n at most
    (high - low) / step.
    Source: specification 13.5.
    Conventions: the labels agree, which is the best case; the other's interval stays; rounded to 12 decimals.
    Example, run by doctest:
    >>> least_to_decide((0.2, 0.6), (0.5, 0.5), 0.1), least_to_decide((0.2, 0.4), (0.1, 0.5), 0.1)
    (2, None)
    """
    ways = [(other[1] - mine[0]) / step, (mine[1] - other[0]) / step]
    fewest = min(math.floor(round(way, 12)) + 1 for way in ways)
    return max(fewest, 0) if fewest <= round((mine[1] - mine[0]) / step, 12) else None


def judged_share(lists: JudgedLists, k: int | None) -> float:
    """Share of labelled places among the first k of queries with a positive; without k, of whole lists."""
    some = lists.positives > 0
    if k is not None:
        return mean(np.where(some, judged_places(lists, k), np.nan))
    length = np.where(some, lists.lengths, 0).astype(np.float64)
    known: Reals = lists.per_query(lists.label >= 0)
    return float(known[some].sum() / length.sum()) if length.sum() else float("nan")


def fairness(results: Sequence[Result], new: Sequence[str], inputs: AnalysisInputs) -> Fairness:
    """For each new model and measure whether its number is comparable with those of the models that made the pool.

    Formula: kind `ceiling`: fair if judged@k >= 1 - SMALL; `interval`: if residual <= SMALL; `reuse` and `own finds`:
    `fair_to_new`; a ROC-AUC that is not is fair without own finds: against the makers' values without the pairs that
    only they proposed. `undecided_with`: models whose interval overlaps (`undecided_by_labels`), for P, VSD-HR and RBP.
    Source: specification 5.4, 13.4, 13.5.
    Conventions: fewer than two makers with values: not known; measures that need no label are fair; measures that
    describe the labels only (judged, residual, prevalence) get no verdict.
    Example: see tests/analysis/test_fairness.py.
    """
    lists = inputs.judged_lists()
    measures = [
        item
        for item in dict.fromkeys(result.measure for result in results)
        if item.definition.unlabelled != "described"
    ]
    reused = [measure for measure in measures if measure.definition.unlabelled == "skipped"]
    reuse = _reuse(inputs, reused, lists)
    values = {
        (result.model, result.measure): result.values.value if result.values else float("nan") for result in results
    }
    rows = []
    for measure in measures:
        low, high = intervals(lists, measure)
        open_pairs = undecided_by_labels(low, high)
        text = reuse[reuse["measure"] == str(measure)] if len(reuse) else reuse
        for model in new:
            if (model, measure) in values:
                row = _row(measure, lists.get(model), low.get(model), high.get(model), text, measure in reused)
                others = sorted(other for pair in open_pairs if model in pair for other in pair if other != model)
                rows.append(
                    {
                        "model": model,
                        "measure": str(measure),
                        "value": values[model, measure],
                        "undecided_with": others if len(low) > 1 else None,
                        **row,
                    }
                )
    return Fairness(pd.DataFrame(rows, columns=list(COLUMNS)), reuse)


def _reuse(inputs: AnalysisInputs, measures: Sequence[Measure], lists: Mapping[str, JudgedLists]) -> pd.DataFrame:
    """Each maker as if it were new, by measure; nothing where fewer than two are known."""
    scored = set() if inputs.scores is None else set(inputs.scores["model"])
    makers = inputs.require("pool_lists")
    makers = makers[makers["model"].isin(scored | set(lists))]
    if makers["model"].nunique() < 2:
        return pd.DataFrame()

    def has_inputs(measure: Measure) -> bool:
        on_scores, sampled = measure.definition.needs == "scores", measure.parameters.get("negatives") == "sampled"
        return not (on_scores and inputs.scores is None) and not (sampled and inputs.negatives is None)

    return reusability_table(replace(inputs, pool_lists=makers), [item for item in measures if has_inputs(item)])


def _row(
    measure: Measure,
    lists: JudgedLists | None,
    low: float | None,
    high: float | None,
    result: pd.DataFrame,
    reused: bool,
) -> dict[str, Any]:
    """What decides one measure for one model, and the verdict."""
    row: dict[str, Any] = {"kind": "no labels", "verdict": FAIR, "judged": np.nan, "at_most": np.nan, "change": np.nan}
    needs = measure.definition.needs
    if measure.definition.unlabelled == "unused" or (
        needs == "codes" and measure.parameters.get("grades") not in BY_LABELS
    ):
        return row
    if measure.definition.unlabelled == "interval":
        if low is None or high is None:
            return {**row, "kind": "no lists", "verdict": UNKNOWN}
        return {**row, "kind": "interval", "at_most": high, "verdict": FAIR if high - low <= SMALL else UNFAIR}
    if reused:
        if not len(result):
            return {**row, "kind": "makers not known", "verdict": UNKNOWN}
        area, fair = measure.name == "ROC-AUC", fair_to_new(result)  # PR-AUC hangs on prevalence, too
        return {
            **row,
            "kind": "own finds" if area else "reuse",
            "change": float(result["drop"].abs().max()),
            "verdict": FAIR if fair else SELF_REMOVED if area else UNFAIR,
        }
    if lists is None:
        return {**row, "kind": "no lists", "verdict": UNKNOWN}
    judged = judged_share(lists, measure.k)
    return {
        **row,
        "kind": "ceiling",
        "judged": judged,
        "at_most": np.nan if high is None else high,
        "verdict": FAIR if judged >= 1 - SMALL else UNFAIR,
    }
