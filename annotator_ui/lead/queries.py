"""Statistics of campaigns for the lead's screens, kept until a campaign has another act.

Each cached function takes, beside the campaign, what its result depends on: the state of the labels
(`project.campaigns.version`) and, where pairs and images matter, that of their tables.
"""

import pandas as pd
import streamlit as st

from annotator_ui.app_state import site
from eds.project.campaign_statistics import CampaignAgreement, Disputes, ModesCompared, PoolYield

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


def modes() -> ModesCompared:
    """Return grid against pair over all campaigns; some minutes old at most."""
    return _modes(str(site().project.root))


def grid_agrees(compared: ModesCompared) -> bool:
    """Return whether grid says what pair says, by what was judged both ways: then grid may be preselected."""
    return bool(compared.low >= GRID_AGREES)


def _version(campaign: str) -> tuple[str, int]:
    return site().project.campaigns.version(campaign)


def _tables() -> str:
    """Return what identifies the state of the tables of images and suspects."""
    files = [site().project.path(name) for name in ("images", "suspects")]
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


@st.cache_data(max_entries=2, ttl=600, show_spinner=False)
def _modes(place: str) -> ModesCompared:
    return site().project.campaigns.modes()
