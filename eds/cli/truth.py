"""`eds truth`: what the experts' votes come to, and how far they agree."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eds.cli.console import Console, command
from eds.cli.render import format_table
from eds.project.decide import ADJUDICATION, any_acts, make_truth, read_labels, store_truth
from eds.project.label_store import moment

if TYPE_CHECKING:
    from eds.project import Project
    from eds.truth import Decision

PLACE = click.Path(path_type=Path, exists=True, dir_okay=False)
as_of = click.option("--as-of", metavar="TIME", help="Only acts up to this moment (ISO 8601; UTC unless it says else).")
campaign = click.option("--campaign", metavar="NAME", help="Only acts of this campaign.")


@click.group()
def truth() -> None:
    """Decide labels from votes, and tell how far the experts agree."""


@command(truth, "decide", example="eds truth decide --rule majority")
@click.option("--rule", help="majority, unanimity, weighted, dawid-skene (default: eds.toml).")
@click.option("--panel", type=click.IntRange(1), help="Experts assigned to each pair (default: as the campaigns say).")
@as_of
@campaign
@click.option("--adjudicated", is_flag=True, help="Let leads' decisions stand in the place of the votes, marked.")
@click.option("--replace", is_flag=True, help="Store the answer though the stored truth was made by another rule.")
def decide(console: Console, replace: bool, **options: Any) -> None:
    """Decide every pair from its votes and store the truth; a rule other than the stored one is only compared."""
    document, decision = store_truth(console.project, **options, replace=replace)
    console.answer(document, lambda: _told(document, decision))


def run(project: "Project") -> None:
    """Decide anew if there are acts and truth is absent or stale; the rule of a stored truth is never replaced here."""
    state = project.state("truth")
    if state.condition == "fresh" or (state.condition == "absent" and not any_acts(project)):
        return
    document, decision = make_truth(project, **state.params)
    project.say(_told(document, decision))


@command(truth, "agreement", example="eds truth agreement --json")
@as_of
@campaign
@click.option(
    "--control",
    type=PLACE,
    help="Pairs everybody judged (CSV, Parquet; default: the campaigns' own, where asking stops early).",
)
@click.option(
    "--gold",
    type=PLACE,
    help="Known answers (CSV, Parquet: query_id, candidate_id, value; default: the label store's).",
)
@click.option("--resamples", type=click.IntRange(1), default=2000, help="Resamples behind each interval.")
@click.option("--disputed", type=click.IntRange(0), default=10, help="Disputed pairs to show, the closest first.")
def agreement(
    console: Console,
    as_of: str | None,
    campaign: str | None,
    control: Path | None,
    gold: Path | None,
    resamples: int,
    disputed: int,
) -> None:
    """Tell how far the experts agree, with intervals; each expert's figures; the disputed pairs."""
    from eds.project.pool import pairs_of
    from eds.truth import disputed_pairs, expert_profiles, panel_agreement

    project, until = console.project, moment(as_of)
    kept = read_labels(project, campaign, until)
    found = panel_agreement(
        kept.labels,
        early_stop=kept.early_stop,
        control=pairs_of(control) if control else kept.control,
        as_of=until,
        resamples=resamples,
        seed=project.config.project.seed,
    )
    experts = expert_profiles(kept.labels, gold=pairs_of(gold) if gold else kept.gold, as_of=until)
    disputes = disputed_pairs(kept.labels, as_of=until)
    document = {
        "items": found.items,
        "pairable": found.pairable,
        "complete": found.complete,
        "unsure": found.unsure,
        "control": found.control,
        "coefficients": found.coefficients,
        "pairs_of_experts": found.pairs_of_experts,
        "experts": experts,
        "disputed": len(disputes),
        "disputed_pairs": disputes.head(disputed),
    }
    console.answer(document, lambda: _told_agreement(document))


def _told(document: dict[str, Any], decision: "Decision") -> str:
    counts = decision.counts
    lines = [
        f"Rule {document['rule']}, {_panel(**document['panel'])}: {document['pairs']:,} pairs have a label, "
        f"{counts['positive']:,} of them similar; {counts['ties']:,} are ties.",
        f"{counts['complete']:,} are complete, {counts['decided']:,} decided before all had voted; without a label: "
        f"{counts['open']:,} open, {counts['undefined']:,} where nobody could tell.",
    ]
    if "adjudicated" in counts:
        lines.append(f"Labels that are leads' decisions (rule {ADJUDICATION}): {counts['adjudicated']:,}.")
    if counts.get("imported"):
        lines.append(f"Labels that came with a benchmark, and stay: {counts['imported']:,}.")
    if document["stored"] and document.get("differing"):
        end = "the votes' label is stored." if document["replaced"] else "the imported label stays, unless --replace."
        lines.append(f"{document['differing']:,} pairs were judged otherwise here than in the benchmark: {end}")
    if not document["stored"]:
        lines.append(
            f"This is a second opinion: truth.parquet keeps rule {document['stored_rule']}. "
            f"{document['differing']:,} pairs differ. To store this one instead: --replace."
        )
        first = document["differing_pairs"].head(10)
        if len(first):
            lines.append(format_table([str(name) for name in first.columns], first.astype(object).to_numpy().tolist()))
    return "\n".join(lines)


def _panel(smallest: int, largest: int) -> str:
    return f"panel of {smallest}" if smallest == largest else f"panels of {smallest} to {largest}"


def _told_agreement(document: dict[str, Any]) -> str:
    of = "of the control subset " if document["control"] else ""
    head = (
        f"{document['items']:,} pairs {of}judged, {document['pairable']:,} by two or more, {document['complete']:,} by "
        f"all; {document['unsure']:,} answers unsure; {document['disputed']:,} pairs disputed."
    )
    experts = ["expert_id", "judged", "positive_rate", "low", "high", "skip_rate", "with_others", "drift",
               "median_seconds", "gold_score", "repeat_consistency"]  # fmt: skip
    tables = [
        document["coefficients"],
        document["pairs_of_experts"],
        document["experts"][experts],
        document["disputed_pairs"],
    ]
    shown = [format_table([str(name) for name in one.columns], one.astype(object).to_numpy().tolist()) for one in tables
             if len(one)]  # fmt: skip
    return "\n\n".join([head, *shown])
