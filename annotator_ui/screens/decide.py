"""Lead's page: the labels that are stored, and the votes decided again; what would be lost is shown before."""

import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer, acting, site
from annotator_ui.lead.campaign import campaigns
from annotator_ui.screen import link_to, put, report_after_rerun, screen, shown_errors
from annotator_ui.texts import MENU
from annotator_ui.texts_leads import COMMON
from annotator_ui.texts_leads import DECIDE as SAYS
from eds.errors import TruthChangeError

REFUSED = "decide_refused"  # of the session: the choices of a decision that needs consent, and what it would change


@screen(title=SAYS.title, about=SAYS.about, role="lead", section=MENU.labels, position=165)
def show(who: Viewer) -> None:
    """Show the screen."""
    names = campaigns()["name"].tolist()
    if not names:
        put(html.empty(COMMON.none_title, COMMON.none_body))
        link_to("campaigns", COMMON.none_link)
        return
    _stored()
    with st.container(border=True):
        name = st.selectbox(SAYS.campaign, [None, *names], format_func=lambda item: item or SAYS.every, width=460)
        adjudication = st.checkbox(SAYS.adjudication, value=True)
        put(html.note(SAYS.one if name else SAYS.all))
        if st.button(SAYS.decide, type="primary"):
            _decide(who, name, adjudication=adjudication, replace=False)
    refused: tuple[str | None, bool, TruthChangeError] | None = st.session_state.get(REFUSED)
    if refused is not None and refused[:2] == (name, adjudication):
        _ask(who, name, refused[2], adjudication=adjudication)


def _stored() -> None:
    """The labels that are stored, and whether votes came since."""
    project = site().project
    if not project.path("truth").exists():
        put(html.empty(SAYS.none_title, SAYS.none_body))
        return
    truth, state = project.read("truth"), project.state("truth")
    share = float(truth["value"].mean()) if len(truth) else None
    by_lead = int((truth["rule"] == "adjudication").sum())
    rules = ", ".join(sorted(set(truth["rule"]) - {"adjudication"})) or "–"
    put(
        html.figures(
            (SAYS.labels, len(truth), SAYS.rule.format(rule=rules)),
            (
                SAYS.similar,
                int(truth["value"].sum()),
                html.percent(share),
            ),
            (SAYS.by_lead, by_lead, SAYS.by_lead_about),
            (SAYS.state, SAYS.fresh if state.condition == "fresh" else SAYS.stale, "; ".join(state.reasons)),
        )
    )


def _decide(who: Viewer, name: str | None, *, adjudication: bool, replace: bool) -> None:
    st.session_state.pop(REFUSED, None)
    with shown_errors():
        try:
            result = acting(who).decide(campaign=name, adjudication=adjudication, replace=replace)
        except TruthChangeError as error:
            st.session_state[REFUSED] = (name, adjudication, error)
            return
        if not result.stored:
            st.warning(SAYS.other_rule.format(rule=result.stored_rule))
            return
        positive, undecided = result.counts["positive"], result.counts["open"] + result.counts["undefined"]
        report_after_rerun(SAYS.done.format(pairs=result.pairs, positive=positive, undecided=undecided))


def _ask(who: Viewer, name: str | None, change: TruthChangeError, *, adjudication: bool) -> None:
    """Show what a decision would change of the stored labels, and store it only if the lead says so."""
    st.warning(SAYS.refused.format(stored=change.stored, lost=change.lost, turned=change.turned))
    left, right = st.columns(2)
    with left:
        put(html.table(SAYS.directions, SAYS.direction_heads, list(map(list, change.directions.items())), numbers=(1,)))
    with right:
        put(html.table(SAYS.reasons, SAYS.reason_heads, list(map(list, change.reasons.items())), numbers=(1,)))
    if st.button(SAYS.replace):
        _decide(who, name, adjudication=adjudication, replace=True)
