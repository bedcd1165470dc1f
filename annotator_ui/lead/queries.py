"""Statistics of campaigns for the lead's screens, kept until a campaign has another act.

Each cached function takes, beside the campaign, what its result depends on: the state of the labels
(`project.campaigns.version`) and, where pairs and images matter, that of their tables.
"""

from typing import Any

import pandas as pd
import streamlit as st

from annotator_ui.app_state import site
from eds.project.campaign_needs import CampaignNeeds
from eds.project.campaign_overview import CampaignOverview
from eds.project.campaign_statistics import CampaignAgreement, Disagreement, Disputes, ModesCompared, PoolYield
from eds.project.campaigns import CampaignPlan
from eds.project.price import Price, price_of
from eds.project.promise import PromiseResult
from eds.project.standing import StandingResult

GRID_AGREES = 0.9  # lower limit (95 %) of judgements alike in both modes from which on grid is preselected


def agreement(campaign: str) -> CampaignAgreement:
    """Return how far the experts of a campaign agree."""
    return _agreement(campaign, *_version(campaign))


def pace(campaign: str) -> pd.DataFrame:
    """Return how fast each expert of a campaign works."""
    return _pace(campaign, *_version(campaign))


def pool_yield(campaign: str) -> PoolYield:
    """Return how many pairs of a campaign are similar."""
    return _pool_yield(campaign, *_version(campaign), _tables())


def yield_by_model(campaign: str) -> pd.DataFrame:
    """Return each model's part of a campaign."""
    return _yield_by_model(campaign, *_version(campaign), _tables())


def disputes(campaign: str) -> Disputes:
    """Return the pairs on which experts differ or were unsure."""
    return _disputes(campaign, *_version(campaign))


def overview(campaign: str) -> CampaignOverview:
    """Return how far a campaign is; some minutes old at most, since the pace follows the clock."""
    return _overview(campaign, *_version(campaign), site().project.campaigns.progress(campaign).to_csv())


def needs(campaign: str) -> CampaignNeeds:
    """Return what needs a lead; some minutes old at most. Flags, decisions, panels and tables come without acts."""
    project = site().project
    beside = [project.campaigns.progress(campaign).to_csv(), len(project.labels.audit()), _tables("truth", "report")]
    return _needs(campaign, *_version(campaign), repr(beside))


def disagreement(campaign: str) -> Disagreement:
    """Return where the experts of a campaign disagree."""
    return _disagreement(campaign, *_version(campaign), _tables())


def answers(campaign: str, expert: str, kind: str) -> pd.DataFrame:
    """Return an expert's answers: latest, fastest, apart (from the others) or gold (wrong)."""
    return _answers(campaign, *_version(campaign), expert, kind)


def pairs_that_differ(campaign: str, expert_a: str, expert_b: str) -> pd.DataFrame:
    """Return the pairs that one expert called similar and another one not."""
    return _pairs_that_differ(campaign, *_version(campaign), expert_a, expert_b)


def categories() -> "pd.Series[str]":
    """Return the category of every image by its id."""
    return _categories(_tables())


def standing() -> StandingResult:
    """Return where the work stands; some minutes old at most, since hours follow the pace."""
    return _standing(_tables("images", "suspects", "truth"))


def promise(share: float, confidence: float) -> PromiseResult:
    """Return how deep the pool must be judged for a promise of recall."""
    return _promise(share, confidence, _tables("images", "suspects", "truth"))


def price(pairs: int) -> Price:
    """Return what so many further pairs cost at most; some minutes old at most, since hours follow the pace."""
    return _price(pairs, _tables("truth"))


def votes_needed(pairs: pd.DataFrame, experts: int, plan: CampaignPlan) -> float:
    """Return how many votes a pair of a new adaptive campaign needs."""
    chosen = pairs[["query_id", "candidate_id"]].reset_index(drop=True)
    return _votes_needed(chosen, experts, plan.experts_per_pair, plan.control_share, _tables("suspects", "truth"))


def judged(pairs: pd.DataFrame) -> int:
    """Return how many pairs are judged, but without a label; some minutes old at most."""
    return _judged(pairs[["query_id", "candidate_id", "origin"]].reset_index(drop=True), _tables("suspects", "truth"))


def modes() -> ModesCompared:
    """Return grid against pair over all campaigns; some minutes old at most."""
    return _modes(str(site().project.root))


