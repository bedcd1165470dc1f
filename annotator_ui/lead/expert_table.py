"""The experts of a campaign as a table of Streamlit's own, with progress, lines and dates."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from annotator_ui.lead import queries
from annotator_ui.lead.campaign import Campaign
from annotator_ui.screen import dataframe, width_for
from annotator_ui.texts_campaign import PANEL as SAYS

PROGRESS = 120  # pixels, so that bars can be compared
BRIEF = ("expert", "progress", "left", "seconds", "under_1_s", "similar", "similar_over_time", "unsure", "last_at")


def expert_frame(campaign: Campaign) -> pd.DataFrame:
    """Everything that is known of each expert: progress, pace, and quality where it is measured."""
    found = queries.overview(campaign.name).experts
    profiles = queries.agreement(campaign.name).experts.rename(columns={"expert_id": "expert"})
    kept = ["expert", "answers", "positive_rate", "skip_rate", "with_others", "drift"]
    counts = ["gold_right", "gold_judged", "repeat_same", "repeats"]
    frame = found.merge(profiles[[*kept, *counts]], how="left", on="expert")
    return frame.assign(
        progress=100 * frame["done"] / np.maximum(frame["total"] - frame["stopped"], 1),
        similar=frame["positive_rate"],
        unsure=frame["skip_rate"],
        drift=100 * frame["drift"].astype(float),
        gold=_counted(frame["gold_right"], frame["gold_judged"]),
        repeats=_counted(frame["repeat_same"], frame["repeats"]),
        state=np.where(frame["left_panel"] == 1, SAYS.gone, SAYS.on),
    )


def _counted(part: "pd.Series[Any]", whole: "pd.Series[Any]") -> "pd.Series[Any]":
    texts = [
        SAYS.counted.format(part=int(a), whole=int(b)) if b > 0 else None for a, b in zip(part, whole, strict=True)
    ]
    return pd.Series(texts, dtype=object, index=part.index)


def expert_table(campaign: Campaign, *, key: str, brief: bool = False) -> str | None:
    """Show the table; the selected expert."""
    frame = expert_frame(campaign)
    if frame.empty:
        st.caption(SAYS.none)
        return None
    columns = _columns(frame, campaign)
    if brief:
        columns = {name: columns[name] for name in BRIEF if name in columns}
    row = dataframe(frame, SAYS.title, columns, key=key, select=True)
    return None if row is None else str(frame["expert"].iloc[row])


def _columns(frame: pd.DataFrame, campaign: Campaign) -> dict[str, Any]:
    """How each column is shown; columns that say nothing here are left out."""
    config, titles = st.column_config, SAYS.columns
    highest = max((max(line) for line in frame["similar_over_time"] if line), default=1.0)
    top = max(1.1 * highest, 0.05)
    shares = {"similar", "unsure", "under_1_s", "with_others"}
    columns: dict[str, Any] = {}
    for name, title in titles.items():
        if name == "progress":
            columns[name] = config.ProgressColumn(title, format="%.0f %%", min_value=0, max_value=100, width=PROGRESS)
        elif name == "similar_over_time":
            columns[name] = config.LineChartColumn(title, y_min=0, y_max=top, width=width_for(title))
        elif name == "last_at":
            columns[name] = config.DatetimeColumn(title, format="distance", width=width_for(title))
        elif name in shares:
            columns[name] = config.NumberColumn(title, format="percent", width=width_for(title))
        elif name in ("expert", "gold", "repeats", "state"):
            columns[name] = config.TextColumn(title, pinned=name == "expert" or None)
        else:
            digits = {"seconds": "%.1f", "hours": "%.1f", "drift": "%+.1f"}.get(name, "%d")
            columns[name] = config.NumberColumn(title, format=digits, width=width_for(title))
    absent = [name for name in ("gold", "repeats") if frame[name].isna().all()]
    if campaign.mode == "grid":
        absent.append("under_1_s")  # a candidate of a page takes less
    if (frame["left_panel"] == 0).all():
        absent.append("state")
    return {name: column for name, column in columns.items() if name not in absent}
