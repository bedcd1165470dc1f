"""Lead's page: how far experts agree with each other, with gold, with themselves, and between grid and pair."""

import pandas as pd
import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer
from annotator_ui.lead import queries
from annotator_ui.lead.campaign import choose_campaign
from annotator_ui.screen import put, screen
from annotator_ui.texts import MENU
from annotator_ui.texts_leads import AGREEMENT as SAYS
from annotator_ui.texts_leads import COMMON
from eds.project.campaign_statistics import CampaignAgreement, ModesCompared

SIGNED = ("krippendorff_alpha", "gwet_ac1", "fleiss_kappa")  # from -1 to 1


@screen(title=SAYS.title, about=SAYS.about, role="lead", section=MENU.labels, position=130)
def show(who: Viewer) -> None:
    """Show the screen."""
    campaign = choose_campaign()
    result = queries.agreement(campaign.name)
    if result.experts.empty:
        put(html.empty(COMMON.nothing_judged_title, COMMON.nothing_judged))
        return
    _coefficients(result)
    if result.agreement is not None and len(result.agreement.pairs_of_experts):
        st.subheader(SAYS.pairs, anchor=False)
        _pairs(result.agreement.pairs_of_experts)
    st.subheader(SAYS.experts, anchor=False)
    _experts(result.experts)
    st.subheader(SAYS.modes, anchor=False)
    _modes(result.modes)


def _coefficients(found: CampaignAgreement) -> None:
    if found.control is not None:
        put(html.note(SAYS.control.format(count=found.control)))
    panel = found.agreement
    if panel is None or not panel.pairable:
        put(html.empty(SAYS.too_few_title, SAYS.too_few if found.control != 0 else SAYS.no_control))
        return
    rows = []
    for _, row in panel.coefficients.iterrows():
        if row["coefficient"] == "fleiss_kappa":
            continue  # alpha says the same, and allows for missing votes
        ends = (-1.0, 1.0) if row["coefficient"] in SIGNED else (0.0, 1.0)
        value, low, high = (float(row[name]) for name in ("value", "low", "high"))
        shown = [None if pd.isna(value) else f"{value:.3f}", _limits(low, high)]
        rows.append([SAYS.names[row["coefficient"]], *shown, html.whisker(value, low, high, ends)])
    put(html.table(SAYS.coefficients, SAYS.heads, rows, numbers=(1, 2), narrow=True))
    put(html.note(SAYS.base.format(pairable=panel.pairable, items=panel.items, unsure=panel.unsure)))


def _pairs(pairs: pd.DataFrame) -> None:
    rows = [
        [
            row["expert_a"],
            row["expert_b"],
            int(row["items"]),
            html.percent(row["agreement"]),
            html.limits(row["low"], row["high"]),
            html.whisker(row["agreement"], row["low"], row["high"]),
            None if pd.isna(row["kappa"]) else f"{row['kappa']:.2f}",
        ]
        for _, row in pairs.iterrows()
    ]
    put(html.table(SAYS.pairs, SAYS.pair_heads, rows, numbers=(2, 3, 4, 6), narrow=True))


def _experts(profiles: pd.DataFrame) -> None:
    rows = [
        [
            row["expert_id"],
            int(row["judged"]),
            html.percent(row["positive_rate"]),
            html.limits(row["low"], row["high"], reason=row["no_interval"]),
            html.percent(row["with_others"]),
            _signed(row["drift"]),
            _counted(row["gold_right"], row["gold_judged"]),
            _counted(row["repeat_same"], row["repeats"]),
        ]
        for _, row in profiles.iterrows()
    ]
    put(html.table(SAYS.experts, SAYS.expert_heads, rows, numbers=range(1, 8)), html.note(SAYS.drift_help))


def _modes(found: ModesCompared) -> None:
    put(html.note(SAYS.modes_about))
    if not found.both:
        put(html.empty(SAYS.modes, SAYS.modes_none))
        return
    kappa = "–" if pd.isna(found.kappa) else f"{found.kappa:.2f}"
    pair, grid = ("–" if pd.isna(item) else f"{item:.1f} s" for item in (found.pair_seconds, found.grid_seconds))
    faster = found.pair_seconds / found.grid_seconds if found.grid_seconds > 0 else float("nan")
    times = "–" if pd.isna(faster) else f"{faster:.1f} : 1"
    put(
        html.figures(
            (SAYS.both, found.both, SAYS.differ.format(grid=found.only_grid, pair=found.only_pair)),
            (
                SAYS.alike,
                html.percent(found.agreement),
                SAYS.alike_about.format(
                    limits=html.limits(found.low, found.high, reason=found.no_interval), kappa=kappa
                ),
            ),
            (SAYS.faster, times, SAYS.faster_about.format(pair=pair, grid=grid)),
        )
    )


def _limits(low: float, high: float) -> str:
    return "–" if pd.isna(low) else f"{low:.3f} to {high:.3f}"


def _signed(value: float) -> str:
    return "–" if pd.isna(value) else f"{100 * value:+.1f} %"


def _counted(part: int, whole: int) -> str:
    return f"{part} of {whole}" if whole else "–"
