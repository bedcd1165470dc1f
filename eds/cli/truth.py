"""`eds truth`: what the experts' votes come to, and how far they agree."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eds.cli.console import Console, command, lined, typed
from eds.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    import pandas as pd

    from eds.truth import Decision
    from eds.workspace import Project

PLACE = click.Path(path_type=Path, exists=True, dir_okay=False)
as_of = click.option("--as-of", metavar="TIME", help="Only acts up to this moment (ISO 8601; UTC unless it says else).")
campaign = click.option("--campaign", metavar="NAME", help="Only acts of this campaign.")


@click.group()
def truth() -> None:
    """Decide labels from votes, and tell how far the experts agree."""


@command(truth, "decide", example="eds truth decide --panel 3")
@click.option("--rule", help="majority, unanimity, weighted, dawid-skene (default: eds.toml).")
@click.option("--panel", type=click.IntRange(1), help="Experts assigned to each pair (default: eds.toml, budget).")
@as_of
@campaign
@click.option("--replace", is_flag=True, help="Store the answer though the stored truth was made by another rule.")
def decide(
    console: Console, rule: str | None, panel: int | None, as_of: str | None, campaign: str | None, replace: bool
) -> None:
    """Decide every pair from its votes and store the truth; a rule other than the stored one is only compared."""
    document, decision = store_truth(console.project, rule, panel, as_of, campaign, replace=replace)
    console.answer(document, lambda: _told(document, decision))


def store_truth(
    project: "Project",
    rule: str | None = None,
    panel: int | None = None,
    as_of: str | None = None,
    campaign: str | None = None,
    *,
    replace: bool = False,
) -> "tuple[dict[str, Any], Decision]":
    """Decide and write table truth, but for a rule that is not the stored one; what came out."""
    from eds.truth import compare
    from eds.truth import decide as make

    used = rule or project.config.truth.rule
    size = panel or project.config.budget.experts
    chosen = {"rule": rule, "panel": panel, "as_of": as_of, "campaign": campaign}
    given = {name: value for name, value in chosen.items() if value is not None}
    settings = {"truth.rule": used} if panel else {"truth.rule": used, "budget.experts": size}
    with project.writing("eds truth decide"):
        parents = [path for path in [project.path("labels")] if path.exists()]
        made_by = project.provenance(typed("eds truth decide", given), settings, parents, given=given)
        labels, _ = labels_of(project, campaign)
        decision = make(labels, size, used, _moment(as_of))
        stored = project.read("truth") if project.path("truth").exists() else None
        others = [] if stored is None else sorted(set(stored["rule"]) - {used})
        keep = bool(others) and not replace
        if not keep:
            project.write(decision.truth, "truth", made_by)
    document: dict[str, Any] = {"rule": used, "panel": size, "stored": not keep, "pairs": len(decision.truth)}
    document.update(decision.counts)
    if keep and stored is not None:
        differing = compare(stored, decision.truth)
        document.update({"stored_rule": ", ".join(others), "differing": len(differing), "differing_pairs": differing})
    return document, decision


@command(truth, "agreement", example="eds truth agreement --json")
@as_of
@campaign
@click.option("--control", type=PLACE, help="Pairs everybody judged (CSV, Parquet); needed with early stop.")
@click.option("--gold", type=PLACE, help="Known answers (CSV or Parquet: query_id, candidate_id, value).")
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

    project, moment = console.project, _moment(as_of)
    labels, early_stop = labels_of(project, campaign)
    found = panel_agreement(
        labels,
        early_stop=early_stop,
        control=pairs_of(control) if control else None,
        as_of=moment,
        resamples=resamples,
        seed=project.config.project.seed,
    )
    experts = expert_profiles(labels, gold=pairs_of(gold) if gold else None, as_of=moment)
    disputes = disputed_pairs(labels, as_of=moment)
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


def labels_of(project: "Project", campaign: str | None) -> "tuple[pd.DataFrame, bool]":
    """The acts of the project's label store, and whether asking stopped early in any of the campaigns read."""
    try:
        from eds.labels.frames import labels_frame
        from eds.labels.queue import list_campaigns
        from eds.labels.store import open_store
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "eds":
            raise
        raise MissingExtraError(
            f"reading labels needs the package {error.name}, which is not installed",
            do='Run: pip install "eds[labels]".',
        ) from error
    with closing(open_store(project.config.labels.url or project.path("labels"), create=False)) as store:
        labels = labels_frame(store, campaign=campaign)
        plans = list_campaigns(store)
    if campaign is not None:
        plans = plans[plans["name"] == campaign]
    return labels, bool(plans["early_stop"].any())


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(
            f"{text!r} is no moment", where="option --as-of", do="Give it as 2026-03-01 or 2026-03-01T12:00:00+00:00."
        ) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _told(document: dict[str, Any], decision: "Decision") -> str:
    counts = decision.counts
    lines = [
        f"Rule {document['rule']}, panel of {document['panel']}: {document['pairs']:,} pairs have a label, "
        f"{counts['positive']:,} of them similar; {counts['ties']:,} are ties.",
        f"{counts['complete']:,} are complete, {counts['decided']:,} decided before all had voted; without a label: "
        f"{counts['open']:,} open, {counts['undefined']:,} where nobody could tell.",
    ]
    if not document["stored"]:
        lines.append(
            f"This is a second opinion: truth.parquet keeps rule {document['stored_rule']}. "
            f"{document['differing']:,} pairs differ. To store this one instead: --replace."
        )
        first = document["differing_pairs"].head(10)
        if len(first):
            lines.append(lined([str(name) for name in first.columns], first.astype(object).to_numpy().tolist()))
    return "\n".join(lines)


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
