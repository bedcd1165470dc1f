"""The promise of recall with its price, as the yield of a campaign and the standing show it."""

import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import site
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.formats import number
from annotator_ui.lead import queries
from annotator_ui.texts_standing import PROMISE as SAYS
from eds.errors import EdsError


def show_promise(key: str) -> None:
    """Let the lead choose a share, and show the depth that surely holds it; or why nothing can be promised."""
    st.subheader(SAYS.title, anchor=False)
    st.caption(SAYS.about)
    if not site().project.path("suspects").exists() or not site().project.path("truth").exists():
        st.caption(SAYS.needs)
        return
    left, right = st.columns(2)
    share = left.number_input(SAYS.share, 1, 99, 90, step=5, key=f"{key}-share") / 100
    confidence = right.number_input(SAYS.confidence, 51, 99, 95, step=1, key=f"{key}-confidence") / 100
    try:
        found = queries.promise(share, confidence)
    except EdsError as error:  # nothing can be promised yet: the reason is the answer
        st.caption(escape_markdown(f"{error.what[:1].upper()}{error.what[1:]}. {error.hint}"))
        return
    depth = SAYS.none if found.depth is None else number(found.depth)
    price, about = "–", ""
    if found.price is not None:
        price = number(found.price.hours, 1)
        about = SAYS.price_about.format(pairs=found.price.pairs, judgements=found.price.judgements)
    figures = (
        (SAYS.depth, depth, SAYS.depth_about.format(now=found.depth_now)),
        (SAYS.recall, html.percent(found.recall), SAYS.recall_about.format(low=html.percent(found.low))),
        (SAYS.price, price, SAYS.kept if found.price is not None and not found.price.pairs else about),
    )
    for place, (label, value, words) in zip(st.columns(3), figures, strict=True):
        place.metric(label, value, words, delta_color="off", delta_arrow="off", border=True, height="stretch")
    st.caption(escape_markdown(found.next))
