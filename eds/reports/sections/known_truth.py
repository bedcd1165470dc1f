"""The estimates of a drawn catalogue beside its known truth."""

from eds.analysis.known_truth import check_estimates, checks_sentence
from eds.reports.document import Column, Sentence, Table, count, note, say, state
from eds.reports.inputs import LABEL_INPUTS, ReportInputs
from eds.reports.sections import Blocks, SectionSpec
from eds.reports.sections.pool import pool_facts

CONTAINED = {True: "yes", False: "no", None: "n/a"}


def checks(inputs: ReportInputs) -> Blocks:
    """p_k, p and pool recall with their intervals, and what is true."""
    truth = inputs.require("known_truth")
    rows = [
        {**check.to_dict(), "share": f"{check.name}: {check.about}", "contained": CONTAINED[check.contained]}
        for check in check_estimates(pool_facts(inputs), truth)
    ]
    columns = (
        Column("share", "share"),
        Column("value", "estimate", "share", "low", "high"),
        Column("truth", "in truth", "share"),
        Column("contained", "in the interval"),
    )
    return (
        Table("known_truth", "Estimates and the known truth", columns, rows),
        say(
            "In truth {positives} of all {unit} are similar, and the pool holds {held} of them.",
            positives=count(truth.positives),
            unit=truth.universe.text,
            held=count(truth.pool_positives),
        ),
        note("The truth is what the majority of the simulated experts would say without noise."),
    )


def answer(inputs: ReportInputs) -> Sentence | None:
    """Which intervals contain the truth."""
    return state("checked", checks_sentence(check_estimates(pool_facts(inputs), inputs.require("known_truth"))))


SECTION = SectionSpec(
    title="Estimates beside the known truth",
    question="Do the intervals contain what is true of the drawn catalogue?",
    order=25,
    inputs=("known_truth", "universe", *LABEL_INPUTS),
    parts=(checks,),
    answer=answer,
    wanted=lambda inputs: inputs.known_truth is not None,
)
