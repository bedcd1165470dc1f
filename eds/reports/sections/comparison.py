"""Which models differ: groups of models that are not distinguishable, and what the labels cannot say."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict

from eds.analysis import AnalysisInputs, Comparison, MeasureComparison, compare, newcomers
from eds.reports.coverage import unscored, warning
from eds.reports.document import Block, Column, Kind, Missing, Number, Sentence, Table, count, state
from eds.reports.inputs import LABEL_INPUTS, ReportInputs
from eds.reports.score_intervals import scores_with_intervals
from eds.reports.sections import Blocks, SectionSpec
from eds.reports.sections.scores import SHARES, label

VERDICTS = ("different", "not distinguishable", "the labels cannot say")
MOST = 3  # names in a sentence
AUC = "ROC-AUC(average=macro,negatives=annotated)"
AREAS = (AUC, "PR-AUC(average=macro,negatives=annotated)", "ROC-AUC(average=macro,negatives=sampled)")
ON_LISTS = ("VSD-HR", "VSD-MRR", "Success", "RR")
# Fields of ReportInputs that a comparison reads.
INPUTS = (
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
)


def comparison(inputs: ReportInputs) -> Comparison:
    """`eds.analysis.compare` of the models, by measures whose values rest on the same pairs; computed once."""

    def compute() -> Comparison:
        missing = {side: bool(unscored(inputs, side)) for side in ("annotated", "sampled")}
        areas = [name for name in AREAS if not missing["sampled" if "sampled" in name else "annotated"]]
        names = {*areas, *(f"{name}@{inputs.cut}" for name in ON_LISTS), "bpref"}
        results = [result for result in inputs.require("results") if str(result.measure) in names]
        return compare(
            results,
            analysis_inputs(inputs),
            newcomers=new_models(inputs),
            trained=inputs.trained,
            table=scores_with_intervals(inputs),
            level=inputs.confidence,
            resamples=inputs.resamples,
        )

    compared: Comparison = inputs.cached("comparison", compute)
    return compared


def order_models(inputs: ReportInputs, names: Iterable[str], measure: str = AUC) -> list[str]:
    """The names in the order of the comparison by a measure, the others behind; as given where nothing is compared."""
    given = [*names]
    try:
        compared = comparison(inputs).get(measure)
    except Missing:
        compared = None
    known = [item.model for item in compared.models if item.model in given] if compared else []
    return [*known, *(name for name in given if name not in known)]


def analysis_inputs(inputs: ReportInputs) -> AnalysisInputs:
    """What models are compared on."""
    return AnalysisInputs(
        universe=inputs.universe,
        pool_lists=newcomers.UNMADE if inputs.pool_lists is None else inputs.pool_lists,
        labels=inputs.labels,
        rankings=inputs.rankings,
        ranks=inputs.placed,
        scores=inputs.scores,
        negatives=inputs.negatives,
        negatives_without=inputs.negatives_without,
        pooled=inputs.pooled_pairs,
        seed=inputs.seed,
    )


def compared_measures(inputs: ReportInputs) -> list[MeasureComparison]:
    """The comparisons of the first screen: by macro ROC-AUC and by HR."""
    compared = comparison(inputs)
    return [compared[name] for name in (AUC, f"VSD-HR@{inputs.cut}") if name in compared]


def new_models(inputs: ReportInputs) -> list[str]:
    """The models that had no part in the pool, or of which only selected pairs were added later."""
    if inputs.newcomers is not None:
        return [*inputs.newcomers]
    strata = () if inputs.suspects is None else inputs.suspects["stratum"].unique()
    known = {result.model for result in inputs.results or ()} or {card.name for card in inputs.models or ()}
    return newcomers.new_models(sorted(known), inputs.pool_models, strata)


def name_of(compared: MeasureComparison) -> str:
    """The measure as models are compared by it: an area with its negatives, as others may order models otherwise."""
    negatives = compared.measure.parameters.get("negatives")
    start = "self-removed " if compared.on_reduced_pools else ""
    return f"{start}{label(str(compared.measure))}" + (f" on {negatives} negatives" if negatives else "")


def state_best(compared: MeasureComparison) -> Sentence | None:
    """The best models by a measure; None where no two are ranked."""
    best = compared.best
    if best is None or not best.models:
        return None
    measure = name_of(compared)
    filled: dict[str, Number | str] = {
        "models": list_names(best.models),
        "among": count(len(best.among)),
        "measure": measure,
    }
    alone = len(best.models) == 1
    if alone and all(compared.pair(best.models[0], name).better for name in best.among if name not in best.models):
        key, words = "best", "Best of {among} models by {measure}: {models}, beyond the sampling error of the queries."
    elif alone:
        key, words = (
            "none better",
            "By {measure}, no model of {among} is better than {models} beyond sampling error.",
        )
    elif len(best.models) == len(best.among):
        key, words = "all alike", "By {measure}, no two of the {among} models are distinguishable."
        del filled["models"]
    else:
        key, words = "best", "Best of {among} models by {measure}: {models}, not distinguishable from each other."
    return state(key, words, **filled)


def answer(inputs: ReportInputs) -> Sentence | None:
    """How many pairs of models differ, and how many the labels cannot compare."""
    measures = [compared for compared in compared_measures(inputs) if compared.pairs]
    if not measures:
        return None
    verdicts: list[str] = [pair.verdict for pair in measures[0].pairs]
    different, unknown = (verdicts.count(verdict) for verdict in (VERDICTS[0], VERDICTS[2]))
    words = "By {measure}, {different} of {pairs} pairs of models differ beyond sampling error"
    filled: dict[str, Number | str] = {
        "measure": name_of(measures[0]),
        "different": count(different),
        "pairs": count(len(verdicts)),
    }
    if unknown:
        words += "; {unknown} the labels cannot compare"
        filled["unknown"] = count(unknown)
    return state("differences", words + ".", **filled)


def groups(inputs: ReportInputs) -> Blocks:
    """By each measure the groups of models that are not distinguishable, and models that the labels cannot compare."""
    rows: list[dict[str, object]] = []
    for compared in compared_measures(inputs):
        name = name_of(compared)
        alike = [group for group in compared.groups if len(group) > 1]
        rows += [{"measure": name, "verdict": VERDICTS[1], "models": [*group]} for group in alike]
        unlike: dict[tuple[str, ...], list[str]] = {item.others: [] for item in compared.undecided}
        for item in compared.undecided:
            unlike[item.others].append(item.model)
        for others, models in unlike.items():
            rows.append({"measure": name, "verdict": VERDICTS[2], "models": models, "against": [*others]})
    columns = [Column("measure", "measure"), Column("verdict", "verdict"), Column("models", "models", "names")]
    if any("against" in row for row in rows):
        columns.append(Column("against", "against", "names"))
    rows = [{"against": [], **row} for row in rows]
    blocks: list[Block] = [*warning(inputs)]
    if rows:
        blocks.append(Table("groups", "Models that cannot be ordered", tuple(columns), rows))
    measures = list(comparison(inputs))
    return (*blocks, *map(_models, measures), *map(_pairs, measures))


def _models(compared: MeasureComparison) -> Table:
    """Every model by a measure, in the files."""
    name = str(compared.measure)
    kind: Kind = "share" if compared.measure.name in SHARES else "value"
    columns = (
        Column("model", "model"),
        Column("side", "side"),
        Column("value", label(name), kind, "low", "high"),
        Column("judged", "judged", "share"),
        Column("ceiling", "ceiling", kind, formula="if every place without a label were similar"),
        Column("self_removed", "self-removed", kind, "self_removed_low", "self_removed_high"),
        Column("ranked", "ranked", "flag"),
        Column("best", "best", "flag"),
    )
    rows = [asdict(item) for item in compared.models]
    return Table(f"models_{name}", f"Every model by {label(name)}", columns, rows, detail=True)


def _pairs(compared: MeasureComparison) -> Table:
    """Every two models by a measure, in the files."""
    name = str(compared.measure)
    change: Kind = "points" if compared.measure.name in SHARES else "signed"
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
