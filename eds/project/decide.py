"""From the experts' votes to the truth."""

from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from eds.errors import ProjectError, TruthChangeError
from eds.project.changed_pictures import PictureChanges, picture_changes
from eds.project.label_store import exists, explain_missing_package, opened, parse_time
from eds.project.results import Result

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project
    from eds.truth import Decision, TruthChange

PAIR = ["query_id", "candidate_id"]
ADJUDICATION = "adjudication"  # rule of a pair that a lead decided


@dataclass(frozen=True)
class DecideResult(Result):
    """The decided pairs, how they were counted, and what differs from the truth that was stored before."""

    rule: str
    panel: dict[str, int]  # smallest and largest number of experts assigned to a pair
    stored: bool  # False: the stored truth follows another rule and was only compared
    pairs: int
    counts: dict[str, int]
    table: "pd.DataFrame" = field(repr=False)
    replaced: bool = False
    stored_rule: str | None = None  # of the truth that was kept
    differing_pairs: "pd.DataFrame | None" = None  # from the stored or the imported truth
    change: "TruthChange | None" = None  # of the truth that this one replaces
    unusable: int = 0  # labels that no measure uses: of images that are gone, or have another role
    pictures: PictureChanges | None = None  # labels of pictures that are gone or changed; None without a catalogue

    @property
    def differing(self) -> int | None:
        """How many pairs differ from the stored or imported truth; None where there is none to compare."""
        return None if self.differing_pairs is None else len(self.differing_pairs)

    def to_dict(self) -> dict[str, Any]:
        """The values as JSON has them."""
        values = super().to_dict()
        return {**values, **values.pop("counts"), "differing": self.differing}


@dataclass(frozen=True)
class Votes:
    """What the label store holds on the campaigns read."""

    acts: "pd.DataFrame"  # table labels, with the columns campaign and wave behind
    early_stop: bool  # in any of them
    panels: "pd.DataFrame"  # query_id, candidate_id, campaign, wave, panel, stopped: see `eds.labels.frames.Panels`
    control: "pd.DataFrame | None"  # with early stop: judged pairs that every expert is asked
    gold: "pd.DataFrame"  # query_id, candidate_id, value
    adjudicated: "pd.DataFrame"  # leads' decisions
    late: int = 0  # acts after the grace period, which are not among `acts`

    @cached_property
    def labels(self) -> "pd.DataFrame":
        """The acts as table labels."""
        from eds.tables import LABELS

        return self.acts[LABELS.names]

    @property
    def pairs(self) -> "pd.DataFrame":
        """The pairs that experts are asked: query_id, candidate_id."""
        return self.panels[PAIR].drop_duplicates(ignore_index=True)


def decide(
    project: "Project",
    *,
    rule: str | None = None,
    panel: int | None = None,
    as_of: str | datetime | None = None,
    campaign: str | None = None,
    adjudication: bool = True,
    replace: bool = False,
) -> DecideResult:
    """Decide every pair from its votes and write the truth; see `Project.decide`."""
    from eds.truth import compare, truth_change, with_imported

    with project.writing("truth.decide"):
        used = rule or project.config.truth.rule
        options = {
            "rule": rule,
            "panel": panel,
            "as_of": as_of,
            "campaign": campaign,
            "adjudication": None if adjudication else False,
        }
        params = {name: value for name, value in options.items() if value is not None}
        # Before the acts are read: an act that arrives meanwhile makes the table stale instead of silently outdated.
        made_by = project.provenance("truth.decide", {"truth.rule": used}, [project.path("labels")], params=params)
        votes = read_votes(project, campaign, parse_time(as_of))
        none = not (len(votes.acts) or len(votes.adjudicated) or project.path("truth").exists())
        if none and campaign is None and as_of is None:
            raise ProjectError(
                "nobody has judged yet", where=str(project.root), hint="Collect labels: eds labels serve, or import."
            )
        decision = decide_votes(votes, used, panel=panel, as_of=parse_time(as_of), adjudication=adjudication)
        stored = differing = change = None
        if project.path("truth").exists():
            imported, stored = _split_imported(project, votes, campaign)
            if len(imported):
                decision, differing = with_imported(decision, imported, replace_imported=replace)
        others = [] if stored is None or replace else sorted(set(stored["rule"]) - {used, ADJUDICATION})
        if others and stored is not None:
            differing = compare(stored, decision.truth)
        else:
            if stored is not None:
                restricted = _restriction(params, project)
                change = truth_change(project.read("truth"), decision, restricted=restricted)
                if change.needs_consent and not replace:
                    raise TruthChangeError(
                        stored=change.stored,
                        lost=change.lost,
                        turned=change.turned,
                        directions=change.directions,
                        reasons=change.reasons,
                        where=str(project.path("truth")),
                    )
            project.write(decision.truth, "truth", made_by)
    return DecideResult(
        used,
        dict(zip(("smallest", "largest"), decision.panel, strict=True)),
        not others,
        len(decision.truth),
        {**decision.counts, **({"late": votes.late} if votes.late else {})},
        decision.truth,
        replaced=replace,
        stored_rule=", ".join(others) or None,
        differing_pairs=differing,
        change=change,
        unusable=count_unusable(project, decision.truth),
        pictures=picture_changes(project, decision.truth) if project.path("images").exists() else None,
    )


