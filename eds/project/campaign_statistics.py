"""What the labels of one campaign say: agreement, pace, yield of its pairs, disputed pairs, cost.

Each function is a method of `Campaigns`, which imports this module when one is called.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from eds.analysis.aspects import aspects_named
from eds.analysis.campaign_cost import CampaignCost, campaign_cost
from eds.analysis.missed_positives import CorrectedRate, corrected_rate
from eds.analysis.totals import Estimate
from eds.labels.chain import BESIDE
from eds.labels.frames import acts_frame
from eds.project.agreement import AgreementResult, agreement_of
from eds.project.campaign_quality import seconds_in_mode
from eds.project.decide import decide_votes, read_votes
from eds.project.inputs import Inputs
from eds.project.known_truth import check_project
from eds.project.label_store import opened
from eds.project.prevalence import project_prevalence
from eds.project.results import Result
from eds.suspects import overlap, positive_rates, sources_frame
from eds.suspects.budget import Judging
from eds.tables import LABELS
from eds.truth import disputed_pairs, expert_profiles
from eds.truth.disagreement import by_guideline, disputed_by_group, who_differs
from eds.truth.disagreement import pairs_that_differ as differing_pairs
from eds.truth.gold_accuracy import known_called
from eds.truth.grades import GradeAgreement, grade_agreement
from eds.truth.grid_vs_pair import ModesCompared, modes_compared
from eds.truth.rate_curve import rate_growth
from eds.truth.throughput import expert_pace, seconds_histogram

if TYPE_CHECKING:
    import altair as alt

    from eds.analysis.analyses.prevalence import Prevalence
    from eds.analysis.known_truth import CheckedEstimate
    from eds.project import Project
    from eds.project.campaigns import CampaignPlan
    from eds.reports.charts import Chart
    from eds.universe import Universe

__all__ = [
    "CampaignAgreement",
    "CampaignCost",
    "CorrectedRate",
    "Disagreement",
    "Disputes",
    "Estimate",
    "GradeAgreement",
    "ModesCompared",
    "PoolYield",
]
KEY = ["query_id", "candidate_id"]


@dataclass(frozen=True)
class CampaignAgreement(Result):
    """How far the experts of a campaign agree."""

    agreement: AgreementResult | None  # None where no pair that counts is judged
    experts: pd.DataFrame  # the profile of each expert
    modes: ModesCompared
    control: int | None  # judged pairs that count, where asking stops early
    grades: GradeAgreement | None = None  # where experts give grades


@dataclass(frozen=True)
class PoolYield(Result):
    """How many pairs of a campaign are similar, and what all labels of the project say of its universe."""

    growth: pd.DataFrame  # of the rate p_k, decided pair of the pool by decided pair
    asked: int
    undecided: int
    prevalence: "Prevalence | None"  # of the project, as `eds analysis prevalence`; None while nothing is decided
    random: CorrectedRate | None  # None where no random pair is decided
    known: tuple[int, int]  # found and known positives among the gold
    checks: "tuple[CheckedEstimate, ...]" = ()  # the estimates beside the truth, where the catalogue is drawn
    outside: int = 0  # decided pairs that are not in the universe, as those of one product: they count in no rate

    @property
    def verdict(self) -> str:
        """Which intervals contain the known truth."""
        from eds.analysis.known_truth import checks_sentence

        return checks_sentence(self.checks)

    def chart(self, axis: str = "pairs decided") -> "Chart":
        """Draw the growth of the rate over the decided pairs."""
        from eds.reports.charts import growth_chart

        return growth_chart(self.growth, axis)


@dataclass(frozen=True)
class Disputes(Result):
    """The pairs of a campaign that need another look."""

    disputed: pd.DataFrame  # votes for and against
    unsure: pd.DataFrame  # somebody was unsure
    aspects: pd.DataFrame  # why: aspects_named
    votes: pd.DataFrame  # normal answers in force: ids, expert_id, value, seconds, mode, aspects, grade, note


def campaign_agreement(project: "Project", name: str) -> CampaignAgreement:
    """How far the experts agree; where asking stops early only the control pairs count."""
    votes = read_votes(project, name)
    judged = votes.labels.loc[votes.labels["kind"] == "normal", KEY]
    countable = judged if votes.control is None else votes.control
    agreement = None
    if len(countable):
        seed = project.config.project.seed
        agreement = agreement_of(votes, control=votes.control, gold=votes.gold, seed=seed)
    experts = expert_profiles(votes.labels, gold=votes.gold)
    with opened(project) as store:
        acts = acts_frame(store, campaign=name)
    control = None if votes.control is None else len(votes.control)
    return CampaignAgreement(agreement, experts, modes_compared(acts), control, grade_agreement(votes_in_force(acts)))


def compare_modes(project: "Project") -> ModesCompared:
    """Grid against pair over all campaigns."""
    with opened(project) as store:
        return modes_compared(acts_frame(store))


def pace(project: "Project", name: str) -> pd.DataFrame:
    """How fast each expert works, with the median seconds of a judgement."""
    labels = read_votes(project, name).labels
    medians = labels.groupby("expert_id")["seconds"].median()
    paces = expert_pace(labels)
    return paces.assign(median_seconds=paces["expert_id"].map(medians))


def pool_yield(project: "Project", name: str) -> PoolYield:
    """The yield of a campaign, and p, gain and pool recall by the votes of all campaigns."""
    votes, inputs = read_votes(project, name), Inputs(project)
    labels, truth, asked = votes.labels, decide_votes(votes).truth, len(votes.pairs)
    decided = len(truth)
    every = read_votes(project)
    gold = known_called(every.labels, every.gold)
    prevalence = project_prevalence(inputs, decide_votes(every).truth)
    drawn = prevalence.random if prevalence else None
    rate = None
    if drawn and drawn.labelled:
        called = gold.found, gold.known, gold.alarms, gold.negatives
        rate = corrected_rate(drawn.positive, drawn.labelled, *called)
    pooled, outside = inputs.suspects[inputs.suspects["origin"] == "pool"], 0
    if prevalence:  # the rate counts units, as the project's p_k does
        outside = int((inputs.universe.numbers(truth) < 0).sum())
        labels, truth, pooled = (_as_units(inputs.universe, frame) for frame in (labels, truth, pooled))
        truth = truth.groupby(KEY)["value"].max().reset_index()
    pool = truth.merge(pooled[KEY].drop_duplicates(), on=KEY) if len(pooled) else truth
    return PoolYield(
        growth=rate_growth(labels, pool),
        asked=asked,
        undecided=asked - decided,
        prevalence=prevalence,
        random=rate,
        known=(gold.found, gold.known),
        checks=check_project(inputs, prevalence),
        outside=outside,
    )


def _as_units(universe: "Universe", pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs that are in the universe, each called by its unit, of which p_k is the rate."""
    number = universe.numbers(pairs)
    inside = pairs[number >= 0]
    return inside.assign(candidate_id=[f"unit {unit}" for unit in number[number >= 0].tolist()])


