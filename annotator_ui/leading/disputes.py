"""Which pairs of a campaign deserve another look, with everybody's answer in force: kept until another act comes."""

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from annotator_ui.site import site
from eds.labels.flags import open_flags
from eds.labels.leading import acts_frame
from eds.tables import LABELS
from eds.truth import disputed_pairs

KEY = ["query_id", "candidate_id"]


@dataclass(frozen=True)
class Cases:
    """The pairs by what is the matter with them, the answers in force, the open flags."""

    pairs: dict[str, pd.DataFrame]
    votes: pd.DataFrame  # normal answers in force: ids, expert_id, value, seconds, mode
    flags: pd.DataFrame


def cases(campaign: str, place: str, acts: int) -> Cases:
    """The cases of a campaign. Flags come and go without acts, so they are asked for anew each time."""
    disputed, votes = _voted(campaign, place, acts)
    flags = open_flags(site().store, campaign)
    unsure = votes.loc[votes["value"].isna(), KEY].drop_duplicates()
    pairs = {"votes": disputed[KEY], "flagged": flags[KEY].drop_duplicates(), "unsure": unsure}
    return Cases(pairs, votes, flags)


@st.cache_data(max_entries=20, show_spinner=False)
def _voted(campaign: str, place: str, acts: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    everything = acts_frame(site().store, campaign)
    normal = everything[everything["kind"] == "normal"]
    held = normal[~normal["label_id"].isin(normal["supersedes"].dropna())]
    votes = held[[*KEY, "expert_id", "value", "seconds", "mode"]].sort_values([*KEY, "expert_id"], ignore_index=True)
    return disputed_pairs(everything[LABELS.names]), votes