def count_unusable(project: "Project", labels: "pd.DataFrame") -> int:
    """Count labels that no measure uses: not between a query and a candidate of the catalogue."""
    from eds.suspects import usable_labels

    return 0 if not project.path("images").exists() else int((~usable_labels(project.read("images"), labels)).sum())


def decide_votes(
    votes: Votes,
    rule: str = "majority",
    *,
    panel: int | None = None,
    as_of: datetime | None = None,
    adjudication: bool = True,
) -> "Decision":
    """Decide the pairs of votes that were read; the only way from the label store to labels.

    The panels of the campaigns that are complete for a pair vote on it (`eds.truth.joint_votes`); with `panel` all
    votes count, out of that many experts.
    """
    from eds.truth import decide as decide_pairs
    from eds.truth import joint_votes, with_adjudications

    if panel is None:
        joint = joint_votes(votes.acts, votes.panels, as_of)
        decision = decide_pairs(joint.labels, joint.panel, rule)
    else:
        decision = decide_pairs(votes.labels, panel, rule, as_of)
    return with_adjudications(decision, votes.adjudicated) if adjudication and len(votes.adjudicated) else decision


def refresh(project: "Project") -> DecideResult | None:
    """Decide again if there are votes and the truth is absent or stale; a stored rule is never replaced here."""
    state = project.state("truth")
    if state.condition == "fresh" or (state.condition == "absent" and not has_votes(project)):
        return None
    params = dict(state.params) if state.operation == "truth.decide" else {}
    params.pop("adjudicated", None)  # of version 0.1.0, where leads' decisions counted on request
    result = decide(project, **params)
    project.say(f"truth: {result.pairs:,} labels by rule {result.rule}, {result.counts['positive']:,} of them similar")
    return result


def read_votes(project: "Project", campaign: str | None = None, until: datetime | None = None) -> Votes:
    """Everything that the truth and the agreement need from the label store, up to a time."""
    with opened(project) as store:
        from eds.labels.adjudication import adjudications
        from eds.labels.frames import acts_frame, control_pairs, count_late, gold_pairs, panels
        from eds.labels.queue import list_campaigns

        acts = acts_frame(store, as_of=until, campaign=campaign)
        # After the acts, so that every expert who gave one is counted, even while they go on.
        asked, plans = panels(store, campaign), list_campaigns(store)
        if campaign is not None:
            plans = plans[plans["name"] == campaign]
        acts = acts.drop(columns=["mode", "polarity"]).merge(asked.members, how="left", on=["campaign", "expert_id"])
        early_stop, control = bool(plans["early_stop"].any()), None
        if early_stop:
            judged = acts.loc[acts["kind"] == "normal", PAIR].drop_duplicates()
            control = control_pairs(store, campaign).merge(judged)
        decided = adjudications(store, campaign, as_of=until)
        late = count_late(store, campaign)
        return Votes(acts, early_stop, asked.sizes, control, gold_pairs(store), decided, late)


def has_votes(project: "Project") -> bool:
    """Whether an expert has judged any pair of this project."""
    if not exists(project):
        return False  # nothing of the extra `labels` needs to be installed
    with explain_missing_package():
        from eds.labels.fingerprints import holds_acts

    return holds_acts(project.config.labels.url, project.path("labels"))


def _restriction(params: dict[str, Any], project: "Project") -> str:
    """What a decision is restricted to that the stored truth was not, in words."""
    before = project.state("truth").params
    words = {
        "campaign": "campaign {} alone",
        "as_of": "votes up to {}",
        "panel": "panels of {} experts",
        "adjudication": "experts' votes, without leads' decisions",
    }
    return ", ".join(
        words[name].format(params[name]) for name in words if params.get(name) not in (None, before.get(name))
    )


def _split_imported(project: "Project", votes: Votes, campaign: str | None) -> "tuple[pd.DataFrame, pd.DataFrame]":
    """The stored labels that came with a benchmark and have no votes in this project; and the others."""
    from eds import tables
    from eds.truth.overrides import split_imported

    made_by, _ = tables.read_provenance(project.path("truth"), tables.TRUTH)
    as_imported = made_by.operation.startswith(("benchmarks.import", "benchmarks.pull"))
    acts = votes.labels if campaign is None or not as_imported else read_votes(project).labels
    return split_imported(project.read("truth"), acts, as_imported=as_imported)
