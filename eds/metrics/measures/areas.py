"""Measures on the scores of labelled pairs; the formulas are in eds.metrics.auc."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eds.metrics.auc import micro_order, query_aucs, weighted_aucs
from eds.metrics.auc_report import micro_aucs, two_sided
from eds.metrics.definition import Definition, ModelInputs, Parameter, Values
from eds.pairs import Flags, Integers, LabelledPairs, Reals

CHOICES = {
    "average": Parameter("macro", ("macro", "micro")),
    "negatives": Parameter("annotated", ("annotated", "sampled")),
}
CONVENTIONS = (
    "macro: mean over queries with a positive and a negative; micro: all pairs in one list; negatives: annotated = "
    "labelled, sampled = drawn ones instead; pairs without a score are left out; never compare across negatives"
)


@dataclass(frozen=True, eq=False)
class _Areas:
    """What both areas of one model are computed from, in micro and macro average; scored pairs in the labels' order."""

    labelled: LabelledPairs
    scored: Flags  # of the labelled pairs
    query: Integers
    value: Integers
    score: Reals
    by_query: tuple[Reals, Reals]  # ROC and PR
    whole: tuple[float, float]
    resampled: dict[int, tuple[Any, tuple[Reals, Reals]]] = field(default_factory=dict)  # of the last many resamples

    def resample(self, times: NDArray[np.int16]) -> tuple[Reals, Reals]:
        """Return the micro areas of every resample, (resamples,) each; one pass over the pairs gives both."""
        if id(times) in self.resampled:
            return self.resampled[id(times)][1]
        areas = weighted_aucs(micro_order(self.query, self.value, self.score), times)
        if len(times) > 1:  # the value of all queries, which each area begins with, is quick
            self.resampled.clear()
            self.resampled[id(times)] = times, areas  # holds the array, so that no other gets its id
        return areas


@lru_cache(maxsize=2)  # annotated and sampled negatives of the model at hand
def _areas(inputs: ModelInputs, negatives: str) -> _Areas:
    labelled, score = _side(inputs, negatives)
    scored = np.isfinite(score)
    pairs = labelled.query[scored], labelled.value[scored], score[scored]
    return _Areas(labelled, scored, *pairs, query_aucs(*pairs, len(labelled.queries)), micro_aucs(*pairs[1:]))


def _area(which: int) -> Callable[[ModelInputs, int | None, Mapping[str, Any]], Values]:
    def compute(inputs: ModelInputs, k: int | None, parameters: Mapping[str, Any]) -> Values:
        result = _areas(inputs, parameters["negatives"])
        labelled, by_query = result.labelled, result.by_query[which]
        counts = _counts(inputs, labelled, result.scored)
        if parameters["average"] == "macro":
            used = two_sided(result.query, result.value, len(labelled.queries))
            counts |= _queries(labelled, used)
            return Values(labelled.queries, by_query, n=int(used.sum()), counts=counts)
        counts |= _any_pair(labelled, result.query)

        def resample(times: NDArray[np.int16]) -> Reals:
            return result.resample(times)[which]

        return Values(labelled.queries, by_query, None, result.whole[which], resample, len(result.value), counts)

    return compute


def _prevalence(inputs: ModelInputs, k: int | None, parameters: Mapping[str, Any]) -> Values:
    labelled, score = _side(inputs, parameters["negatives"])
    scored = np.isfinite(score)
    query, value, n = labelled.query[scored], labelled.value[scored], len(labelled.queries)
    sizes = np.bincount(query, minlength=n).astype(np.float64)
    share = np.where(sizes > 0, np.bincount(query, value, n) / np.maximum(sizes, 1), np.nan)
    if parameters["average"] == "micro":
        counts = _counts(inputs, labelled, scored) | _any_pair(labelled, query)
        return Values(labelled.queries, share, sizes, n=len(value), counts=counts)
    used = two_sided(query, value, n)
    counts = _counts(inputs, labelled, scored) | _queries(labelled, used)
    return Values(labelled.queries, np.where(used, share, np.nan), n=int(used.sum()), counts=counts)


def _side(inputs: ModelInputs, negatives: str) -> tuple[LabelledPairs, Reals]:
    sampled = negatives == "sampled"
    labelled = inputs.sampled if sampled else inputs.labelled
    score = inputs.sampled_score if sampled else inputs.score
    if labelled is None or score is None:
        raise TypeError("score() gives scores to measures that need them")
    return labelled, score


def _asked(labelled: LabelledPairs) -> NDArray[np.bool_]:
    return np.asarray(labelled.positives + labelled.negatives > 0)


def _queries(labelled: LabelledPairs, used: NDArray[np.bool_]) -> dict[str, int]:
    return {
        "queries used": int(used.sum()),
        "queries without positive and negative skipped": int((_asked(labelled) & ~used).sum()),
    }


def _any_pair(labelled: LabelledPairs, query: Integers) -> dict[str, int]:
    """Of a micro value, to which queries with labels of one class add their pairs as well."""
    used = int((np.bincount(query, minlength=len(labelled.queries)) > 0).sum())
    return {"queries used": used, "queries without a scored pair skipped": int(_asked(labelled).sum()) - used}


def _counts(inputs: ModelInputs, labelled: LabelledPairs, scored: NDArray[np.bool_]) -> dict[str, int]:
    """Counts of pairs; unlabelled ones of the pool too, where it is known and negatives are labelled ones."""
    result = {"pairs used": int(scored.sum()), "pairs without a score": int((~scored).sum())}
    if inputs.unlabelled is not None and labelled is inputs.labelled:
        result["pairs unlabelled"] = inputs.unlabelled
    return result


ROC_AUC = Definition(
    "ROC-AUC",
    "how often a positive scores above a negative",
    "(#{p > n} + #{p = n}/2) / (positives x negatives)",
    CONVENTIONS,
    "scores",
    "never",
    _area(0),
    CHOICES,
    unlabelled="skipped",
)
PR_AUC = Definition(
    "PR-AUC",
    "step-wise area under precision and recall; read it against Prevalence",
    "sum over distinct scores of (recall - recall before) x precision",
    f"{CONVENTIONS}; equal scores enter together; no trapezoids",
    "scores",
    "never",
    _area(1),
    CHOICES,
    unlabelled="skipped",
)
PREVALENCE = Definition(
    "Prevalence",
    "share of positives among the pairs used: the chance level of PR-AUC",
    "positives / pairs",
    CONVENTIONS,
    "scores",
    "never",
    _prevalence,
    CHOICES,
    unlabelled="described",
)
