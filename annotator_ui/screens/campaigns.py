"""Lead's page: all campaigns; a click opens one."""

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from annotator_ui.app_state import Viewer, site
from annotator_ui.formats import percent
from annotator_ui.lead.campaign import campaigns
from annotator_ui.screen import dataframe, empty, go_to, link_to, screen
from annotator_ui.texts import MENU
from annotator_ui.texts_campaigns import CAMPAIGNS as SAYS
from annotator_ui.texts_leads import COMMON
from annotator_ui.texts_standing import VOTES


@screen(title=SAYS.title, about=SAYS.about, role="lead", section=MENU.labels, position=110)
def show(who: Viewer) -> None:
    """Show the screen."""
    found = campaigns()
    if found.empty:
        empty(SAYS.empty_title, SAYS.empty_body)
        link_to("new_campaign", SAYS.new_title, icon=":material/add:")
        return
    frame = _rows(found)
    config, titles = st.column_config, SAYS.list_columns
    columns = {name: config.TextColumn(title) for name, title in titles.items()}
    columns["progress"] = config.ProgressColumn(
        titles["progress"], format="%.0f %%", min_value=0, max_value=100, width=130
    )
    for name in ("items", "left", "flagged"):
        columns[name] = config.NumberColumn(titles[name], format="localized", width="small")
    columns["created_at"] = config.DatetimeColumn(titles["created_at"], format="D MMM YYYY", width="small")
    place = dataframe(frame, SAYS.table, columns, key="all-campaigns", select=True)
    if place is not None:
        go_to("campaign", campaign=str(frame["name"].iloc[place]))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(SAYS.open_about, width="content")
        st.space("stretch")
        link_to("new_campaign", SAYS.new_title, icon=":material/add:")


def _rows(found: pd.DataFrame) -> pd.DataFrame:
    """The campaigns with what is judged, and what is mixed in, in words."""
    progress = site().project.campaigns.progress()
    left = progress[progress["left_panel"] == 0].groupby("campaign")["left"].sum()
    counts = progress.groupby("campaign")[["total", "done", "stopped", "flagged"]].sum()
    frame = found.merge(counts, how="left", left_on="name", right_index=True)
    asked = np.maximum((frame["total"] - frame["stopped"]).fillna(1), 1)
    return frame.assign(
        state=np.where(frame["closed_at"].isna(), COMMON.open, COMMON.closed),
        progress=100 * frame["done"].fillna(0) / asked,
        left=frame["name"].map(left).fillna(0),
        mode=[_mode(row) for row in frame.to_dict("records")],
        panel=[_panel(row) for row in frame.to_dict("records")],
        mixed=pd.Series([_mixed(row) for row in frame.to_dict("records")], dtype=object),
        guideline=frame["guideline"].replace("", None),
    )


def _mode(row: dict[Hashable, Any]) -> str:
    if row["mode"] != "grid":
        return SAYS.modes[str(row["mode"])]
    return SAYS.grid.format(polarity=COMMON.similar if row["polarity"] == "similar" else COMMON.different)


def _panel(row: dict[Hashable, Any]) -> str:
    experts, per_pair = str(row["experts"]), row["experts_per_pair"]
    if pd.isna(per_pair):
        return experts
    return SAYS.some_experts.format(per_pair=int(str(per_pair).partition(".")[0]), experts=experts)


def _mixed(row: dict[Hashable, Any]) -> str | None:
    gold, again = (float(str(row[name])) for name in ("gold_share", "repeat_share"))
    parts = [
        *([SAYS.gold.format(share=percent(gold, 0))] if gold else []),
        *([SAYS.repeats.format(share=percent(again, 0))] if again else []),
        *([VOTES.short] if row["adaptive"] else [SAYS.early] if row["early_stop"] else []),
    ]
    return ", ".join(parts) or None
