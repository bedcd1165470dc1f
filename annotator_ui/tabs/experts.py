"""Each expert's work, with their answers as pictures; practice; seconds."""

import math

import pandas as pd
import streamlit as st

from annotator_ui.app_state import Viewer, site
from annotator_ui.charts import show_chart
from annotator_ui.lead import queries
from annotator_ui.lead.campaign import Campaign
from annotator_ui.lead.expert_table import expert_table
from annotator_ui.lead.pair_cards import pair_cards
from annotator_ui.screen import dataframe, width_for
from annotator_ui.tab import tab
from annotator_ui.texts_campaign import PANEL as SAYS
from annotator_ui.texts_leads import COMMON

CARDS = 12


@tab(title=SAYS.title, position=20)
def show(who: Viewer, campaign: Campaign) -> None:
    """Show the tab."""
    selected = expert_table(campaign, key=f"experts-{campaign.name}")
    st.caption(SAYS.about)
    _answers(who, campaign, selected)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _seconds(campaign)
    with right:
        st.subheader(SAYS.calibration, anchor=False)
        _calibration(campaign)


def _answers(who: Viewer, campaign: Campaign, selected: str | None) -> None:
    """Answers of one expert: of the selected row, or as a need asked to see them."""
    names = queries.overview(campaign.name).experts["expert"].tolist()
    asked = st.session_state.pop("expert", None)
    if asked in names or (selected is not None and selected != st.session_state.get("last_selected")):
        st.session_state["answers_of"] = asked if asked in names else selected
        st.session_state["answers_kind"] = st.session_state.pop("answers", "latest")
    st.session_state["last_selected"] = selected
    if st.session_state.get("answers_of") not in names:
        st.session_state.pop("answers_of", None)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(
            SAYS.look, [None, *names], format_func=lambda item: item or SAYS.look_nobody, key="answers_of", width=240
        )
        kind = st.segmented_control(
            SAYS.look,
            list(SAYS.kinds),
            format_func=SAYS.kinds.__getitem__,
            key="answers_kind",
            label_visibility="collapsed",
            required=True,
            default=None if "answers_kind" in st.session_state else "latest",
        )
    if name is None:
        return
    rows = queries.answers(campaign.name, name, str(kind)).head(CARDS)
    if rows.empty:
        st.caption(SAYS.look_none)
        return
    words = {1: COMMON.similar, 0: COMMON.different}
    notes = [
        f"{COMMON.unsure if pd.isna(value) else words[int(value)]}"
        + ("" if pd.isna(seconds) else f" · {SAYS.seconds.format(n=seconds)}")
        for value, seconds in zip(rows["value"], rows["seconds"], strict=True)
    ]
    pair_cards(who, rows, notes)


def _seconds(campaign: Campaign) -> None:
    """How long judgements take, an area for each expert."""
    st.subheader(SAYS.seconds_title, anchor=False)
    found = queries.disagreement(campaign.name)
    if found.seconds.empty:
        st.caption(COMMON.nothing_judged)
        return
    show_chart(found.seconds_chart(SAYS.seconds_tips), SAYS.seconds_about)
    st.caption(SAYS.seconds_about)


def _calibration(campaign: Campaign) -> None:
    calibration = site().project.calibration
    if calibration.planned(campaign.name) is None:
        st.caption(SAYS.calibration_none)
        return
    results = calibration.results(campaign.name)
    if results.empty:
        st.caption(SAYS.calibration_waiting)
        return
    rows = []
    for row in results.to_dict("records"):
        counted, right = int(row["counted"]), int(row["right"])
        going = row["answered"] != row["size"]
        state = SAYS.going if going else SAYS.passed if right >= row["needed"] * counted else SAYS.failed
        share = right / counted if counted else math.nan
        rows.append(
            [
                row["expert"],
                int(row["number"]),
                int(row["answered"]),
                int(row["size"]),
                share,
                row["needed"],
                row["median_seconds"],
                state,
            ]
        )
    config, heads = st.column_config, SAYS.calibration_columns
    names = ["expert", "number", "answered", "size", "share", "needed", "seconds", "state"]
    kinds = {"share": "percent", "needed": "percent", "seconds": "%.1f"}
    columns = {
        name: config.TextColumn(title)
        if name in ("expert", "state")
        else config.NumberColumn(title, format=kinds.get(name), width=width_for(title))
        for name, title in zip(names, heads, strict=True)
    }
    dataframe(pd.DataFrame(rows, columns=names), SAYS.calibration, columns)
