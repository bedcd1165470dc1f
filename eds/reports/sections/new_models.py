"""New models on the existing labels: which of their numbers are fair, and which comparisons are undecided."""

from collections.abc import Mapping, Sequence
from typing import Any

from eds.analysis import AnalysisInputs, Fairness, fairness, newcomers
from eds.analysis.fairness_words import decided_by, reason
from eds.metrics import Measure
from eds.reports.charts import interval_chart
from eds.reports.document import Block, Column, Figure, Table, note, say, warn
from eds.reports.inputs import ReportInputs
from eds.reports.sections import Blocks, SectionSpec
from eds.reports.sections.comparison import new_models

LABELS = {
    "VSD-HR@5": "VSD-HR@5",
    "VSD-MRR@5": "VSD-MRR@5",
    "RBP(p=0.8)": "RBP",
    "bpref": "bpref",
    "ROC-AUC(average=macro,negatives=annotated)": "macro ROC-AUC, annotated",
    "PR-AUC(average=macro,negatives=annotated)": "macro PR-AUC, annotated",
    "ROC-AUC(average=macro,negatives=sampled)": "macro ROC-AUC, sampled",
}
RBP, RESIDUAL = Measure("RBP"), Measure("RBP-residual")


def has_new_models(inputs: ReportInputs) -> bool:
    """Whether there is a new model."""
    return bool(new_models(inputs))


def compute_fairness(inputs: ReportInputs) -> Fairness:
    """`eds.analysis.fairness` of the new models, computed once."""

    def compute() -> Fairness:
        results = [result for result in inputs.require("results") if str(result.measure) in LABELS]
        lists = newcomers.UNMADE if inputs.pool_lists is None else inputs.pool_lists
        analysed = AnalysisInputs(
            pool_lists=lists,
            labels=inputs.labels,
            rankings=inputs.rankings,
            ranks=inputs.placed,
            scores=inputs.scores,
            negatives=inputs.negatives,
        )
        return fairness(results, new_models(inputs), analysed)

    result: Fairness = inputs.cached("fairness", compute)
    return result


def verdicts(inputs: ReportInputs) -> Blocks:
    """Each new model's numbers and what they can be trusted for."""
    result, names = compute_fairness(inputs), new_models(inputs)
    rows: list[Any] = result.verdicts.to_dict(orient="records")
    compared = {name: decided_by(name, rows) for name in names}
    for row in rows:
        others = row["undecided_with"]
        row |= {
            "shown": LABELS[row["measure"]],
            "why": reason(row, inputs.pool_models, result.reuse),
            "undecided_with": [] if others is None else others or ["none"],
        }
    columns = (
        Column("model", "model"),
        Column("shown", "measure"),
        Column("value", "value", "value"),
        Column("at_most", "at most", "value", formula="if every unlabelled candidate were similar"),
        Column("judged", "judged@k", "share", formula="labelled among the first k, over queries with a similar pair"),
        Column("verdict", "verdict", formula="whether the number is comparable with those of the pool models"),
        Column("undecided_with", "undecided with", "names", formula="models whose interval overlaps"),
    )
    blocks: list[Block] = [
        note(
            "The judged pairs were selected without {names}. A candidate without a label counts as not similar in HR"
            " and MRR, which makes these lower bounds. Where the intervals of two models overlap, the existing labels"
            " do not decide between them.",
            names=", ".join(names),
        )
    ]
    for name in names:
        sure, unsure = compared[name]
        if sure:
            blocks.append(
                say("{measures} decide between {name} and every other model.", name=name, measures=", ".join(sure))
            )
        if unsure:
            blocks.append(
                warn(
                    "{measures} do not decide on {name}; {command} selects the pairs whose labels would.",
                    name=name,
                    measures=", ".join(unsure),
                    command=f"eds suspects add-model {name}",
                )
            )
    return (*blocks, Table("fair", "Which numbers are fair to new models", columns, rows), _reasons(rows))


def _reasons(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The reasons for the verdicts, each with the numbers that it holds for."""
    by_reason: dict[str, list[str]] = {}
    several = len({row["model"] for row in rows}) > 1
    for row in rows:
        by_reason.setdefault(row["why"], []).append(f"{row['model']}, {row['shown']}" if several else row["shown"])
    reasons = [{"measures": "; ".join(names), "why": why} for why, names in by_reason.items()]
    return Table("why", "Reasons", (Column("measures", "number"), Column("why", "reason")), reasons, detail=True)


def intervals(inputs: ReportInputs) -> Blocks:
    """The interval of each model's RBP that unlabelled candidates leave open; overlapping ones are undecided."""
    values = {
        (result.model, result.measure): result.values.value for result in inputs.require("results") if result.values
    }
    rows = [
        (name, low, low + values[name, RESIDUAL])
        for (name, measure), low in values.items()
        if measure == RBP and (name, RESIDUAL) in values
    ]
    if len(rows) < 2:
        return ()
    rows.sort(key=lambda row: (-row[1], row[0]))
    names, low, high = (list(part) for part in zip(*rows, strict=True))
    new = new_models(inputs)
    data = {
        "labels": names,
        "marks": [name in new for name in names],
        "values": low,
        "low": low,
        "high": high,
        "kind": "value",
        "lowest": None,
        "highest": None,
    }
    caption = (
        "From RBP to RBP + residual: the value lies between them whatever is judged next. New models are hollow; models"
        " whose lines overlap are undecided."
    )
    return (Figure("open", "What missing labels leave open of RBP", interval_chart, data, caption),)


SECTION = SectionSpec(
    title="New models on these labels",
    question="Which of their numbers are comparable with those of the pool models?",
    order=15,
    inputs=("suspects", "truth", "models", "results", "scores", "negatives", "pool_lists", "rankings", "placed"),
    parts=(verdicts, intervals),
    wanted=has_new_models,
)
