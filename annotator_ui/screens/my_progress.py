"""What is left, how fast it goes, how long it will take; and a reminder to rest."""

import streamlit as st

from annotator_ui.app_state import Viewer, site
from annotator_ui.charts import show_chart
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.formats import duration, number
from annotator_ui.judging.component import show_saving
from annotator_ui.screen import screen
from annotator_ui.texts import HOME, REST_AFTER
from annotator_ui.texts import PROGRESS as SAYS
from eds.project.experts import PAUSE

DAYS = 30  # of the chart


@screen(title=SAYS.title, position=20)
def show(who: Viewer) -> None:
    """Show how far this expert is."""
    project = site().project
    mine = project.campaigns.all_of_expert(who.name)
    activity = project.experts.activity(who.name)
    acts = activity.acts
    show_saving(who)
    if not len(acts):
        st.subheader(SAYS.nothing_title, anchor=False)
        st.write(SAYS.nothing)
        return
    left = sum(item.left for item in mine)
    if activity.stretch_minutes >= REST_AFTER:
        st.info(SAYS.rest.format(n=round(activity.stretch_minutes)))
    figures = st.columns(4)
    figures[0].metric(SAYS.done, number(sum(item.done for item in mine)), border=True)
    figures[1].metric(SAYS.left, number(left), border=True)
    figures[2].metric(
        SAYS.pace,
        number(activity.per_hour) if activity.per_hour else SAYS.unknown,
        help=SAYS.pace_help.format(n=round(PAUSE / 60)),
        border=True,
    )
    time = duration(left / activity.per_hour) if activity.per_hour else SAYS.unknown
    figures[3].metric(SAYS.time_left, time if left else SAYS.none, border=True)
    st.subheader(SAYS.by_campaign, anchor=False)
    for item in mine:
        share = item.done / item.total if item.total else 0.0
        text = HOME.progress.format(done=item.done, total=item.total, share=share) if item.total else HOME.no_pairs
        st.progress(share, f"{escape_markdown(item.name)} · {text}")
    st.subheader(SAYS.per_day, anchor=False)
    show_chart(activity.days_chart(DAYS), SAYS.per_day)
