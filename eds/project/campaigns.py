"""Campaigns: which pairs a panel of experts judges, how, and how far they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from eds.errors import InputError
from eds.project.label_store import opened

if TYPE_CHECKING:
    import pandas as pd

    from eds.labels.store import Store
    from eds.project import Project

PAIR = ["query_id", "candidate_id"]


@dataclass(frozen=True)
class CampaignPlan:
    """How a campaign asks. None leaves a share to the usual one: 5 % in a grid, gold also 15 % of random pairs."""

    mode: Literal["pair", "grid"] = "pair"
    polarity: Literal["similar", "different"] | None = None  # of a grid: what an untouched candidate means
    guideline: str = ""
    gold_share: float | None = None
    repeat_share: float | None = None
    early_stop: bool = False
    control_share: float = 0.1


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
        plan: CampaignPlan = CampaignPlan(),
    ) -> "pd.DataFrame":
        """Let a panel judge the project's suspects; the progress of the new campaign.

        `origins` and `undecided` restrict the suspects: by origin, and to those without a decided label.
        """
        from eds.labels.campaigns import Plan, create_campaign
        from eds.labels.gold import USUAL, usual_share

        project = self.project
        suspects = project.read("suspects")
        if origins:
            suspects = suspects[suspects["origin"].isin(origins)]
        if not len(suspects):
            raise InputError("no suspects are of that origin", where="--origin", do="See eds suspects list.")
        if undecided:
            suspects = _without_label(project, suspects)
        grid, polarity = plan.mode == "grid", plan.polarity
        with opened(project, create=True) as store:
            suspects = _with_gold(project, store, suspects, polarity)
            gold_share, repeat_share = plan.gold_share, plan.repeat_share
            if gold_share is None:
                guarded = grid or set(suspects["origin"]) == {"random"}
                gold_share = usual_share(store, suspects, polarity) if guarded else 0.0
            if repeat_share is None:
                repeat_share = USUAL if grid and "repeat" not in set(suspects["origin"]) else 0.0
            made = Plan(
                name,
                plan.mode,
                polarity,
                plan.guideline,
                project.config.project.seed,
                gold_share,
                repeat_share,
                plan.early_stop,
                plan.control_share,
            )
            create_campaign(store, made, suspects, experts, by=project.actor)
        return self.progress(name)

    def list(self) -> "pd.DataFrame":
        """Every campaign with its settings."""
        from eds.labels.queue import list_campaigns

        with opened(self.project) as store:
            return list_campaigns(store)

    def progress(self, name: str | None = None) -> "pd.DataFrame":
        """What is judged and what is left, for each campaign and expert."""
        from eds.labels.queue import progress

        with opened(self.project) as store:
            return progress(store, name)

    def close(self, name: str) -> None:
        """Hand out no more tasks of a campaign; judgements on their way are kept."""
        from eds.labels.campaigns import close_campaign

        with opened(self.project) as store:
            close_campaign(store, name, by=self.project.actor)


def _without_label(project: "Project", suspects: "pd.DataFrame") -> "pd.DataFrame":
    """The pool's and the random pairs that have no decided label."""
    asked = suspects[suspects["origin"].isin(["pool", "random"])]
    if project.path("truth").exists():
        truth = project.read("truth", columns=PAIR)
        asked = asked.merge(truth, how="left", on=PAIR, indicator=True)
        asked = asked[asked["_merge"] == "left_only"].drop(columns="_merge")
    if not len(asked):
        raise InputError("every suspect has a label", where="--undecided", do="Choose further pairs: eds suspects add.")
    return asked


def _with_gold(project: "Project", store: "Store", suspects: "pd.DataFrame", polarity: str | None) -> "pd.DataFrame":
    """The suspects without gold that tests nothing in a grid; the store learns the answers of the planted pairs."""
    from eds.labels.gold import TOUCHED, add_gold

    planted = suspects[(suspects["origin"] == "gold") & suspects["stratum"].isin(["gold:0", "gold:1"])]
    if not len(planted):
        return suspects
    value = planted["stratum"].str.removeprefix("gold:").astype("int64")
    add_gold(store, planted[PAIR].assign(value=value), by=project.actor)
    if polarity is None:
        return suspects
    useless = value.index[value != TOUCHED[polarity]]
    if len(useless):
        project.say(
            f"{len(useless):,} of {len(planted):,} gold pairs are {polarity}, as untouched candidates of this "
            "grid are: they would test nothing and are left out."
        )
    return suspects.drop(useless)
