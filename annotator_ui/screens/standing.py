"""Lead's page: what is known, how surely, and what more work would show."""

from typing import Any

import pandas as pd
import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer, site
from annotator_ui.charts import show_chart
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.formats import between, number
from annotator_ui.lead import queries
from annotator_ui.lead.promise import show_promise
from annotator_ui.screen import dataframe, empty, link_to, screen, width_for
from annotator_ui.texts import MENU
from annotator_ui.texts_campaign import HEAD as CAMPAIGN
from annotator_ui.texts_standing import STANDING as SAYS
from eds.project.campaign_statistics import Estimate
from eds.project.standing import StandingResult


@screen(title=SAYS.title, about=SAYS.about, role="lead", section=MENU.labels, position=105)
def show(who: Viewer) -> None:
    """Show the screen."""
    project = site().project
    if not (project.path("truth").exists() and project.path("suspects").exists()):
        empty(SAYS.none_title, SAYS.none)
        link_to("campaign", CAMPAIGN.decide, icon=":material/gavel:")
        return
    found = queries.standing()
    _shares(found)
    for words in found.missing:
        st.caption(escape_markdown(words[:1].upper() + words[1:]))
    st.caption(found.looking)
    st.subheader(SAYS.models, anchor=False)
    if any(item.left and not item.closed for item in project.campaigns.all_of_expert(who.name)):
        st.caption(SAYS.models_hidden)
    else:
        _models(found)
    _growth(found)
    show_promise("standing")


def _shares(found: StandingResult) -> None:
    rate, interval = found.pool_rate, found.pool_rate.interval
    shown = html.limits(interval.low, interval.high, reason=interval.no_interval)
    figures = (
        (SAYS.p_by_draws if found.p_by_draws else SAYS.p, *_shown(found.p, found.p_at_every_look, 3)),
        (SAYS.pool_rate, html.percent(rate.value), shown),
        (SAYS.recall, *_shown(found.recall, found.recall_at_every_look, 1)),
        (SAYS.positives, *_count(found.positives)),
    )
    for place, (label, value, about) in zip(st.columns(len(figures)), figures, strict=True):
        place.metric(label, value, about, delta_color="off", delta_arrow="off", border=True, height="stretch")
    words = SAYS.labels.format(labels=found.labels, universe=found.universe)
    st.caption(escape_markdown(f"{SAYS.differ} {words}" if found.p_by_draws else words))


def _shown(one: Estimate | None, always: Estimate | None, digits: int) -> tuple[str, str]:
    if one is None or pd.isna(one.value):
        return SAYS.not_known, ""
    limits = html.limits(one.low, one.high, digits)
    if always is not None:
        limits = SAYS.at_every_look.format(limits=limits, always=html.limits(always.low, always.high, digits))
    return html.percent(one.value, digits), limits


def _count(one: Estimate | None) -> tuple[str, str]:
    if one is None or pd.isna(one.value):
        return SAYS.not_known, ""
    return number(one.value), between(one.low, one.high, 0)


def _models(found: StandingResult) -> None:
    rows = pd.DataFrame([vars(one) for one in found.models])
    config, columns = st.column_config, dict[str, Any]()
    for name, title in SAYS.model_columns.items():
        form = "percent" if name.startswith("precision") else "%.3f" if name.startswith("auc") else "localized"
        shown = config.NumberColumn(title, format=form, width=width_for(title))
        columns[name] = config.TextColumn(title) if name == "model" else shown
    if len(rows):
        dataframe(rows, SAYS.models, columns)
    if found.plans:
        st.subheader(SAYS.differences, anchor=False)
        st.markdown("\n".join(f"- {escape_markdown(plan.text)}" for plan in found.plans))


def _growth(found: StandingResult) -> None:
    charts = found.charts()
    if not charts:
        return
    st.subheader(SAYS.more, anchor=False)
    first, last = found.growth.iloc[0], found.growth.iloc[-1]
    words = SAYS.width_alt.format(
        first=html.percent(first["recall_width"]), last=html.percent(last["recall_width"]), hours=last["hours"]
    )
    left, right = st.columns([3, 2], gap="medium")
    for chart in charts.values():
        with left:
            st.caption(SAYS.width)
            show_chart(chart, words)
    config = st.column_config
    columns = {
        name: config.NumberColumn(
            title, format="percent" if "width" in name else "%.1f" if name == "hours" else "localized"
        )
        for name, title in SAYS.more_columns.items()
    }
    with right:
        dataframe(found.growth, SAYS.more, columns)
