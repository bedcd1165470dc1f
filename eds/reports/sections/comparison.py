"""Which models differ: groups of models that are not distinguishable, and what the labels cannot say."""

from collections.abc import Sequence
from dataclasses import asdict

from eds.analysis import AnalysisInputs, compare, newcomers
from eds.analysis.comparison import Comparison, MeasureComparison
from eds.reports.coverage import unscored
from eds.reports.document import Block, Column, Kind, Number, Sentence, Table, count, state
from eds.reports.inputs import ReportInputs
from eds.reports.score_intervals import scores_with_intervals
from eds.reports.sections import Blocks, SectionSpec
from eds.reports.sections.scores import label

VERDICTS = ("different", "not distinguishable", "the labels cannot say")
# Fields of ReportInputs that a comparison reads.
INPUTS = ("suspects", "truth", "models", "results", "table", "scores", "negatives", "pool_lists", "rankings", "placed")
MOST = 3  # names in a sentence
AUC = "ROC-AUC(average=macro,negatives=annotated)"


def compared_measures(inputs: ReportInputs) -> list[MeasureComparison]:
    """The comparisons by AUC, where every model is measured on the same pairs, and by HR; computed once."""

    def compute() -> Comparison:
        names = {*([] if unscored(inputs) else [AUC]), f"VSD-HR@{inputs.cut}"}
        results = [result for result in inputs.require("results") if str(result.measure) in names]
        analysed = AnalysisInputs(
            pool_lists=inputs.pool_lists,
            labels=inputs.labels,
            rankings=inputs.rankings,
            ranks=inputs.placed,
            scores=inputs.scores,
            negatives=inputs.negatives,
            pooled=inputs.pooled_pairs,
            seed=inputs.seed,
        )
        return compare(
            results,
            analysed,
            newcomers=new_models(inputs),
            table=scores_with_intervals(inputs),
            level=inputs.confidence,
            resamples=inputs.resamples,
        )

    comparison: Comparison = inputs.cached("comparison", compute)
    return [comparison[name] for name in (AUC, f"VSD-HR@{inputs.cut}") if name in comparison]


def new_models(inputs: ReportInputs) -> list[str]:
    """The models that had no part in the pool, or of which only selected pairs were added later."""
    strata = () if inputs.suspects is None else inputs.suspects["stratum"].unique()
    known = {result.model for result in inputs.results or ()} or {card.name for card in inputs.models or ()}
    return newcomers.new_models(sorted(known), inputs.pool_models, strata)


def state_best(compared: MeasureComparison) -> Sentence | None:
    """The best models by a measure, and those from which the labels cannot tell them; None where no two are ranked."""
    best = compared.best
    if best is None or not best.models:
        return None
    measure = f"{'self-removed ' if compared.on_reduced_pools else ''}{label(best.measure)}"
    filled: dict[str, Number | str] = {
        "models": list_names(best.models),
        "among": count(len(best.among)),
        "measure": measure,
    }
    alone = len(best.models) == 1
    if alone and all(compared.pair(best.models[0], name).better for name in best.among if name not in best.models):
        key, words = "best", "Best of {among} models by {measure}: {models}, beyond the sampling error of the queries."
    elif len(best.models) == len(best.among):
        key, words = "all alike", "By {measure}, no two of the {among} models are distinguishable."
        del filled["models"]
    elif alone:
        key, words = (
            "none better",
            "By {measure}, none of {among} models is better than {models} beyond sampling error.",
        )
    else:
        key, words = "best", "Best of {among} models by {measure}: {models}, not distinguishable from each other."
    return state(key, words, **filled)


def answer(inputs: ReportInputs) -> Sentence | None:
    """How many pairs of models differ, and how many the labels cannot compare."""
    measures = compared_measures(inputs)
    if not measures:
        return None
    compared = measures[0]
    n = {verdict: sum(pair.verdict == verdict for pair in compared.pairs) for verdict in VERDICTS}
    return state(
        "differences",
        "By {measure}, {different} of {pairs} pairs of models differ"
        + ("; the labels cannot compare {unknown}" if n["the labels cannot say"] else "")
        + ".",
        measure=label(str(compared.measure)),
        different=count(n["different"]),
        pairs=count(len(compared.pairs)),
        **({"unknown": count(n["the labels cannot say"])} if n["the labels cannot say"] else {}),
    )


def groups(inputs: ReportInputs) -> Blocks:
    """By each measure the groups of models, and every two models."""
    blocks: list[Block] = []
    rows = []
    for compared in compared_measures(inputs):
        alike = [group for group in compared.groups if len(group) > 1]
        rows += [{"measure": label(str(compared.measure)), "models": [*group]} for group in alike]
        rows += [
            {"measure": label(str(compared.measure)), "models": [item.model], "unknown": [*item.others]}
            for item in compared.undecided
        ]
    unknown = any("unknown" in row for row in rows)
    columns = [Column("measure", "measure"), Column("models", "not distinguishable from each other", "names")]
    if unknown:
        columns.append(Column("unknown", "the labels cannot say against", "names"))
    rows = [{"unknown": [], **row} for row in rows] if unknown else rows
    if rows:
        blocks.append(Table("groups", "Groups of models", tuple(columns), rows))
    return (*blocks, *(_pairs(compared) for compared in compared_measures(inputs)))


def _pairs(compared: MeasureComparison) -> Table:
    """Every two models by a measure, in the files."""
    name = str(compared.measure)
    change: Kind = "points" if compared.measure.name == "VSD-HR" else "signed"
    columns = (
        Column("first", "model"),
        Column("second", "against"),
        Column("verdict", "verdict"),
        Column("basis", "compared on"),
        Column("difference", "difference", change, "low", "high", "mean over queries; bootstrap interval"),
        Column("p_adjusted", "adjusted p", "p", formula="Holm"),
        Column("n", "queries", "count"),
        Column("decided_by_labels", "decided by the labels", "flag"),
        Column("to_judge", "to judge", "count", formula="places whose judgement would make the models comparable"),
    )
    rows = [{**asdict(pair), "verdict": pair.verdict} for pair in compared.pairs]
    return Table(f"pairs_{name}", f"Every two models by {label(name)}", columns, rows, detail=True)


def list_names(models: Sequence[str]) -> str:
    """Some names in a sentence.

    >>> list_names(["a", "b", "c"]), list_names(["a", "b", "c", "d", "e"])
    ('a, b and c', 'a, b, c and 2 more')
    """
    shown = [*models] if len(models) <= MOST + 1 else [*models[:MOST], f"{len(models) - MOST} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]


SECTION = SectionSpec(
    title="Which models differ",
    question="Which differences exceed sampling error, and which comparisons can the labels not make?",
    order=10,
    inputs=INPUTS,
    parts=(groups,),
    answer=answer,
)
