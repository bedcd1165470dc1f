"""A job's progress on a page: redrawn every second by itself, and the whole page once it has ended."""

from collections.abc import Mapping

import streamlit as st

from annotator_ui.app_state import site
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.formats import number
from annotator_ui.texts_leads import JOBS as SAYS


def show_progress(name: str, steps: Mapping[str, str]) -> None:
    """Show the running job of this name; `steps` are the names of its verbs."""
    _progress(name, dict(steps))


@st.fragment(run_every=1.0)
def _progress(name: str, steps: dict[str, str]) -> None:
    job = site().jobs.latest(name)
    if job is None or job.state != "running":
        st.rerun()
        return
    verb = job.steps[min(job.step, len(job.steps) - 1)][0]
    task = f": {escape_markdown(job.task)}" if job.task else ""
    count = f" · {number(job.done)} / {number(job.total)}" if job.total else ""
    st.progress(job.share, f"{steps.get(verb, verb)}{task}{count}")
    if job.messages:
        st.caption(escape_markdown(job.messages[-1]))
    st.caption(SAYS.by.format(name=escape_markdown(job.by), at=job.started))