def grid_agrees(compared: ModesCompared) -> bool:
    """Return whether grid says what pair says, by what was judged both ways: then grid may be preselected."""
    return bool(compared.low >= GRID_AGREES)


def _version(campaign: str) -> tuple[str, int]:
    return site().project.campaigns.version(campaign)


def _tables(*names: str) -> str:
    """Return what identifies the state of tables, of those of images and suspects if none is named."""
    project = site().project
    files = [
        project.root / "report.html" if name == "report" else project.path(name)
        for name in names or ("images", "suspects")
    ]
    return " ".join(f"{file.stat().st_mtime_ns}" if file.exists() else "-" for file in files)


@st.cache_data(max_entries=20, show_spinner=False)
def _agreement(campaign: str, place: str, acts: int) -> CampaignAgreement:
    return site().project.campaigns.agreement(campaign)


@st.cache_data(max_entries=20, show_spinner=False)
def _pace(campaign: str, place: str, acts: int) -> pd.DataFrame:
    return site().project.campaigns.pace(campaign)


@st.cache_data(max_entries=20, show_spinner=False)
def _pool_yield(campaign: str, place: str, acts: int, tables: str) -> PoolYield:
    return site().project.campaigns.pool_yield(campaign)


@st.cache_data(max_entries=20, show_spinner=False)
def _yield_by_model(campaign: str, place: str, acts: int, tables: str) -> pd.DataFrame:
    return site().project.campaigns.yield_by_model(campaign)


@st.cache_data(max_entries=20, show_spinner=False)
def _disputes(campaign: str, place: str, acts: int) -> Disputes:
    return site().project.campaigns.disputes(campaign)


@st.cache_data(max_entries=20, ttl=300, show_spinner=False)
def _overview(campaign: str, place: str, acts: int, beside: str) -> CampaignOverview:
    return site().project.campaigns.overview(campaign)


@st.cache_data(max_entries=20, ttl=300, show_spinner=False)
def _needs(campaign: str, place: str, acts: int, beside: str) -> CampaignNeeds:
    return site().project.campaigns.needs(campaign)


@st.cache_data(max_entries=20, show_spinner=False)
def _disagreement(campaign: str, place: str, acts: int, tables: str) -> Disagreement:
    return site().project.campaigns.disagreement(campaign)


@st.cache_data(max_entries=20, show_spinner=False)
def _answers(campaign: str, place: str, acts: int, expert: str, kind: str) -> pd.DataFrame:
    look: Any = kind
    return site().project.campaigns.answers(campaign, expert, look)


@st.cache_data(max_entries=50, show_spinner=False)
def _pairs_that_differ(campaign: str, place: str, acts: int, expert_a: str, expert_b: str) -> pd.DataFrame:
    return site().project.campaigns.pairs_that_differ(campaign, expert_a, expert_b)


@st.cache_data(max_entries=1, show_spinner=False)
def _categories(tables: str) -> "pd.Series[str]":
    images = site().project.read("images", columns=["image_id", "category"])
    return images.set_index("image_id")["category"]


@st.cache_data(max_entries=2, ttl=300, show_spinner=False)
def _standing(tables: str) -> StandingResult:
    return site().project.standing()


@st.cache_data(max_entries=2, ttl=300, show_spinner=False)
def _price(pairs: int, tables: str) -> Price:
    return price_of(site().project, pairs)


@st.cache_data(max_entries=10, ttl=300, show_spinner=False)
def _promise(share: float, confidence: float, tables: str) -> PromiseResult:
    return site().project.promise_recall(share, confidence=confidence)


@st.cache_data(max_entries=5, show_spinner=False)
def _votes_needed(pairs: pd.DataFrame, experts: int, per_pair: int | None, control: float, tables: str) -> float:
    plan = CampaignPlan(experts_per_pair=per_pair, control_share=control, adaptive=True)
    return site().project.campaigns.expected_votes(pairs, experts, plan)


@st.cache_data(max_entries=5, ttl=300, show_spinner=False)
def _judged(pairs: pd.DataFrame, tables: str) -> int:
    return site().project.campaigns.judged(pairs)


@st.cache_data(max_entries=2, ttl=600, show_spinner=False)
def _modes(place: str) -> ModesCompared:
    return site().project.campaigns.modes()
