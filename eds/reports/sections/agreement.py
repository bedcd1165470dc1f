"""How well the experts agree, and what each expert's labels are worth."""

from eds.reports.document import Block, Column, Number, Sentence, Table, count, say, share, state, warn
from eds.reports.inputs import ReportInputs
from eds.reports.numbers import undefined
from eds.reports.sections import Blocks, SectionSpec

KAPPA, ALPHA = "Fleiss' kappa", "Krippendorff's alpha"
COEFFICIENTS = {
    "percent_agreement": ("observed agreement", "share of agreeing pairs of experts, mean over pairs"),
    "observed_agreement": ("observed agreement", "share of agreeing pairs of experts, mean over pairs"),
    "krippendorff_alpha": ("Krippendorff's alpha", "1 - D_o / D_e, nominal; missing votes allowed"),
    "gwet_ac1": ("Gwet's AC1", "(P_o - P_e) / (1 - P_e), P_e = 2 pi (1 - pi)"),
    "fleiss_kappa": (KAPPA, "(P_o - P_e) / (1 - P_e); undefined if pairs have different numbers of votes"),
}


def answer(inputs: ReportInputs) -> Sentence | None:
    """Krippendorff's alpha with its interval."""
    agreement = inputs.require("judging").agreement
    rows = agreement.coefficients.set_index("coefficient")
    if "krippendorff_alpha" not in rows.index or undefined(rows.at["krippendorff_alpha", "value"]):
        return None
    row = rows.loc["krippendorff_alpha"]
    limits = {} if undefined(row["low"]) else {"low": Number(row["low"]), "high": Number(row["high"])}
    return state(
        "agreement",
        "Krippendorff's alpha {alpha}" + (" [{low}, {high}]" if limits else "") + " over {pairs} pairs.",
        alpha=Number(row["value"]),
        pairs=count(agreement.pairable),
        **limits,
    )


def coefficients(inputs: ReportInputs) -> Blocks:
    """All coefficients together: where one answer is frequent, none of them is enough by itself."""
    agreement = inputs.require("judging").agreement
    rows = [
        {
            "coefficient": name,
            "value": row["value"],
            "low": row["low"],
            "high": row["high"],
            "n": agreement.pairable,
            "formula": formula,
        }
        for row in agreement.coefficients.to_dict(orient="records")
        for name, formula in [COEFFICIENTS.get(row["coefficient"], (row["coefficient"], ""))]
    ]
    columns = (
        Column(
            "coefficient", "coefficient", formula="; ".join(f"{row['coefficient']}: {row['formula']}" for row in rows)
        ),
        Column("value", "value", "value", "low", "high", "confidence interval over queries"),
        Column("n", "pairs", "count", formula="judged by two experts or more"),
    )
    caption = ""
    if any(undefined(row["value"]) and row["coefficient"] == KAPPA for row in rows):
        reason = "not all pairs have the same number of votes"
        if any(undefined(row["value"]) and row["coefficient"] == ALPHA for row in rows):
            reason = "all votes are alike" if agreement.pairable else "no pair has two votes"
            caption = f"{ALPHA} and {KAPPA} are undefined here: {reason}."
        else:
            caption = f"{KAPPA} is undefined here: {reason}."
    return (
        say(
            "{pairable} of {items} pairs were judged by two experts or more, {complete} by all; {unsure} answers were"
            " unsure. Agreement is computed on {pairs}.",
            items=count(agreement.items),
            pairable=count(agreement.pairable),
            complete=count(agreement.complete),
            unsure=count(agreement.unsure),
            pairs="the control subset, which every expert judged" if agreement.control else "all judged pairs",
        ),
        Table("coefficients", "Agreement", columns, rows, caption),
    )


