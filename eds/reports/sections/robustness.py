"""Leave-one-out: every model's AUC without each pool model's labels, and whether the order of the models stays."""

from typing import Any

from eds.analysis import AnalysisInputs, leave_one_out
from eds.analysis.analyses.leave_one_out import LeaveOneOut
from eds.metrics import Measure
from eds.reports.charts import dot_chart
from eds.reports.coverage import span, warning
from eds.reports.document import Column, Figure, Number, Sentence, Table, count, note, state
from eds.reports.inputs import ReportInputs
from eds.reports.numbers import undefined
from eds.reports.sections import Blocks, SectionSpec
from eds.reports.sections.comparison import INPUTS, comparison, order_models

MACRO, MICRO = Measure("ROC-AUC"), Measure("ROC-AUC", average="micro")
MEASURES = {MACRO: "macro ROC-AUC", MICRO: "micro ROC-AUC"}
MODES = {
    "unique": "labels of pairs that only the removed model proposed are dropped",
    "all": "labels of every pair that the removed model proposed are dropped",
}


def left_out(inputs: ReportInputs, measure: Measure, mode: str) -> LeaveOneOut:
    """`eds.analysis.leave_one_out` of these inputs, computed once."""

    def compute() -> LeaveOneOut:
        lists, scores = inputs.require("pool_lists"), inputs.require("scores")
        known = AnalysisInputs(pool_lists=lists, labels=inputs.labels, scores=scores, seed=inputs.seed)
        return leave_one_out(known, measure, mode, level=inputs.confidence, resamples=inputs.resamples)

    result: LeaveOneOut = inputs.cached(f"loo {measure} {mode}", compute)
    return result


def answer(inputs: ReportInputs) -> Sentence | None:
    """How far a pool model's value moves without its own pairs, and how many orders turn without those of any model."""
    result = left_out(inputs, MACRO, "unique")
    shifts = {name: shift for name, shift in result.self_removal_shift.items() if not undefined(shift)}
    if not shifts:
        return None
    model = max(shifts, key=lambda name: abs(shifts[name]))
    words = "Without the pairs that only it proposed, {model} changes most by macro ROC-AUC: {shift}"
    filled: dict[str, Number | str] = {"model": model, "shift": Number(shifts[model], "signed")}
    compared = comparison(inputs).get(MACRO)
    pairs = [pair for pair in compared.pairs if pair.basis == "all labels" and pair.better] if compared else []
    if pairs:
        turned = [
            pair
            for pair in pairs
            if any((row[pair.first] - row[pair.second]) * pair.difference < 0 for row in result.loo.values())
        ]
        filled |= {"turned": count(len(turned)), "pairs": count(len(pairs))}
        words += "; removing one model turns the order of {turned} of {pairs} pairs of models that differ"
    return state("robustness", words + ".", **filled)


def chart(inputs: ReportInputs) -> Blocks:
    """Every model's value when each pool model in turn is removed."""
    result = left_out(inputs, MACRO, "unique")
    if all(undefined(value) for value in result.full.values()):
        return (*warning(inputs), note("No model has a macro ROC-AUC: no query has pairs of both labels."))
    names = order_models(inputs, sorted(result.full, key=lambda name: -result.full[name]))
    data = {
        "labels": names,
        "values": [result.full[name] for name in names],
        "kind": "value",
        "points": [[row[name] for row in result.loo.values()] for name in names],
        "point_names": list(result.loo),
    }
    return (
        *warning(inputs),
        Figure(
            "loo",
            "Macro ROC-AUC when a pool model is removed",
            dot_chart,
            data,
            f"Tick: on all {result.n_labels:,} labels. Dots: without the pairs that one pool model alone proposed;"
            " orange: the model's own.",
        ),
    )


def by_model(inputs: ReportInputs) -> Blocks:
    """For each evaluated model, the mean and spread over the removed pool models."""
    tables = []
    for mode, meaning in MODES.items():
        result = left_out(inputs, MACRO, mode)
        kept = span(result.n_labels_kept.values())
        rows: dict[str, dict[str, Any]] = {}
        for measure in MEASURES:
            result = left_out(inputs, measure, mode)
            for name, full in result.full.items():
                row = rows.setdefault(name, {"model": name, "generator": name in result.loo})
                row |= {
                    f"{measure} full": full,
                    f"{measure} mean": result.mean[name],
                    f"{measure} std": result.std[name],
                    f"{measure} shift": result.self_removal_shift.get(name),
                }
        columns = [Column("model", "model"), Column("generator", "pool model", "flag")]
        for measure, label in MEASURES.items():
            columns += [
                Column(f"{measure} full", label, "value", formula="on all labels"),
                Column(f"{measure} mean", "mean", "value", formula=f"over n = {len(result.loo)} removed pool models"),
                Column(f"{measure} std", "± sd", "value", formula="population standard deviation"),
                Column(f"{measure} shift", "itself removed", "signed", formula="loo[m][m] - full[m]"),
            ]
        caption = f"Mode {mode}: {meaning}; of {result.n_labels:,} labels, {kept} are left without a model."
        title = f"Evaluated models, mode {mode}"
        tables.append(Table(f"loo_{mode}", title, tuple(columns), list(rows.values()), caption, detail=True))
    return tuple(tables)


def by_removed_model(inputs: ReportInputs) -> Blocks:
    """For each removed pool model, whether the order of all models stays."""
    columns = (
        Column("removed", "removed"),
        Column("measure", "measure"),
        Column("labels_kept", "labels kept", "count"),
        Column("models", "models", "count"),
        Column("rho", "Spearman", "value", formula="between the orders on all labels and on those kept"),
        Column("p_exact", "exact p", "p", formula="all permutations, up to 8 models"),
        Column("p_t", "p by t", "p", formula="Spearman's t, n - 2 degrees of freedom"),
        Column("tau_ap", "tau_AP", "value", formula="top-weighted; undefined where values tie"),
        Column("tau_ap_b", "tau_AP,b", "value", formula="top-weighted, for ties, mean of both directions"),
    )
    tables = []
    for mode, meaning in MODES.items():
        rows: list[dict[str, Any]] = []
        for measure, label in MEASURES.items():
            result = left_out(inputs, measure, mode)
            rows += [
                {
                    "removed": name,
                    "measure": label,
                    "labels_kept": result.n_labels_kept[name],
                    "labels": result.n_labels,
                    "models": len(result.full),
                    **correlation,
                }
                for name, correlation in result.spearman.items()
            ]
        title = f"Whether the order stays, mode {mode}: {meaning}"
        tables.append(Table(f"order_{mode}", title, columns, rows, detail=True))
    return tuple(tables)


SECTION = SectionSpec(
    title="Does the order depend on who built the pool?",
    question="Each pool model is removed in turn.",
    order=40,
    inputs=INPUTS,
    parts=(chart, by_model, by_removed_model),
    answer=answer,
)
