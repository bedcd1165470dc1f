"""Which measures are fair to models that had no part in the pool: each pool model scored again as if it were new."""

from eds.analysis import MeasureFairness, grade_fairness
from eds.metrics import Measure
from eds.reports.document import Column, Kind, Number, Sentence, Table, count, note, state
from eds.reports.inputs import ReportInputs
from eds.reports.sections import Blocks, SectionSpec
from eds.reports.sections.comparison import INPUTS, analysis_inputs, comparison, list_names
from eds.reports.sections.scores import SHARES, label

GRADES = ("fair", "small bias", "biased", "not known")
OTHER_GRADES = {  # in a sentence
    "biased": ("is biased", "are biased"),
    "small bias": ("has a small bias", "have a small bias"),
    "not known": ("is not known", "are not known"),
}


def graded(inputs: ReportInputs) -> tuple[MeasureFairness, ...]:
    """`eds.analysis.grade_fairness` of the measures that models are compared by, computed once."""
    if inputs.placed is None:
        inputs.require("rankings")
    grades: tuple[MeasureFairness, ...] = inputs.cached(
        "fairness",
        lambda: grade_fairness(comparison(inputs), analysis_inputs(inputs), resamples=inputs.resamples),
    )
    return grades


def answer(inputs: ReportInputs) -> Sentence | None:
    """How many measures are fair to new models, by name, and how many have each other grade."""
    measures = graded(inputs)
    by_grade = {grade: [item.measure for item in measures if item.grade == grade] for grade in GRADES}
    if not measures or len(by_grade["not known"]) == len(measures):
        return None
    filled: dict[str, Number | str] = {"n": count(len(measures))}
    words = "None of {n} measures is fair to new models"
    if fair := by_grade["fair"]:
        filled |= {"fair": count(len(fair)), "names": list_names([_label(name) for name in fair])}
        words = f"{{fair}} of {{n}} measures {'is' if len(fair) == 1 else 'are'} fair to new models ({{names}})"
    parts = []
    for grade, (one, several) in OTHER_GRADES.items():
        if number := len(by_grade[grade]):
            key = grade.replace(" ", "_")
            filled[key] = count(number)
            parts.append(f"{{{key}}} {one if number == 1 else several}")
    return state("fairness", words + (f": {', '.join(parts)}." if parts else "."), **filled)


def grades(inputs: ReportInputs) -> Blocks:
    """A row for each measure, and the shift of every pool model in the files."""
    rows, details = [], []
    if not graded(inputs):
        return (note("No measure has a value by which models could be compared."),)
    for item in graded(inputs):
        share = Measure.parse(item.measure).name in SHARES
        change: Kind = "points" if share else "signed"
        look: Kind = "share" if share else "value"
        largest = item.largest
        rows.append(
            {
                "measure": _label(item.measure),
                "grade": item.grade,
                "shift": None if largest is None else largest.shift,
                "low": None if largest is None else largest.low,
                "high": None if largest is None else largest.high,
                "model": None if largest is None else largest.model,
                "swaps": len(item.swaps),
                "reason": item.reason or None,
                "change": change,
            }
        )
        details += [
            {
                "measure": item.measure,
                "model": shift.model,
                "value": shift.value,
                "unpooled": shift.unpooled,
                "shift": shift.shift,
                "low": shift.low,
                "high": shift.high,
                "swapped_with": [*shift.swapped_with],
                "change": change,
                "look": look,
            }
            for shift in item.shifts
        ]
    columns = (
        Column("measure", "measure"),
        Column(
            "grade",
            "grade",
            formula="fair: intervals within ±0.01; biased: an order beyond sampling error changes",
        ),
        Column("shift", "largest shift", "signed", "low", "high", "as if new - pooled", "change"),
        Column("model", "of"),
        Column("swaps", "orders changed", "count"),
    )
    shifts = (
        Column("measure", "measure"),
        Column("model", "model"),
        Column("value", "pooled", "value", formula="on all labels", kind_of="look"),
        Column("unpooled", "as if new", "value", formula="its own pairs without a label", kind_of="look"),
        Column("shift", "shift", "signed", "low", "high", "as if new - pooled", "change"),
        Column("swapped_with", "order changes with", "names"),
    )
    reasons = dict.fromkeys(f"{_label(item.measure)}: {item.reason}" for item in graded(inputs) if item.reason)
    caption = "Each pool model is scored again as if it were new, without labels of the pairs that only it proposed."
    if not_for := graded(inputs)[0].not_for if graded(inputs) else ():
        caption += f" No measure is fair on {', '.join(not_for)}: trained on these labels."
    if reasons:
        caption += f" {'; '.join(reasons)}."
    return (
        Table("grades", "Which measures are fair to new models", columns, rows, caption),
        Table("shifts", "Each pool model as if it were new", shifts, details, detail=True),
    )


def _label(name: str) -> str:
    """The heading of a measure, with the kind of negatives where there are two."""
    end = ", sampled" if Measure.parse(name).parameters.get("negatives") == "sampled" else ""
    return f"{label(name)}{end}"


SECTION = SectionSpec(
    title="Which measures are fair to new models",
    question="Which numbers of a model that did not build the pool can be compared with those of models that did?",
    order=15,
    inputs=INPUTS,
    parts=(grades,),
    answer=answer,
)
