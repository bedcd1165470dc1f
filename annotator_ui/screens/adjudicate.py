"""Lead's page: one disputed, unsure or flagged pair after the other, with the raw votes, to be decided."""

from typing import Any

import pandas as pd
import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer, acting, site
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.lead.campaign import choose_campaign
from annotator_ui.lead.disputes import KEY, cases, choose_kind, shown_pair, vote_rows
from annotator_ui.screen import put, report_after_rerun, screen, shown_errors
from annotator_ui.texts import MENU
from annotator_ui.texts_judging import ADJUDICATE as SAYS
from annotator_ui.texts_leads import DISPUTED

ANSWERS = {1: SAYS.similar, 0: SAYS.different}
PLACE = "adjudicate_place"


@screen(title=SAYS.title, about=SAYS.about, role="lead", section=MENU.labels, position=160)
def show(who: Viewer) -> None:
    """Show the screen."""
    campaign = choose_campaign().name
    result = cases(campaign)
    decided = site().project.labels.adjudications(campaign)
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    kind = choose_kind(result, left)
    pairs = result.pairs[kind]
    if pairs.empty:
        put(html.empty(DISPUTED.none_title, DISPUTED.none[kind]))
        return
    if right.toggle(SAYS.undecided, value=True):
        known = pd.MultiIndex.from_frame(decided[KEY])
        pairs = pairs[~pd.MultiIndex.from_frame(pairs[KEY]).isin(known)]
    if pairs.empty:
        put(html.empty(SAYS.none_title, SAYS.none_body))
        return
    index = min(int(st.session_state.get(PLACE, 0)), len(pairs) - 1)
    row = pairs.iloc[index]
    pictures, about = st.columns([3, 2])
    with pictures:
        put(shown_pair(who, row, large=True))
        _walk(index, len(pairs))
    with about:
        _votes(_of(result.votes, row))
        _flags(who, _of(result.flags, row))
        _decide(who, campaign, row, _of(decided, row))


def _of(frame: pd.DataFrame, row: "pd.Series[Any]") -> pd.DataFrame:
    """The rows of this pair."""
    mine = (frame[KEY[0]] == row[KEY[0]]) & (frame[KEY[1]] == row[KEY[1]])
    result: pd.DataFrame = frame.loc[mine]
    return result


def _walk(place: int, count: int) -> None:
    """To the pairs before and behind."""
    back, text, forward = st.columns([1, 2, 1], vertical_alignment="center")
    back.button(SAYS.back, disabled=place == 0, on_click=_go, args=(place - 1,), width="stretch")
    text.markdown(f"<center>{SAYS.place.format(place=place + 1, count=count)}</center>", unsafe_allow_html=True)
    forward.button(SAYS.forward, disabled=place + 1 >= count, on_click=_go, args=(place + 1,), width="stretch")


def _go(place: int) -> None:
    st.session_state[PLACE] = place


def _votes(votes: pd.DataFrame) -> None:
    if rows := vote_rows(votes, ANSWERS):
        put(html.table(SAYS.votes, DISPUTED.vote_heads, rows, numbers=(2,)))


def _flags(who: Viewer, flags: pd.DataFrame) -> None:
    for _, flag in flags.iterrows():
        st.write(escape_markdown(SAYS.flagged.format(expert=flag["expert"], reason=flag["reason"])))
        for column, words, again in zip(st.columns(2), (SAYS.resolve, SAYS.again), (False, True), strict=True):
            if column.button(words, key=f"{words} {flag['flag']}", width="stretch"):
                with shown_errors():
                    acting(who).labels.resolve_flag(int(flag["flag"]), again=again)
                    report_after_rerun(SAYS.resolved)


def _decide(who: Viewer, campaign: str, row: "pd.Series[Any]", decided: pd.DataFrame) -> None:
    """Let the lead decide; both answers look equal, and a decision can be withdrawn."""
    for _, item in decided.iterrows():
        answer = ANSWERS[int(item["value"])]
        put(html.note(SAYS.decided.format(expert=item["expert"], answer=answer, note=item["note"])))
    key = f"{row[KEY[0]]}|{row[KEY[1]]}"
    note = st.text_input(SAYS.note, key=f"note {key}", max_chars=1000)
    values: list[int | None] = [0, 1] if decided.empty else [0, 1, None]
    for column, value in zip(st.columns(len(values)), values, strict=True):
        words = SAYS.open if value is None else ANSWERS[value]
        if column.button(words, key=f"{value} {key}", width="stretch"):
            with shown_errors():
                query, candidate = (str(row[side]) for side in KEY)
                site().project.labels.adjudicate(query, candidate, campaign, value, by=who.name, note=note)
                report_after_rerun(SAYS.taken_back if value is None else SAYS.done.format(answer=words))
