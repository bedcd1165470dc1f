"""Micro and macro ROC- and PR-AUC of labelled pairs, with the counts that belong to them."""

from typing import Any

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.metrics.auc import query_aucs, sample_aucs
from eds.metrics.pair_scores import align_scores
from eds.pairs import Flags, Integers, LabelledPairs, Reals

AUCS = ("micro_roc_auc", "micro_pr_auc", "macro_roc_auc", "macro_pr_auc")


def auc_report(scores: pd.DataFrame, labels: pd.DataFrame) -> dict[str, Any]:
    """The four AUCs of one model, prevalence, and what was used and left out.

    Formula: micro: `roc_auc` and `pr_auc` of all pairs in one list; macro: the mean of each query's.
    Source: specification 5.2.
    Conventions: pairs without a score are dropped and counted; macro is over queries with a positive and a
    negative, the same for ROC and PR; other labelled queries are counted as skipped; micro is undefined (NaN)
    without positives or negatives. `scores` has one model: columns model, query_id, candidate_id, score; without a
    row every value is NaN, beside its counts.
    Example, run by doctest:
    >>> from eds.metrics import scores_frame
    >>> labels = pd.DataFrame({"query_id": ["q", "q"], "candidate_id": ["a", "b"], "value": [1, 0]})
    >>> auc_report(scores_frame({"m": [("q", "a", 0.9), ("q", "b", 0.8)]}), labels)["macro_roc_auc"]
    1.0
    """
    labelled = LabelledPairs.from_frame(labels)
    by_model = align_scores(labelled, scores)
    if len(by_model) > 1:
        raise InputError(
            f"{len(by_model)} models have scores", where="scores of pairs", hint="Give those of one model."
        )
    return summary(labelled, next(iter(by_model.values()), np.full(len(labelled.value), np.nan)))


def summary(labelled: LabelledPairs, score: Reals) -> dict[str, Any]:
    """The report of one model's scores, (pairs,) float64 with NaN where there is none."""
    scored = np.isfinite(score)
    query, value, kept = labelled.query[scored], labelled.value[scored], score[scored]
    by_query = query_aucs(query, value, kept, len(labelled.queries))
    used = two_sided(query, value, len(labelled.queries))
    requested = np.bincount(labelled.query, minlength=len(labelled.queries)) > 0
    micro = micro_aucs(value, kept)
    values = (*micro, *(float(area[used].mean()) if used.any() else float("nan") for area in by_query))
    return {
        **dict(zip(AUCS, values, strict=True)),
        "prevalence": float(value.mean()) if len(value) else float("nan"),
        "n_pairs_used": len(value),
        "n_pairs_missing_score": int((~scored).sum()),
        "n_queries_used": int(used.sum()),
        "n_queries_skipped": int((requested & ~used).sum()),
    }


def micro_aucs(value: Integers, score: Reals) -> tuple[float, float]:
    """ROC- and PR-AUC of all pairs in one list; both NaN without positives or without negatives."""
    roc, precision = sample_aucs(score[value == 1], score[value == 0])
    return roc, float("nan") if np.isnan(roc) else precision


def two_sided(query: Integers, value: Integers, n: int) -> Flags:
    """Which of n queries have a positive and a negative."""
    positives, every = np.bincount(query, value, n), np.bincount(query, minlength=n)
    return np.asarray((positives > 0) & (positives < every))
