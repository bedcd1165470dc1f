"""How far the experts agree, and what each one's labels say of the expert."""

from eds.reports.document import Block, Column, Figure, Table, count, say, share
from eds.reports.material import Material

NAMES = {
    "percent_agreement": ("observed agreement", "share of agreeing pairs of experts, mean over pairs"),
    "observed_agreement": ("observed agreement", "share of agreeing pairs of experts, mean over pairs"),
    "krippendorff_alpha": ("Krippendorff's alpha", "1 - D_o / D_e, nominal; missing votes allowed"),
    "gwet_ac1": ("Gwet's AC1", "(P_o - P_e) / (1 - P_e), P_e = 2 pi (1 - pi)"),
    "fleiss_kappa": ("Fleiss' kappa", "complete pairs only"),
}


def coefficients(material: Material) -> tuple[Block, ...]:
    """The coefficients together: none of them alone tells enough where one answer is frequent."""
    judging = material.need("judging")
    found = judging.agreement
    rows = [
        {"coefficient": NAMES.get(row["coefficient"], (row["coefficient"], ""))[0], "value": row["value"],
         "low": row["low"], "high": row["high"], "formula": NAMES.get(row["coefficient"], ("", ""))[1]}
        for row in found.coefficients.to_dict(orient="records")
    ]  # fmt: skip
    columns = (
        Column("coefficient", "coefficient"),
        Column("value", "value", "value", "low", "high", "limits: bootstrap over pairs"),
    )
    caption = "; ".join(f"{row['coefficient']}: {row['formula']}" for row in rows if row["formula"]) + "."
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
            "labels": [row["coefficient"] for row in rows], "kind": "value", "lowest": 0.0, "highest": 1.0,
            "values": [row["value"] for row in rows], "low": [row["low"] for row in rows],
            "high": [row["high"] for row in rows]}, "Points with limits at the report's level; 1 is perfect."),
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
        Column("drift", "drift", "signed", formula="rate of similar, second minus first half of the votes"),
        Column("median_seconds", "median time", "seconds"),
        Column("gold_score", "known pairs right", "share"),
        Column("repeat_consistency", "repeats alike", "share"),
    )
    rows = profiles[[column.key for column in columns] + ["low", "high", "compared", "gold_judged", "repeats"]]
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
