"""The campaign that a lead looks at: chosen once, the same on all of the lead's screens."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

import pandas as pd
import streamlit as st

from annotator_ui.app_state import site
from annotator_ui.screen import empty, link_to
from annotator_ui.texts_leads import COMMON
from eds.errors import InputError

CHOSEN = "lead_campaign"  # of the session: the same campaign on all of the lead's pages


@dataclass(frozen=True)
class Campaign:
    """The campaign that a screen is about."""

    name: str
    mode: str
    polarity: str | None  # of a grid: what an untouched candidate means
    guideline: str
    early_stop: bool
    closed: bool
    items: int
    experts: int
    experts_per_pair: int | None  # None: all
    adaptive: bool = False


def campaigns() -> pd.DataFrame:
    """The campaigns of experts, newest first."""
    result = site().project.campaigns.judged_by_experts()
    return result.iloc[::-1].reset_index(drop=True)


def none_yet() -> NoReturn:
    """Say that there is no campaign, and end the script."""
    empty(COMMON.none_title, COMMON.none_body)
    link_to("new_campaign", COMMON.none_link)
    st.stop()
    raise AssertionError("st.stop does not return")


def asked_campaign(names: list[str]) -> str:
    """Return the campaign of the address (its name, or its handle), else the one looked at last, else the newest."""
    asked = st.query_params.get("campaign", "")
    name = asked if asked in names else site().project.campaigns.find(asked) or st.session_state.get(CHOSEN)
    return str(name if name in names else names[0])


def choose_campaign() -> Campaign:
    """Let the lead choose a campaign, which the address keeps; without any the script stops with an empty state."""
    result = campaigns()
    if result.empty:
        none_yet()
    names = result["name"].tolist()
    name = st.selectbox(
        COMMON.campaign, names, index=names.index(asked_campaign(names)), width=210, label_visibility="collapsed"
    )
    if st.query_params.get("campaign") != name:
        st.query_params["campaign"] = name
    st.session_state[CHOSEN] = name
    row = result.loc[result["name"] == name].iloc[0]
    return Campaign(
        name,
        str(row["mode"]),
        None if pd.isna(row["polarity"]) else str(row["polarity"]),
        str(row["guideline"]),
        bool(row["early_stop"]),
        bool(pd.notna(row["closed_at"])),
        int(row["items"]),
        int(row["experts"]),
        None if pd.isna(row["experts_per_pair"]) else int(row["experts_per_pair"]),
        bool(row["adaptive"]),
    )


def check_images(names: Iterable[str], where: str) -> None:
    """Raise an InputError with the ids that are not in the catalogue, which could not be shown."""
    unknown = sorted(name for name in set(names) if name and site().pictures.source(name) is None)
    if unknown:
        raise InputError(
            f"{len(unknown):,} images are not in the catalogue",
            where=where,
            hint="Give their ids as the catalogue has them.",
            faults=unknown[:20],
        )
