"""From which score on each model's pairs may be shown as similar, and how precise that is."""

from typing import Any

from eds.analysis.analyses.threshold import INPUTS, ModelThreshold, Options, Thresholds, analyse
from eds.analysis.inputs import AnalysisInputs
from eds.errors import InputError
from eds.reports.charts import band_chart
from eds.reports.document import Block, Column, Figure, Gap, Missing, Number, Sentence, Table, note, share, state
from eds.reports.inputs import ReportInputs
from eds.reports.sections import Blocks, SectionSpec

WORDS = {"pool": "the pool", "universe": "all pairs"}


def found(inputs: ReportInputs) -> Thresholds:
    """The analysis `threshold` with its usual options, as the command line shows it."""

    def compute() -> Thresholds | InputError:
        given = {name: inputs.require(name) for name in INPUTS}
        try:
            return analyse(AnalysisInputs(**given, seed=inputs.seed), Options(confidence=inputs.confidence))
        except InputError as error:
            return error

    result: Thresholds | InputError = inputs.cached("thresholds", compute)
    if isinstance(result, InputError):
        raise Missing(Gap(f"{result.what[:1].upper()}{result.what[1:]}.", result.hint))
    return result


def answer(inputs: ReportInputs) -> Sentence | None:
    """The model that shows most of the similar pairs at the wanted precision."""
    best = _best(found(inputs))
    if best is None:
        return None
    return state(
        "threshold",
        "For a precision of {wanted} among {population}, show pairs of {model} from {score} on; on queries that"
        " had no part in the choice, the precision is {precision} (interval {low} to {high}).",
        wanted=share(found(inputs).precision),
        model=best.model,
        score=Number(best.threshold.score),
        precision=share(best.threshold.precision),
        low=share(best.threshold.low),
        high=share(best.threshold.high),
        population=WORDS[best.population],
    )


def thresholds(inputs: ReportInputs) -> Blocks:
    """Each model's threshold, in each population; by category in the files."""
    facts = found(inputs)
    rows = [_row(row) for row in facts.rows]
    columns = (
        Column("model", "model"),
        Column("about", "among"),
        Column("score", "show from", "value"),
        Column("precision", "precision", "share", "low", "high", "similar / shown, at thresholds of other queries"),
        Column("recall", "similar pairs shown", "share", formula="similar pairs shown / all similar pairs"),
        Column("pairs", "labelled pairs shown", "count"),
    )
    every = [row for row in rows if not row["category"]]
    blocks: list[Block] = [
        Table(
            "thresholds",
            f"Scores chosen for a precision of {100 * facts.precision:g} %",
            columns,
            every,
            "Among " + "; ".join(facts.populations.values()) + ".",
        )
    ]
    if len(every) < len(rows):
        by = Column("category", facts.by)
        blocks.append(Table("thresholds_by", f"Thresholds by {facts.by}", (by, *columns), rows, detail=True))
    if "universe" not in facts.populations:
        blocks.append(note("Of pairs outside the pool nothing is known: no random pair outside it is labelled."))
    return tuple(blocks)


def curve(inputs: ReportInputs) -> Blocks:
    """P(similar | score) of the model that the answer names."""
    facts = found(inputs)
    best = _best(facts) or next(iter(facts.rows), None)
    if best is None:
        return ()
    line = facts.curves[best.model, best.population]
    data = {
        "x": line.score.tolist(),
        "values": line.probability.tolist(),
        "low": line.low.tolist(),
        "high": line.high.tolist(),
        "x_label": f"score of {best.model}",
        "mark": best.threshold.score if best.threshold.score == best.threshold.score else None,
    }
    caption = f"Among {WORDS[best.population]}; the band is of each score by itself."
    caption += " Dotted: the threshold." if data["mark"] is not None else ""
    return (Figure("threshold_curve", "Share of similar pairs by score", band_chart, data, caption),)


def _best(facts: Thresholds) -> ModelThreshold | None:
    """The widest population's threshold that shows most similar pairs, with limits if any has them."""
    population = list(facts.populations)[-1]
    rows = [row for row in facts.rows if row.population == population and not row.category]
    rows = [row for row in rows if row.threshold.low == row.threshold.low]
    return max(rows, key=lambda row: row.threshold.recall, default=None)


def _row(row: ModelThreshold) -> dict[str, Any]:
    values = row.to_dict()
    return {**values, "about": WORDS[row.population], "no_interval": values.pop("reason")}


SECTION = SectionSpec(
    title="A threshold on the score",
    question="From which score on may a model's pairs be shown as similar?",
    order=47,
    inputs=INPUTS,
    parts=(thresholds, curve),
    answer=answer,
)
