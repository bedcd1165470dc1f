"""Every model's value of every measure, with what it rests on: the table scores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.metrics.definition import ModelInputs, Values
from eds.metrics.inputs import PreparedInputs, ScoringInputs, prepare
from eds.metrics.measure import Measure
from eds.pairs import decode
from eds.schema import to_arrow, to_frame
from eds.tables import SCORES

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Result:
    """One model's value of one measure; `values` is None where the model has nothing to compute it from."""

    model: str
    measure: Measure
    values: Values | None
    note: str = ""


def score(
    inputs: ScoringInputs, measures: Sequence[Measure], *, by_query: bool = False, progress: Progress | None = None
) -> pd.DataFrame:
    """The table scores: a row for each model and measure, and with `by_query` one for each query too.

    A value is null where it is undefined; `note` says what was used and left out.
    """
    return scores_table(evaluate(inputs, measures, progress), by_query=by_query)


def evaluate(inputs: ScoringInputs, measures: Sequence[Measure], progress: Progress | None = None) -> list[Result]:
    """As `score`, but as results that keep their values by query: what intervals are computed from."""
    prepared = prepare(inputs, measures)
    if not prepared.models:
        raise InputError("there is no model to score", where="tables neighbors, scores", hint="Mine lists first.")
    results = []
    for done, model in enumerate(prepared.models, start=1):
        own = prepared.of(model)
        results += [_result(model, measure, own, prepared) for measure in measures]
        if progress:
            progress(done, len(prepared.models))
    return results


def scores_table(results: Sequence[Result], *, by_query: bool = False) -> pd.DataFrame:
    """Results as the table scores; limits are empty."""
    columns: dict[str, list[Any]] = {name: [] for name in SCORES.names}
    parts = [pd.DataFrame([_row(result) for result in results])] if results else []
    if by_query:
        parts += [rows for rows in map(_query_rows, results) if len(rows)]
    if not parts:
        return SCORES.empty()
    empty = dict.fromkeys(("low", "high", "seen", "unseen"), np.nan)
    rows = pd.concat([part.assign(**empty, no_interval=None) for part in parts], ignore_index=True)
    return to_frame(to_arrow(rows[list(columns)], SCORES))


def _row(result: Result) -> dict[str, Any]:
    values = result.values
    n = values.n if values else 0
    counts = values.counts if values else {}
    text = [f"{name}: {count}" for name, count in counts.items() if count]
    note = "; ".join([*([result.note] if result.note else []), *text])
    value = values.value if values else float("nan")
    return {
        "model": result.model,
        "measure": str(result.measure),
        "query_id": None,
        "value": value,
        "n": n,
        "note": note,
    }


def _query_rows(result: Result) -> pd.DataFrame:
    """The defined values by query; what is skipped is counted in the row over all of them.

    Empty for a measure that is not a mean of its queries' values (micro AUC): its values by query are those of macro.
    """
    values = result.values if result.values is not None and result.values.whole is None else None
    defined = np.flatnonzero(~np.isnan(values.by_query)) if values else np.zeros(0, np.int64)
    weight = np.ones(len(defined)) if values is None or values.weight is None else values.weight[defined]
    return pd.DataFrame(
        {
            "model": result.model,
            "measure": str(result.measure),
            "query_id": decode(defined, values.queries) if values else [],
            "value": values.by_query[defined] if values else [],
            "n": weight.astype(np.int64),
            "note": None,
        }
    )


def _result(model: str, measure: Measure, inputs: ModelInputs, prepared: PreparedInputs) -> Result:
    definition, sampled = measure.definition, measure.parameters.get("negatives") == "sampled"
    needed = {
        "lists": inputs.lists,
        "official lists": inputs.lists,
        "product lists": inputs.products,
        "codes": inputs.coded if inputs.coded and inputs.coded.bits else None,
        "graded": inputs.coded,
        "scores": inputs.sampled_score if sampled else inputs.score,
    }[definition.needs]
    if needed is None:
        return Result(model, measure, None, f"undefined: the model has no {definition.needs}")
    values = definition.compute(inputs, measure.k, measure.parameters)
    if prepared.silent and definition.needs not in ("product lists", "codes", "graded"):
        values = replace(values, counts={**values.counts, "queries without a label skipped": prepared.silent})
    notes = []
    if isinstance(needed, np.ndarray) and not np.isfinite(needed).any():
        notes.append("undefined: the model has no scores")
    elif np.isnan(values.value):
        notes.append("undefined: nothing to average")
    if sampled and prepared.left_out:
        notes.append(f"drawn negatives left out: {prepared.left_out}")
    if definition.needs in ("lists", "official lists") and prepared.unlabelled_lists.get(model):
        notes.append(f"lists of unlabelled queries ignored: {prepared.unlabelled_lists[model]}")
    return Result(model, measure, values, "; ".join(notes))
