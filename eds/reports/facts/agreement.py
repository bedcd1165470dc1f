"""How far the experts agree, and what each one's labels say of the expert."""

from eds.reports.document import Block, Column, Figure, Table, count, say, share
from eds.reports.material import Material
from eds.reports.numbers import undefined

NAMES = {
    "percent_agreement": ("observed agreement", "share of agreeing pairs of experts, mean over pairs"),
    "observed_agreement": ("observed agreement", "share of agreeing pairs of experts, mean over pairs"),
    "krippendorff_alpha": ("Krippendorff's alpha", "1 - D_o / D_e, nominal; missing votes allowed"),
    "gwet_ac1": ("Gwet's AC1", "(P_o - P_e) / (1 - P_e), P_e = 2 pi (1 - pi)"),
    "fleiss_kappa": ("Fleiss' kappa", "(P_o - P_e) / (1 - P_e), of pairs that all judged; undefined if some are not"),
}


def coefficients(material: Material) -> tuple[Block, ...]:
    """The coefficients together: none of them alone tells enough where one answer is frequent."""
    judging = material.need("judging")
    found = judging.agreement
    rows = [
        {"coefficient": name, "value": row["value"], "low": row["low"], "high": row["high"], "n": found.pairable,
         "formula": formula}
        for row in found.coefficients.to_dict(orient="records")
        for name, formula in [NAMES.get(row["coefficient"], (row["coefficient"], ""))]
    ]  # fmt: skip
    columns = (
        Column("coefficient", "coefficient"),
        Column("value", "value", "value", "low", "high", "limits: bootstrap over pairs"),
        Column("n", "pairs", "count", formula="judged by two experts or more"),
    )
    drawn = [row for row in rows if not undefined(row["value"])]
    caption = "; ".join(f"{row['coefficient']}: {row['formula']}" for row in rows if row["formula"]) + "."
    if any(undefined(row["value"]) and row["coefficient"] == NAMES["fleiss_kappa"][0] for row in rows):
        caption += f" Fleiss' kappa is undefined here: {found.complete:,} of {found.items:,} pairs were judged by all."
    of = "the control subset, which everybody judged" if found.control else "all judged pairs"
    return (
        say(
            "{items} pairs were judged, {pairable} of them by two experts or more and {complete} by"
            " all; {unsure} answers"
            " were unsure. Agreement is computed on {of}.",
            items=count(found.items), pairable=count(found.pairable), complete=count(found.complete),
            unsure=count(found.unsure), of=of,
        ),
        say("Where nearly all pairs get one answer, alpha and kappa are small though experts agree: read the three"
            " together.", "note"),
        Table("coefficients", "Agreement", columns, rows, caption),
        Figure("agreement", "Agreement, with limits", "intervals", {
            "labels": [row["coefficient"] for row in drawn], "kind": "value", "lowest": 0.0, "highest": 1.0,
            "values": [row["value"] for row in drawn], "low": [row["low"] for row in drawn],
            "high": [row["high"] for row in drawn]},
            ("Points with limits at the report's level" if material.resamples else "Points without limits")
            + "; 1 is perfect."),
    )  # fmt: skip


def experts(material: Material) -> tuple[Block, ...]:
    """A row for each expert."""
    profiles = material.need("judging").profiles
    columns = (
        Column("expert_id", "expert"),
        Column("judged", "judged", "count"),
        Column("positive_rate", "called similar", "share", "low", "high", "similar of judged; Wilson limits"),
        Column("skip_rate", "unsure", "share", formula="unsure of answers"),
        Column("with_others", "with the others", "share", formula="agreement with the majority of the others"),
        Column("compared", "so compared", "count", formula="pairs whose others have a majority"),
        Column("drift", "drift", "signed", formula="rate of similar, second minus first half of the votes"),
        Column("median_seconds", "median time", "seconds"),
        Column("gold_score", "known pairs right", "share", formula="right of the known pairs judged"),
        Column("gold_judged", "known pairs", "count"),
        Column("repeat_consistency", "repeats alike", "share", formula="same answers of pairs shown again"),
        Column("repeats", "repeats", "count"),
    )
    rows = profiles[[column.key for column in columns] + ["low", "high"]]
    return (Table("experts", "Experts", columns, rows.to_dict(orient="records")),)


def decisions(material: Material) -> tuple[Block, ...]:
    """How many labels were settled before all had voted, and what is still open."""
    judging = material.need("judging")
    counts = judging.counts
    if not counts:
        return ()
    settled = counts["complete"] + counts["decided"]
    early = "asking stopped where the majority was certain" if judging.early_stop else "every expert was asked"
    blocks: list[Block] = [
        say("{settled} pairs have a label ({early}): {share} of them were decided early, {ties} are ties of votes and"
            " thus negative.", settled=count(settled), early=early, ties=count(counts["ties"]),
            share=share(counts["decided"] / settled if settled else None)),
    ]  # fmt: skip
    if counts["open"] or counts["undefined"]:
        blocks.append(say("Without a label: {open} pairs that wait for votes, {undefined} where nobody could tell.",
                          "warn", open=count(counts["open"]), undefined=count(counts["undefined"])))  # fmt: skip
    return tuple(blocks)


def between(material: Material) -> tuple[Block, ...]:
    """Every two experts."""
    columns = (
        Column("expert_a", "expert"),
        Column("expert_b", "and"),
        Column("items", "judged by both", "count"),
        Column("agreement", "agree", "share", formula="same answers of those given by both"),
        Column("kappa", "Cohen's kappa", "value", formula="(p_o - p_e) / (1 - p_e)"),
    )
    found = material.need("judging").agreement.pairs_of_experts
    return (Table("between", "Every two experts", columns, found.to_dict(orient="records"), "details"),)


PARTS = (coefficients, decisions, experts, between)
