"""Near duplicates: pairs of pictures, and what is to be done with each; recorded, and undone on the page Journal."""

import math
from typing import Any

import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer, acting, site
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.lead.job_view import show_progress
from annotator_ui.screen import empty, put, report_after_rerun, shown_errors
from annotator_ui.texts_looking import DUPLICATES as SAYS
from eds.choices import DuplicateDecision
from eds.project.near_duplicates import is_searched

PAGE = 8
JOB = "duplicates"
Pairs = dict[DuplicateDecision, list[tuple[str, str]]]


def show(who: Viewer) -> None:
    """Show the pairs."""
    with shown_errors():
        if not _is_ready(who):
            return
        every = site().project.near_duplicates()
        if not every.pairs:
            empty(SAYS.none_title, SAYS.none)
            return
        st.write(SAYS.counts.format(pairs=every.pairs, open=every.open))
        st.caption(SAYS.about)
        table = every.table
        if not st.checkbox(SAYS.every, key="looking-decided"):
            table = table[table["decision"] == ""]
        if table.empty:
            st.caption(SAYS.all_decided)
            return
        pages, page = math.ceil(len(table) / PAGE), 1
        if pages > 1:
            page = int(st.number_input(SAYS.page.format(pages=pages), 1, pages, 1, width=140, key="looking-page"))
        _apply(who, _cards(who, table.iloc[(page - 1) * PAGE : page * PAGE].to_dict("records")))


def _is_ready(who: Viewer) -> bool:
    """Whether near duplicates were searched; a job does it for a catalogue that no scan has read."""
    job = site().jobs.latest(JOB)
    if job is not None and job.state == "running":
        show_progress(JOB, SAYS.steps)
        return False
    if is_searched(site().project):
        return True
    if job is not None and job.state == "failed":
        st.error(escape_markdown(job.error))
    st.caption(SAYS.not_searched)
    if st.button(SAYS.search, type="primary", disabled=site().jobs.running is not None):
        site().jobs.start(JOB, who.name, [("find_near_duplicates", {})])
        st.rerun()
    return False


def _cards(who: Viewer, rows: list[dict[Any, Any]]) -> Pairs:
    """The pairs of a page; what was chosen for them."""
    chosen: Pairs = {}
    for start in range(0, len(rows), 2):
        for place, row in zip(st.columns(2, gap="medium"), rows[start : start + 2], strict=False):
            left, right = str(row["left_id"]), str(row["right_id"])
            with place, st.container(border=True):
                pictures = [site().pictures.url(who.name, name, "thumb") for name in (left, right)]
                put(html.pair(pictures[0], pictures[1], (left, right)))
                about = [SAYS.bits.format(n=int(row["distance"]))]
                if row["same_product"]:
                    about.append(SAYS.same_product)
                if row["decision"]:
                    about.append(SAYS.decided_by.format(decision=SAYS.decided[row["decision"]], name=row["actor"]))
                st.caption(escape_markdown(" · ".join(about)))
                label = SAYS.decision.format(number=start + 1 + rows[start : start + 2].index(row))
                choice = st.selectbox(
                    label,
                    list(SAYS.decisions),
                    format_func=SAYS.decisions.__getitem__,
                    label_visibility="collapsed",
                    key=f"looking-decide-{left}-{right}",
                )
            if choice in ("keep", "merge"):
                decision: DuplicateDecision = "keep" if choice == "keep" else "merge"
                chosen.setdefault(decision, []).append((left, right))
            elif choice:
                chosen.setdefault("drop", []).append((left, right) if choice == "drop-right" else (right, left))
    return chosen


def _apply(who: Viewer, chosen: Pairs) -> None:
    """What the decisions will do, and the button that records them."""
    count = sum(map(len, chosen.values()))
    if chosen:
        plans = [acting(who).decide_duplicates(pairs, name, dry_run=True) for name, pairs in chosen.items()]
        dropped, merged = sum(plan.dropped for plan in plans), sum(plan.merged for plan in plans)
        st.caption(SAYS.preview.format(dropped=dropped, merged=merged) if dropped or merged else SAYS.nothing_changes)
    if st.button(SAYS.apply.format(n=count), type="primary", disabled=not chosen):
        for name, pairs in chosen.items():
            acting(who).decide_duplicates(pairs, name)
        report_after_rerun(SAYS.recorded.format(n=count))
