"""Which pairs of a campaign deserve another look, and how they are shown; kept until another act comes."""

from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st
from markupsafe import Markup

from annotator_ui import html
from annotator_ui.app_state import Viewer, site
from annotator_ui.formats import number
from annotator_ui.lead import queries
from annotator_ui.texts_leads import COMMON, DISPUTED

KEY = ["query_id", "candidate_id"]


@dataclass(frozen=True)
class Cases:
    """The pairs by what is the matter with them, the answers in force, the open flags, the leads' decisions."""

    pairs: dict[str, pd.DataFrame]
    votes: pd.DataFrame  # normal answers in force: ids, expert_id, value, seconds, mode
    flags: pd.DataFrame
    decided: pd.DataFrame


def cases(campaign: str) -> Cases:
    """Return the cases of a campaign. Flags and decisions come and go without acts, so they are read each time."""
    result = queries.disputes(campaign)
    flags, decided = site().project.labels.flags(campaign), site().project.labels.adjudications(campaign)
    pairs = {"votes": result.disputed[KEY], "flagged": flags[KEY].drop_duplicates(), "unsure": result.unsure}
    return Cases(pairs, result.votes, flags, decided)


def choose_kind(found: Cases) -> str:
    """Let the lead choose a kind of cases; the labels show how many there are."""
    kind = st.segmented_control(
        DISPUTED.show,
        list(DISPUTED.kinds),
        default="votes",
        format_func=lambda item: f"{DISPUTED.kinds[item]} ({number(len(found.pairs[item]))})",
        required=True,
    )
    return kind or "votes"


def shown_pair(who: Viewer, row: "pd.Series[Any]", *, large: bool = False) -> Markup:
    """Both pictures of a pair, as HTML."""
    query, candidate = (site().pictures.url(who.name, row[side], "large") for side in KEY)
    return html.pair(query, candidate, (COMMON.query, COMMON.candidate), large=large)
