"""Lead's page: all campaigns; a new one; guidelines; changes."""

from typing import Any

import pandas as pd
import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer, site
from annotator_ui.lead.campaign import campaigns
from annotator_ui.lead.change_campaign import change_campaign
from annotator_ui.lead.guideline_editor import guideline_editor
from annotator_ui.lead.known_pairs import known_pairs
from annotator_ui.lead.new_campaign import new_campaign
from annotator_ui.screen import put, screen
from annotator_ui.texts import MENU
from annotator_ui.texts_campaigns import CAMPAIGNS as SAYS
from annotator_ui.texts_leads import COMMON

SECTION = "campaigns_section"


@screen(title=SAYS.title, about=SAYS.about, role="lead", section=MENU.labels, position=110)
def show(who: Viewer) -> None:
    """Show the screen."""
    sections = {name: name for name in SAYS.tabs}
    if (wanted := st.session_state.pop("campaigns_next", None)) is not None:
        st.session_state[SECTION] = wanted
    chosen = st.segmented_control(
        SAYS.title, list(sections), default=SAYS.all_tab, key=SECTION, label_visibility="collapsed"
    )
    if chosen == SAYS.new_tab:
        new_campaign(who)
    elif chosen == SAYS.guideline_tab:
        guideline_editor(who)
    elif chosen == SAYS.change_tab:
        change_campaign(who)
    elif chosen == SAYS.known_tab:
        known_pairs(who)
    else:
        _overview()


def _overview() -> None:
    result = campaigns()
    if result.empty:
        put(html.empty(SAYS.empty_title, SAYS.empty_body))
        return
    counts = site().project.campaigns.progress().groupby("campaign")[["total", "done", "stopped"]].sum()
    put(html.table(SAYS.table, SAYS.heads, [_row(row, counts) for _, row in result.iterrows()], numbers=(3, 4)))


def _row(row: "pd.Series[Any]", counts: pd.DataFrame) -> list[object]:
    name = str(row["name"])
    total, done, stopped = counts[counts.index == name].to_numpy().tolist()[0] if name in counts.index else (0, 0, 0)
    share = done / max(total - stopped, 1)
    mixed = [
        *([SAYS.gold.format(share=html.percent(float(row["gold_share"]), 0))] if row["gold_share"] else []),
        *([SAYS.repeats.format(share=html.percent(float(row["repeat_share"]), 0))] if row["repeat_share"] else []),
        *([SAYS.early] if row["early_stop"] else []),
    ]
    mode = SAYS.modes[str(row["mode"])]
    if row["mode"] == "grid":
        mode = SAYS.grid.format(polarity=COMMON.similar if row["polarity"] == "similar" else COMMON.different)
    state = COMMON.open if pd.isna(row["closed_at"]) else COMMON.closed
    guideline = str(row["guideline"]) or None
    experts: object = int(row["experts"])
    if not pd.isna(row["experts_per_pair"]):
        experts = SAYS.some_experts.format(per_pair=int(row["experts_per_pair"]), experts=experts)
    return [
        name,
        html.tag(state),
        mode,
        int(row["items"]),
        experts,
        html.bar(share, html.percent(share, 0)),
        guideline,
        ", ".join(mixed) or None,
    ]
