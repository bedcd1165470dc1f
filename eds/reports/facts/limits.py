"""What every number means and does not say, and what the report was made from."""

from eds.metrics.measure import definition_of
from eds.reports.document import Block, Column, Missing, Number, Table, count, say
from eds.reports.material import Material

SAID = (
    "Only pairs that some model proposed were judged. Similar pairs that no model found are not known: recall among all"
    " pairs is estimated from random pairs, where these were judged.",
    "Generators are favoured by HR and MRR: all their finds have a label. They are handicapped by AUC on annotated"
    " negatives, which are their own mistakes. Only numbers with own finds removed compare both sides fairly.",
    "Annotated and sampled negatives answer different questions; PR-AUC depends on prevalence."
    " Neither is compared across.",
    "Unlabelled places of a list count as not similar, so HR and MRR are lower bounds where not all places are judged.",
    "(q, c) and (c, q) are two pairs. A tie of votes is negative. Equal scores count half in"
    " ROC-AUC and enter together in"
    " PR-AUC. Undefined numbers are n/a, never 0.",
    "Not being told apart is not being equal: it may mean too few queries.",
)


def conventions(material: Material) -> tuple[Block, ...]:
    """The sentences, and how limits were made."""
    return (
        *(say(text) for text in SAID),
        say("Limits are at {level}: over queries drawn again {times} times with seed {seed} (all pairs of a query"
            " together), Wilson's for rates, Clopper and Pearson's for p.", level=Number(material.level, "share"),
            times=count(material.resamples), seed=count(material.seed)),
        *_random(material),
    )  # fmt: skip


def _random(material: Material) -> tuple[Block, ...]:
    """What becomes of the labels of random pairs, where there are any."""
    if material.truth is None or material.suspects is None or material.with_random:
        return (say("Models are measured on the labels of random pairs, too."),) if material.with_random else ()
    try:
        apart = len(material.truth) - len(material.labels)
    except Missing:
        apart = len(material.truth)
    if not apart:
        return ()
    return (
        say("{n} labels are of random pairs alone. They tell p and what the pool missed; no model is measured on them,"
            " for as negatives they are far easier than the pool's.", n=count(apart)),
    )  # fmt: skip


def formulas(material: Material) -> tuple[Block, ...]:
    """Every measure of this report with its formula and conventions."""
    results = material.need("results")
    names = list(dict.fromkeys(str(result.measure) for result in results))
    kinds = list(dict.fromkeys(name.partition("@")[0].partition("(")[0] for name in names))
    rows = [
        {"measure": kind, "meaning": definition_of(kind).meaning, "formula": definition_of(kind).formula,
         "conventions": definition_of(kind).conventions}
        for kind in kinds
    ]  # fmt: skip
    columns = (
        Column("measure", "measure"),
        Column("meaning", "meaning"),
        Column("formula", "formula"),
        Column("conventions", "conventions"),
    )
    return (Table("measures", "Measures", columns, rows, "details"),)


def sources(material: Material) -> tuple[Block, ...]:
    """The tables this report was made from."""
    columns = (
        Column("path", "table"),
        Column("rows", "rows", "count"),
        Column("condition", "condition"),
        Column("made_by", "made by"),
        Column("digest", "sha256"),
    )
    stale = [str(row["path"]) for row in material.tables if row["condition"] not in ("fresh", "absent")]
    found: list[Block] = []
    if stale:
        found.append(say("Not up to date: {names}. Run eds status to see why.", "warn", names=", ".join(stale)))
    if material.tables:
        found.append(Table("tables", "Made from", columns, list(material.tables), "details"))
    return tuple(found)


PARTS = (conventions, formulas, sources)
