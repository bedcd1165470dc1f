"""Confidence intervals over queries for results of eds.metrics.evaluate: columns low and high of the table scores."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd

from eds.intervals import RESAMPLES, Multiplicity, draw_queries, percentile_interval, resampled_means
from eds.metrics import Result, scores_table
from eds.pairs import Reals

THREADS = 2  # model by model: NumPy and the compiled loops release the lock


def score_limits(
    results: Sequence[Result],
    resamples: int = RESAMPLES,
    level: float = 0.95,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Return the table scores with confidence intervals: a row for each model and measure.

    Formula: percentile interval of the measure over queries drawn again with replacement.
    Source: specification 13.3.
    Conventions: the same draws for every model and measure over the same queries; resamples in which the measure is
    undefined are left out; an undefined value has no interval.
    Example: see tests/analysis/test_resampling.py.
    """
    sizes = {len(result.values.queries) for result in results if result.values}
    draws = {n: draw_queries(n, resamples, seed) for n in sizes if n}
    by_model: dict[str, list[int]] = {}
    for index, result in enumerate(results):
        by_model.setdefault(result.model, []).append(index)

    def compute(indices: list[int]) -> dict[int, tuple[float, float]]:
        return {index: percentile_interval(_resample(results[index], draws), level) for index in indices}

    intervals: dict[int, tuple[float, float]] = {}
    with ThreadPoolExecutor(THREADS) as pool:
        for part in pool.map(compute, by_model.values()):
            intervals |= part
            if progress:
                progress(len(intervals), len(results))
    table = scores_table(results)
    low, high = np.array([intervals[index] for index in range(len(results))], np.float64).reshape(len(results), 2).T
    undefined = table["value"].isna().to_numpy()
    return table.assign(low=np.where(undefined, np.nan, low), high=np.where(undefined, np.nan, high))


def _resample(result: Result, draws: dict[int, Multiplicity]) -> Reals:
    values = result.values
    if values is None or not len(values.queries):
        return np.full(1, np.nan)
    times = draws[len(values.queries)]
    return resampled_means(values.by_query, times, values.weight) if values.resample is None else values.resample(times)
