"""p_k as it grows, p from random pairs, each model's part once the campaign is closed."""

from typing import Any

import pandas as pd
import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer
from annotator_ui.charts import show_chart
from annotator_ui.formats import number
from annotator_ui.lead import queries
from annotator_ui.lead.campaign import Campaign
from annotator_ui.lead.promise import show_promise
from annotator_ui.screen import dataframe, empty, width_for
from annotator_ui.tab import tab
from annotator_ui.texts_leads import POOL as SAYS
from eds.project.campaign_statistics import Estimate, PoolYield


@tab(title=SAYS.title, position=50)
def show(who: Viewer, campaign: Campaign) -> None:
    """Show the tab."""
    st.caption(SAYS.about)
    result = queries.pool_yield(campaign.name)
    if result.growth.empty:
        empty(SAYS.nothing_title, SAYS.nothing)
    else:
        _growth(result)
    st.subheader(SAYS.random, anchor=False)
    _random(result)
    if result.checks:
        st.subheader(SAYS.checked, anchor=False)
        _checks(result)
    show_promise(f"yield-{campaign.name}")
    st.subheader(SAYS.models, anchor=False)
    _models(campaign)


def _growth(found: PoolYield) -> None:
    last = found.growth.iloc[-1]
    limits = html.limits(last["low"], last["high"], reason=last["no_interval"])
    counts = SAYS.rate_about.format(limits=limits, positive=int(last["positive"]), labelled=int(last["labelled"]))
    _metrics(
        (SAYS.rate, html.percent(last["rate"]), counts),
        (SAYS.undecided, number(found.undecided), SAYS.undecided_about.format(asked=found.asked)),
    )
    if found.outside:
        st.caption(SAYS.outside.format(outside=found.outside))
    words = SAYS.chart.format(rate=html.percent(last["rate"]), labelled=int(last["labelled"]), limits=limits)
    st.subheader(SAYS.growing, anchor=False)
    show_chart(found.chart(SAYS.axis), words)


def _random(found: PoolYield) -> None:
    facts = found.prevalence
    if facts is None:
        st.caption(SAYS.random_none)
        return
    about = SAYS.bound_about.format(
        positive=facts.known, universe=SAYS.units[facts.universe.unit].format(n=facts.universe.size)
    )
    figures = [(SAYS.bound, html.percent(facts.p_lower_bound, 3), about)]
    for words, estimate, digits in ((SAYS.p, facts.p, 2), (SAYS.found, facts.found, 1), (SAYS.held, facts.recall, 1)):
        if estimate is not None:
            figures.append((words[0], _value(estimate, digits), _limits(estimate, digits, words[1])))
    if facts.gain is not None:
        gain = number(facts.gain.value, 1)
        limits = SAYS.gain_about.format(low=number(facts.gain.low, 1), high=number(facts.gain.high, 1))
        figures.append((SAYS.gain, gain, limits))
    drawn = facts.random
    if drawn is None or found.random is None:
        _metrics(*figures)
        st.caption(SAYS.random_none)
        return
    rate, known = found.random, SAYS.no_known
    if found.known[1]:
        limits = html.limits(rate.sensitivity_low, rate.sensitivity_high, 0)
        known = SAYS.sensitivity_about.format(found=found.known[0], known=found.known[1], limits=limits)
    raw = SAYS.raw_about.format(
        positive=drawn.positive, labelled=drawn.labelled, limits=html.limits(rate.raw_low, rate.raw_high, 2)
    )
    corrected = SAYS.corrected_about.format(limits=html.limits(rate.low, rate.high, 2))
    missing = drawn.drawn - drawn.labelled
    notes = [SAYS.missed, SAYS.random_part]
    notes += [] if drawn.enough else [SAYS.missing.format(missing=missing, drawn=drawn.drawn)]
    notes += [SAYS.left_out.format(left_out=facts.draws_left_out)] if facts.draws_left_out else []
    _metrics(
        *figures,
        (SAYS.raw, html.percent(rate.raw, 2), raw),
        (SAYS.sensitivity, html.percent(rate.sensitivity, 0), known),
        (SAYS.corrected, html.percent(rate.corrected, 2), corrected),
    )
    st.caption(" ".join(notes))


def _metrics(*figures: tuple[str, str, str]) -> None:
    """Figures in bordered boxes, four in a row."""
    for start in range(0, len(figures), 4):
        for place, (label, value, about) in zip(st.columns(4), figures[start : start + 4], strict=False):
            place.metric(label, value, about, delta_color="off", delta_arrow="off", border=True, height="stretch")


def _checks(found: PoolYield) -> None:
    """The estimates beside the known truth of a drawn catalogue."""
    rows = []
    for check in found.checks:
        digits = 2 if check.name == "p" else 1
        estimate = check.estimate
        value, limits = (
            ("–", "–") if estimate is None else (_value(estimate, digits), _limits(estimate, digits, "{limits}"))
        )
        truth = "–" if check.truth is None else html.percent(check.truth, digits)
        rows.append(
            [SAYS.check_names.get(check.name, check.name), value, limits, truth, SAYS.contained[check.contained]]
        )
    frame = pd.DataFrame(rows, columns=list(SAYS.checked_heads))
    st.dataframe(frame, hide_index=True, width="content", alt=SAYS.checked)


def _value(estimate: Estimate, digits: int) -> str:
    return "–" if pd.isna(estimate.value) else html.percent(estimate.value, digits)


def _limits(estimate: Estimate, digits: int, words: str) -> str:
    return words.format(limits=html.limits(estimate.low, estimate.high, digits))


def _models(campaign: Campaign) -> None:
    if not campaign.closed:
        st.caption(SAYS.models_open)
        return
    rows = queries.yield_by_model(campaign.name)
    if rows.empty:
        st.caption(SAYS.models_none)
        return
    config, columns = st.column_config, dict[str, Any]()
    for name, title in SAYS.model_columns.items():
        share = name in ("rate", "low", "high")
        number = config.NumberColumn(title, format="percent" if share else "%d", width=width_for(title))
        columns[name] = config.TextColumn(title) if name == "model" else number
    dataframe(rows, SAYS.models, columns)
