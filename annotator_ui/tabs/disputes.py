"""Pairs on which experts differ, were unsure, or that they flagged; with pictures and raw votes."""

import math
from typing import Any

import pandas as pd
import streamlit as st

from annotator_ui.app_state import Viewer, site
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.formats import seconds as seconds_text
from annotator_ui.lead import queries
from annotator_ui.lead.campaign import Campaign
from annotator_ui.lead.disputes import KEY, Cases, cases, choose_kind, shown_pair
from annotator_ui.screen import empty, link_to, put
from annotator_ui.tab import tab
from annotator_ui.texts_campaigns import CAMPAIGNS
from annotator_ui.texts_leads import COMMON
from annotator_ui.texts_leads import DISPUTED as SAYS

PAGE, COLUMNS = 9, 3


@tab(title=SAYS.title, position=40)
def show(who: Viewer, campaign: Campaign) -> None:
    """Show the tab."""
    st.caption(SAYS.about)
    result = cases(campaign.name)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = choose_kind(result)
        pairs = _chosen(result.pairs[kind])
        pages = math.ceil(len(pairs) / PAGE)
        page = int(st.number_input(SAYS.page.format(pages=pages), 1, pages, 1, width=140)) if pages > 1 else 1
        handle = site().project.campaigns.of_expert(campaign.name, who.name).handle
        link_to("adjudicate", SAYS.adjudicate, icon=":material/balance:", campaign=handle)
    if pairs.empty:
        empty(SAYS.none_title, SAYS.none[kind])
    else:
        _cases(who, result, pairs.iloc[(page - 1) * PAGE : page * PAGE].reset_index(drop=True))
    _why(campaign)


def _chosen(pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs of the chosen category, in the chosen order."""
    categories = queries.categories().reindex(pairs["query_id"]).to_numpy()
    known = sorted({str(name) for name in categories if isinstance(name, str)})
    if len(known) > 1:
        name = st.selectbox(SAYS.category, [None, *known], format_func=lambda item: item or SAYS.every, width=200)
        pairs = pairs if name is None else pairs[categories == name]
    order = st.selectbox(SAYS.order, list(SAYS.orders), format_func=SAYS.orders.__getitem__, width=200)
    return pairs.sort_values(KEY) if order == "query" else pairs


def _cases(who: Viewer, result: Cases, shown: pd.DataFrame) -> None:
    votes, flags, decided = (
        frame.merge(shown[KEY].assign(place=shown.index), on=KEY)
        for frame in (result.votes, result.flags, result.decided)
    )
    places = st.columns(COLUMNS)
    for index, row in shown.iterrows():
        number = int(str(index))
        with places[number % COLUMNS], st.container(border=True):
            _case(who, row, *(frame[frame["place"] == number] for frame in (votes, flags, decided)))


def _case(who: Viewer, row: "pd.Series[Any]", votes: pd.DataFrame, flags: pd.DataFrame, decided: pd.DataFrame) -> None:
    put(shown_pair(who, row))
    with st.container(horizontal=True, gap="xsmall"):
        for vote in votes.to_dict("records"):
            word, sign, colour = (COMMON.unsure, "?", "gray") if pd.isna(vote["value"]) else _said(int(vote["value"]))
            text = SAYS.vote.format(sign=sign, expert=escape_markdown(str(vote["expert_id"])))
            seconds = "" if pd.isna(vote["seconds"]) else f" · {seconds_text(vote['seconds'])}"
            st.badge(text, color=colour, help=f"{word}{seconds} · {CAMPAIGNS.modes[str(vote['mode'])]}")  # type: ignore[arg-type]
    counts = [int((votes["value"] == value).sum()) for value in (1, 0)]
    tie = f" {SAYS.tie}" if counts[0] == counts[1] and counts[0] else ""
    lines = [f"{SAYS.tally.format(yes=counts[0], no=counts[1], unsure=len(votes) - sum(counts))}.{tie}"]
    lines += [SAYS.flag.format(expert=item["expert"], reason=item["reason"]) for item in flags.to_dict("records")]
    for item in decided.to_dict("records"):
        lines.append(SAYS.decided.format(expert=item["expert"], value=_said(int(item["value"]))[0]))
    st.caption("  \n".join(escape_markdown(line) for line in lines))


def _said(value: int) -> tuple[str, str, str]:
    """A vote as a word, a sign and a colour."""
    return (COMMON.similar, "✓", "green") if value else (COMMON.different, "✗", "red")


def _why(campaign: Campaign) -> None:
    """Which aspects experts name with their answers on disputed pairs."""
    why = queries.disputes(campaign.name).aspects
    if why.empty:
        return
    st.subheader(SAYS.why_title, anchor=False)
    shares = [st.column_config.NumberColumn(title, format="percent") for title in SAYS.why_heads[2:4]]
    titles: list[Any] = [*SAYS.why_heads[:2], *shares, *SAYS.why_heads[4:]]
    names: dict[str, Any] = dict(zip(map(str, why.columns), titles, strict=True))
    st.dataframe(why, hide_index=True, width="content", column_config=names, alt=SAYS.why_title)
