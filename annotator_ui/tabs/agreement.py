"""How far experts agree with each other, where they differ, and whether grid and pair say the same."""

import pandas as pd
import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer
from annotator_ui.charts import show_chart
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.formats import number, seconds
from annotator_ui.lead import queries
from annotator_ui.lead.campaign import Campaign
from annotator_ui.lead.pair_cards import pair_cards
from annotator_ui.screen import dataframe, empty, width_for
from annotator_ui.tab import tab
from annotator_ui.texts_leads import AGREEMENT as SAYS
from annotator_ui.texts_leads import COMMON
from eds.project.campaign_statistics import CampaignAgreement, Disagreement, GradeAgreement, ModesCompared

CARDS = 8
PERCENT = ("agreement", "low", "high", "rate", "positive_rate", "unsure_rate", "with_others")


@tab(title=SAYS.title, position=30)
def show(who: Viewer, campaign: Campaign) -> None:
    """Show the tab."""
    result = queries.agreement(campaign.name)
    if result.experts.empty:
        empty(COMMON.nothing_judged_title, COMMON.nothing_judged)
        return
    found = queries.disagreement(campaign.name)
    _coefficients(result)
    _grades(result.grades)
    left, right = st.columns([2, 1], gap="medium")
    with left:
        _experts(who, campaign, result, found)
        _guidelines(found)
    with right:
        _queries(found)
    st.subheader(SAYS.modes, anchor=False)
    _modes(result.modes)


def _coefficients(found: CampaignAgreement) -> None:
    st.subheader(SAYS.coefficients, anchor=False)
    panel = found.agreement
    if panel is None or not panel.pairable:
        empty(SAYS.too_few_title, SAYS.too_few if found.control != 0 else SAYS.no_control)
        return
    rows = panel.coefficients[panel.coefficients["coefficient"].isin(SAYS.names)]
    rows = rows.assign(name=rows["coefficient"].map(SAYS.names)).reset_index(drop=True)
    left, right = st.columns([2, 3], gap="medium", vertical_alignment="center")
    config = st.column_config
    with left:
        numbers = {
            name: config.NumberColumn(title, format="%.3f", width=width_for(title))
            for name, title in zip(("value", "low", "high"), SAYS.heads[1:], strict=True)
        }
        dataframe(rows, SAYS.coefficients, {"name": config.TextColumn(SAYS.heads[0]), **numbers})
    with right:
        show_chart(panel.charts(SAYS.names)["Agreement"], SAYS.charted)
    notes = [SAYS.about, SAYS.base.format(pairable=panel.pairable, items=panel.items, unsure=panel.unsure)]
    if found.control is not None:
        notes.append(SAYS.control.format(count=found.control))
    st.caption(" ".join(notes))


def _grades(found: GradeAgreement | None) -> None:
    """How far experts agree on grades, where they give them."""
    if found is None:
        return
    alpha = "–" if pd.isna(found.alpha) else number(found.alpha, 2)
    metrics = (
        (SAYS.grades_alpha, alpha, SAYS.grades_about.format(n=found.pairs)),
        (SAYS.grades_apart, number(found.difference, 2), SAYS.grades_within.format(share=found.within_one)),
    )
    for place, (label, value, text) in zip(st.columns(3), metrics, strict=False):
        place.metric(label, value, text, delta_color="off", delta_arrow="off", border=True, height="stretch")


def _experts(who: Viewer, campaign: Campaign, result: CampaignAgreement, found: Disagreement) -> None:
    """Every two experts; the selected two's pairs as pictures."""
    st.subheader(SAYS.pairs, anchor=False)
    rows = pd.DataFrame({"items": []}) if result.agreement is None else result.agreement.pairs_of_experts
    rows = rows[rows["items"] > 0].reset_index(drop=True)  # who has judged no pair of the other's cannot differ
    if rows.empty:
        st.caption(SAYS.too_few)
        return
    only = found.experts.set_index(["expert_a", "expert_b"])["only_a"]
    sides = [(str(a), str(b)) for a, b in zip(rows["expert_a"], rows["expert_b"], strict=True)]
    rows["only_a"] = [int(only.get((a, b), 0)) for a, b in sides]
    rows["only_b"] = [int(only.get((b, a), 0)) for a, b in sides]
    place = dataframe(rows, SAYS.pairs, _columns(SAYS.pair_columns), key=f"pairs-{campaign.name}", select=True)
    if place is None:
        st.caption(SAYS.pairs_about)
        return
    for one, other in (sides[place], sides[place][::-1]):
        st.markdown(f"**{escape_markdown(SAYS.only.format(expert_a=one, expert_b=other))}**")
        pairs = queries.pairs_that_differ(campaign.name, one, other)
        if pairs.empty:
            st.caption(SAYS.only_none)
        else:
            pair_cards(who, pairs.head(CARDS), [""] * min(CARDS, len(pairs)))


def _queries(found: Disagreement) -> None:
    st.subheader(SAYS.queries, anchor=False)
    rows = found.by_query[found.by_query["disputed"] > 0].head(10)
    if rows.empty:
        st.caption(SAYS.only_none)
        return
    dataframe(rows, SAYS.queries, _columns(SAYS.query_columns))


def _guidelines(found: Disagreement) -> None:
    st.subheader(SAYS.guidelines, anchor=False)
    if found.guidelines.empty:
        st.caption(SAYS.guidelines_none)
        return
    dataframe(found.guidelines, SAYS.guidelines, _columns(SAYS.guideline_columns))


def _columns(titles: "dict[str, str]") -> "dict[str, object]":
    """Columns of shares as percent, kappa with two digits, counts whole, names as text."""
    config = st.column_config
    text = ("expert_a", "expert_b", "group", "guideline")
    kinds = {**dict.fromkeys(PERCENT, "percent"), "kappa": "%.2f"}
    return {
        name: config.TextColumn(title)
        if name in text
        else config.NumberColumn(title, format=kinds.get(name, "%d"), width=width_for(title))
        for name, title in titles.items()
    }


def _modes(found: ModesCompared) -> None:
    st.caption(SAYS.modes_about)
    if not found.both:
        st.caption(SAYS.modes_none)
        return
    kappa = number(found.kappa, 2)
    pair, grid = (seconds(item) for item in (found.pair_seconds, found.grid_seconds))
    faster = found.pair_seconds / found.grid_seconds if found.grid_seconds > 0 else float("nan")
    alike = SAYS.alike_about.format(limits=html.limits(found.low, found.high, reason=found.no_interval), kappa=kappa)
    times = "–" if pd.isna(faster) else f"{number(faster, 1)} : 1"
    metrics = (
        (SAYS.both, number(found.both), SAYS.differ.format(grid=found.only_grid, pair=found.only_pair)),
        (SAYS.alike, html.percent(found.agreement), alike),
        (
            SAYS.faster,
            times,
            SAYS.faster_about.format(pair=pair, grid=grid),
        ),
    )
    for place, (label, value, text) in zip(st.columns(3), metrics, strict=True):
        place.metric(label, value, text, delta_color="off", delta_arrow="off", border=True, height="stretch")
