"""Lead's page: pairs on which experts differ, were unsure, or that they flagged; with pictures and raw votes."""

import math
from typing import Any

import pandas as pd
import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer
from annotator_ui.lead import queries
from annotator_ui.lead.campaign import choose_campaign
from annotator_ui.lead.disputes import KEY, cases, choose_kind, shown_pair, vote_rows
from annotator_ui.screen import link_to, put, screen
from annotator_ui.texts import MENU
from annotator_ui.texts_leads import COMMON
from annotator_ui.texts_leads import DISPUTED as SAYS

PAGE = 8
SAID = {1: COMMON.similar, 0: COMMON.different}


@screen(title=SAYS.title, about=SAYS.about, role="lead", section=MENU.labels, position=150)
def show(who: Viewer) -> None:
    """Show the screen."""
    campaign = choose_campaign()
    result = cases(campaign.name)
    why = queries.disputes(campaign.name).aspects
    if len(why):
        st.subheader(SAYS.why_title, anchor=False)
        shares = [st.column_config.NumberColumn(title, format="percent") for title in SAYS.why_heads[2:4]]
        titles: list[Any] = [*SAYS.why_heads[:2], *shares, *SAYS.why_heads[4:]]
        names: dict[str, Any] = dict(zip(map(str, why.columns), titles, strict=True))
        st.dataframe(why, hide_index=True, width="content", column_config=names)
    left, right = st.columns([5, 1], vertical_alignment="bottom")
    kind = choose_kind(result, left)
    pairs = result.pairs[kind]
    if pairs.empty:
        put(html.empty(SAYS.none_title, SAYS.none[kind]))
        return
    pages = math.ceil(len(pairs) / PAGE)
    page = int(right.number_input(SAYS.page.format(pages=pages), 1, pages, 1)) if pages > 1 else 1
    places = st.columns(2)
    shown = pairs.iloc[(page - 1) * PAGE : page * PAGE].reset_index(drop=True)
    votes = result.votes.merge(shown[KEY].assign(place=shown.index), on=KEY)
    flags = result.flags.merge(shown[KEY].assign(place=shown.index), on=KEY)
    for index, row in shown.iterrows():
        with places[int(str(index)) % 2], st.container(border=True):
            _case(who, int(str(index)) + 1, row, votes[votes["place"] == index], flags[flags["place"] == index])
    link_to("adjudicate", SAYS.adjudicate)


def _case(who: Viewer, number: int, row: "pd.Series[Any]", votes: pd.DataFrame, flags: pd.DataFrame) -> None:
    counts = [int((votes["value"] == value).sum()) for value in (1, 0)]
    tally = SAYS.tally.format(yes=counts[0], no=counts[1], unsure=len(votes) - sum(counts))
    tie = f" {SAYS.tie}" if counts[0] == counts[1] and counts[0] else ""
    rows = vote_rows(votes, SAID)
    table = [html.table(SAYS.votes.format(number=number), SAYS.vote_heads, rows, numbers=(2,))] if rows else []
    reasons = [
        html.note(SAYS.flag.format(expert=item["expert"], reason=item["reason"])) for _, item in flags.iterrows()
    ]
    put(html.case(shown_pair(who, row), [html.note(f"{tally}.{tie}"), *table, *reasons]))
