"""What every number means and what it does not say, and which tables the report was made from."""

from collections.abc import Sequence

from eds.metrics.measure import definition_of
from eds.reports.coverage import sample_sizes
from eds.reports.document import Column, Missing, Section, Sentence, Table, count, say, warn
from eds.reports.inputs import LABEL_INPUTS, PAIR, ReportInputs
from eds.reports.sections import Blocks, SectionSpec

CONVENTIONS = (
    "Candidates without a label count as not similar. HR and MRR favour pool models, whose candidates are in the pool;"
    " AUC on annotated negatives works against them, as these negatives are their own mistakes. Self-removed AUC leaves"
    " out the pairs that the model alone proposed.",
    "Values on annotated and sampled negatives are never compared. (q, c) and (c, q) are two pairs; a tie of votes is"
    " negative; equal scores count half. Undefined numbers are n/a, never 0.",
)


def conventions(inputs: ReportInputs) -> Blocks:
    """The conventions, and how confidence intervals are computed."""
    return (*_judged_pairs(inputs), *map(say, CONVENTIONS), _intervals(inputs), *_random_pairs(inputs))


def _judged_pairs(inputs: ReportInputs) -> Blocks:
    """How the pairs that have labels were selected."""
    if inputs.truth is None or inputs.suspects is None or not len(inputs.truth):
        return ()
    rows = inputs.truth[PAIR].merge(inputs.suspects[[*PAIR, "origin", "sources"]], on=PAIR, how="left")
    proposed = rows["sources"].fillna("") != ""
    kinds = {
        "pairs that a model proposed": (rows["origin"] == "pool") & proposed,
        "other pairs of the pool": (rows["origin"] == "pool") & ~proposed,
        "random pairs": rows["origin"] == "random",
        "gold pairs": rows["origin"] == "gold",
        "pairs that are not suspects": rows["origin"].isna(),
    }
    there = [name for name, own in kinds.items() if own.any()]
    words = " and ".join(filter(None, (", ".join(there[:-1]), *there[-1:])))
    return (say("Labels are of {kinds}.", kinds=words),) if there else ()


def _intervals(inputs: ReportInputs) -> Sentence:
    confidence = f"{100 * inputs.confidence:g}\N{NO-BREAK SPACE}%"
    if not inputs.resamples:
        return say(
            "Intervals of scores and of agreement were not requested (--resamples 0). Those at {confidence} are over"
            " queries for rates, and Clopper-Pearson's for prevalence.",
            confidence=confidence,
        )
    return say(
        "Confidence intervals are at {confidence} and over queries, all pairs of a query together: rates and means by"
        " Wilson's formula with the effective number of queries, micro AUC, agreement and differences by bootstrap with"
        " {times} resamples and seed {seed}; prevalence by Clopper-Pearson's. Fewer than 8 queries, or queries that are"
        " all equal, have no interval.",
        confidence=confidence,
        times=count(inputs.resamples),
        seed=count(inputs.seed),
    )


def _random_pairs(inputs: ReportInputs) -> Blocks:
    """What the labels of random pairs are used for, where there are any."""
    if inputs.with_random:
        return (say("The labels of random pairs count in the scores of models, too."),)
    if inputs.truth is None or inputs.suspects is None:
        return ()
    try:
        excluded = len(inputs.truth) - len(inputs.labels)
    except Missing:
        excluded = len(inputs.truth)
    if not excluded:
        return ()
    return (
        say(
            "{n} labels are of random pairs and sampled negatives outside the pool. Random pairs serve to estimate"
            " prevalence and recall, sampled negatives the measures that name them. No other score of a model counts"
            " them, because as negatives they are far easier than those of the pool.",
            n=count(excluded),
        ),
    )


def measures(inputs: ReportInputs) -> Blocks:
    """Every measure of this report with its formula and conventions."""
    results = [*inputs.require("results"), *inputs.codes]
    by_kind: dict[str, list[str]] = {}
    for name in dict.fromkeys(str(result.measure) for result in results):
        by_kind.setdefault(name.partition("@")[0].partition("(")[0], []).append(name)
    rows = []
    for kind, names in by_kind.items():
        definition = definition_of(kind)
        rows.append(
            {
                "measure": kind,
                "meaning": definition.meaning,
                "formula": definition.formula,
                "conventions": definition.conventions,
                "n": sample_sizes(results, {name: name for name in names}),
            }
        )
    columns = (
        Column("measure", "measure"),
        Column("formula", "formula"),
    )
    return (Table("measures", "Measures", columns, rows, detail=True),)


def tables(inputs: ReportInputs) -> Blocks:
    """The tables that the report was made from."""
    if not inputs.tables:
        return ()
    columns = (
        Column("path", "table"),
        Column("rows", "rows", "count"),
        Column("condition", "condition"),
        Column("digest", "sha256"),
    )
    table = Table("tables", "Made from", columns, list(inputs.tables), detail=True)
    stale = [str(row["path"]) for row in inputs.tables if row["condition"] not in ("fresh", "absent")]
    if not stale:
        return (table,)
    return (warn("Out of date: {names}. Run eds status for the reason.", names=", ".join(stale)), table)


def headings(inputs: ReportInputs, sections: Sequence[Section]) -> Blocks:
    """What the headings of all tables mean: on paper and on a phone there is no pointer to show it."""
    rows: list[dict[str, str]] = []
    for section in sections:
        for table in (block for block in section.blocks if isinstance(block, Table) and section.key != "limits"):
            for column in table.columns:
                row = {"number": column.label, "formula": column.formula, "section": section.title}
                if column.formula and row not in rows:
                    rows.append(row)
    columns = (Column("number", "heading"), Column("formula", "meaning"), Column("section", "section"))
    return (Table("headings", "What the headings of the tables mean", columns, rows, detail=True),) if rows else ()


SECTION = SectionSpec(
    title="How this was computed",
    question="What does every number mean, and what does it not say?",
    order=150,
    inputs=(*LABEL_INPUTS, "results", "codes", "tables"),
    parts=(conventions, measures, tables),
    overview=(headings,),
)
