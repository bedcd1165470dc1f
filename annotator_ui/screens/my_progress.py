"""What is left, how fast it goes, how long it will take; and a reminder to rest."""

import pandas as pd
import streamlit as st

from annotator_ui.app_state import Viewer, site
from annotator_ui.escape_markdown import as_typed
from annotator_ui.judging.component import show_saving
from annotator_ui.screen import screen
from annotator_ui.texts import HOME, REST_AFTER, told_hours
from annotator_ui.texts import PROGRESS as SAYS
from eds.labels.expert_activity import PAUSE, own_acts, pace
from eds.labels.progress import standing
from eds.labels.queue import list_campaigns


@screen(title=SAYS.title, position=20)
def show(who: Viewer) -> None:
    """Show how far this expert is."""
    store = site().store
    mine = [standing(store, name, who.name) for name in list_campaigns(store)["name"]]
    mine = [one for one in mine if one.member]
    acts = own_acts(store, who.name)
    show_saving(who)
    if not len(acts):
        st.subheader(SAYS.nothing_title, anchor=False)
        st.write(SAYS.nothing)
        return
    found = pace(acts, pd.Timestamp.now("UTC"))
    left = sum(one.left for one in mine)
    if found.stretch_minutes >= REST_AFTER:
        st.info(SAYS.rest(round(found.stretch_minutes)))
    figures = st.columns(4)
    figures[0].metric(SAYS.done, f"{int(acts['first'].sum()):,}")
    figures[1].metric(SAYS.left, f"{left:,}")
    figures[2].metric(
        SAYS.pace, f"{found.per_hour:,.0f}" if found.per_hour else SAYS.unknown, help=SAYS.pace_help(round(PAUSE / 60))
    )
    time = told_hours(left / found.per_hour) if found.per_hour else SAYS.unknown
    figures[3].metric(SAYS.time_left, time if left else SAYS.none)
    st.subheader(SAYS.by_campaign, anchor=False)
    for one in mine:
        st.progress(
            one.done / one.total if one.total else 0.0, f"{as_typed(one.name)} · {HOME.progress(one.done, one.total)}"
        )
    by_day = acts[acts["first"]].groupby(acts["created_at"].dt.date).size()
    if len(by_day) > 1:
        st.subheader(SAYS.per_day, anchor=False)
        st.bar_chart(by_day.rename(SAYS.done), height=220, x_label="", y_label="")
