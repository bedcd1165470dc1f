"""Lead's page: known pairs (gold): how many there are; more, typed or pasted, or from what leads decided."""

import csv

import pandas as pd
import streamlit as st

from annotator_ui.app_state import Viewer, acting, site
from annotator_ui.formats import number
from annotator_ui.lead.campaign import check_images
from annotator_ui.lead.pair_picker import pick_pairs
from annotator_ui.screen import empty, report_after_rerun, screen, shown_errors
from annotator_ui.texts import MENU
from annotator_ui.texts_campaigns import CAMPAIGNS as SAYS
from eds.errors import InputError

KEY = ["query_id", "candidate_id"]


@screen(title=SAYS.known_title, about=SAYS.known_about, role="lead", section=MENU.labels, position=140)
def show(who: Viewer) -> None:
    """Show the screen."""
    known = site().project.labels.gold()
    if known.empty:
        empty(SAYS.known_none_title, SAYS.known_none)
    else:
        for place, words, value in zip(st.columns(4), SAYS.known_counts, (1, 0), strict=False):
            part = known[known["value"] == value]
            about = SAYS.known_queries.format(queries=part["query_id"].nunique())
            place.metric(words, number(len(part)), about, delta_color="off", delta_arrow="off", border=True)
    with st.expander(SAYS.pick_title, expanded=True):
        picked = pick_pairs(who, "gold", borderline=False)
        if st.button(SAYS.pick_gold.format(count=len(picked)), type="primary", disabled=picked.empty):
            with shown_errors():
                _add(picked.assign(value=(picked["kind"] == "positive").astype(int)).drop(columns="kind"), who)
    with st.form("known", border=False):
        rows = st.text_area(SAYS.known_rows, height=160, placeholder=SAYS.known_example)
        sent = st.form_submit_button(SAYS.known_add)
    if sent:
        with shown_errors():
            _add(_read(rows), who)
    decided = site().project.labels.adjudications()[[*KEY, "value"]]
    fresh = decided[~pd.MultiIndex.from_frame(decided[KEY]).isin(pd.MultiIndex.from_frame(known[KEY]))]
    if len(fresh) and st.button(SAYS.known_decided.format(count=len(fresh))):
        with shown_errors():
            _add(fresh, who)


def _read(rows: str) -> pd.DataFrame:
    """The pairs of comma-separated rows, with or without a heading; their images must be in the catalogue."""
    names = [*KEY, "value"]
    cells = [[cell.strip() for cell in row] for row in csv.reader(rows.strip().splitlines()) if row]
    cells = cells[1:] if cells and cells[0] == names else cells
    faults = [f"row {index}: {','.join(row)}" for index, row in enumerate(cells, 1) if len(row) != len(names)]
    if faults or not cells:
        raise InputError(SAYS.known_unread, where=SAYS.known_title, hint=SAYS.known_rows, faults=faults[:20])
    table = pd.DataFrame(cells, columns=names)
    check_images([*table["query_id"], *table["candidate_id"]], SAYS.known_title)
    return table


def _add(pairs: pd.DataFrame, who: Viewer) -> None:
    new, _ = acting(who).labels.add_gold(pairs)
    report_after_rerun(SAYS.known_added.format(new=new))
