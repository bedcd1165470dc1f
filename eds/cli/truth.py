"""`eds truth`: what the experts' votes come to, and how far they agree."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eds.cli.console import Console, command, lined, typed
from eds.cli.label_store import moment, needed, opened

if TYPE_CHECKING:
    import pandas as pd

    from eds.truth import Decision
    from eds.workspace import Project

ADJUDICATION = "adjudication"  # rule of a row that a lead decided
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


def run(project: "Project", console: Console) -> None:
    """Decide anew if there are acts and truth is absent or stale; the rule of a stored truth is never replaced here."""
    state = project.state("truth")
    if state.condition == "fresh" or (state.condition == "absent" and not any_acts(project)):
        return
    document, decision = _make_truth(project, **state.given)
    console.say(_told(document, decision))


def store_truth(project: "Project", *args: Any, **options: Any) -> "tuple[dict[str, Any], Decision]":
    """Decide and write table truth as its one writer; see `_make_truth` for the options."""
    with project.writing("eds truth decide"):
        return _make_truth(project, *args, **options)


def _make_truth(
    project: "Project",
    rule: str | None = None,
    panel: int | None = None,
    as_of: str | None = None,
    campaign: str | None = None,
    *,
    adjudicated: bool = False,
    replace: bool = False,
) -> "tuple[dict[str, Any], Decision]":
    """Decide and write table truth, but for a rule that is not the stored one; the caller holds the project."""
    from eds.truth import compare, with_adjudications, with_imported
    from eds.truth import decide as make

    used, chosen = (
        rule or project.config.truth.rule,
        {"rule": rule, "panel": panel, "as_of": as_of, "campaign": campaign},
    )
    given = {name: value for name, value in chosen.items() if value is not None}
    given.update({"adjudicated": True} if adjudicated else {})
    # Taken before the acts are read: what comes in meanwhile makes the table stale, not silently old.
    made_by = project.provenance(
        typed("eds truth decide", given), {"truth.rule": used}, [project.path("labels")], given=given
    )
    kept = read_labels(project, campaign, moment(as_of))
    decision = make(kept.labels, kept.panel if panel is None else panel, used, moment(as_of))
    if adjudicated:
        decision = with_adjudications(decision, kept.decided)
    stored = differing = None
    if project.path("truth").exists():
        imported, stored = _split(project, kept, campaign)
        if len(imported):
            decision, differing = with_imported(decision, imported, anew=replace)
    others = [] if stored is None or replace else sorted(set(stored["rule"]) - {used, ADJUDICATION})
    keep = bool(others)
    if not keep:
        project.write(decision.truth, "truth", made_by)
    sizes = kept.panel["panel"] if panel is None else [panel]
    smallest, largest = (int(min(sizes)), int(max(sizes))) if len(sizes) else (0, 0)
    document: dict[str, Any] = {"rule": used, "panel": {"smallest": smallest, "largest": largest}, "stored": not keep}
    document.update({"pairs": len(decision.truth), **decision.counts})
    if keep and stored is not None:
        differing = compare(stored, decision.truth)
        document.update({"stored_rule": ", ".join(others), "differing": len(differing), "differing_pairs": differing})
    elif differing is not None:
        document.update({"differing": len(differing), "differing_pairs": differing, "replaced": replace})
    return document, decision


def _split(project: "Project", kept: "Kept", campaign: str | None) -> "tuple[pd.DataFrame, pd.DataFrame]":
    """The stored labels that came with a benchmark, behind which stands no act of this project; and the others."""
    from eds import tables
    from eds.truth.imported import split

    made_by, _ = tables.read_provenance(project.path("truth"), tables.TRUTH)
    came_so = made_by.command.startswith("eds benchmarks import")
    acts = kept.labels if campaign is None or not came_so else read_labels(project, None, None).labels
    return split(project.read("truth"), acts, came_so=came_so)


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
    from eds.cli.pooling import pairs_of
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


@dataclass(frozen=True)
class Kept:
    """What the label store says of the campaigns read."""

    labels: "pd.DataFrame"
    early_stop: bool  # in any of them
    panel: "pd.DataFrame"  # query_id, candidate_id, panel
    control: "pd.DataFrame | None"  # with early stop: pairs that everybody judges and somebody has judged
    gold: "pd.DataFrame"  # query_id, candidate_id, value
    decided: "pd.DataFrame"  # leads' decisions


def read_labels(project: "Project", campaign: str | None, until: datetime | None) -> Kept:
    """Everything that truth and agreement need of the label store, up to a moment."""
    with opened(project) as store:
        from eds.labels.adjudication import adjudications
        from eds.labels.frames import control_pairs, gold_pairs, labels_frame, panel_sizes
        from eds.labels.queue import list_campaigns

        labels = labels_frame(store, campaign=campaign, as_of=until)
        # After the acts: so whoever gave one of them is counted, though experts go on meanwhile.
        panel, plans = panel_sizes(store, campaign), list_campaigns(store)
        if campaign is not None:
            plans = plans[plans["name"] == campaign]
        early_stop, control, key = bool(plans["early_stop"].any()), None, ["query_id", "candidate_id"]
        if early_stop:
            control = control_pairs(store, campaign).merge(
                labels.loc[labels["kind"] == "normal", key].drop_duplicates()
            )
        return Kept(labels, early_stop, panel, control, gold_pairs(store), adjudications(store, campaign, as_of=until))


def any_acts(project: "Project") -> bool:
    """Whether anybody has judged anything here."""
    if not (project.path("labels").exists() or project.config.labels.url):
        return False  # nobody has begun: nothing of labels need be installed
    with needed():
        from eds.labels.fingerprints import holds_acts

    return holds_acts(project.config.labels.url, project.path("labels"))


def labels_of(project: "Project", campaign: str | None) -> "tuple[pd.DataFrame, bool]":
    """The acts of the project's label store, and whether asking stopped early in any of the campaigns read."""
    kept = read_labels(project, campaign, None)
    return kept.labels, kept.early_stop


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
            lines.append(lined([str(name) for name in first.columns], first.astype(object).to_numpy().tolist()))
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
    shown = [lined([str(name) for name in one.columns], one.astype(object).to_numpy().tolist()) for one in tables
             if len(one)]  # fmt: skip
    return "\n\n".join([head, *shown])
