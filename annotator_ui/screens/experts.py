"""Lead's page: accounts. Invitation links are shown once and kept nowhere."""

from typing import Any

import pandas as pd
import streamlit as st

from annotator_ui.app_state import Viewer, acting, may, site
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.lead.campaign import campaigns
from annotator_ui.lead.invite import keep_link, names_in, show_kept_links
from annotator_ui.screen import dataframe, empty, report_after_rerun, screen, shown_errors
from annotator_ui.texts import MENU
from annotator_ui.texts_leads import COMMON
from annotator_ui.texts_leads import EXPERTS as SAYS
from eds.errors import InputError
from eds.project.experts import ROLES


@screen(title=SAYS.title, about=SAYS.about, role="lead", section=MENU.project, position=210)
def show(who: Viewer) -> None:
    """Show the screen."""
    show_kept_links()
    people = site().project.experts.list()
    _table(people)
    left, right = st.columns(2, gap="medium")
    with left, st.container(border=True):
        _invite(who, people)
    with right, st.container(border=True):
        _link(who, people)
    if may(who, "administrator"):
        with left, st.container(border=True):
            _lock(who, people)
        with right, st.container(border=True):
            _role(who, people)
    else:
        st.caption(SAYS.administrators)


def _table(people: pd.DataFrame) -> None:
    """Every account: what it may, whether it can begin, what it did, when it was last seen."""
    if people.empty:
        empty(SAYS.empty_title, SAYS.empty_body)
        return
    config, titles = st.column_config, SAYS.columns
    columns: dict[str, Any] = {name: config.TextColumn(title) for name, title in titles.items()}
    columns["labels"] = config.NumberColumn(titles["labels"], format="localized", width="small")
    columns["seen_at"] = config.DatetimeColumn(titles["seen_at"], format="distance")
    columns["created_at"] = config.DatetimeColumn(titles["created_at"], format="D MMM YYYY")
    frame = people.assign(role=people["role"].map(SAYS.roles), state=people["state"].map(SAYS.states))
    dataframe(frame, SAYS.table, columns)


def _invite(who: Viewer, people: pd.DataFrame) -> None:
    """New accounts with their links, on the panels of campaigns."""
    st.subheader(SAYS.invite, anchor=False)
    open_campaigns = campaigns().query("closed_at.isna()")["name"].tolist()
    with st.form("invite", clear_on_submit=True, border=False):
        text = st.text_area(SAYS.names, help=SAYS.names_help, height=80)
        joined = st.multiselect(SAYS.campaigns, open_campaigns, placeholder=COMMON.choose) if open_campaigns else []
        roles = list(ROLES) if may(who, "administrator") else ["expert"]
        role = st.selectbox(SAYS.role, roles, format_func=SAYS.roles.__getitem__)
        hours = st.number_input(SAYS.hours, 1, 24 * 90, 72)
        sent = st.form_submit_button(SAYS.send, type="primary")
    names = names_in(text)
    if sent and names:
        with shown_errors():
            if known := sorted(set(names) & set(people["name"])):
                raise InputError(SAYS.known.format(names=", ".join(known)), hint=SAYS.known_hint)
            for name in names:
                keep_link(acting(who).experts.add(name, role, hours=hours, campaigns=joined))
            st.rerun()


def _link(who: Viewer, people: pd.DataFrame) -> None:
    """A new link for an account there is."""
    st.subheader(SAYS.again, anchor=False)
    st.caption(SAYS.again_about)
    mine = people if may(who, "administrator") else people[people["role"] == "expert"]
    mine = mine[mine["state"] != "disabled"]
    with st.form("link", border=False):
        name = st.selectbox(SAYS.whom, mine["name"].tolist())
        hours = st.number_input(SAYS.hours, 1, 24 * 90, 72)
        sent = st.form_submit_button(SAYS.make_link, disabled=mine.empty)
    if sent and name:
        with shown_errors():
            keep_link(acting(who).experts.invite(name, hours=hours))
            st.rerun()


def _lock(who: Viewer, people: pd.DataFrame) -> None:
    st.subheader(SAYS.lock, anchor=False)
    st.caption(SAYS.lock_about)
    others = people[people["name"] != who.name]
    name = st.selectbox(SAYS.whom, others["name"].tolist(), key="lock-whom")
    if name is None:
        return
    is_locked = bool((people.loc[people["name"] == name, "state"] == "disabled").all())
    # The name is on the button, so that nobody locks the wrong account.
    if st.button(f"{SAYS.unlock_it if is_locked else SAYS.lock_it} {escape_markdown(name)}"):
        with shown_errors():
            experts = acting(who).experts
            (experts.enable if is_locked else experts.disable)(name)
            report_after_rerun((SAYS.unlocked if is_locked else SAYS.locked).format(name=name))


def _role(who: Viewer, people: pd.DataFrame) -> None:
    st.subheader(SAYS.set_role, anchor=False)
    others = people[people["name"] != who.name]
    name = st.selectbox(SAYS.whom, others["name"].tolist(), key="role-whom")
    if name is None:
        return
    now = _role_of(people, name)
    role = st.selectbox(
        SAYS.role, list(ROLES), index=ROLES.index(now), format_func=SAYS.roles.__getitem__, key=f"role-of-{name}"
    )
    if st.button(SAYS.set_it, disabled=role == now):
        with shown_errors():
            acting(who).experts.set_role(name, role)
            report_after_rerun(SAYS.was_set.format(name=name, role=SAYS.roles[role]))


def _role_of(people: pd.DataFrame, name: str) -> str:
    return str(people.loc[people["name"] == name, "role"].iloc[0])