def decisions(inputs: ReportInputs) -> Blocks:
    """How many labels were decided before all experts had voted, and how many are still open."""
    judging = inputs.require("judging")
    counts = judging.counts
    if not counts:
        return ()
    decided = counts["complete"] + counts["decided"]
    blocks: list[Block] = [
        say(
            "{decided} pairs have a label by the experts' votes; {ties} of them are ties, which count as negative.",
            decided=count(decided),
            ties=count(counts["ties"]),
        )
    ]
    if judging.early_stop:
        words = "Asking stops once the majority is certain: {share} of the labels were decided early."
        blocks.append(say(words, share=share(counts["decided"] / decided if decided else None)))
    if counts.get("adjudicated"):
        blocks.append(say("{count} labels are leads' decisions, instead of votes.", count=count(counts["adjudicated"])))
    if counts["open"] or counts["undefined"]:
        blocks.append(
            warn(
                "Without a label: {open} pairs that wait for votes, and {undefined} on which every expert was unsure.",
                open=count(counts["open"]),
                undefined=count(counts["undefined"]),
            )
        )
    return tuple(blocks)


def experts(inputs: ReportInputs) -> Blocks:
    """A row for each expert."""
    profiles = inputs.require("judging").profiles
    columns = (
        Column("expert_id", "expert"),
        Column("judged", "judged", "count"),
        Column("positive_rate", "called similar", "share", "low", "high", "similar / judged; interval over queries"),
        Column("skip_rate", "unsure", "share", formula="unsure / answers"),
        Column("with_others", "with the majority", "share", formula="agreement with the majority of the others"),
        Column("median_seconds", "median time", "seconds"),
        *(
            column
            for column in (
                Column("gold_score", "gold pairs right", "share", formula="right / judged gold pairs"),
                Column("repeat_consistency", "repeats alike", "share", formula="same answer when shown again"),
            )
            if profiles[column.key].notna().any()
        ),
    )
    others = ["low", "high", "compared", "drift", "gold_judged", "repeats"]  # in the files only
    rows = profiles[[column.key for column in columns] + others]
    return (Table("experts", "Experts", columns, rows.to_dict(orient="records")),)


def pairs_of_experts(inputs: ReportInputs) -> Blocks:
    """Every two experts."""
    columns = (
        Column("expert_a", "expert"),
        Column("expert_b", "and"),
        Column("items", "judged by both", "count"),
        Column(
            "agreement", "agree", "share", "low", "high", "same answers / pairs judged by both; interval over queries"
        ),
        Column("kappa", "Cohen's kappa", "value", formula="(p_o - p_e) / (1 - p_e)"),
    )
    rows = inputs.require("judging").agreement.pairs_of_experts.to_dict(orient="records")
    return (Table("between", "Every two experts", columns, rows, detail=True),)


def reasons(inputs: ReportInputs) -> Blocks:
    """Why experts differ: the aspects that they name, and how far they agree on grades."""
    judging = inputs.require("judging")
    blocks: list[Block] = []
    if len(judging.aspects):
        columns = (
            Column("aspect", "aspect"),
            Column("named", "named", "count"),
            Column("on_disputed", "on disputed pairs", "share", formula="answers that name it / that name any"),
            Column("on_agreed", "on other pairs", "share", formula="answers that name it / that name any"),
            Column("for_similar", "for similar", "count"),
            Column("for_different", "for not similar", "count"),
        )
        blocks.append(Table("aspects", "Why experts differ", columns, judging.aspects.to_dict(orient="records")))
    if judging.grades is not None:
        found = judging.grades
        blocks.append(
            say(
                "Experts also give grades: on {pairs} pairs with two or more, two grades are {difference} apart on"
                " average, {within} of them by one at most; Krippendorff's alpha for interval data is {alpha}.",
                pairs=count(found.pairs),
                difference=Number(found.difference),
                within=share(found.within_one),
                alpha="undefined" if undefined(found.alpha) else Number(found.alpha),
            )
        )
    return tuple(blocks)


SECTION = SectionSpec(
    title="How well the experts agree",
    question="A label is worth what its judges agree on.",
    order=50,
    inputs=("judging",),
    parts=(coefficients, decisions, reasons, experts, pairs_of_experts),
    answer=answer,
)
