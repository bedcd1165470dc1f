"""Every model against the labels: HR and MRR, AUC on annotated and sampled negatives, with intervals."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from eds.metrics import Measure
from eds.metrics.measure import definition_of
from eds.reports.coverage import role, sample_sizes, warning
from eds.reports.document import Block, Column, Gap, Kind, Missing, Number, Sentence, Table, count, state
from eds.reports.inputs import ReportInputs
from eds.reports.score_intervals import scores_with_intervals
from eds.reports.sections import Blocks, SectionSpec

CUTS = (5, 9)
ON_LISTS = ("VSD-HR", "VSD-MRR", "Success", "RR", "Judged")
INCOMPLETE = ("RBP(p=0.8)", "RBP-residual(p=0.8)", "bpref")
AREAS = ("ROC-AUC", "PR-AUC", "Prevalence")
AVERAGES = ("macro", "micro")
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


def answer(inputs: ReportInputs) -> Sentence | None:
    """The range of the models' values by HR and macro ROC-AUC."""
    results = inputs.require("results")
    filled: dict[str, Number | str] = {}
    words = []
    for key, name in (("hr", f"VSD-HR@{inputs.cut}"), ("auc", _areas("annotated")[0])):
        values = [result.values.value for result in results if str(result.measure) == name and result.values]
        values = [value for value in values if not np.isnan(value)]
        if values:
            kind: Kind = "share" if key == "hr" else "value"
            filled[key] = Number(min(values), kind)
            words.append(f"{label(name)} {{{key}}}")
        if len(values) > 1:
            filled[f"{key}_most"] = Number(max(values), kind)
            words[-1] = f"{label(name)} {{{key}}} to {{{key}_most}}"
    n = len({result.model for result in results})
    start = "{n} models: " if n > 1 else ""
    filled |= {"n": count(n)} if n > 1 else {}
    return state("scores", start + ", ".join(words) + ".", **filled) if words else None


def on_lists(inputs: ReportInputs) -> Blocks:
    """Official and standard measures at each cut-off, with the share of judged places."""
    table = scores_with_intervals(inputs)
    blocks: list[Block] = []
    for cut in CUTS:
        names = [f"{name}@{cut}" for name in ON_LISTS]
        title = f"Lists cut at {cut}"
        blocks.append(_table(inputs, table, f"lists_{cut}", title, names, detail=cut != inputs.cut))
    title = "Measures that allow for missing labels"
    return (*blocks, _table(inputs, table, "incomplete", title, INCOMPLETE, detail=True))


def on_scores(inputs: ReportInputs) -> Blocks:
    """AUC on the labelled negatives."""
    return (*warning(inputs), _aucs(inputs, "annotated"))


def on_sampled(inputs: ReportInputs) -> Blocks:
    """AUC on sampled negatives."""
    if inputs.negatives is None:
        raise Missing(NO_NEGATIVES)
    return (
        *warning(inputs, "sampled"),
        _aucs(inputs, "sampled"),
    )


def _aucs(inputs: ReportInputs, side: str) -> Table:
    return _table(
        inputs,
        scores_with_intervals(inputs),
        f"auc_{side}",
        f"AUC on {side} negatives",
        _areas(side),
        side == "sampled",
    )


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


def _table(
    inputs: ReportInputs, table: pd.DataFrame, key: str, title: str, names: Sequence[str], detail: bool = False
) -> Table:
    columns = [Column("model", "model"), Column("part", "role")]
    for name in names:
        measure = Measure.parse(name)
        kind: Kind = "share" if measure.name in SHARES else "value"
        formula = f"{name}: {definition_of(measure.name).formula}"
        columns.append(Column(name, label(name), kind, f"{name} low", f"{name} high", formula))
    sizes = sample_sizes(inputs.results, {name: label(name) for name in names})
    caption = f"Sample sizes: {sizes}." if sizes else ""
    return Table(key, title, tuple(columns), _rows(inputs, table, names), caption, detail)


def label(name: str) -> str:
    """The heading of a measure in tables."""
    measure = Measure.parse(name)
    cut = f"@{measure.k}" if measure.k else ""
    average = str(measure.parameters.get("average", ""))
    return f"{average} {LABELS.get(measure.name, measure.name)}{cut}".strip()


SECTION = SectionSpec(
    title="How good each model is",
    question="Every model against the labels, with confidence intervals.",
    order=30,
    inputs=("suspects", "truth", "results", "table", "scores", "negatives", "pool_lists"),
    parts=(on_lists, on_scores, on_sampled),
    answer=answer,
)
