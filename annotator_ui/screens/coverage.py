"""Lead's page: how far each expert is, at which pace, and how calibration went."""

import math
from typing import Any

import pandas as pd
import streamlit as st
from markupsafe import Markup

from annotator_ui import html
from annotator_ui.app_state import Viewer, site
from annotator_ui.lead import queries
from annotator_ui.lead.campaign import Campaign, choose_campaign
from annotator_ui.screen import put, screen
from annotator_ui.texts import MENU
from annotator_ui.texts_leads import COVERAGE as SAYS


@screen(title=SAYS.title, about=SAYS.about, role="lead", section=MENU.labels, position=120)
def show(who: Viewer) -> None:
    """Show the screen."""
    campaign = choose_campaign()
    counts = site().project.campaigns.progress(campaign.name)
    pace = queries.pace(campaign.name)
    _experts(counts, pace)
    st.subheader(SAYS.calibration, anchor=False)
    _calibration(campaign)


def _experts(counts: pd.DataFrame, pace: pd.DataFrame) -> None:
    active = counts[counts["left_panel"] == 0]
    left, total = int(active["left"].sum()), int(counts["total"].sum())
    rates = pace.set_index("expert_id")["per_hour"].reindex(active["expert"])
    together = float(rates.sum())
    hours = (active["left"].to_numpy() / rates.to_numpy())[active["left"].to_numpy() > 0]
    ready = "–" if pd.isna(hours).any() or not len(hours) else SAYS.ready_days.format(hours=math.ceil(max(hours)))
    put(
        html.figures(
            (SAYS.judged, int(counts["done"].sum()), SAYS.judged_about.format(total=total)),
            (SAYS.left, left, SAYS.left_about.format(stopped=int(counts["stopped"].sum()))),
            (SAYS.pace, round(together) if together else None, SAYS.pace_about),
            (SAYS.ready, ready, SAYS.ready_about),
        )
    )
    merged = counts.merge(pace, left_on="expert", right_on="expert_id", how="left")
    put(html.table(SAYS.experts, SAYS.heads, [_row(row) for _, row in merged.iterrows()], numbers=range(2, 11)))


def _row(row: "pd.Series[Any]") -> list[object]:
    requested = max(int(row["total"]) - int(row["stopped"]), 1)
    gone = bool(row["left_panel"])
    name = Markup("{} {}").format(html.cell(row["expert"]), html.tag(SAYS.gone)) if gone else row["expert"]
    share = int(row["done"]) / requested
    return [
        name,
        html.bar(share, html.percent(share, 0)),
        int(row["done"]),
        int(row["left"]),
        int(row["unsure"]),
        int(row["flagged"]),
        _whole(row["sittings"]),
        None if pd.isna(row["hours"]) else f"{row['hours']:.1f}",
        _whole(row["per_hour"]),
        None if pd.isna(row["median_seconds"]) else f"{row['median_seconds']:.1f}",
        None if pd.isna(row["last_at"]) else f"{row['last_at']:%d %b %H:%M} UTC",
    ]


def _whole(value: Any) -> int | None:
    return None if pd.isna(value) else round(float(value))


def _calibration(campaign: Campaign) -> None:
    if site().project.calibration.planned(campaign.name) is None:
        put(html.note(SAYS.calibration_none))
        return
    results = site().project.calibration.results(campaign.name)
    if results.empty:
        put(html.note(SAYS.calibration_waiting))
        return
    rows = []
    for _, row in results.iterrows():
        finished, counted, right = row["answered"] == row["size"], int(row["counted"]), int(row["right"])
        state = SAYS.going if not finished else SAYS.passed if right >= row["needed"] * counted else SAYS.failed
        seconds = None if pd.isna(row["median_seconds"]) else f"{row['median_seconds']:.1f}"
        answered = f"{row['answered']} / {row['size']}"
        share = html.percent(right / counted if counted else None, 0)
        rows.append(
            [
                row["expert"],
                int(row["number"]),
                answered,
                share,
                html.percent(row["needed"], 0),
                seconds,
                html.tag(state),
            ]
        )
    put(html.table(SAYS.calibration, SAYS.calibration_heads, rows, numbers=range(1, 6), narrow=True))
