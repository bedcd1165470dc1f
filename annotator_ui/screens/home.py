"""The first page: an expert's campaigns with pictures, what is left and what was done; for leads every campaign."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st
from markupsafe import Markup

from annotator_ui import html
from annotator_ui.app_state import Viewer, may, site, url
from annotator_ui.charts import show_chart
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.formats import duration, number
from annotator_ui.judging.component import show_saving
from annotator_ui.lead import queries
from annotator_ui.lead.needs import head
from annotator_ui.screen import empty, go_to, link_to, put, screen
from annotator_ui.texts import HOME as SAYS
from annotator_ui.texts import MINE
from eds.project.campaigns import ExpertProgress
from eds.project.experts import Activity

MOSAIC = 4  # pictures of a campaign
LAST = 6  # answers
DAYS = 14  # of the chart
NEEDS = 2  # of a campaign


@screen(title=SAYS.menu, position=10, has_heading=False)
def show(who: Viewer) -> None:
    """Show the project to a lead, and their own campaigns to everybody."""
    project = site().project
    campaigns = project.campaigns.judged_by_experts() if may(who, "lead") else None
    mine = project.campaigns.all_of_expert(who.name)
    if campaigns is not None:
        _project(who, campaigns)
    if mine or not may(who, "lead"):
        _own(who, mine)
        show_saving(who)


def _own(who: Viewer, mine: Sequence[ExpertProgress]) -> None:
    waiting = [item for item in mine if item.left and not item.closed]
    done = [item for item in mine if not item.left and not item.closed]
    closed = [item for item in mine if item.closed]
    if waiting:
        st.header(SAYS.title, anchor=False)
    elif done:
        st.header(SAYS.all_finished_title, anchor=False)
        st.write(SAYS.all_finished)
    else:
        st.header(SAYS.nothing_title, anchor=False)
        st.write(SAYS.nothing)
    activity = site().project.experts.activity(who.name)
    for index, item in enumerate(waiting):
        _waiting(who, item, activity.per_hour, first=index == 0)
    for item in done:
        _card(who, item, SAYS.finished)
    _done_so_far(who, activity, mine)
    if closed:
        st.subheader(SAYS.closed_title, anchor=False)
        for item in closed:
            _card(who, item, SAYS.closed)


def _waiting(who: Viewer, one: ExpertProgress, per_hour: float | None, *, first: bool) -> None:
    practice = site().project.calibration.is_due(one.name, who.name)
    lines = [
        f"{SAYS.modes[one.mode]} · {SAYS.left_of.format(left=one.left, total=one.total)}",
        _time_left(one, per_hour),
    ]
    label = SAYS.practice if practice else SAYS.go_on if one.done else SAYS.begin
    with st.container(border=True):
        text, act = st.columns([5, 1], vertical_alignment="center")
        with text:
            put(_work(who, one, [*lines, SAYS.practice_why] if practice else lines))
        if act.button(label, key=f"go-{one.handle}", type="primary" if first else "secondary", width="stretch"):
            go_to("practice" if practice else one.mode, campaign=one.handle)


def _work(who: Viewer, one: ExpertProgress, lines: Sequence[str]) -> Markup:
    """A campaign in pictures and words: what comes next, or what was judged last."""
    labels = site().project.labels
    tasks = labels.next_tasks(one.name, who.name, MOSAIC) if one.left and not one.closed else ()
    tasks = tasks or [answer.task for answer in labels.last_answers(one.name, who.name, MOSAIC)]
    images = list(dict.fromkeys(image for task in tasks for image in (task.query_id, task.candidate_id)))[:MOSAIC]
    pictures = [site().pictures.url(who.name, image, "thumb") for image in images]
    return html.work(one.name, lines, pictures, one.done / one.total if one.total else 0.0)


def _time_left(one: ExpertProgress, per_hour: float | None) -> str:
    """How long the rest takes: at this expert's pace, or as long as others took in this mode."""
    if per_hour:
        return SAYS.time_left.format(duration=duration(one.left / per_hour))
    seconds = site().project.campaigns.seconds("grid" if one.mode == "grid" else "pair").value
    return SAYS.time_expected.format(duration=duration(one.left * seconds / 3600))


