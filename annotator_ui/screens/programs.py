"""Tokens with which programs use the API, and for leads the project's webhooks."""

from typing import Any

import pandas as pd
import streamlit as st

from annotator_ui.api.routes import ROOT
from annotator_ui.app_state import Viewer, acting, may, site, url
from annotator_ui.screen import dataframe, report_after_rerun, screen, shown_errors
from annotator_ui.texts_leads import COMMON
from annotator_ui.texts_programs import PROGRAMS as SAYS
from eds.project.webhooks import EVENTS


@screen(title=SAYS.title, about=SAYS.about, in_menu=False)
def show(who: Viewer) -> None:
    """Show the screen."""
    st.link_button(SAYS.document, url(ROOT))
    _tokens(who)
    if may(who, "lead"):
        _webhooks(who)


def _tokens(who: Viewer) -> None:
    """The viewer's own tokens."""
    st.subheader(SAYS.tokens, anchor=False)
    st.caption(SAYS.tokens_about)
    made = st.empty()
    with st.form("token", clear_on_submit=True):
        label = st.text_input(SAYS.label, max_chars=100)
        days = st.number_input(SAYS.days, 1, 366, 90)
        if st.form_submit_button(SAYS.make):
            with shown_errors():
                token = site().project.experts.make_token(who.name, label.strip(), days=days).token
                with made.container(border=True):
                    st.write(SAYS.made)
                    st.code(token, language=None)
    tokens = site().project.experts.tokens(who.name)
    if tokens.empty:
        st.caption(SAYS.none)
        return
    _table(tokens, SAYS.columns, SAYS.tokens)
    chosen, button = st.columns([3, 1], vertical_alignment="bottom")
    names = dict(zip(tokens["number"], tokens["label"], strict=True))
    number = chosen.selectbox(SAYS.which, list(names), format_func=lambda number: f"{number}: {names[number]}")
    if button.button(SAYS.revoke):
        with shown_errors():
            site().project.experts.revoke_token(who.name, int(number))
            report_after_rerun(SAYS.revoked)


def _webhooks(who: Viewer) -> None:
    """The project's webhooks."""
    st.subheader(SAYS.webhooks, anchor=False)
    st.caption(SAYS.webhooks_about)
    made = st.empty()
    with st.form("webhook", clear_on_submit=False):
        address = st.text_input(SAYS.url, placeholder="https://")
        events = st.multiselect(SAYS.events, EVENTS, EVENTS, placeholder=COMMON.choose)
        if st.form_submit_button(SAYS.add):
            with shown_errors():
                secret = acting(who).webhooks.add(address.strip(), events).secret
                with made.container(border=True):
                    st.write(SAYS.added)
                    st.code(secret, language=None)
    webhooks = site().project.webhooks.list()
    if webhooks.empty:
        st.caption(SAYS.no_webhooks)
        return
    _table(webhooks, SAYS.webhook_columns, SAYS.webhooks)
    chosen, button = st.columns([3, 1], vertical_alignment="bottom")
    addresses = dict(zip(webhooks["number"], webhooks["url"], strict=True))
    number = chosen.selectbox(
        SAYS.which_webhook, list(addresses), format_func=lambda number: f"{number}: {addresses[number]}"
    )
    if button.button(SAYS.remove):
        with shown_errors():
            acting(who).webhooks.remove(int(number))
            report_after_rerun(SAYS.removed)


def _table(table: pd.DataFrame, titles: dict[str, str], alt: str) -> None:
    columns: dict[str, Any] = {name: st.column_config.TextColumn(title) for name, title in titles.items()}
    for name in titles:
        if name.endswith("_at"):
            columns[name] = st.column_config.DatetimeColumn(titles[name], format="localized")
    dataframe(table, alt, columns)
