"""What can be changed of a campaign: the guideline in force, its panel, practice, its page, its end."""

import streamlit as st

from annotator_ui.app_state import Viewer, acting, site
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.lead.campaign import Campaign
from annotator_ui.lead.form import form_of
from annotator_ui.screen import report_after_rerun, shown_errors
from annotator_ui.tab import tab
from annotator_ui.texts_campaign import SETTINGS as SAYS
from annotator_ui.texts_campaigns import CAMPAIGNS as WORDS
from annotator_ui.texts_leads import COMMON
from annotator_ui.texts_standing import VOTES


@tab(title=SAYS.title, position=60)
def show(who: Viewer, campaign: Campaign) -> None:
    """Show the tab."""
    if campaign.closed:
        st.caption(SAYS.closed_note)
    left, right = st.columns(2, gap="medium")
    if not campaign.closed:
        with left, st.container(border=True):
            st.subheader(SAYS.guideline_title, anchor=False)
            _guideline(campaign, who)
        with left, st.container(border=True):
            st.subheader(SAYS.panel_title, anchor=False)
            _panel(campaign, who)
            _leave(campaign, who)
        with right, st.container(border=True):
            st.subheader(SAYS.form_title, anchor=False)
            _form(campaign, who)
        if campaign.adaptive:
            with right, st.container(border=True):
                st.subheader(VOTES.title, anchor=False)
                _votes(campaign, who)
        with right, st.container(border=True):
            st.subheader(SAYS.practice_title, anchor=False)
            _calibration(campaign, who)
    with right, st.container(border=True):
        st.subheader(SAYS.end_title, anchor=False)
        (_reopen if campaign.closed else _close)(campaign, who)


def _guideline(campaign: Campaign, who: Viewer) -> None:
    versions = site().project.guidelines.list()["version"].tolist()[::-1]
    if not versions:
        st.caption(WORDS.no_versions)
        return
    index = versions.index(campaign.guideline) if campaign.guideline in versions else 0
    version = st.selectbox(WORDS.change, versions, index=index)
    if st.button(WORDS.enforce, disabled=version == campaign.guideline):
        with shown_errors():
            acting(who).guidelines.enforce(version, campaign.name)
            report_after_rerun(WORDS.enforced.format(campaign=campaign.name, version=version))


def _form(campaign: Campaign, who: Viewer) -> None:
    found = site().project.campaigns.of_expert(campaign.name, who.name)
    form = form_of(found.form, found.mode, f"form-{campaign.name}")
    if st.button(WORDS.form_save, disabled=form == found.form):
        with shown_errors():
            acting(who).campaigns.set_form(campaign.name, form)
            report_after_rerun(WORDS.form_saved.format(campaign=campaign.name))


def _panel(campaign: Campaign, who: Viewer) -> None:
    people = site().project.experts.list()
    counts = site().project.campaigns.progress(campaign.name)
    there = counts.loc[counts["left_panel"] == 0, "expert"]
    free = people.loc[(people["state"] != "disabled") & ~people["name"].isin(there), "name"].tolist()
    names = st.multiselect(WORDS.more_experts, free, placeholder=COMMON.choose)
    if st.button(WORDS.join, disabled=not names):
        with shown_errors():
            acting(who).campaigns.add_experts(campaign.name, names)
            report_after_rerun(WORDS.joined.format(campaign=campaign.name, names=", ".join(names)))


def _leave(campaign: Campaign, who: Viewer) -> None:
    counts = site().project.campaigns.progress(campaign.name)
    there = counts[counts["left_panel"] == 0]
    if there.empty:
        st.caption(WORDS.leave_none)
        return
    name = str(st.selectbox(WORDS.leaver, there["expert"].tolist(), key=f"leaver-{campaign.name}"))
    left = int(there.loc[there["expert"] == name, "left"].sum())
    text = WORDS.leave_hands_over if campaign.experts_per_pair else WORDS.leave_shrinks
    st.caption(escape_markdown(text.format(name=name, left=left)))
    # The name is on the button, so that nobody takes the wrong expert off.
    if st.button(f"{WORDS.leave} {escape_markdown(name)}"):
        with shown_errors():
            acting(who).campaigns.remove_expert(campaign.name, name)
            report_after_rerun(WORDS.left_panel.format(name=name, campaign=campaign.name))


def _calibration(campaign: Campaign, who: Viewer) -> None:
    size, needed = site().project.calibration.planned(campaign.name) or (0, 0.8)
    pairs = int(st.number_input(WORDS.calibration, 0, 200, size))
    share = st.number_input(WORDS.needed, 0, 100, round(100 * needed), step=5) / 100
    if st.button(WORDS.set_calibration, disabled=(pairs, share) == (size, needed)):
        with shown_errors():
            acting(who).calibration.plan(campaign.name, pairs, share)
            report_after_rerun(WORDS.calibration_set.format(campaign=campaign.name, pairs=pairs))


def _votes(campaign: Campaign, who: Viewer) -> None:
    st.caption(VOTES.about)
    if st.button(VOTES.again):
        with shown_errors(), st.spinner(""):
            report_after_rerun(acting(who).campaigns.adapt(campaign.name).text)


def _close(campaign: Campaign, who: Viewer) -> None:
    st.caption(WORDS.closing)
    sure = st.checkbox(WORDS.confirm.format(campaign=escape_markdown(campaign.name)), key=f"close-{campaign.name}")
    if st.button(WORDS.close, disabled=not sure):
        with shown_errors():
            acting(who).campaigns.close(campaign.name)
            report_after_rerun(WORDS.closed.format(campaign=campaign.name))


def _reopen(campaign: Campaign, who: Viewer) -> None:
    st.caption(SAYS.reopen_about)
    if st.button(SAYS.reopen, key=f"reopen-{campaign.name}"):
        with shown_errors():
            acting(who).campaigns.reopen(campaign.name)
            report_after_rerun(SAYS.reopened.format(campaign=campaign.name))
