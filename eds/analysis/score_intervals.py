"""Limits over queries for results of eds.metrics.evaluate: the columns low and high of the table scores."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from eds.analysis.bootstrap import RESAMPLES, Multiplicity, draw_queries, resampled_means
from eds.intervals import percentile_interval
from eds.metrics import Result, scores_table
from eds.pairs import Reals


def score_limits(
    results: Sequence[Result],
    resamples: int = RESAMPLES,
    level: float = 0.95,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """The table scores with limits: a row for each model and measure.

    Formula: percentile limits of the measure over queries drawn again with replacement.
    Source: specification 13.3.
    Conventions: the same draws for every model and measure over the same queries; resamples in which the measure is
    undefined are left out; an undefined value has no limits.
    Example: see tests/analysis/test_limits.py.
    """
    draws: dict[int, Multiplicity] = {}
    limits = []
    for done, result in enumerate(results, start=1):
        limits.append(percentile_interval(_resampled(result, draws, resamples, seed), level))
        if progress:
            progress(done, len(results))
    table = scores_table(results)
    low, high = np.array(limits, np.float64).reshape(len(results), 2).T
    undefined = table["value"].isna().to_numpy()
    return table.assign(low=np.where(undefined, np.nan, low), high=np.where(undefined, np.nan, high))


def _resampled(result: Result, draws: dict[int, Multiplicity], resamples: int, seed: int) -> Reals:
    values = result.values
    n = 0 if values is None else len(values.queries)
    if values is None or not n:
        return np.full(1, np.nan)
    if n not in draws:
        draws[n] = draw_queries(n, resamples, seed)
    if values.resample is not None:
        return values.resample(draws[n])
    return resampled_means(values.by_query, draws[n], values.weight)
