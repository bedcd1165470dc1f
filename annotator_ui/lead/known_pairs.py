"""Known pairs (gold): how many there are; more, typed or pasted, or from what leads decided."""

import csv

import pandas as pd
import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer, acting, site
from annotator_ui.lead.campaign import check_images
from annotator_ui.screen import put, report_after_rerun, shown_errors
from annotator_ui.texts_campaigns import CAMPAIGNS as SAYS
from eds.errors import InputError

KEY = ["query_id", "candidate_id"]


def known_pairs(who: Viewer) -> None:
    """The counts, more of them, the decisions."""
    known = site().project.labels.gold()
    st.subheader(SAYS.known_title, anchor=False)
    put(html.note(SAYS.known_about))
    if known.empty:
        put(html.empty(SAYS.known_none_title, SAYS.known_none))
    else:
        put(
            html.figures(
                *(
                    _counted(words, known[known["value"] == value])
                    for words, value in zip(SAYS.known_counts, (1, 0), strict=True)
                )
            )
        )
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


def _counted(words: str, rows: pd.DataFrame) -> tuple[str, int, str]:
    return words, len(rows), SAYS.known_queries.format(queries=rows["query_id"].nunique())


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
    st.session_state["campaigns_next"] = SAYS.known_tab
    report_after_rerun(SAYS.known_added.format(new=new))
