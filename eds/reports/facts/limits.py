"""What every number means and does not say, and what the report was made from."""

from collections.abc import Sequence

from eds.metrics.measure import definition_of
from eds.reports.document import Block, Column, Missing, Number, Section, Sentence, Table, count, say
from eds.reports.facts.evidence import behind_all
from eds.reports.material import Material

SAID = (
    "But for random pairs, only what some model proposed was judged. Similar pairs that no model found are not known:"
    " recall among all pairs is estimated from random pairs, where these were judged.",
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
        _limits(material),
        *_random(material),
    )  # fmt: skip


def _limits(material: Material) -> Sentence:
    """How limits were made, or that those over queries were not asked for."""
    level = Number(material.level, "share")
    if not material.resamples:
        return say("No limits over queries were asked for (--resamples 0), and agreement has none; those at {level} are"
                   " Wilson's for rates, Clopper and Pearson's for p.", level=level)  # fmt: skip
    return say("Limits are at {level}: over queries drawn again {times} times with seed {seed} (all pairs of a query"
               " together), Wilson's for rates, Clopper and Pearson's for p.", level=level,
               times=count(material.resamples), seed=count(material.seed))  # fmt: skip


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


def measured(material: Material) -> tuple[Block, ...]:
    """Every measure of this report with its formula and conventions."""
    results = material.need("results")
    names = list(dict.fromkeys(str(result.measure) for result in results))
    names += list(dict.fromkeys(str(result.measure) for result in material.codes))
    kinds: dict[str, list[str]] = {}
    for name in names:
        kinds.setdefault(name.partition("@")[0].partition("(")[0], []).append(name)
    every = [*results, *material.codes]
    rows = [
        {"measure": kind, "meaning": definition_of(kind).meaning, "formula": definition_of(kind).formula,
         "conventions": definition_of(kind).conventions, "n": behind_all(every, {name: name for name in named})}
        for kind, named in kinds.items()
    ]  # fmt: skip
    columns = (
        Column("measure", "measure"),
        Column("meaning", "meaning"),
        Column("formula", "formula"),
        Column("conventions", "conventions"),
        Column("n", "n"),
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


def formulas(sections: Sequence[Section]) -> tuple[Block, ...]:
    """The headings of all tables with what they mean: on paper and on a phone nothing can be pointed at."""
    rows, seen = [], set()
    for section in sections:
        for table in (block for block in section.blocks if isinstance(block, Table) and section.key != "limits"):
            for column in table.columns:
                row = {"number": column.label, "formula": column.formula, "section": section.title}
                if column.formula and tuple(row.values()) not in seen:
                    seen.add(tuple(row.values()))
                    rows.append(row)
    columns = (Column("number", "heading"), Column("formula", "what it is"), Column("section", "section"))
    return (Table("formulas", "What the headings of the tables mean", columns, rows, "details"),) if rows else ()


PARTS = (conventions, measured, sources)
