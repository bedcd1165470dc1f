"""Lead's page: accounts. Invitation links are shown once and kept nowhere."""

from urllib.parse import urlsplit

import pandas as pd
import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer, acting, may, site, url
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.formats import date
from annotator_ui.screen import put, report_after_rerun, screen, shown_errors
from annotator_ui.texts import MENU
from annotator_ui.texts_leads import EXPERTS as SAYS
from eds.project.experts import ROLES, Invitation


@screen(title=SAYS.title, about=SAYS.about, role="lead", section=MENU.project, position=210)
def show(who: Viewer) -> None:
    """Show the screen."""
    people = site().project.experts.list()
    rows = [
        [
            row["name"],
            SAYS.roles[row["role"]],
            html.tag(SAYS.states[row["state"]]),
            int(row["labels"]),
            date(row["created_at"]),
        ]
        for _, row in people.iterrows()
    ]
    if rows:
        put(html.table(SAYS.table, SAYS.heads, rows, numbers=(3,)))
    else:
        put(html.empty(SAYS.empty_title, SAYS.empty_body))
    left, right = st.columns(2, gap="large")
    with left, st.container(border=True):
        _invite(who)
    with right, st.container(border=True):
        _link(who, people)
    if may(who, "administrator"):
        with left, st.container(border=True):
            _lock(who, people)
        with right, st.container(border=True):
            _role(who, people)
    else:
        put(html.note(SAYS.administrators))


def _invite(who: Viewer) -> None:
    """A new account with its link."""
    st.subheader(SAYS.invite, anchor=False)
    with st.form("invite", clear_on_submit=True, border=False):
        name = st.text_input(SAYS.name, max_chars=100).strip()
        roles = list(ROLES) if may(who, "administrator") else ["expert"]
        role = st.selectbox(SAYS.role, roles, format_func=SAYS.roles.__getitem__)
        hours = st.number_input(SAYS.hours, 1, 24 * 90, 72)
        sent = st.form_submit_button(SAYS.send, type="primary")
    if sent:
        with shown_errors():
            _show_link(acting(who).experts.add(name, role, hours=hours))


def _link(who: Viewer, people: pd.DataFrame) -> None:
    """A new link for an account there is."""
    st.subheader(SAYS.again, anchor=False)
    put(html.note(SAYS.again_about))
    mine = people if may(who, "administrator") else people[people["role"] == "expert"]
    mine = mine[mine["state"] != "disabled"]
    with st.form("link", border=False):
        name = st.selectbox(SAYS.whom, mine["name"].tolist())
        hours = st.number_input(SAYS.hours, 1, 24 * 90, 72)
        sent = st.form_submit_button(SAYS.make_link, disabled=mine.empty)
    if sent and name:
        with shown_errors():
            _show_link(acting(who).experts.invite(name, hours=hours))


def _show_link(made: Invitation) -> None:
    """The link, in this run only: the next one does not know it."""
    index = urlsplit(st.context.url or "")
    st.success(f"{escape_markdown(SAYS.link_made.format(name=made.expert, hours=made.hours))}  \n{SAYS.link_gone}")
    st.code(f"{index.scheme}://{index.netloc}{url(f'/invitation/{made.invitation}')}", language=None, wrap_lines=True)


def _lock(who: Viewer, people: pd.DataFrame) -> None:
    st.subheader(SAYS.lock, anchor=False)
    put(html.note(SAYS.lock_about))
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
