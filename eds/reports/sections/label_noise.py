"""What wrong labels would do to AUC: the same numbers for several assumed accuracies of an expert."""

from typing import Any

from eds.reports.coverage import warning
from eds.reports.document import Block, Column, Sentence, Table, count, note, say, share, state
from eds.reports.inputs import LABEL_INPUTS, ReportInputs
from eds.reports.score_intervals import scores_with_intervals
from eds.reports.sections import Blocks, SectionSpec
from eds.truth import corrected_auc, label_contamination

ACCURACIES = (0.98, 0.95, 0.9, 0.85)  # of one expert, on similar and on different pairs alike
MEASURE = "ROC-AUC(average=micro,negatives=annotated)"


def answer(inputs: ReportInputs) -> Sentence | None:
    """How many labels would be wrong at one assumed accuracy; None where all labels are alike."""
    accuracy, rate = ACCURACIES[1], float(inputs.labels["value"].mean())
    if rate in (0, 1):
        return None
    errors = _error_rates(_panel(inputs), accuracy, rate)
    return state(
        "noise",
        "If every expert were right on {accuracy} of the pairs, {pos} of the labels “similar” and {neg} of the labels"
        " “different” would be wrong.",
        accuracy=share(accuracy),
        pos=share(errors["eps_pos"]),
        neg=share(errors["eps_neg"]),
    )


def assumptions(inputs: ReportInputs) -> Blocks:
    """How many labels would be wrong, by the accuracy of an expert."""
    labels, panel = inputs.labels, _panel(inputs)
    rate = float(labels["value"].mean())
    if rate in (0, 1):
        return (note("All labels are alike, so nothing can be said of wrong ones."), *_observed_accuracy(inputs))
    rows = [{"accuracy": accuracy, **_error_rates(panel, accuracy, rate)} for accuracy in ACCURACIES]
    columns = (
        Column("accuracy", "accuracy of an expert", "share"),
        Column("eps_pos", "wrong among similar", "share", formula="(1-pi)(1-sp) / (pi se + (1-pi)(1-sp))"),
        Column("eps_neg", "wrong among different", "share", formula="pi(1-se) / (pi(1-se) + (1-pi)sp)"),
        Column("attenuation", "attenuation", "value", formula="1 - wrong among similar - wrong among different"),
    )
    return (
        say(
            "This holds for majorities of {panel}, where {rate} of {n} pairs of images are similar, and for errors that"
            " do not depend on each other or on the scores. That is optimistic: pairs that models confuse are hard for"
            " people, too.",
            panel=count(panel),
            rate=share(rate),
            n=count(len(labels)),
        ),
        *_observed_accuracy(inputs),
        Table(
            "noise",
            "How many labels would be wrong",
            columns,
            rows,
            detail=True,
        ),
    )


def _observed_accuracy(inputs: ReportInputs) -> Blocks:
    """How often experts agreed with the others, and were right on gold pairs: a hint which accuracy to read."""
    if inputs.judging is None:
        return ()
    profiles = inputs.judging.profiles
    blocks: list[Block] = []
    for right, total, words in (
        ("agreed", "compared", "Here, {share} of {n} judgements agree with the majority of the other experts."),
        ("gold_right", "gold_judged", "Of {n} judgements of gold pairs, {share} are right."),
    ):
        part, n = int(profiles[right].sum()), int(profiles[total].sum())
        if n:
            blocks.append(say(words, share=share(part / n), n=count(n)))
    return tuple(blocks)


def corrected(inputs: ReportInputs) -> Blocks:
    """Every model's micro ROC-AUC at each accuracy."""
    rate, panel = float(inputs.labels["value"].mean()), _panel(inputs)
    table = scores_with_intervals(inputs)
    observed = table[(table["measure"] == MEASURE) & table["value"].notna()].sort_values("value", ascending=False)
    fields = [f"a{index}" for index in range(len(ACCURACIES))]
    rows: list[dict[str, Any]] = []
    for score in observed.to_dict(orient="records"):
        row = {key: score[key] for key in ("model", "low", "high", "no_interval", "n")} | {"observed": score["value"]}
        for field, accuracy in zip(fields, ACCURACIES, strict=True):
            errors = _error_rates(panel, accuracy, rate)
            row[field] = possible_auc(score["value"], errors)
        rows.append(row)
    if not rows:
        return (note("No model has a micro ROC-AUC to correct."),)
    columns = (
        Column("model", "model"),
        Column("n", "pairs", "count"),
        Column("observed", "observed", "value", "low", "high", MEASURE),
        *(
            Column(field, f"{100 * accuracy:.0f} % right", "value", formula="1/2 + (observed - 1/2) / attenuation")
            for field, accuracy in zip(fields, ACCURACIES, strict=True)
        ),
    )
    return (
        *warning(inputs),
        Table(
            "noise_auc",
            "Micro ROC-AUC, annotated negatives, without label noise",
            columns,
            rows,
            "1/2 + (observed - 1/2) / attenuation; n/a (not within 0 to 1): such experts gave no such labels.",
        ),
    )


def possible_auc(observed: float, errors: dict[str, float]) -> float:
    """The AUC on right labels; NaN where it is beyond 0 to 1, as such experts could not have given these labels."""
    area = corrected_auc(observed, errors["eps_pos"], errors["eps_neg"])
    return area if 0 <= area <= 1 else float("nan")


def _panel(inputs: ReportInputs) -> int:
    """Experts behind a label: the most frequent number of votes."""
    truth = inputs.require("truth")
    votes = truth["votes_for"] + truth["votes_against"]
    voted = votes[votes > 0].value_counts()
    return int(voted.index[0]) if len(voted) else inputs.experts


def _error_rates(panel: int, accuracy: float, rate: float) -> dict[str, float]:
    return label_contamination(panel, accuracy, accuracy, rate)


SECTION = SectionSpec(
    title="What wrong labels would change",
    question="How far do the numbers depend on the experts being right?",
    order=100,
    inputs=(*LABEL_INPUTS, "judging", "results", "table", "scores", "negatives"),
    parts=(assumptions, corrected),
    answer=answer,
)
