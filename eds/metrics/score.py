"""Every model's value of every measure, with what it rests on: the table scores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.metrics.definition import Evidence, Values
from eds.metrics.identity import own_product_lists
from eds.metrics.ids import Reals, decode, encode
from eds.metrics.labelled import Labelled, read_labels, scores_of
from eds.metrics.lists import JudgedLists, Rankings, read_rankings
from eds.metrics.measure import Measure
from eds.metrics.rules import check_rules
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


@dataclass(frozen=True, eq=False)
class _Sources:
    labelled: Labelled
    lists: dict[str, JudgedLists]
    strange: dict[str, int]  # by model: lists of queries that have no label
    scores: dict[str, Reals]
    sampled: Labelled | None
    sampled_scores: dict[str, Reals]
    left_out: int  # drawn negatives that are labelled, or whose query is not
    products: dict[str, JudgedLists]
    rankings: Rankings | None


def score(
    rankings: pd.DataFrame | None,
    truth: pd.DataFrame,
    scores: pd.DataFrame | None,
    images: pd.DataFrame | None,
    measures: Sequence[Measure],
    *,
    negatives: pd.DataFrame | None = None,
    by_query: bool = False,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """The table scores: a row for each model and measure, and with `by_query` one for each query too.

    `rankings`: neighbors; `truth`: query_id, candidate_id, value; `scores`: model, query_id, candidate_id, score of the
    labelled (and drawn) pairs; `images`: the catalogue, against which lists are checked; `negatives`: drawn pairs that
    count as negative where a measure says so. What no measure needs may be None. A value is null where it is
    undefined, and `note` tells what was used and left out.
    """
    found = evaluate(rankings, truth, scores, images, measures, negatives=negatives, progress=progress)
    return scores_table(found, by_query=by_query)


def evaluate(
    rankings: pd.DataFrame | None,
    truth: pd.DataFrame,
    scores: pd.DataFrame | None,
    images: pd.DataFrame | None,
    measures: Sequence[Measure],
    *,
    negatives: pd.DataFrame | None = None,
    progress: Progress | None = None,
) -> list[Result]:
    """As `score`, but as results that keep their values by query: what limits are computed from."""
    _check_given(rankings, scores, images, negatives, measures)
    sources = _read(rankings, truth, scores, images, measures, negatives)
    models = sorted({*sources.lists, *sources.scores, *sources.products})
    if not models:
        raise InputError("there is no model to score", where="tables neighbors, scores", do="Mine lists first.")
    found = []
    for done, model in enumerate(models, start=1):
        evidence = Evidence(
            sources.labelled,
            sources.lists.get(model),
            sources.scores.get(model),
            sources.sampled,
            sources.sampled_scores.get(model),
            sources.products.get(model),
            sources.rankings.queries if sources.rankings else None,
        )
        found += [_result(model, measure, evidence, sources) for measure in measures]
        if progress:
            progress(done, len(models))
    return found


def scores_table(results: Sequence[Result], *, by_query: bool = False) -> pd.DataFrame:
    """Results as the table scores; limits are empty."""
    columns: dict[str, list[Any]] = {name: [] for name in SCORES.names}
    parts = [pd.DataFrame(_row(result), index=[0]) for result in results]
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
    """The defined values by query; what is skipped is counted in the row over all of them."""
    values = result.values
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


def _result(model: str, measure: Measure, evidence: Evidence, sources: _Sources) -> Result:
    definition, sampled = measure.definition, measure.parameters.get("negatives") == "sampled"
    given = {
        "lists": evidence.lists,
        "official lists": evidence.lists,
        "product lists": evidence.products,
        "scores": evidence.sampled_score if sampled else evidence.score,
    }[definition.needs]
    if given is None:
        return Result(model, measure, None, f"undefined: the model has no {definition.needs}")
    values = definition.compute(evidence, measure.k, measure.parameters)
    told = []
    if np.isnan(values.value):
        told.append("undefined: nothing to average")
    if sampled and sources.left_out:
        told.append(f"drawn negatives left out: {sources.left_out}")
    if definition.needs in ("lists", "official lists") and sources.strange.get(model):
        told.append(f"lists of unlabelled queries passed over: {sources.strange[model]}")
    return Result(model, measure, values, "; ".join(told))


def _check_given(rankings: Any, scores: Any, images: Any, negatives: Any, measures: Sequence[Measure]) -> None:
    if not measures:
        raise InputError("no measure is asked for", where="measures", do="Name one, as RR@10, or a preset.")
    needs = {measure.definition.needs for measure in measures}
    sampled = any(measure.parameters.get("negatives") == "sampled" for measure in measures)
    lists = needs & {"lists", "official lists", "product lists"}
    faults = [
        f"{name} are missing; {why}"
        for name, there, wanted, why in (
            ("rankings", rankings, bool(lists), "measures on lists need them"),
            ("scores", scores, "scores" in needs, "measures on scores need those of the labelled pairs"),
            ("images", images, bool(lists & {"official lists", "product lists"}), "products must be known"),
            ("negatives", negatives, sampled, "negatives=sampled needs drawn pairs"),
        )
        if wanted and there is None
    ]
    if faults:
        raise InputError("the measures cannot be computed", where="score", do="Give what is missing:", faults=faults)


def _read(
    rankings: pd.DataFrame | None,
    truth: pd.DataFrame,
    scores: pd.DataFrame | None,
    images: pd.DataFrame | None,
    measures: Sequence[Measure],
    negatives: pd.DataFrame | None,
) -> _Sources:
    labelled = read_labels(truth, "table truth")
    lists = None if rankings is None else read_rankings(rankings)
    if lists is not None:
        check_rules(lists, images, measures)
    products: dict[str, JudgedLists] = {}
    if lists is not None and images is not None and any(m.definition.needs == "product lists" for m in measures):
        of = dict(zip(images["image_id"], images["product_id"], strict=True))
        gallery = images[images["role"] != "query"] if "role" in images.columns else images
        products = own_product_lists(lists, gallery, of)
    sampled, left_out = (None, 0) if negatives is None else with_negatives(labelled, negatives)
    return _Sources(
        labelled,
        {} if lists is None else lists.judged(labelled),
        {} if lists is None else lists.without_labels(labelled),
        {} if scores is None else scores_of(labelled, scores),
        sampled,
        {} if scores is None or sampled is None else scores_of(sampled, scores),
        left_out,
        products,
        lists,
    )


def with_negatives(labelled: Labelled, negatives: pd.DataFrame) -> tuple[Labelled, int]:
    """Labelled positives and drawn negatives over the same queries; and how many drawn ones were left out.

    Left out are pairs that have a label by now, and those of queries that have none.
    """
    drawn = negatives[["query_id", "candidate_id"]].drop_duplicates()
    known = encode(drawn["query_id"], labelled.queries) >= 0
    free = labelled.at(drawn["query_id"], drawn["candidate_id"]) < 0
    used = drawn[known & free]
    positive = labelled.value == 1
    rows = pd.concat(
        [
            pd.DataFrame(
                {
                    "query_id": decode(labelled.query[positive], labelled.queries),
                    "candidate_id": decode(labelled.candidate[positive], labelled.candidates),
                    "value": 1,
                }
            ),
            used.assign(value=0),
        ],
        ignore_index=True,
    )
    return read_labels(rows, "sampled negatives", queries=labelled.queries), len(drawn) - len(used)
