"""Every model against the labels: HR and MRR, AUC on annotated and sampled negatives, with intervals."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from eds.metrics import Measure
from eds.metrics.measure import definition_of
from eds.metrics.measures.incomplete import persistence_for
from eds.reports.coverage import role, sample_sizes, warning
from eds.reports.document import Block, Column, Gap, Kind, Missing, Number, Sentence, Table, count, state
from eds.reports.inputs import LABEL_INPUTS, ReportInputs
from eds.reports.score_intervals import scores_with_intervals
from eds.reports.sections import Blocks, SectionSpec
from eds.reports.seen import seen_table

CUTS = (5, 9)
ON_LISTS = ("VSD-HR", "VSD-MRR", "Success", "RR", "Judged")
INCOMPLETE = ("RBP", "RBP-residual", "bpref")
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
BOUND = "a lower bound, as some places have no label"
NO_NEGATIVES = Gap("There are no sampled negatives.", "eds suspects negatives")


def measures(sampled: bool, depth: int = 6) -> list[Measure]:
    """What the report needs of `eds.metrics.evaluate`; the pool's depth chooses the persistence of RBP."""
    names = [f"{name}@{cut}" for cut in CUTS for name in ON_LISTS]
    p = f"(p={persistence_for(depth)})"
    names += [*(name + p if name.startswith("RBP") else name for name in INCOMPLETE), "PairMRR@9"]
    for side in ("annotated", "sampled") if sampled else ("annotated",):
        names += _areas(side)
    return [Measure.parse(name) for name in dict.fromkeys(names)]


def _areas(side: str) -> list[str]:
    return [f"{area}(average={average},negatives={side})" for average in AVERAGES for area in AREAS]


def answer(inputs: ReportInputs) -> Sentence | None:
    """The range of the models' values by HR and macro ROC-AUC; of pool models alone where others came later."""
    results, kind_of = inputs.require("results"), "models"
    makers = [result for result in results if role(inputs, result.model).startswith("pool model")]
    if 0 < len(makers) < len(results):
        results, kind_of = makers, "pool models"
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
    start = f"{{n}} {kind_of}: " if n > 1 else ""
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
    measured = dict.fromkeys(str(result.measure) for result in inputs.require("results"))
    names = [name for name in measured if Measure.parse(name).name in INCOMPLETE]
    return (*blocks, _table(inputs, table, "incomplete", title, names, detail=True))


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


def seen(inputs: ReportInputs) -> Blocks:
    """The main measures over the queries that a model was trained on, and over the others."""
    names = [*(f"{name}@{inputs.cut}" for name in ON_LISTS), *_areas("annotated")]
    return seen_table(inputs, [one for one in inputs.require("results") if str(one.measure) in names], "scores_seen")


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
    """A row for each model, by the first measure; new models come last, as these values do not rank them."""
    rows: dict[str, dict[str, Any]] = {}
    for score in table[table["measure"].isin(names)].to_dict(orient="records"):
        model, name = score["model"], score["measure"]
        row = rows.setdefault(model, {"model": model, "part": role(inputs, model)})
        fields = ("low", "high", "no_interval", "n")
        row |= {name: score["value"], **{f"{name} {field}": score[field] for field in fields}}
        row |= {f"{name} {field}": value for field, value in _lower_bound(inputs, model, name).items()}
    return sorted(
        rows.values(), key=lambda row: (row["part"] == "new model", -_sort_key(row.get(names[0])), row["model"])
    )


def _lower_bound(inputs: ReportInputs, model: str, name: str) -> dict[str, Any]:
    """What replaces the interval of a lower bound: its ceiling, where it is known; nothing where all is judged.

    Source: specification 18.2: missing labels move such a value further than the sampling of the queries does.
    """
    from eds.reports.sections.comparison import comparison

    measure = Measure.parse(name)
    if measure.definition.unlabelled != "negative" or measure.k is None:
        return {}
    wanted = model, f"Judged@{measure.k}"
    mine = [r for r in inputs.results or () if (r.model, str(r.measure)) == (model, name)]
    if any(r.values is None or np.isnan(r.values.value) for r in mine):
        return {}
    for result in inputs.results or ():
        if (result.model, str(result.measure)) == wanted and result.values and result.values.value < 1:
            compared = comparison(inputs).get(measure)
            ceiling = compared[model].ceiling if compared and model in compared else None
            return {"low": None, "high": None, "no_interval": None if ceiling else BOUND, "ceiling": ceiling}
    return {}


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
    rows = _rows(inputs, table, names)
    caption = f"Sample sizes: {sizes}." if sizes else ""
    if any(row.get(f"{name} ceiling") is not None for row in rows for name in names):
        caption += " Lower bounds have their ceiling instead of an interval: if every missing label were similar."
    return Table(key, title, tuple(columns), rows, caption.strip(), detail)


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
    inputs=(
        "universe",
        *LABEL_INPUTS,
        "models",
        "newcomers",
        "results",
        "table",
        "scores",
        "negatives",
        "negatives_without",
        "pool_lists",
        "rankings",
        "placed",
        "learned",
    ),
    parts=(on_lists, on_scores, on_sampled, seen),
    answer=answer,
)
