"""The campaign that a lead looks at: chosen once, the same on all of the lead's screens."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

import pandas as pd
import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import site
from annotator_ui.screen import link_to, put
from annotator_ui.texts_leads import COMMON
from eds.errors import InputError

CHOSEN = "lead_campaign"  # of the session: the same campaign on all of the lead's pages


@dataclass(frozen=True)
class Campaign:
    """The campaign that a screen is about."""

    name: str
    mode: str
    guideline: str
    early_stop: bool
    closed: bool
    items: int
    experts: int
    experts_per_pair: int | None  # None: all


def campaigns() -> pd.DataFrame:
    """The campaigns of experts, newest first."""
    result = site().project.campaigns.judged_by_experts()
    return result.iloc[::-1].reset_index(drop=True)


def none_yet() -> NoReturn:
    """Say that there is no campaign, and end the script."""
    put(html.empty(COMMON.none_title, COMMON.none_body))
    link_to("campaigns", COMMON.none_link)
    st.stop()
    raise AssertionError("st.stop does not return")


def choose_campaign() -> Campaign:
    """Let the lead choose a campaign, the same on all pages; without any the script stops with an empty state."""
    result = campaigns()
    if result.empty:
        none_yet()
    names = result["name"].tolist()
    before = st.session_state.get(CHOSEN)
    index = names.index(before) if before in names else 0
    name = st.selectbox(COMMON.campaign, names, index=index, width=460)
    st.session_state[CHOSEN] = name
    row = result.loc[result["name"] == name].iloc[0]
    return Campaign(
        name,
        str(row["mode"]),
        str(row["guideline"]),
        bool(row["early_stop"]),
        bool(pd.notna(row["closed_at"])),
        int(row["items"]),
        int(row["experts"]),
        None if pd.isna(row["experts_per_pair"]) else int(row["experts_per_pair"]),
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
