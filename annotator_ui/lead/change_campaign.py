"""Changes to a campaign: the guideline in force, further experts, its end."""

import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer, acting, site
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.lead.campaign import Campaign, choose_campaign
from annotator_ui.lead.form import form_of
from annotator_ui.screen import put, report_after_rerun, shown_errors
from annotator_ui.texts_campaigns import CAMPAIGNS as SAYS


def change_campaign(who: Viewer) -> None:
    """One campaign and what can still be changed of it."""
    campaign = choose_campaign()
    if campaign.closed:
        put(html.note(SAYS.is_closed))
        return
    left, right = st.columns(2, gap="large")
    with left, st.container(border=True):
        _guideline(campaign, who)
    with right, st.container(border=True):
        _panel(campaign, who)
        _leave(campaign, who)
    with left, st.container(border=True):
        _calibration(campaign, who)
    with right, st.container(border=True):
        _close(campaign, who)
    with left, st.container(border=True):
        _form(campaign, who)


def _guideline(campaign: Campaign, who: Viewer) -> None:
    versions = site().project.guidelines.list()["version"].tolist()[::-1]
    if not versions:
        put(html.note(SAYS.no_versions))
        return
    index = versions.index(campaign.guideline) if campaign.guideline in versions else 0
    version = st.selectbox(SAYS.change, versions, index=index)
    if st.button(SAYS.enforce, disabled=version == campaign.guideline):
        with shown_errors():
            acting(who).guidelines.enforce(version, campaign.name)
            report_after_rerun(SAYS.enforced.format(campaign=campaign.name, version=version))


def _form(campaign: Campaign, who: Viewer) -> None:
    found = site().project.campaigns.of_expert(campaign.name, who.name)
    form = form_of(found.form, found.mode, f"form-{campaign.name}")
    if st.button(SAYS.form_save, disabled=form == found.form):
        with shown_errors():
            acting(who).campaigns.set_form(campaign.name, form)
            report_after_rerun(SAYS.form_saved.format(campaign=campaign.name))


def _panel(campaign: Campaign, who: Viewer) -> None:
    people = site().project.experts.list()
    counts = site().project.campaigns.progress(campaign.name)
    there = counts.loc[counts["left_panel"] == 0, "expert"]
    free = people.loc[(people["state"] != "disabled") & ~people["name"].isin(there), "name"].tolist()
    names = st.multiselect(SAYS.more_experts, free)
    if st.button(SAYS.join, disabled=not names):
        with shown_errors():
            acting(who).campaigns.add_experts(campaign.name, names)
            report_after_rerun(SAYS.joined.format(campaign=campaign.name, names=", ".join(names)))


def _leave(campaign: Campaign, who: Viewer) -> None:
    counts = site().project.campaigns.progress(campaign.name)
    there = counts[counts["left_panel"] == 0]
    if there.empty:
        put(html.note(SAYS.leave_none))
        return
    name = str(st.selectbox(SAYS.leaver, there["expert"].tolist(), key=f"leaver-{campaign.name}"))
    left = int(there.loc[there["expert"] == name, "left"].sum())
    text = SAYS.leave_hands_over if campaign.experts_per_pair else SAYS.leave_shrinks
    put(html.note(text.format(name=name, left=left)))
    # The name is on the button, so that nobody takes the wrong expert off.
    if st.button(f"{SAYS.leave} {escape_markdown(name)}"):
        with shown_errors():
            acting(who).campaigns.remove_expert(campaign.name, name)
            report_after_rerun(SAYS.left_panel.format(name=name, campaign=campaign.name))


def _calibration(campaign: Campaign, who: Viewer) -> None:
    size, needed = site().project.calibration.planned(campaign.name) or (0, 0.8)
    pairs = int(st.number_input(SAYS.calibration, 0, 200, size))
    share = st.number_input(SAYS.needed, 0, 100, round(100 * needed), step=5) / 100
    if st.button(SAYS.set_calibration, disabled=(pairs, share) == (size, needed)):
        with shown_errors():
            acting(who).calibration.plan(campaign.name, pairs, share)
            report_after_rerun(SAYS.calibration_set.format(campaign=campaign.name, pairs=pairs))


def _close(campaign: Campaign, who: Viewer) -> None:
    put(html.note(SAYS.closing))
    sure = st.checkbox(SAYS.confirm.format(campaign=escape_markdown(campaign.name)), key=f"close-{campaign.name}")
    if st.button(SAYS.close, disabled=not sure):
        with shown_errors():
            acting(who).campaigns.close(campaign.name)
            report_after_rerun(SAYS.closed.format(campaign=campaign.name))
