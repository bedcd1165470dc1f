"""Every model's value of every measure, with what it rests on: the table scores."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.metrics.code_histograms import CodeHistograms
from eds.metrics.definition import Evidence, Values
from eds.metrics.evidence import Gathered, gather
from eds.metrics.measure import Measure
from eds.pairs import KnownRanks, decode
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
    rankings: pd.DataFrame | None,
    truth: pd.DataFrame,
    scores: pd.DataFrame | None,
    images: pd.DataFrame | None,
    measures: Sequence[Measure],
    *,
    negatives: pd.DataFrame | None = None,
    placed: KnownRanks | None = None,
    own: KnownRanks | None = None,
    coded: Mapping[str, CodeHistograms] | None = None,
    pooled: pd.DataFrame | None = None,
    heads: pd.DataFrame | None = None,
    category: str = "any",
    by_query: bool = False,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """The table scores: a row for each model and measure, and with `by_query` one for each query too.

    `rankings`: neighbors; `truth`: query_id, candidate_id, value; `scores`: model, query_id, candidate_id, score of the
    labelled (and drawn) pairs; `images`: the catalogue, against which lists are checked; `negatives`: drawn pairs that
    count as negative where a measure says so; `placed`, `own`: in the stead of lists the ranks of the labelled pairs,
    and of pairs of one product in lists that keep it; `coded`: by model the distance histograms of its codes; `pooled`:
    the pairs (query_id, candidate_id) that were asked, judged or not, which infAP needs and AUC counts (default: the
    labelled ones); `heads`: the first places of the lists of models that are `placed`, which tell what keeps positives
    out of them; `category`: of which one the lists' rules let candidates be (any, same as the query's, other). What no
    measure needs may be None. A value is null where it is undefined, and `note` tells what was used and left out.
    """
    found = evaluate(
        rankings,
        truth,
        scores,
        images,
        measures,
        negatives=negatives,
        placed=placed,
        own=own,
        coded=coded,
        pooled=pooled,
        heads=heads,
        category=category,
        progress=progress,
    )
    return scores_table(found, by_query=by_query)


def evaluate(
    rankings: pd.DataFrame | None,
    truth: pd.DataFrame,
    scores: pd.DataFrame | None,
    images: pd.DataFrame | None,
    measures: Sequence[Measure],
    *,
    negatives: pd.DataFrame | None = None,
    placed: KnownRanks | None = None,
    own: KnownRanks | None = None,
    coded: Mapping[str, CodeHistograms] | None = None,
    pooled: pd.DataFrame | None = None,
    heads: pd.DataFrame | None = None,
    category: str = "any",
    progress: Progress | None = None,
) -> list[Result]:
    """As `score`, but as results that keep their values by query: what limits are computed from."""
    sources = gather(
        rankings,
        truth,
        scores,
        images,
        measures,
        negatives=negatives,
        placed=placed,
        own=own,
        coded=coded,
        pooled=pooled,
        heads=heads,
        category=category,
    )
    if not sources.models:
        raise InputError("there is no model to score", where="tables neighbors, scores", do="Mine lists first.")
    found = []
    for done, model in enumerate(sources.models, start=1):
        evidence = sources.of(model)
        found += [_result(model, measure, evidence, sources) for measure in measures]
        if progress:
            progress(done, len(sources.models))
    return found


def scores_table(results: Sequence[Result], *, by_query: bool = False) -> pd.DataFrame:
    """Results as the table scores; limits are empty."""
    columns: dict[str, list[Any]] = {name: [] for name in SCORES.names}
    parts = [pd.DataFrame([_row(result) for result in results])] if results else []
    if by_query:
        parts += [rows for rows in map(_query_rows, results) if len(rows)]
    if not parts:
        return SCORES.empty()
    empty = dict.fromkeys(("low", "high"), np.nan)
    rows = pd.concat([part.assign(**empty) for part in parts], ignore_index=True)
    return to_frame(to_arrow(rows[list(columns)], SCORES))


def _row(result: Result) -> dict[str, Any]:
    values = result.values
    n = values.n if values else 0
    counts = values.counts if values else {}
    told = [f"{name}: {count}" for name, count in counts.items() if count]
    note = "; ".join([*([result.note] if result.note else []), *told])
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

    None of a measure that is no mean of its queries' values (micro AUC): the values of its queries are those of macro.
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


def _result(model: str, measure: Measure, evidence: Evidence, sources: Gathered) -> Result:
    definition, sampled = measure.definition, measure.parameters.get("negatives") == "sampled"
    given = {
        "lists": evidence.lists,
        "official lists": evidence.lists,
        "product lists": evidence.products,
        "codes": evidence.coded,
        "scores": evidence.sampled_score if sampled else evidence.score,
    }[definition.needs]
    if given is None:
        return Result(model, measure, None, f"undefined: the model has no {definition.needs}")
    values = definition.compute(evidence, measure.k, measure.parameters)
    if sources.silent and definition.needs not in ("product lists", "codes"):
        values = replace(values, counts={**values.counts, "queries without a label skipped": sources.silent})
    told = []
    if isinstance(given, np.ndarray) and not np.isfinite(given).any():
        told.append("undefined: the model has no scores")
    elif np.isnan(values.value):
        told.append("undefined: nothing to average")
    if sampled and sources.left_out:
        told.append(f"drawn negatives left out: {sources.left_out}")
    if definition.needs in ("lists", "official lists") and sources.strange.get(model):
        told.append(f"lists of unlabelled queries passed over: {sources.strange[model]}")
    return Result(model, measure, values, "; ".join(told))
