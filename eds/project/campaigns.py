"""Campaigns: which pairs a panel of experts judges, how, and how far they are."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from eds.errors import InputError
from eds.labels import campaigns, gold, lead_queries, progress, query_places, queue
from eds.labels.form import ASPECTS, PLAIN, Form
from eds.labels.gold import USUAL
from eds.labels.progress import ExpertProgress
from eds.labels.query_places import QueryPlaces
from eds.project.label_store import opened, rehearsed
from eds.project.price import price_of, questions

if TYPE_CHECKING:
    import pandas as pd

    from eds.labels.store import Store
    from eds.project import Project
    from eds.project.campaign_statistics import CampaignAgreement, CampaignCost, Disputes, ModesCompared, PoolYield
    from eds.project.price import Price

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
LEAST_DECIDED = 50  # decided pairs from which a rate of similar ones is told


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
    ) -> "pd.DataFrame":
        """Let a panel judge the project's suspects, if its price is agreed to; the progress of the new campaign.

        `origins`, `undecided` and `limit` restrict the suspects: by origin, to those without a decided label, to whole
        queries with so many pairs altogether, in the order of their first positions. A grid without a polarity takes
        what most decided pairs of these origins are; it must be named where too few are decided. Pairs that have a
        label keep it until this campaign, too, is complete for them.
        """
        project, chosen = self.project, (name, experts, origins, undecided, limit, plan)
        if labelled := self.labelled(self.suspects(origins, undecided=undecided, limit=limit)):
            project.say(
                f"{labelled:,} of the pairs have a label already. They keep it until {name} is complete for them; "
                "--undecided asks the others only."
            )
        if project.asks:
            project.agree(self._make(*chosen, rehearse=True))
        self._make(*chosen)
        project.end_rehearsal()
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
    ) -> "Price":
        """Compute what a campaign would ask (with early stop: at most), by making it and taking it back."""
        return self._make(name, experts, origins, undecided, limit, plan, rehearse=True)

    def _make(
        self,
        name: str,
        experts: Sequence[str],
        origins: Sequence[str],
        undecided: bool,
        limit: int | None,
        plan: CampaignPlan,
        *,
        rehearse: bool = False,
    ) -> "Price":
        project = self.project
        suspects = self.suspects(origins, undecided=undecided, limit=limit)
        if not len(suspects) and undecided:
            raise InputError(
                "every suspect has a label", where="--undecided", hint="Choose further pairs: eds suspects add."
            )
        if not len(suspects):
            raise InputError("no suspects are of that origin", where="--origin", hint="See eds suspects list.")
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
            )
            asked = campaigns.create_campaign(store, made, suspects, experts, by=project.actor, rehearse=aside)
        return price_of(project, len(questions(suspects)), asked)

    def suspects(
        self, origins: Sequence[str] = (), *, undecided: bool = False, limit: int | None = None
    ) -> "pd.DataFrame":
        """The project's suspects that a new campaign would ask; see `create`."""
        suspects = _with_pictures(self.project, self.project.read("suspects"))
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

    def disputes(self, name: str) -> "Disputes":
        """The pairs of a campaign on which experts differ or were unsure, with their votes."""
        from eds.project.campaign_statistics import disputes

        return disputes(self.project, name)

    def cost(
        self, pairs: int, experts: int, plan: CampaignPlan, *, positive_rate: float | None = None
    ) -> "CampaignCost":
        """What a campaign costs by the project's budget; `positive_rate` is the share expected for early stop."""
        from eds.project.campaign_statistics import cost

        return cost(self.project, pairs, experts, plan, positive_rate)


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
