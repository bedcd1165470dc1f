"""What wrong labels would do to the AUC: the same numbers, were every expert right so often."""

from typing import Any

from eds.reports.document import Block, Column, Figure, Table, count, say, share
from eds.reports.facts.evidence import warning
from eds.reports.facts.intervals import with_limits
from eds.reports.material import Material
from eds.truth import corrected_auc, label_contamination

ACCURACIES = (0.98, 0.95, 0.9, 0.85)  # of one expert, on similar and on different pairs alike
NAME = "ROC-AUC(average=micro,negatives=annotated)"


def assumptions(material: Material) -> tuple[Block, ...]:
    """How many labels would be wrong, by how often an expert is right."""
    labels, panel = material.labels, _panel(material)
    rate = float(labels["value"].mean())
    rows = [{"accuracy": accuracy, **_wrong(panel, accuracy, rate)} for accuracy in ACCURACIES]
    columns = (
        Column("accuracy", "an expert is right", "share"),
        Column("eps_pos", "wrong among similar", "share", formula="(1-pi)(1-sp) / (pi se + (1-pi)(1-sp))"),
        Column("eps_neg", "wrong among different", "share", formula="pi(1-se) / (pi(1-se) + (1-pi)sp)"),
        Column("attenuation", "factor", "value", formula="1 - wrong among similar - wrong among different"),
    )
    return (
        say("Labels are votes of people, and some are wrong. Were every expert right so often, on similar and different"
            " pairs alike, and were errors independent of each other and of the models' scores, then majorities of"
            " {panel} with {rate} of {n} pairs similar would be wrong as often as told here, and an observed AUC would"
            " lie nearer to one half by the factor.", panel=count(panel), rate=share(rate), n=count(len(labels))),
        *_orientation(material),
        Table("noise", "How many labels would be wrong", columns, rows,
              "se and sp are those of the majority; pi is the share of similar pairs."),
    )  # fmt: skip


def _orientation(material: Material) -> tuple[Block, ...]:
    """How often experts agreed with the others, and were right on known pairs: about what accuracy to read."""
    if material.judging is None:
        return ()
    profiles = material.judging.profiles
    found: list[Block] = []
    for name, whole, words in (
        ("agreed", "compared", "Here an expert agrees with the majority of the others on {share} of {n} judged pairs."),
        ("gold_right", "gold_judged", "Of {n} pairs whose answer is known experts got {share} right."),
    ):
        part, n = int(profiles[name].sum()), int(profiles[whole].sum())
        if n:
            found.append(say(words, share=share(part / n), n=count(n)))
    return tuple(found)


def corrected(material: Material) -> tuple[Block, ...]:
    """Every model's micro ROC-AUC at each accuracy."""
    rate, panel = float(material.labels["value"].mean()), _panel(material)
    table = with_limits(material)
    observed = table[(table["measure"] == NAME) & table["value"].notna()].sort_values("value", ascending=False)
    rows: list[dict[str, Any]] = []
    for row in observed.to_dict(orient="records"):
        told = {"model": row["model"], "observed": row["value"], "low": row["low"], "high": row["high"], "n": row["n"]}
        for at, accuracy in enumerate(ACCURACIES):
            wrong = _wrong(panel, accuracy, rate)
            told[f"a{at}"] = corrected_auc(row["value"], wrong["eps_pos"], wrong["eps_neg"])
        rows.append(told)
    if not rows:
        return (say("No model has a micro ROC-AUC to correct.", "note"),)
    ends = [f"a{at}" for at in range(len(ACCURACIES))]
    columns = (
        Column("model", "model"),
        Column("n", "pairs", "count"),
        Column("observed", "observed", "value", "low", "high", NAME),
        *(Column(end, f"{accuracy:.0%} right", "value", formula="1/2 + (observed - 1/2) / factor")
          for end, accuracy in zip(ends, ACCURACIES, strict=True)),
    )  # fmt: skip
    return (
        *warning(material),
        Table("noise_auc", "Micro ROC-AUC, annotated negatives, were labels free of error", columns, rows,
              "Above 1: experts who are wrong so often could not have given these labels."),
        Figure("noise_auc", "Micro ROC-AUC under label noise", "spread", {
            "labels": [row["model"] for row in rows], "values": [row["observed"] for row in rows], "kind": "value",
            "points": [[row[end] if row[end] <= 1 else None for end in ends] for row in rows],
            "point_names": [f"{accuracy:.0%} right" for accuracy in ACCURACIES], "words": "", "legend": True},
            "The line is what was observed; the points are what it would be without wrong labels, were experts right"
            f" {', '.join(f'{accuracy:.0%}' for accuracy in ACCURACIES)} of the time; those above 1 are left out."),
        say("The order of the models does not change by this. For pooled negatives independence is too kind: a pair"
            " that models take for similar is one that people doubt, too.", "note"),
    )  # fmt: skip


def _panel(material: Material) -> int:
    """Experts behind a label, the most frequent number of votes."""
    truth = material.need("truth")
    votes = truth["votes_for"] + truth["votes_against"]
    voted = votes[votes > 0].value_counts()
    return int(voted.index[0]) if len(voted) else material.experts


def _wrong(panel: int, accuracy: float, rate: float) -> dict[str, float]:
    return label_contamination(panel, accuracy, accuracy, rate)


PARTS = (assumptions, corrected)
