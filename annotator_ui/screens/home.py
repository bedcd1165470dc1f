"""The first page: an expert's campaigns and what comes next; for leads the state of the project, too."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from annotator_ui.app_state import Viewer, may, site
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.formats import duration, number
from annotator_ui.judging.component import show_saving
from annotator_ui.screen import go_to, screen
from annotator_ui.texts import HOME as SAYS
from eds.project.campaigns import ExpertProgress


@screen(title=SAYS.menu, position=10, has_heading=False)
def show(who: Viewer) -> None:
    """Show the project to a lead, and their own campaigns to everybody."""
    project = site().project
    campaigns = project.campaigns.judged_by_experts() if may(who, "lead") else None
    mine = project.campaigns.all_of_expert(who.name)
    if campaigns is not None:
        _project(campaigns)
    if mine or not may(who, "lead"):
        _own(who.name, mine)
        show_saving(who)


def _own(name: str, mine: Sequence[ExpertProgress]) -> None:
    waiting = [item for item in mine if item.left and not item.closed]
    done = [item for item in mine if not item.left and not item.closed]
    closed = [item for item in mine if item.closed]
    if not (waiting or done):
        st.header(SAYS.nothing_title, anchor=False)
        st.write(SAYS.nothing)
    elif waiting:
        st.header(SAYS.title, anchor=False)
    else:
        st.header(SAYS.all_finished_title, anchor=False)
        st.write(SAYS.all_finished)
    per_hour = site().project.experts.activity(name).per_hour
    for index, item in enumerate(waiting):
        _waiting(name, item, per_hour, first=index == 0)
    for item in done:
        _card(item, SAYS.finished)
    if closed:
        st.subheader(SAYS.closed_title, anchor=False)
        for item in closed:
            _card(item, SAYS.closed)


def _waiting(name: str, one: ExpertProgress, per_hour: float | None, *, first: bool) -> None:
    practice = site().project.calibration.is_due(one.name, name)
    with st.container(border=True):
        text, act = st.columns([4, 1], vertical_alignment="center")
        with text:
            st.subheader(escape_markdown(one.name), anchor=False)
            left = SAYS.left_of.format(left=one.left, total=one.total)
            time = f" · {SAYS.time_left.format(duration=duration(one.left / per_hour))}" if per_hour else ""
            st.caption(f"{SAYS.modes[one.mode]} · {left}{time}")
            st.progress(one.done / one.total if one.total else 0.0)
            if practice:
                st.caption(SAYS.practice_why)
        label = SAYS.practice if practice else SAYS.go_on if one.done else SAYS.begin
        if act.button(label, key=f"go-{one.handle}", type="primary" if first else "secondary", width="stretch"):
            go_to("practice" if practice else one.mode, campaign=one.handle)


def _card(one: ExpertProgress, message: str) -> None:
    with st.container(border=True):
        st.subheader(escape_markdown(one.name), anchor=False)
        st.caption(message)


def _project(campaigns: pd.DataFrame) -> None:
    st.header(escape_markdown(site().name), anchor=False)
    _pictures()
    if not len(campaigns):
        st.write(SAYS.no_campaigns if site().project.path("suspects").exists() else SAYS.no_suspects)
        if st.button(SAYS.make, type="primary"):
            go_to("new_campaign" if site().project.path("suspects").exists() else "catalogue")
        return
    counts = site().project.campaigns.progress()
    for name, closed, experts in campaigns[["name", "closed_at", "experts"]].iloc[::-1].to_numpy().tolist():
        _campaign(name, not pd.isna(closed), experts, counts[counts["campaign"] == name])


def _campaign(name: str, closed: bool, experts: int, counts: pd.DataFrame) -> None:
    """One campaign as a lead sees it; `counts` are the rows of its experts."""
    total, left = int(counts["total"].sum()), int(counts.loc[counts["left_panel"] == 0, "left"].sum())
    state = SAYS.closed_state if closed else SAYS.open if left else SAYS.done
    done = total - int(counts["left"].sum())
    with st.container(border=True):
        text, figures, act = st.columns([5, 4, 1], vertical_alignment="center")
        if act.button(SAYS.open_campaign, key=f"open-{name}", width="stretch"):
            go_to("campaign", campaign=name)
        with text:
            st.subheader(escape_markdown(name), anchor=False)
            progress = SAYS.progress.format(done=done, total=total, share=done / total) if total else SAYS.no_pairs
            st.caption(f"{progress} · {state}")
            st.progress(done / total if total else 0.0)
        item, two, three = figures.columns(3)
        item.metric(SAYS.experts, number(experts))
        two.metric(SAYS.left, number(left))
        three.metric(SAYS.flagged, number(int(counts["flagged"].sum())))


@st.fragment(run_every=3)
def _pictures() -> None:
    """Show the progress of the pictures while they are being made."""
    state = site().prefetch.state
    if state.total and not state.finished:
        st.progress(state.ready / state.total, SAYS.pictures.format(ready=state.ready, total=state.total))
    if state.unreadable:
        st.warning(SAYS.unreadable.format(n=state.unreadable))
