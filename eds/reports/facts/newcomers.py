"""New models on the labels there are: which of their numbers are fair, and against whom nothing is decided yet."""

from collections.abc import Mapping, Sequence
from typing import Any

from eds.analysis import Fairness, Pooled, fairness, newcomers
from eds.analysis.fairness_words import decided_by, reason
from eds.metrics import Measure
from eds.reports.document import Block, Column, Figure, Table, say
from eds.reports.material import Material

LABELS = {
    "VSD-HR@5": "VSD-HR@5", "VSD-MRR@5": "VSD-MRR@5", "RBP(p=0.8)": "RBP", "bpref": "bpref",
    "ROC-AUC(average=macro,negatives=annotated)": "macro ROC-AUC, annotated",
    "PR-AUC(average=macro,negatives=annotated)": "macro PR-AUC, annotated",
    "ROC-AUC(average=macro,negatives=sampled)": "macro ROC-AUC, sampled",
}  # fmt: skip
RBP, RESIDUAL = Measure("RBP"), Measure("RBP-residual")


def new_models(material: Material) -> list[str]:
    """The models that had no part in the pool, or of which only chosen pairs were added to it later."""
    strata = () if material.suspects is None else material.suspects["stratum"].unique()
    cards = {card.name for card in material.models or ()}
    known = cards if material.results is None else {result.model for result in material.results}
    return newcomers.new_models(sorted(known), material.makers, strata)


def wanted(material: Material) -> bool:
    """Whether there is a model that did not make the pool."""
    return bool(new_models(material))


def fair(material: Material) -> Fairness:
    """`eds.analysis.fairness` of the new models, computed once."""

    def compute() -> Fairness:
        results = [one for one in material.need("results") if str(one.measure) in LABELS]
        makers = newcomers.UNMADE if material.generators is None else material.generators
        pooled = Pooled(makers, material.labels, material.rankings, material.placed, material.scores,
                        material.negatives)  # fmt: skip
        return fairness(results, new_models(material), pooled)

    found: Fairness = material.once("fairness", compute)
    return found


def verdicts(material: Material) -> tuple[Block, ...]:
    """Each new model's numbers with what they can be trusted for."""
    found, names = fair(material), new_models(material)
    rows: list[Any] = found.verdicts.to_dict(orient="records")
    for row in rows:
        row |= {"shown": LABELS[row["measure"]], "why": reason(row, material.makers, found.reuse)}
    columns = (
        Column("model", "model"),
        Column("shown", "measure"),
        Column("value", "value", "value"),
        Column("at_most", "at most", "value", formula="were every place without a label similar"),
        Column("judged", "judged@k", "share", formula="labelled among the first k, over queries with a similar pair"),
        Column("verdict", "verdict", formula="whether the number can stand beside those of the models of the pool"),
        Column("undecided_with", "undecided with", "names", formula="models whose interval overlaps"),
    )
    others = [[] if row["undecided_with"] is None else row["undecided_with"] or ["nobody"] for row in rows]
    shown = [{**row, "undecided_with": names} for row, names in zip(rows, others, strict=True)]
    told: list[Block] = [
        say("What experts judged was chosen without {names}. A place of their lists that has no label counts as not"
            " similar in HR and MRR, so that these are lower bounds; two models whose intervals overlap are undecided"
            " by the labels there are.", "note", names=", ".join(names)),
    ]  # fmt: skip
    for name in names:
        sure, unsure = decided_by(name, rows)
        if sure:
            told.append(say("{name} is decided against all others by {sure}.", name=name, sure=", ".join(sure)))
        if unsure:
            told.append(say("{name} is undecided by {unsure}; the pairs whose judgement would decide: {command}.",
                            "warn", name=name, unsure=", ".join(unsure),
                            command=f"eds suspects add {name}"))  # fmt: skip
    table = Table("fair", "Which numbers are fair to new models", columns, shown)
    return (*told, table, _reasons(rows))


def _reasons(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Why, each reason once, with the numbers that it holds for."""
    found: dict[str, list[str]] = {}
    several = len({row["model"] for row in rows}) > 1
    for row in rows:
        found.setdefault(row["why"], []).append(f"{row['model']}, {row['shown']}" if several else row["shown"])
    told = [{"measures": "; ".join(names), "why": why} for why, names in found.items()]
    return Table("why", "Why", (Column("measures", "number"), Column("why", "because")), told, "details")


def open_places(material: Material) -> tuple[Block, ...]:
    """How far each model's RBP is left open by places without a label: intervals that overlap are undecided."""
    told = {(one.model, one.measure): one.values.value for one in material.need("results") if one.values}
    rows = sorted(((name, low, low + told[name, RESIDUAL]) for (name, measure), low in told.items()
                   if measure == RBP and (name, RESIDUAL) in told), key=lambda row: (-row[1], row[0]))  # fmt: skip
    if len(rows) < 2:
        return ()
    names, low, high = (list(part) for part in zip(*rows, strict=True))
    data = {"labels": names, "marks": [name in new_models(material) for name in names], "values": low, "low": low,
            "high": high, "kind": "value", "lowest": None, "highest": None}  # fmt: skip
    return (
        Figure("open", "What missing labels leave open of RBP", "intervals", data,
               "From RBP to RBP + residual: the value lies in between whatever is judged next. New models are drawn"
               " hollow; lines that overlap are undecided."),
    )  # fmt: skip


PARTS = (verdicts, open_places)
