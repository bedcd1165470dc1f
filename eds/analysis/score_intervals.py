"""Confidence intervals over queries for results of eds.metrics.evaluate: the columns low, high and no_interval."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd

from eds.intervals import CENSUS, NOT_REQUESTED, RESAMPLES, UNDEFINED, Interval, bootstrap_interval, mean_interval
from eds.intervals import resampled_means as means
from eds.metrics import Result, scores_table
from eds.schema import to_arrow, to_frame
from eds.tables import SCORES

THREADS = 2  # model by model: NumPy and the compiled loops release the lock


def score_limits(
    results: Sequence[Result],
    resamples: int = RESAMPLES,
    level: float = 0.95,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Return the table scores with confidence intervals: a row for each model and measure.

    Formula: `score_interval`.
    Source: specification 13.3, 18.4.
    Conventions: the same draws for every model and measure over the same queries; resamples in which the measure is
    undefined are left out. A row without limits says why in `no_interval`; without resamples none has limits.
    Example: see tests/analysis/test_resampling.py.
    """
    by_model: dict[str, list[int]] = {}
    for index, result in enumerate(results):
        by_model.setdefault(result.model, []).append(index)

    def compute(indices: list[int]) -> dict[int, Interval]:
        return {index: score_interval(results[index], resamples, level, seed) for index in indices}

    intervals: dict[int, Interval] = {}
    with ThreadPoolExecutor(THREADS) as pool:
        for part in pool.map(compute, by_model.values()):
            intervals |= part
            if progress:
                progress(len(intervals), len(results))
    rows = pd.DataFrame([intervals[index].to_dict() for index in range(len(results))], dtype=object)
    if rows.empty:
        return scores_table(results)
    limits = rows[["low", "high"]].astype(np.float64)
    table = scores_table(results).assign(**limits, no_interval=rows["no_interval"])
    return to_frame(to_arrow(table, SCORES))


def score_interval(
    result: Result,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Return the interval of a measure's value, or the reason why it has none.

    Formula: `mean_interval` for means of queries' values between 0 and 1 (weighted where the measure is a mean over
    pairs); `bootstrap_interval` for the others, as micro AUC.
    Source: specification 18.4.
    Conventions: a share of judged places that is 1 is a census, and so is what counts all codes.
    """
    values = result.values
    if values is None or np.isnan(values.value):
        return Interval.none(UNDEFINED)
    if not len(values.queries) or (result.measure.definition.unlabelled == "described" and values.value == 1):
        return Interval.none(CENSUS)
    if not resamples:
        return Interval.none(NOT_REQUESTED)
    defined = values.by_query[~np.isnan(values.by_query)]
    if values.resample is None and len(defined) and defined.min() >= 0 and defined.max() <= 1:
        return mean_interval(values.by_query, values.weight, level)
    statistic = values.resample or (lambda times: means(values.by_query, times, values.weight))
    return bootstrap_interval(statistic, len(values.queries), level, resamples, seed)
