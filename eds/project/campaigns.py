"""Campaigns: which pairs a panel of experts judges, how, and how far they are."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from eds.errors import InputError
from eds.labels import calibration, campaigns, gold, lead_queries, progress, query_places, queue
from eds.labels.form import ASPECTS, PLAIN, Form
from eds.labels.gold import USUAL
from eds.labels.progress import ExpertProgress
from eds.labels.query_places import QueryPlaces
from eds.project.draw import read_known_pairs
from eds.project.label_store import opened, rehearsed
from eds.project.price import price_of, questions

if TYPE_CHECKING:
    from datetime import datetime

    import pandas as pd

    from eds.choices import CampaignQuality
    from eds.labels.store import Store
    from eds.project import Project
    from eds.project.adaptive_votes import AdaptResult
    from eds.project.campaign_needs import CampaignNeeds
    from eds.project.campaign_overview import CampaignOverview
    from eds.project.campaign_quality import Guards
    from eds.project.campaign_statistics import (
        CampaignAgreement,
        CampaignCost,
        Disagreement,
        Disputes,
        ModesCompared,
        PoolYield,
    )
    from eds.project.price import Price
    from eds.suspects.cost import Rate
    from eds.truth.expert_signs import Look

__all__ = [
    "ASPECTS",
    "USUAL",
    "CampaignPlan",
    "Campaigns",
    "ExpertProgress",
    "Form",
    "MeasuredRate",
    "Mode",
    "Polarity",
    "QueryPlaces",
]
Mode = Literal["pair", "grid"]
Polarity = Literal["similar", "different"]
PAIR = ["query_id", "candidate_id"]
LEAST_DECIDED = 50  # decided pairs from which a rate of similar ones is shown


@dataclass(frozen=True)
class CampaignPlan:
    """How a campaign asks. None leaves a share to the usual one: 5 % in a grid, gold also 15 % of random pairs."""

    mode: Mode = "pair"
    polarity: Polarity | None = None  # of a grid: what an untouched candidate means
    guideline: str = ""
    gold_share: float | None = None
    repeat_share: float | None = None
    early_stop: bool = False
    control_share: float = 0.1
    seed: int | None = None  # of the order; None: the project's
    experts_per_pair: int | None = None  # how many of the panel judge each pair; None: all
    form: Form = PLAIN  # what its page asks and shows
    quality: "CampaignQuality | None" = None  # sets the shares that are None, early stop and practice
    practice: int | None = None  # pairs of a round before the first session; None: as the quality says, else none
    practice_needed: float | None = None  # share of them that must be right; None: as the quality says, else 0.8
    adaptive: bool = False  # ask further experts only where the label is unsure; control pairs are judged by all


@dataclass(frozen=True)
class MeasuredRate:
    """How many of the decided pairs of some origins are similar."""

    similar: int
    decided: int

    @property
    def rate(self) -> float:
        """Their share."""
        return self.similar / self.decided

    @property
    def polarity(self) -> Polarity:
        """What an untouched candidate of a grid should mean, as most of them are."""
        return "similar" if self.rate >= 0.5 else "different"


@dataclass(frozen=True)
class Campaigns:
    """The campaigns of a project."""

    project: "Project"

    def create(
        self,
        name: str,
        experts: Sequence[str],
        *,
        origins: Sequence[str] = (),
        undecided: bool = False,
        limit: int | None = None,
        plan: CampaignPlan = CampaignPlan(),
        pairs: "pd.DataFrame | str | Path | None" = None,
    ) -> "pd.DataFrame":
        """Let a panel judge the project's suspects, if its price is agreed to; the progress of the new campaign.

        `origins`, `undecided`, `limit` and `pairs` restrict the suspects: by origin, to those without a decided label,
        to whole queries with so many pairs altogether (in the order of their first positions), to pairs (or a file). A
        grid without a polarity takes what most decided pairs of these origins are; it must be named where too few are
        decided. Pairs that have a label keep it until this campaign, too, is complete for them.
        """
        project, asked = self.project, self._asked(origins, undecided, limit, pairs)
        plan = self._with_quality(plan, asked)
        chosen = (name, experts, origins, asked, plan)
        if labelled := self.labelled(asked):
            project.say(
                f"{labelled:,} of the pairs have a label already. They keep it until {name} is complete for them; "
                "--undecided asks the others only."
            )
        if judged := self.judged(asked):
            project.say(f"{judged:,} of the pairs are judged, but have no label yet: eds truth decide.")
        if project.asks:
            price = self._make(*chosen, rehearse=True)
            self._say_expected(experts, asked, plan)
            project.agree(price)
        self._make(*chosen)
        project.end_rehearsal()
        if plan.adaptive and not project.dry_run:
            project.say(self.adapt(name).text)
        if plan.practice:
            needed = 0.8 if plan.practice_needed is None else plan.practice_needed
            try:
                with opened(project) as store:
                    calibration.plan_calibration(store, name, plan.practice, needed, by=project.actor)
            except InputError as error:  # all known pairs are asked or hidden: the campaign begins without
                project.say(f"{name} begins without practice: {error}")
        return self.progress(name)

    def price(
        self,
        name: str,
        experts: Sequence[str],
        *,
        origins: Sequence[str] = (),
        undecided: bool = False,
        limit: int | None = None,
        plan: CampaignPlan = CampaignPlan(),
        pairs: "pd.DataFrame | str | Path | None" = None,
    ) -> "Price":
        """Compute what a campaign would ask (with early stop: at most), by making it and taking it back.

        Of an adaptive campaign it says what is expected.
        """
        asked = self._asked(origins, undecided, limit, pairs)
        plan = self._with_quality(plan, asked)
        price = self._make(name, experts, origins, asked, plan, rehearse=True)
        self._say_expected(experts, asked, plan)
        return price

    def _say_expected(self, experts: Sequence[str], asked: "pd.DataFrame", plan: CampaignPlan) -> None:
        if not plan.adaptive:
            return
        cost = self.cost(len(asked), len(experts), plan, votes=self.expected_votes(asked, len(experts), plan))
        self.project.say(
            f"Asked adaptively, about {cost.judgements:,.0f} judgements and {cost.hours:,.1f} hours are expected."
        )

    def _asked(
        self, origins: Sequence[str], undecided: bool, limit: int | None, pairs: "pd.DataFrame | str | Path | None"
    ) -> "pd.DataFrame":
        """The suspects of a campaign; refuses a campaign without any."""
        suspects = self.suspects(origins, undecided=undecided, limit=limit, pairs=pairs)
        if not len(suspects) and undecided:
            raise InputError(
                "every suspect has a label", where="--undecided", hint="Choose further pairs: eds suspects add."
            )
        if not len(suspects):
            raise InputError("no suspects are of that origin", where="--origin", hint="See eds suspects list.")
        return suspects

    def _with_quality(self, plan: CampaignPlan, suspects: "pd.DataFrame") -> CampaignPlan:
        """The plan with what its quality says, where nothing else is said."""
        if plan.quality is None:
            return plan
        polarity = plan.polarity
        if (
            plan.mode == "grid"
            and polarity is None
            and (rate := self.measured_rate(suspects["origin"].unique().tolist()))
        ):
            polarity = rate.polarity
        guards = self.guards(plan.quality, suspects, replace(plan, polarity=polarity))
        return replace(
            plan,
            gold_share=guards.gold_share if plan.gold_share is None else plan.gold_share,
            repeat_share=guards.repeat_share if plan.repeat_share is None else plan.repeat_share,
            early_stop=plan.early_stop or guards.early_stop,
            practice=guards.practice if plan.practice is None else plan.practice,
            practice_needed=guards.practice_needed if plan.practice_needed is None else plan.practice_needed,
        )

    def guards(self, quality: "CampaignQuality", suspects: "pd.DataFrame", plan: CampaignPlan) -> "Guards":
        """What a quality mixes in, asks before and leaves out, in the mode and by the guideline of a plan."""
        from eds.project.campaign_quality import guards_of

        return guards_of(
            self.project, quality, suspects, mode=plan.mode, polarity=plan.polarity, guideline=plan.guideline
        )

    def seconds(self, mode: Mode) -> "Rate":
        """Seconds of a judgement in a mode, and whether they were measured."""
        from eds.project.campaign_quality import seconds_in_mode

        return seconds_in_mode(self.project, mode)

    def judgements_a_day(self, experts: Sequence[str]) -> "pd.Series[float]":
        """How many judgements each expert gave a day in the last 7 days, in all campaigns; NaN where none."""
        from eds.project.campaign_quality import judgements_a_day

        return judgements_a_day(self.project, experts)

    def _make(
        self,
        name: str,
        experts: Sequence[str],
        origins: Sequence[str],
        suspects: "pd.DataFrame",
        plan: CampaignPlan,
        *,
        rehearse: bool = False,
    ) -> "Price":
        project = self.project
        grid, polarity = plan.mode == "grid", plan.polarity
        if grid and polarity is None and (rate := self.measured_rate(origins or suspects["origin"].unique().tolist())):
            polarity = rate.polarity
            project.say(
                f"{rate.similar:,} of {rate.decided:,} decided pairs of these origins are similar: an untouched "
                f"candidate means {'similar' if polarity == 'similar' else 'not similar'}."
            )
        aside = rehearse and not project.dry_run  # a dry run says what the campaign would write
        with rehearsed(project, create=True) if aside else opened(project, create=True) as store:
            suspects = with_gold(project, store, suspects, polarity)
            gold_share, repeat_share = plan.gold_share, plan.repeat_share
            if gold_share is None:
                guarded = grid or set(suspects["origin"]) == {"random"}
                gold_share = gold.usual_share(store, suspects, polarity) if guarded else 0.0
            if repeat_share is None:
                repeat_share = USUAL if grid and "repeat" not in set(suspects["origin"]) else 0.0
            made = campaigns.Plan(
                name,
                plan.mode,
                polarity,
                plan.guideline,
                project.config.project.seed if plan.seed is None else plan.seed,
                gold_share,
                repeat_share,
                plan.early_stop,
                plan.control_share,
                plan.experts_per_pair,
                plan.form,
                plan.adaptive,
            )
            asked = campaigns.create_campaign(store, made, suspects, experts, by=project.actor, rehearse=aside)
        return price_of(project, len(questions(suspects)), asked)

    def suspects(
        self,
        origins: Sequence[str] = (),
        *,
        undecided: bool = False,
        limit: int | None = None,
        pairs: "pd.DataFrame | str | Path | None" = None,
    ) -> "pd.DataFrame":
        """The project's suspects that a new campaign would ask; see `create`."""
        suspects = _with_pictures(self.project, self.project.read("suspects"))
        if pairs is not None:
            named = read_known_pairs(self.project, Path(pairs)) if isinstance(pairs, (str, Path)) else pairs
            suspects = suspects.merge(named[PAIR].astype(str).drop_duplicates(), on=PAIR)
        if origins:
            suspects = suspects[suspects["origin"].isin(origins)]
        if undecided and len(suspects):
            suspects = _without_label(self.project, suspects)
        return suspects if limit is None else _whole_queries(suspects, limit)

    def measured_rate(self, origins: Sequence[str]) -> MeasuredRate | None:
        """How many of the decided suspects of these origins are similar; None if fewer than LEAST_DECIDED are."""
        if not self.project.path("truth").exists():
            return None
        suspects = self.project.read("suspects", columns=[*PAIR, "origin"])
        pairs = suspects.loc[suspects["origin"].isin(list(origins)), PAIR].drop_duplicates()
        values = pairs.merge(self.project.read("truth", columns=[*PAIR, "value"]), on=PAIR)["value"]
        return MeasuredRate(int(values.sum()), len(values)) if len(values) >= LEAST_DECIDED else None

    def labelled(self, suspects: "pd.DataFrame") -> int:
        """How many pairs of these suspects have a label in the truth."""
        pairs = suspects[PAIR].drop_duplicates()
        if not self.project.path("truth").exists():
            return 0
        return len(pairs.merge(self.project.read("truth", columns=PAIR), on=PAIR))

    def judged(self, suspects: "pd.DataFrame") -> int:
        """How many pairs of these suspects a campaign has judged to its end, without a label in the truth yet."""
        if not self.project.path("labels").exists() and not self.project.config.labels.url:
            return 0
        with opened(self.project) as store:
            judged = lead_queries.judged_pairs(store)
        return len(_without_label(self.project, suspects)[PAIR].drop_duplicates().merge(judged, on=PAIR))

    def list(self) -> "pd.DataFrame":
        """Every campaign with its settings, oldest first."""
        with opened(self.project) as store:
            return queue.list_campaigns(store)

    def judged_by_experts(self) -> "pd.DataFrame":
        """The campaigns that experts judge, as `list`; not those that keep leads' decisions."""
        with opened(self.project) as store:
            return lead_queries.campaigns_of_experts(store)

    def progress(self, name: str | None = None) -> "pd.DataFrame":
        """What is judged and what is left, for each campaign and expert."""
        with opened(self.project) as store:
            if name is not None:
                store.read(lambda connection: calibration.campaign_row(connection, name))  # refuses an unknown one
            return queue.progress(store, name)

    def of_expert(self, name: str, expert: str) -> ExpertProgress:
        """How far one expert is in one campaign, at the cost of two index lookups."""
        with opened(self.project) as store:
            return progress.expert_progress(store, name, expert)

    def query_places(self, name: str, expert: str, queries: Collection[str], total: int) -> QueryPlaces:
        """Where these queries stand in an expert's queue of `total` pairs, and how many of their pairs are judged."""
        with opened(self.project) as store:
            return query_places.query_places(store, name, expert, queries, total)

    def set_form(self, name: str, form: Form) -> None:
        """Let the campaign's page ask otherwise from now on."""
        with opened(self.project) as store:
            campaigns.set_form(store, name, form, by=self.project.actor)

    def all_of_expert(self, expert: str) -> Sequence[ExpertProgress]:
        """How far an expert is in each of their campaigns."""
        found = [self.of_expert(name, expert) for name in self.list()["name"]]
        return [campaign for campaign in found if campaign.member]

    def find(self, handle: str) -> str | None:
        """The name of the campaign with this handle (`ExpertProgress.handle`), None if there is none."""
        with opened(self.project) as store:
            return progress.find_campaign(store, handle)

    def adapt(self, name: str) -> "AdaptResult":
        """Learn again how many votes each pair of an adaptive campaign needs, from the labels decided so far.

        A pair needs a further vote where its label is less sure than a full panel's: by how likely it is similar (the
        relevance model, which has seen no label of its query), its votes, and how often experts err (the control
        pairs, which everybody judges). Pairs that tell apart the two models which the labels may tell apart next get
        two votes at least. The model never votes.
        """
        from eds.project.adaptive_votes import adapt

        return adapt(self.project, name)

    def expected_votes(self, pairs: "pd.DataFrame", experts: int, plan: CampaignPlan) -> float:
        """Votes that a pair of a new campaign needs on average, if it is adaptive."""
        from eds.project.adaptive_votes import expected_votes_of

        return expected_votes_of(
            self.project, pairs, min(plan.experts_per_pair or experts, experts), plan.control_share
        )

    def add_experts(self, name: str, experts: Sequence[str]) -> "pd.DataFrame":
        """Let further experts judge a campaign; the progress of everybody.

        They are asked every pair; where each pair is asked of some of the experts, they take over part of what the
        others have left.
        """
        with opened(self.project) as store:
            campaigns.add_to_panel(store, name, experts, by=self.project.actor)
        return self.progress(name)

    def remove_expert(self, name: str, expert: str) -> "pd.DataFrame":
        """Ask an expert no more, and keep the votes; the progress of everybody.

        Where each pair is asked of some of the experts, the others get what is left; else pairs are decided without.
        """
        with opened(self.project) as store:
            campaigns.leave_panel(store, name, expert, by=self.project.actor)
        return self.progress(name)

    def close(self, name: str) -> None:
        """Hand out no more tasks of a campaign; judgements on their way are kept."""
        with opened(self.project) as store:
            campaigns.close_campaign(store, name, by=self.project.actor)

    def reopen(self, name: str) -> None:
        """Hand out again what nobody has judged of a closed campaign."""
        with opened(self.project) as store:
            campaigns.reopen_campaign(store, name, by=self.project.actor)

    def usable_gold(self, suspects: "pd.DataFrame", polarity: str | None) -> int:
        """How many known pairs a campaign on these suspects could hide; `polarity` of a grid, else None."""
        with opened(self.project) as store:
            return gold.gold_to_hide(store, suspects, polarity)

    def usual_gold_share(self, suspects: "pd.DataFrame", polarity: str | None) -> float:
        """The share of known pairs that is mixed into these suspects by default."""
        with opened(self.project) as store:
            return gold.usual_share(store, suspects, polarity)

    def version(self, name: str) -> tuple[str, int]:
        """The state of a campaign's labels: their store, and how many acts there are."""
        with opened(self.project) as store:
            return store.place, lead_queries.count_acts(store, name)

    def agreement(self, name: str) -> "CampaignAgreement":
        """How far the experts of a campaign agree with each other, with gold, with themselves, and grid with pair."""
        from eds.project.campaign_statistics import campaign_agreement

        return campaign_agreement(self.project, name)

    def modes(self) -> "ModesCompared":
        """How far grid and pair agree, over all campaigns."""
        from eds.project.campaign_statistics import compare_modes

        return compare_modes(self.project)

    def pace(self, name: str) -> "pd.DataFrame":
        """How fast each expert of a campaign works, with the median seconds of a judgement."""
        from eds.project.campaign_statistics import pace

        return pace(self.project, name)

    def pool_yield(self, name: str) -> "PoolYield":
        """How many pairs of a campaign are similar, and what its random ones say of all pairs."""
        from eds.project.campaign_statistics import pool_yield

        return pool_yield(self.project, name)

    def yield_by_model(self, name: str) -> "pd.DataFrame":
        """Each model's part of a campaign: proposed, labelled, positive, rate, low, high, alone."""
        from eds.project.campaign_statistics import yield_by_model

        return yield_by_model(self.project, name)

    def overview(self, name: str, *, as_of: "datetime | None" = None) -> "CampaignOverview":
        """How far a campaign is, at which pace, and when its experts will be ready."""
        from eds.project.campaign_overview import campaign_overview

        return campaign_overview(self.project, name, as_of)

    def needs(self, name: str, *, as_of: "datetime | None" = None) -> "CampaignNeeds":
        """What needs a lead: experts whose judgements need a look or who do not come, and pairs to decide."""
        from eds.project.campaign_needs import campaign_needs

        return campaign_needs(self.project, name, as_of)

    def disagreement(self, name: str) -> "Disagreement":
        """Where experts disagree: by category, by query, with whom, and under which version of the guideline."""
        from eds.project.campaign_statistics import disagreement

        return disagreement(self.project, name)

    def answers(self, name: str, expert: str, kind: "Look" = "latest") -> "pd.DataFrame":
        """An expert's answers in force, the latest first; or the fastest, those apart from the others, wrong gold."""
        from eds.project.campaign_needs import answers

        return answers(self.project, name, expert, kind)

    def pairs_that_differ(self, name: str, expert_a: str, expert_b: str) -> "pd.DataFrame":
        """The pairs that one expert called similar and another one not."""
        from eds.project.campaign_statistics import pairs_that_differ

        return pairs_that_differ(self.project, name, expert_a, expert_b)

    def disputes(self, name: str) -> "Disputes":
        """The pairs of a campaign on which experts differ or were unsure, with their votes."""
        from eds.project.campaign_statistics import disputes

        return disputes(self.project, name)

    def cost(
        self,
        pairs: int,
        experts: int,
        plan: CampaignPlan,
        *,
        positive_rate: float | None = None,
        votes: float | None = None,
    ) -> "CampaignCost":
        """What a campaign costs by the project's budget.

        `positive_rate` is the share expected for early stop; `votes` those of a pair (`expected_votes`), if adaptive.
        """
        from eds.project.campaign_statistics import cost

        return cost(self.project, pairs, experts, plan, positive_rate, votes)


