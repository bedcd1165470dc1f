"""Decide and report: from votes to labels and a report, as one job; what would be lost is shown before it is."""

from typing import Any

import pandas as pd
import streamlit as st

from annotator_ui.app_state import Viewer, site
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.jobs import Job
from annotator_ui.lead.job_view import show_progress
from annotator_ui.screen import link_to, shown_errors
from annotator_ui.texts_campaign import CONCLUDE as SAYS

JOB = "conclude"


def conclude_dialog(who: Viewer, campaign: str) -> None:
    """Open the dialog."""
    st.dialog(SAYS.title, width="medium")(_choose)(who, campaign)


def _choose(who: Viewer, campaign: str) -> None:
    st.markdown(_stored())
    name = st.selectbox(SAYS.campaign, [None, campaign], format_func=lambda item: item or SAYS.every)
    st.caption(SAYS.one if name else SAYS.all)
    adjudication = st.checkbox(SAYS.adjudication, value=True)
    st.caption(SAYS.report_kept)
    if st.button(SAYS.start, type="primary"):
        with shown_errors():
            start(who, {"campaign": name, "adjudication": adjudication})
            st.rerun()


def start(who: Viewer, options: dict[str, Any]) -> None:
    """Start the job; `options` are those of the verb decide."""
    site().jobs.start(JOB, who.name, [("decide", options), ("report", {"keep": True})])


def _stored() -> str:
    """The labels that are stored, and whether votes came since."""
    project = site().project
    if not project.path("truth").exists():
        return SAYS.none
    truth, state = project.read("truth"), project.state("truth")
    by_lead = truth["rule"] == "adjudication"
    text = SAYS.stored.format(
        labels=len(truth),
        similar=int(truth["value"].sum()),
        by_lead=int(by_lead.sum()),
        rule=", ".join(sorted(set(truth.loc[~by_lead, "rule"]))) or "–",
    )
    fresh = state.condition == "fresh"
    return escape_markdown(f"{text} {SAYS.fresh if fresh else SAYS.stale.format(reasons='; '.join(state.reasons))}")


def show_conclusion(who: Viewer) -> None:
    """The job's progress while it runs, and its outcome until it is closed."""
    job = site().jobs.latest(JOB)
    if job is None:
        return
    if job.state == "running":
        show_progress(JOB, SAYS.steps)
        return
    with st.container(border=True):
        if job.change is not None:
            _ask(who, job, job.change)
        elif job.state == "failed":
            st.error(escape_markdown(SAYS.failed.format(error=job.error)))
        else:
            decided = job.results["decide"]
            st.success(SAYS.done.format(pairs=decided["pairs"]))
            if not decided["stored"]:
                st.warning(escape_markdown(SAYS.other_rule.format(rule=decided["stored_rule"])))
        with st.container(horizontal=True, vertical_alignment="center"):
            if job.state == "done":
                link_to("report", SAYS.open_report, icon=":material/description:")
            if st.button(SAYS.dismiss):
                site().jobs.forget(JOB)
                st.rerun()


def _ask(who: Viewer, job: Job, change: dict[str, Any]) -> None:
    """Show what a decision would change of the stored labels, and store it only if the lead says so."""
    st.warning(SAYS.refused.format(**{name: change[name] for name in ("stored", "lost", "turned")}))
    places = st.columns(2)
    for place, name, heads in zip(
        places, ("directions", "reasons"), (SAYS.direction_heads, SAYS.reason_heads), strict=True
    ):
        frame = pd.DataFrame(list(change[name].items()), columns=list(heads))
        place.dataframe(frame, hide_index=True, alt=getattr(SAYS, name))
    if st.button(SAYS.replace):
        with shown_errors():
            start(who, {**dict(job.steps[0][1]), "replace": True})
            st.rerun()