def _card(who: Viewer, one: ExpertProgress, message: str) -> None:
    with st.container(border=True):
        put(_work(who, one, [message]))


def _done_so_far(who: Viewer, activity: Activity, mine: Sequence[ExpertProgress]) -> None:
    """Today, this week, the days, and the last answers, which open again."""
    if not activity.acts["first"].any():
        return
    days = activity.last_days(DAYS)
    left, right = st.columns([2, 3], vertical_alignment="center")
    with left.container(horizontal=True):
        st.metric(SAYS.today, number(int(days["judgements"].iloc[-1])), border=True)
        st.metric(SAYS.week, number(int(days["judgements"].tail(7).sum())), border=True)
    if (days["judgements"] > 0).sum() > 1:
        with right:
            show_chart(activity.days_chart(DAYS), SAYS.days)
    latest = str(activity.acts["campaign"].iloc[-1])
    campaign = next((item for item in mine if item.name == latest), None)
    if campaign is None:
        return
    st.subheader(SAYS.last, anchor=False)
    pictures = site().pictures
    cards = [
        (
            url(f"/pair?campaign={campaign.handle}&open={answer.task.assignment}"),
            [pictures.url(who.name, side, "thumb") for side in (answer.task.query_id, answer.task.candidate_id)],
            MINE.signs[answer.value],
            MINE.words[answer.value],
        )
        for answer in site().project.labels.last_answers(latest, who.name, LAST)
    ]
    put(html.judgements(cards))
    with st.container(horizontal=True):
        link_to("my_judgements", MINE.title, icon=":material/history:")
        link_to("guide", SAYS.guideline, icon=":material/menu_book:")


def _project(who: Viewer, campaigns: pd.DataFrame) -> None:
    st.header(escape_markdown(site().name), anchor=False)
    _pictures()
    if not len(campaigns):
        ready = site().project.path("suspects").exists()
        empty(SAYS.no_campaigns_title, SAYS.no_campaigns if ready else SAYS.no_suspects)
        if st.button(SAYS.make if ready else SAYS.catalogue, type="primary"):
            go_to("new_campaign" if ready else "catalogue")
        return
    counts = site().project.campaigns.progress()
    for name, closed, experts in campaigns[["name", "closed_at", "experts"]].iloc[::-1].to_numpy().tolist():
        _campaign(who, name, not pd.isna(closed), experts, counts[counts["campaign"] == name])
    link_to("new_campaign", SAYS.make, icon=":material/add:")


def _campaign(who: Viewer, name: str, closed: bool, experts: int, counts: pd.DataFrame) -> None:
    """One campaign as a lead sees it, and what needs them most; `counts` are the rows of its experts."""
    total, left = int(counts["total"].sum()), int(counts.loc[counts["left_panel"] == 0, "left"].sum())
    state = SAYS.closed_state if closed else SAYS.open if left else SAYS.done
    done = total - int(counts["left"].sum())
    needs = () if closed else queries.needs(name).needs
    progress = SAYS.progress.format(done=done, total=total, share=done / total) if total else SAYS.no_pairs
    lines = [f"{progress} · {state}", f"{SAYS.experts}: {number(experts)} · {SAYS.left}: {number(left)}"]
    with st.container(border=True):
        text, words, act = st.columns([4, 3, 1], vertical_alignment="center")
        with text:
            put(html.work(name, lines, (), done / total if total else 0.0))
        for need in needs[:NEEDS]:
            words.markdown(f":orange[:material/notifications:] {escape_markdown(head(need))}")
        if len(needs) > NEEDS:
            words.caption(SAYS.more_needs.format(count=len(needs) - NEEDS))
        if not needs and not closed:
            words.markdown(f":green[:material/check_circle:] {SAYS.no_needs}")
        if act.button(SAYS.open_campaign, key=f"open-{name}", width="stretch"):
            go_to("campaign", campaign=name)


@st.fragment(run_every=3)
def _pictures() -> None:
    """Show the progress of the pictures while they are being made."""
    state = site().prefetch.state
    if state.total and not state.finished:
        st.progress(state.ready / state.total, SAYS.pictures.format(ready=state.ready, total=state.total))
    if state.unreadable:
        st.warning(SAYS.unreadable.format(n=state.unreadable))
