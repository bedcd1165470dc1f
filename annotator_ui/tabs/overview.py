"""How the campaign is going, and what needs the lead."""

import pandas as pd
import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer
from annotator_ui.charts import show_chart
from annotator_ui.formats import between, day, number
from annotator_ui.lead import queries
from annotator_ui.lead.campaign import Campaign
from annotator_ui.lead.expert_table import expert_table
from annotator_ui.lead.needs import show_needs
from annotator_ui.tab import open_tab, tab
from annotator_ui.texts_campaign import OVERVIEW as SAYS
from eds.project.campaign_overview import CampaignOverview

ALPHA = "krippendorff_alpha"


@tab(title=SAYS.title, position=10)
def show(who: Viewer, campaign: Campaign) -> None:
    """Show the tab."""
    found = queries.overview(campaign.name)
    _figures(campaign, found)
    with st.container(key="needs-first"):  # on a phone
        left, right = st.columns([3, 2], gap="medium")
    with left:
        st.subheader(SAYS.experts, anchor=False)
        expert = expert_table(campaign, key=f"overview-{campaign.name}", brief=True)
        if expert is None:
            st.caption(SAYS.experts_open)
        else:
            open_on = f"{SAYS.experts}: {expert}"
            st.button(open_on, on_click=open_tab, args=("experts",), kwargs={"expert": expert}, type="tertiary")
        _categories(campaign)
    with right:
        show_needs(who, campaign)
        _days(found)


def _figures(campaign: Campaign, found: CampaignOverview) -> None:
    one, two, three, four, five = st.columns(5)
    judged = SAYS.judged_about.format(done=found.done, total=found.total)
    judged += SAYS.spared.format(stopped=found.stopped) if found.stopped else ""
    _metric(one, SAYS.judged, html.percent(found.share, 0), judged)
    pace = number(found.a_day)
    _metric(two, SAYS.pace, pace, SAYS.none_recent if found.a_day == 0 else SAYS.pace_about)
    _metric(three, SAYS.ready, *_ready(found))
    coefficients = queries.agreement(campaign.name).agreement
    alpha = None
    if coefficients is not None and coefficients.pairable:
        alpha = coefficients.coefficients.set_index("coefficient").loc[ALPHA]
    if alpha is None or pd.isna(alpha["value"]):
        _metric(four, SAYS.agreement, "–", SAYS.agreement_none if alpha is None else SAYS.agreement_alike)
    else:
        limits = between(alpha["low"], alpha["high"])
        _metric(four, SAYS.agreement, number(alpha["value"], 2), SAYS.agreement_about.format(limits=limits))
    result = queries.pool_yield(campaign.name)
    if result.growth.empty:
        _metric(five, SAYS.rate, "–", SAYS.rate_none)
        return
    last = result.growth.iloc[-1]
    limits = html.limits(last["low"], last["high"], reason=last["no_interval"])
    gain = result.prevalence.gain if result.prevalence else None
    about = SAYS.rate_about.format(limits=limits)
    if gain is not None and not pd.isna(gain.value):
        about = SAYS.rate_gain.format(limits=limits, gain=gain.value)
    _metric(five, SAYS.rate, html.percent(last["rate"]), about)


def _metric(place: "st.delta_generator.DeltaGenerator", label: str, value: str, about: str) -> None:
    place.metric(label, value, about, delta_color="off", delta_arrow="off", border=True, height="stretch")


def _ready(found: CampaignOverview) -> tuple[str, str]:
    """When the experts are ready, and what is left."""
    if found.state == "closed":
        return SAYS.closed, SAYS.ready_left.format(left=found.left)
    if not found.left:
        return SAYS.finished, SAYS.ready_left.format(left=0)
    about = SAYS.ready_left.format(left=found.left)
    if found.hours_left is not None:
        short = found.hours_left < 1
        hours = SAYS.minutes.format(n=60 * found.hours_left) if short else SAYS.hours.format(n=found.hours_left)
        about = SAYS.ready_about.format(left=found.left, hours=hours)
    return SAYS.unknown_ready if found.ready_at is None else day(found.ready_at), about


def _categories(campaign: Campaign) -> None:
    """The share of disputed pairs by category, with intervals."""
    st.subheader(SAYS.categories, anchor=False)
    found = queries.disagreement(campaign.name)
    if found.by_category.empty:
        st.caption(SAYS.categories_none)
        return
    show_chart(found.category_chart(), SAYS.categories_about)
    st.caption(SAYS.categories_about)


def _days(found: CampaignOverview) -> None:
    """The judgements of every day."""
    if len(found.days) < 2:
        return
    st.subheader(SAYS.days, anchor=False)
    show_chart(found.days_chart(), SAYS.days)
