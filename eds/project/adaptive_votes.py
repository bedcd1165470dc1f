"""Adaptive campaigns: by how many votes each of their pairs must lead, learned again from the labels so far."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from eds.errors import ProjectError
from eds.project.decide import PAIR, Votes, read_votes
from eds.project.inputs import Inputs
from eds.project.label_store import opened
from eds.project.results import Result

if TYPE_CHECKING:
    import pandas as pd

    from eds.pairs import Flags, Integers, Reals
    from eds.project import Project
    from eds.truth.adaptive_votes import ControlCheck

LEAST = 100  # labels, from which on the relevance model says how likely a pair is similar


@dataclass(frozen=True)
class AdaptResult(Result):
    """How many votes the pairs of a campaign need, and what its control pairs say of that."""

    campaign: str
    pairs: int
    experts: int  # who judge a pair at most
    labels: int  # that the relevance model learned from; 0: too few, so every pair is taken as unknown
    error: float  # of an expert, by the control pairs
    contest: str  # the two models that the labels may tell apart next: what tells them apart gets two votes
    matters: int  # pairs that do
    votes: float  # a pair, expected: control pairs included
    saved: float  # share of the votes that a full panel would give
    changed: int  # pairs that need other votes than before
    control: "ControlCheck"

    @property
    def text(self) -> str:
        """The answer in some lines."""
        known = f"by {self.labels:,} labels" if self.labels else "nothing is known of the pairs yet"
        lines = [
            f"{self.campaign}: {self.votes:.2f} votes a pair instead of {self.experts}, {self.saved:.0%} fewer "
            f"({known}; an expert errs in {self.error:.0%}).",
        ]
        if self.matters:
            lines.append(f"{self.matters:,} pairs that tell {self.contest} apart get two votes at least.")
        check = self.control
        if check.pairs:
            lines.append(
                f"On the {check.pairs:,} control pairs judged by all, asking so takes {check.votes:.2f} votes of "
                f"{check.panel:.2f} and turns {check.turned:,} labels ({check.low:.1%} to {check.high:.1%})."
            )
        else:
            lines.append("No control pair is judged by everybody yet.")
        return "\n".join(lines)


def adapt(project: "Project", name: str) -> AdaptResult:
    """Set by how many votes the pairs of a campaign must lead; see Campaigns.adapt."""
    import numpy as np

    from eds.labels.campaigns import set_leads
    from eds.truth.adaptive_votes import check_control, expected_votes, needed_leads, recalibrated

    listed = project.campaigns.list()
    plan = listed[listed["name"] == name]
    if not len(plan) or not plan["adaptive"].iloc[0]:
        raise ProjectError(
            f"{name} is not an adaptive campaign" if len(plan) else f"unknown campaign {name}",
            where=str(project.root),
            hint="Make one: eds labels campaigns add NAME --adaptive. See eds labels campaigns list.",
        )
    experts = int(plan["experts_per_pair"].fillna(plan["experts"]).iloc[0])
    votes = read_votes(project, name)
    pairs = votes.pairs
    probability, labels = _probability(project, pairs)
    contest, matters = _matters(project, pairs)
    said, at, error = _control_votes(votes, pairs, project.config.project.seed)
    if labels:
        yes, no = (said == 1).sum(axis=1), (said == 0).sum(axis=1)
        probability = recalibrated(probability, at[yes + no > 0], (yes > no)[yes + no > 0].astype(np.int64))
    leads = needed_leads(probability, error, max(experts, 1), matters=matters)
    table = pairs.assign(lead_similar=leads[:, 0], lead_different=leads[:, 1])
    with opened(project) as store:
        changed = set_leads(store, name, table, by=project.actor)
    share = float(plan["control_share"].iloc[0])
    mean = share * experts + (1 - share) * expected_votes(leads, probability, error, max(experts, 1))
    return AdaptResult(
        campaign=name,
        pairs=len(pairs),
        experts=experts,
        labels=labels,
        error=error,
        contest=contest,
        matters=int(np.sum(matters)),
        votes=mean,
        saved=1 - mean / experts if experts else 0.0,
        changed=changed,
        control=check_control(said, leads[at]),
    )


def expected_votes_of(project: "Project", pairs: "pd.DataFrame", experts: int, control_share: float) -> float:
    """Votes that a pair of a new adaptive campaign needs on average, by what is known of these pairs."""
    from eds.truth.adaptive_votes import USUAL_ERROR, expected_votes, needed_leads

    if not len(pairs):
        return float(experts)
    probability, _ = _probability(project, pairs[PAIR].drop_duplicates(ignore_index=True))
    leads = needed_leads(probability, USUAL_ERROR, experts)
    return control_share * experts + (1 - control_share) * expected_votes(leads, probability, USUAL_ERROR, experts)


def _probability(project: "Project", pairs: "pd.DataFrame") -> "tuple[Reals, int]":
    """How likely each pair is similar, by labels of other queries, and how many these are; 1/2 where too few."""
    import numpy as np

    from eds.project.pair_relevance import pair_relevance

    inputs = Inputs(project)
    labels = len(inputs.read("truth")) if inputs.exists("truth") else 0
    if labels < LEAST or not project.models("neighbors"):
        return np.full(len(pairs), 0.5), 0
    found = pair_relevance(inputs, pairs)
    return found.pairs["probability"].to_numpy(np.float64), labels


def _matters(project: "Project", pairs: "pd.DataFrame") -> "tuple[str, Flags]":
    """The two models that the fewest further labels would tell apart, and the pairs that only one of them proposed."""
    import numpy as np

    from eds.analysis.analyses.prevalence import unit_lists
    from eds.pairs import in_sorted
    from eds.project.standing import model_standings

    inputs, nothing = Inputs(project), np.zeros(len(pairs), np.bool_)
    if not (inputs.exists("truth") and inputs.exists("suspects") and len(inputs.read("truth"))):
        return "", nothing
    contests = [one for one in model_standings(inputs, 0.95)[1] if not one.told_apart and one.needed]
    if not contests:
        return "", nothing
    closest = min(contests, key=lambda one: (one.needed or 0, one.first, one.second))
    lists = unit_lists(inputs.universe, inputs.suspects[inputs.suspects["origin"] == "pool"].drop_duplicates(PAIR))
    first, second = (np.unique(lists.loc[lists["model"] == one, "unit"]) for one in (closest.first, closest.second))
    apart: Integers = np.setxor1d(first, second).astype(np.int64)
    known = pairs["query_id"].isin(inputs.images()["image_id"]) & pairs["candidate_id"].isin(
        inputs.images()["image_id"]
    )
    matters = nothing.copy()
    matters[known] = in_sorted(apart, inputs.universe.numbers(pairs[known]))
    return f"{closest.first} and {closest.second}", matters


def _control_votes(votes: Votes, pairs: "pd.DataFrame", seed: int) -> "tuple[Integers, Integers, float]":
    """Control pairs that everybody judged x their votes in an order that is drawn; their places; the experts' error."""
    import numpy as np

    from eds.truth.adaptive_votes import experts_error
    from eds.truth.current_votes import UNSURE

    none = np.zeros((0, 1), np.int64), np.zeros(0, np.int64)
    acts = votes.acts[votes.acts["kind"] == "normal"]
    if votes.control is None or not len(votes.control) or not len(acts):
        return *none, experts_error(none[1], none[1])
    acts = acts.sort_values(["created_at", "label_id"]).drop_duplicates([*PAIR, "expert_id"], keep="last")
    acts = acts.merge(votes.control, on=PAIR)
    value = acts["value"].astype("Int64").fillna(UNSURE).to_numpy(np.int64)
    drawn = np.random.default_rng(seed).random(len(acts))
    acts = acts.assign(said=value, drawn=drawn).sort_values([*PAIR, "expert_id"]).sort_values([*PAIR, "drawn"])
    counts = acts.assign(yes=acts["said"] == 1, no=acts["said"] == 0).groupby(PAIR)[["yes", "no"]].sum()
    error = experts_error(counts["yes"].to_numpy(np.int64), counts["no"].to_numpy(np.int64))
    size = votes.panels.groupby(PAIR)["panel"].max()
    panel = int(acts.groupby(PAIR).size().max())
    judged = acts.groupby(PAIR)["said"]
    whole = judged.agg(list)[(judged.size() == panel) & (size.reindex(judged.size().index) == panel)]
    if not len(whole):
        return *none, error
    at = pairs.reset_index().merge(whole.reset_index(), on=PAIR)
    return np.array(at["said"].tolist(), np.int64), at["index"].to_numpy(np.int64), error
