"""How sure a number over queries is: queries are drawn again with replacement, all pairs of a query together.

Resampling pairs ignores that a query's pairs are alike: its 95 % intervals covered 88 % in the specification's check.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.intervals import Multiplicity, percentile_interval, resampled_means
from eds.metrics.auc import micro_order, query_aucs, weighted_aucs
from eds.metrics.pair_scores import align_scores
from eds.pairs import LabelledPairs, Reals


def bootstrap_percentile(
    values: Sequence[float], indices: Sequence[Sequence[int]], level: float = 0.95
) -> dict[str, float]:
    """The mean of per-query values and the percentile limits of its resamples.

    Formula: quantiles (1-level)/2 and (1+level)/2 of the resampled means, order statistics interpolated linearly.
    Source: specification 13.3.
    Conventions: `indices` is a list of drawn places for each resample; undefined values (NaN) are not drawn into a
    mean; no defined value: NaN.
    Example, run by doctest:
    >>> found = bootstrap_percentile([0.2, 0.5, 0.9], [[0, 1, 2], [0, 0, 1], [2, 2, 2], [1, 1, 0], [2, 1, 0]], 0.8)
    >>> {name: round(value, 6) for name, value in found.items()}
    {'estimate': 0.533333, 'lower': 0.34, 'upper': 0.753333}
    """
    result = np.asarray(values, np.float64)
    if any(not 0 <= place < len(result) for drawn in indices for place in drawn):
        raise InputError("a drawn place lies outside the values", where="indices", hint="Count from 0.")
    times = np.stack([np.bincount(np.asarray(drawn, np.int64), minlength=len(result)) for drawn in indices])
    low, high = percentile_interval(resampled_means(result, times.astype(np.int16)), level)
    return {"estimate": _mean(result), "lower": low, "upper": high}


def bootstrap_micro_auc(scores: pd.DataFrame, labels: pd.DataFrame, resamples: Sequence[Sequence[str]]) -> list[float]:
    """Micro ROC-AUC of each resample, given as lists of query ids.

    Formula: `roc_auc` of the pairs of the drawn queries, each as often as its query was drawn.
    Source: specification 13.3.
    Conventions: one model's scores (model, query_id, candidate_id, score); pairs without a score are left out; a
    resample without positives or negatives is NaN; a query that has no label is refused.
    Example: see the specification's vectors, bootstrap_micro_auc/multiplicity.
    """
    labelled = LabelledPairs.from_frame(labels)
    places = {name: place for place, name in enumerate(labelled.queries.to_pylist())}
    unknown = sorted({name for drawn in resamples for name in drawn} - set(places))
    if unknown:
        raise InputError(
            f"query {unknown[0]!r} has no label", where="resamples", hint="Draw from the labelled queries."
        )
    times = np.stack(
        [np.bincount([places[name] for name in drawn], minlength=len(places)) for drawn in resamples]
    ).astype(np.int16)
    by_model = align_scores(labelled, scores)
    if len(by_model) != 1:
        raise InputError(
            f"{len(by_model)} models have scores", where="scores of pairs", hint="Give those of one model."
        )
    return [float(value) for value in resampled_micro(labelled, next(iter(by_model.values())), times)[0]]


def resampled_aucs(labelled: LabelledPairs, score: Reals, times: Multiplicity) -> tuple[Reals, Reals, Reals, Reals]:
    """Micro ROC, micro PR, macro ROC, macro PR of every resample, (resamples,) float64 each."""
    scored = np.isfinite(score)
    n = len(labelled.queries)
    by_query = query_aucs(labelled.query[scored], labelled.value[scored], score[scored], n)
    roc, precision = (resampled_means(area, times) for area in by_query)
    return (*resampled_micro(labelled, score, times), roc, precision)


def resampled_micro(labelled: LabelledPairs, score: Reals, times: Multiplicity) -> tuple[Reals, Reals]:
    """Micro ROC and PR of every resample, (resamples,) float64 each."""
    scored = np.isfinite(score)
    return weighted_aucs(micro_order(labelled.query[scored], labelled.value[scored], score[scored]), times)


def _mean(values: Reals) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else float("nan")
