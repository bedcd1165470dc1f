"""From the experts' votes to the truth."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from eds.project.label_store import moment, needed, opened

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project
    from eds.truth import Decision

ADJUDICATION = "adjudication"  # rule of a row that a lead decided


def store_truth(project: "Project", *args: Any, **options: Any) -> "tuple[dict[str, Any], Decision]":
    """Decide and write table truth as its one writer; see `make_truth` for the options."""
    with project.writing("eds truth decide"):
        return make_truth(project, *args, **options)


def make_truth(
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
    made_by = project.provenance("truth.decide", {"truth.rule": used}, [project.path("labels")], params=given)
    kept = read_labels(project, campaign, moment(as_of))
    decision = make(kept.labels, kept.panel if panel is None else panel, used, moment(as_of))
    if adjudicated:
        decision = with_adjudications(decision, kept.decided)
    stored = differing = None
    if project.path("truth").exists():
        imported, stored = _split(project, kept, campaign)
        if len(imported):
            decision, differing = with_imported(decision, imported, replace_imported=replace)
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
    from eds.truth.overrides import split_imported

    made_by, _ = tables.read_provenance(project.path("truth"), tables.TRUTH)
    came_so = made_by.operation.startswith("benchmarks.import")
    acts = kept.labels if campaign is None or not came_so else read_labels(project, None, None).labels
    return split_imported(project.read("truth"), acts, as_imported=came_so)


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
