"""Every measure's value with its confidence interval: from table scores, and computed where the table lacks it."""

from collections.abc import Sequence

import pandas as pd

from eds.analysis import score_limits
from eds.metrics import Result
from eds.reports.inputs import ReportInputs


def scores_with_intervals(inputs: ReportInputs) -> pd.DataFrame:
    """Return the results as table scores, computed for the first section that asks."""
    results: Sequence[Result] = inputs.require("results")
    table: pd.DataFrame = inputs.cached("intervals", lambda: _complete(inputs, results))
    return table


def _complete(inputs: ReportInputs, results: Sequence[Result]) -> pd.DataFrame:
    parts, rest = [], list(results)
    if inputs.table is not None:
        table = inputs.table[inputs.table["query_id"].isna()]
        known = pd.MultiIndex.from_frame(table[["model", "measure"]])
        wanted = pd.MultiIndex.from_tuples([(result.model, str(result.measure)) for result in results])
        parts.append(table[known.isin(wanted)])
        rest = [result for result, is_known in zip(results, wanted.isin(known), strict=True) if not is_known]
    if rest or not parts:
        parts.append(score_limits(rest, inputs.resamples, inputs.confidence, inputs.seed))
    return pd.concat(parts, ignore_index=True)
