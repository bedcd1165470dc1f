"""Drawing random pairs by a design, in the page of a new campaign."""

import streamlit as st

from annotator_ui.app_state import Viewer, acting
from annotator_ui.lead import queries
from annotator_ui.screen import report_after_rerun, shown_errors
from annotator_ui.texts_standing import DRAWS as SAYS
from eds.choices import DrawDesign


def show_draws(who: Viewer) -> None:
    """Offer to draw random pairs; weighted is the default once enough labels are decided."""
    with st.expander(SAYS.title):
        st.caption(SAYS.about)
        left, right = st.columns(2)
        count = int(left.number_input(SAYS.count, 1, 1_000_000, 200, step=100, key="draw-count"))
        design: DrawDesign | None = right.selectbox(
            SAYS.design,
            (None, "weighted", "strata", "uniform"),
            format_func=lambda one: SAYS.designs[one] if one else SAYS.usual,
            help=SAYS.design_help,
            key="draw-design",
        )
        price = queries.price(count)
        st.caption(SAYS.price.format(judgements=price.judgements, experts=price.experts, hours=price.hours))
        if st.button(SAYS.draw, key="draw"):
            with shown_errors(), st.spinner(""):
                result = acting(who).draw(count, design=design)
                words = SAYS.drawn.format(n=result.drawn, design=result.design, price=result.price.cost)
                report_after_rerun(words)
