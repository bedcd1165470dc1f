"""Every model against the labels: HR and MRR, AUC on annotated and sampled negatives, and which models differ."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from eds.analysis import compare_models, indistinguishable
from eds.metrics import Measure, Result
from eds.metrics.measure import definition_of
from eds.reports.charts import interval_chart
from eds.reports.coverage import role, sample_sizes, unscored, warning
from eds.reports.document import Block, Column, Figure, Gap, Kind, Missing, Table, note
from eds.reports.inputs import ReportInputs
from eds.reports.score_intervals import scores_with_intervals
from eds.reports.sections import Blocks, SectionSpec

CUTS = (5, 9)
ON_LISTS = ("VSD-HR", "VSD-MRR", "Success", "RR", "Judged")
INCOMPLETE = ("RBP(p=0.8)", "RBP-residual(p=0.8)", "bpref")
AREAS = ("ROC-AUC", "PR-AUC", "Prevalence")
AVERAGES = ("macro", "micro")
COMPARED = {"hr": "VSD-HR@5", "auc": "ROC-AUC(average=macro,negatives=annotated)"}
SHARES = ("VSD-HR", "Success", "Judged", "Prevalence")  # shown as percentages
LABELS = {
    "VSD-HR": "VSD-HR",
    "VSD-MRR": "VSD-MRR",
    "Success": "hit rate",
    "RR": "MRR",
    "Judged": "judged",
    "ROC-AUC": "ROC-AUC",
    "PR-AUC": "PR-AUC",
    "Prevalence": "prevalence",
}
NO_NEGATIVES = Gap("There are no sampled negatives.", "eds suspects negatives")


def measures(sampled: bool) -> list[Measure]:
    """What the report needs of `eds.metrics.evaluate`."""
    names = [f"{name}@{cut}" for cut in CUTS for name in ON_LISTS]
    names += [*INCOMPLETE, "PairMRR@9"]
    for side in ("annotated", "sampled") if sampled else ("annotated",):
        names += _areas(side)
    return [Measure.parse(name) for name in dict.fromkeys(names)]


def _areas(side: str) -> list[str]:
    return [f"{area}(average={average},negatives={side})" for average in AVERAGES for area in AREAS]


def on_lists(inputs: ReportInputs) -> Blocks:
    """Official and standard measures at each cut-off, with the share of judged places."""
    table = scores_with_intervals(inputs)
    blocks: list[Block] = [
        note(
            "VSD-HR and VSD-MRR are the measures of the published benchmark; hit rate and MRR are the usual ones."
            " Judged is the share of a list that has labels: below 100 %, the numbers beside it are lower bounds."
        )
    ]
    for cut in CUTS:
        names = [f"{name}@{cut}" for name in ON_LISTS]
        blocks.append(_table(inputs, table, f"lists_{cut}", f"Lists cut at {cut}", names))
    blocks.append(_figure(inputs, table, "hr", "VSD-HR@5", "VSD-HR@5", "share"))
    blocks.append(_table(inputs, table, "incomplete", "Measures that allow for missing labels", INCOMPLETE))
    return tuple(blocks)


def on_scores(inputs: ReportInputs) -> Blocks:
    """AUC on the labelled negatives."""
    return (*warning(inputs), *_aucs(inputs, "annotated"))


def on_sampled(inputs: ReportInputs) -> Blocks:
    """AUC on sampled negatives."""
    if inputs.negatives is None:
        raise Missing(NO_NEGATIVES)
    return (
        *warning(inputs, "sampled"),
        *_aucs(inputs, "sampled"),
        note("AUCs on annotated and on sampled negatives answer different questions and are never compared."),
    )


def _aucs(inputs: ReportInputs, side: str) -> Blocks:
    table, names = scores_with_intervals(inputs), _areas(side)
    title = f"Macro ROC-AUC, {side} negatives"
    return (
        _table(inputs, table, f"auc_{side}", f"AUC on {side} negatives", names),
        _figure(inputs, table, f"auc_{side}", title, names[0], "value"),
    )


def groups(inputs: ReportInputs) -> Blocks:
    """Groups of models between which the queries show no significant difference."""
    results = inputs.require("results")
    blocks: list[Block] = []
    for key, name in COMPARED.items():
        if key == "auc" and unscored(inputs):
            continue  # models measured on different pairs cannot be compared
        comparison = inputs.cached(f"compared {name}", partial(_compare, results, name, inputs))
        if comparison is None:
            continue
        values = {
            result.model: result.values.value for result in results if str(result.measure) == name and result.values
        }
        alike = indistinguishable(comparison, inputs.confidence)
        alike = sorted(alike, key=lambda group: -max(values[model] for model in group))
        rows = [
            {"group": number, "models": sorted(group, key=lambda model: -values[model])}
            for number, group in enumerate(alike, 1)
        ]
        change: Kind = "points" if key == "hr" else "signed"
        columns = (
            Column("first", "model"),
            Column("second", "against"),
            Column("difference", "difference", change, "low", "high", "mean over queries; bootstrap interval"),
            Column("p", "p", "p", formula="sign flips"),
            Column("p_adjusted", "adjusted p", "p", formula="Holm"),
            Column("n", "queries", "count"),
        )
        blocks += [
            Table(
                f"groups_{key}",
                f"Groups by {label(name)}",
                (Column("group", "group", "count"), Column("models", "no significant difference", "names")),
                rows,
                "A model can be in several groups: no significant difference does not mean equal.",
            ),
            Table(
                f"compared_{key}",
                f"Every two models by {label(name)}",
                columns,
                comparison.to_dict(orient="records"),
                folded=True,
            ),
        ]
    return tuple(blocks)


def _compare(results: Sequence[Result], name: str, inputs: ReportInputs) -> pd.DataFrame | None:
    """Every two models that have a value."""
    mine = [result for result in results if str(result.measure) == name]
    mine = [result for result in mine if result.values is not None and not np.isnan(result.values.value)]
    if len(mine) < 2:
        return None
    table = compare_models(mine, name, level=inputs.confidence, resamples=inputs.resamples or 1, seed=inputs.seed)
    return table if inputs.resamples else table.assign(low=np.nan, high=np.nan)  # one resample gives no interval


def _rows(inputs: ReportInputs, table: pd.DataFrame, names: Sequence[str]) -> list[dict[str, Any]]:
    """A row for each model, the best by the first measure first."""
    rows: dict[str, dict[str, Any]] = {}
    for score in table[table["measure"].isin(names)].to_dict(orient="records"):
        model, name = score["model"], score["measure"]
        row = rows.setdefault(model, {"model": model, "part": role(inputs, model)})
        fields = ("low", "high", "no_interval", "n")
        row |= {name: score["value"], **{f"{name} {field}": score[field] for field in fields}}
    return sorted(rows.values(), key=lambda row: (-_sort_key(row.get(names[0])), row["model"]))


def _sort_key(value: Any) -> float:
    return float("-inf") if value is None or np.isnan(value) else float(value)


def _table(inputs: ReportInputs, table: pd.DataFrame, key: str, title: str, names: Sequence[str]) -> Table:
    columns = [Column("model", "model"), Column("part", "role")]
    for name in names:
        measure = Measure.parse(name)
        kind: Kind = "share" if measure.name in SHARES else "value"
        formula = f"{name}: {definition_of(measure.name).formula}"
        columns.append(Column(name, label(name), kind, f"{name} low", f"{name} high", formula))
    sizes = sample_sizes(inputs.results, {name: label(name) for name in names})
    caption = f"Sample sizes: {sizes}." if sizes else ""
    return Table(key, title, tuple(columns), _rows(inputs, table, names), caption)


def label(name: str) -> str:
    """The heading of a measure in tables."""
    measure = Measure.parse(name)
    cut = f"@{measure.k}" if measure.k else ""
    average = str(measure.parameters.get("average", ""))
    return f"{average} {LABELS.get(measure.name, measure.name)}{cut}".strip()


def _figure(inputs: ReportInputs, table: pd.DataFrame, key: str, title: str, name: str, kind: Kind) -> Figure:
    rows = _rows(inputs, table, [name])
    data = {
        "labels": [row["model"] for row in rows],
        "marks": [row["part"] == "new model" for row in rows],
        "values": [row.get(name) for row in rows],
        "low": [row.get(f"{name} low") for row in rows],
        "high": [row.get(f"{name} high") for row in rows],
        "kind": kind,
        "lowest": None,
        "highest": None,
    }
    intervals = "With bootstrap confidence intervals over queries" if inputs.resamples else "Without intervals"
    return Figure(key, title, interval_chart, data, f"{intervals}; new models are hollow.")


SECTION = SectionSpec(
    title="How good each model is",
    question="Every model against the labels, with confidence intervals.",
    order=50,
    inputs=("suspects", "truth", "results", "table", "scores", "negatives", "pool_lists"),
    parts=(on_lists, on_scores, on_sampled, groups),
)