def _with_pictures(project: "Project", suspects: "pd.DataFrame") -> "pd.DataFrame":
    """The suspects whose pictures the catalogue has; nobody could judge the others."""
    from eds.project.changed_pictures import lacking

    if not project.path("images").exists():
        return suspects
    outside = lacking(suspects, project.read("images", columns=["image_id"])["image_id"])
    if outside.any():
        project.say(f"{int(outside.sum()):,} suspects name pictures that the catalogue lacks: they are not asked")
    return suspects[~outside]


def _whole_queries(suspects: "pd.DataFrame", limit: int) -> "pd.DataFrame":
    """The suspects of whole queries, those with the first positions, until there are `limit` pairs or one query."""
    ordered = suspects.sort_values("position")
    sizes = ordered.groupby("query_id", sort=False).size()
    chosen = sizes.index[: max(1, int((sizes.cumsum() <= limit).sum()))]
    return ordered[ordered["query_id"].isin(chosen)]


def _without_label(project: "Project", suspects: "pd.DataFrame") -> "pd.DataFrame":
    """The pool's and the random pairs that have no decided label."""
    asked = suspects[suspects["origin"].isin(["pool", "random"])]
    if project.path("truth").exists():
        truth = project.read("truth", columns=PAIR)
        asked = asked.merge(truth, how="left", on=PAIR, indicator=True)
        asked = asked[asked["_merge"] == "left_only"].drop(columns="_merge")
    return asked


def with_gold(project: "Project", store: "Store", suspects: "pd.DataFrame", polarity: str | None) -> "pd.DataFrame":
    """The suspects without gold that tests nothing in a grid; the store learns the answers of the planted pairs."""
    planted = suspects[(suspects["origin"] == "gold") & suspects["stratum"].isin(["gold:0", "gold:1"])]
    if not len(planted):
        return suspects
    value = planted["stratum"].str.removeprefix("gold:").astype("int64")
    gold.add_gold(store, planted[PAIR].assign(value=value), by=project.actor)
    if polarity is None:
        return suspects
    useless = value.index[value != gold.TOUCHED[polarity]]
    if len(useless):
        project.say(
            f"{len(useless):,} of {len(planted):,} gold pairs are {polarity}, as untouched candidates of this "
            "grid are: they would test nothing and are left out."
        )
    return suspects.drop(useless)