def yield_by_model(project: "Project", name: str) -> pd.DataFrame:
    """Each model's part, best first; `alone` counts the pairs that no other model proposed."""
    votes = read_votes(project, name)
    truth = decide_votes(votes).truth
    proposed = sources_frame(project.read("suspects").merge(votes.pairs, on=KEY))
    if proposed.empty:
        return pd.DataFrame()
    rates = positive_rates(proposed, truth).by_model
    alone = overlap(proposed, int(proposed["rank"].max()) + 1)["unique_by_model"]
    rows = [{"model": model, **rate.to_dict(), "alone": alone[model]} for model, rate in rates.items()]
    table = pd.DataFrame(rows).rename(columns={"pairs": "proposed"})
    numbers = {name: table[name].astype(float) for name in ("rate", "low", "high")}
    return table.assign(**numbers).sort_values(["rate", "model"], ascending=[False, True])


def disputes(project: "Project", name: str) -> Disputes:
    """The pairs on which experts differ or were unsure, with every normal vote in force."""
    with opened(project) as store:
        acts = acts_frame(store, campaign=name)
    votes = votes_in_force(acts)
    unsure = votes.loc[votes["value"].isna(), KEY].drop_duplicates()
    disputed = disputed_pairs(acts[LABELS.names])
    return Disputes(disputed, unsure, aspects_named(votes, disputed), votes)


def votes_in_force(acts: pd.DataFrame) -> pd.DataFrame:
    """Return the normal answers in force of `acts_frame`, with what was said beside the votes."""
    normal = acts[acts["kind"] == "normal"]
    held = normal[~normal["label_id"].isin(normal["supersedes"].dropna())]
    columns = [*KEY, "expert_id", "value", "seconds", "mode", *BESIDE]
    return held[columns].sort_values([*KEY, "expert_id"], ignore_index=True)


@dataclass(frozen=True)
class Disagreement(Result):
    """Where and between whom experts of a campaign disagree."""

    by_category: pd.DataFrame  # group, pairs, disputed, rate, low, high, no_interval: the most disputed first
    by_query: pd.DataFrame
    experts: pd.DataFrame  # expert_a, expert_b, both, only_a: pairs that only the first called similar
    guidelines: pd.DataFrame  # how experts judge under each version
    seconds: pd.DataFrame = field(repr=False)  # expert_id, seconds, share: how long judgements take

    def category_chart(self) -> "Chart":
        """Draw the share of disputed pairs by category."""
        from eds.reports.campaign_charts import disputed_chart

        return disputed_chart(self.by_category)

    def seconds_chart(self, names: Sequence[str] = ("expert", "seconds", "share")) -> "alt.Chart":
        """Draw how long judgements take, by expert; `names` are those of the values in a tip."""
        from eds.reports.campaign_charts import seconds_chart

        return seconds_chart(self.seconds, names)


def disagreement(project: "Project", name: str) -> Disagreement:
    """Where experts disagree; where asking stops early over the control pairs alone."""
    votes = read_votes(project, name)
    labels = votes.labels
    counted = labels if votes.control is None else labels.merge(votes.control, on=KEY)
    categories = pd.Series(dtype=object)
    if project.path("images").exists():
        categories = project.read("images", columns=["image_id", "category"]).set_index("image_id")["category"]
    return Disagreement(
        disputed_by_group(counted, categories.dropna()),
        disputed_by_group(counted),
        who_differs(counted),
        by_guideline(labels),
        seconds_histogram(labels),
    )


def pairs_that_differ(project: "Project", name: str, expert_a: str, expert_b: str) -> pd.DataFrame:
    """The pairs that one expert called similar and another one not."""
    return differing_pairs(read_votes(project, name).labels, expert_a, expert_b)


def cost(
    project: "Project",
    pairs: int,
    experts: int,
    plan: "CampaignPlan",
    positive_rate: float | None,
    votes: float | None = None,
) -> CampaignCost:
    """The cost of a campaign by the project's budget and the seconds that its mode takes."""
    budget = project.config.budget
    return campaign_cost(
        pairs,
        Judging(
            min(plan.experts_per_pair or experts, experts), seconds_in_mode(project, plan.mode).value, budget.hourly
        ),
        panel=experts,
        gold_share=plan.gold_share or 0.0,
        repeat_share=plan.repeat_share or 0.0,
        early_stop=plan.early_stop,
        control_share=plan.control_share,
        positive_rate=0.5 if positive_rate is None else positive_rate,
        votes=votes,
    )
