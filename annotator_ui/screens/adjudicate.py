"""Lead's page: one disputed, unsure or flagged pair after the other, on the judging page, to be decided."""

import streamlit as st

from annotator_ui.app_state import Viewer, site
from annotator_ui.judging.component import show_adjudication
from annotator_ui.judging.screen import ROOM
from annotator_ui.lead.campaign import CHOSEN, campaigns, none_yet
from annotator_ui.screen import screen
from annotator_ui.texts import MENU
from annotator_ui.texts_judging import SCREEN

LATEST = 5  # campaigns that are looked through


@screen(title=SCREEN["adjudicate"], role="lead", section=MENU.labels, position=160, has_heading=False)
def show(who: Viewer) -> None:
    """Show the page for the campaign of the address, or the one that was chosen last."""
    project = site().project
    names = campaigns()["name"].tolist()
    if not names:
        none_yet()
    asked = st.query_params.get("campaign", "")
    name = asked if asked in names else project.campaigns.find(asked) or st.session_state.get(CHOSEN)
    chosen = str(name) if name in names else _disputed(names)
    st.session_state[CHOSEN] = chosen
    others = [(other, project.campaigns.of_expert(other, who.name).handle) for other in names]
    st.html(ROOM)
    show_adjudication(project.campaigns.of_expert(chosen, who.name), who, others)


def _disputed(names: list[str]) -> str:
    """The newest campaign in which something is to be decided; without one the newest of all."""
    disputes = site().project.campaigns.disputes
    return next((name for name in names[:LATEST] if len(disputes(name).disputed)), names[0])
