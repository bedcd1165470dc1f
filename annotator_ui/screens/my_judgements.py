"""What one has judged so far, as pictures; a click opens the pair again."""

from datetime import UTC, datetime

import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer, site, url
from annotator_ui.screen import empty, put, screen
from annotator_ui.texts import MINE as SAYS
from eds.project.labels import Answer

PAGE = 48
MOST = 10_000  # of one campaign, the latest


@screen(title=SAYS.title, about=SAYS.about, position=25)
def show(who: Viewer) -> None:
    """Show the screen."""
    project = site().project
    mine = {item.name: item for item in project.campaigns.all_of_expert(who.name)}
    if not mine:
        empty(SAYS.none_title, SAYS.none)
        return
    left, middle, right = st.columns([2, 2, 1], vertical_alignment="bottom")
    name = str(left.selectbox(SAYS.campaign, list(mine)))
    answers = project.labels.last_answers(name, who.name, MOST)
    days = sorted({_day(answer) for answer in answers}, reverse=True)
    said = middle.segmented_control(
        SAYS.answer, list(SAYS.answers), default="all", format_func=SAYS.answers.__getitem__
    )
    day = right.selectbox(SAYS.day, ["", *days], format_func=lambda item: item or SAYS.every_day)
    fits = {"similar": (1,), "different": (0,), "unsure": (None,)}.get(said or "all", (1, 0, None))
    chosen = [answer for answer in answers if answer.value in fits and day in ("", _day(answer))]
    if not chosen:
        empty(SAYS.none_title, SAYS.none)
        return
    pages = -(-len(chosen) // PAGE)
    page = int(st.number_input(SAYS.page.format(pages=pages), 1, pages, 1, width=180)) if pages > 1 else 1
    st.caption(SAYS.count.format(n=len(chosen)))
    handle, pictures = mine[name].handle, site().pictures
    cards = [
        (
            url(f"/pair?campaign={handle}&open={answer.task.assignment}"),
            [pictures.url(who.name, side, "thumb") for side in (answer.task.query_id, answer.task.candidate_id)],
            SAYS.signs[answer.value],
            SAYS.words[answer.value],
        )
        for answer in chosen[(page - 1) * PAGE : page * PAGE]
    ]
    put(html.judgements(cards))


def _day(answer: Answer) -> str:
    return datetime.fromtimestamp(answer.at / 1e6, UTC).date().isoformat()
