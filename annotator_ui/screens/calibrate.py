"""An expert's calibration round: pairs with known answers, feedback after each, a result."""

import secrets
import time

import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer, site
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.guideline_html import guideline_html
from annotator_ui.screen import go_to, link_to, put, screen
from annotator_ui.texts_calibration import CALIBRATE as SAYS
from annotator_ui.texts_leads import COMMON
from eds.project.calibration import Feedback, Round
from eds.project.campaigns import ExpertProgress

TOLD = "calibration_told"  # of the session: the feedback that is shown before the next pair
SINCE = "calibration_since"
SAID = {0: SAYS.different, None: SAYS.unsure, 1: SAYS.similar}  # from left to right, as on the judging page
KEYS = {0: "d", None: "u", 1: "s"}


@screen(title=SAYS.title, position=70, in_menu=False)
def show(who: Viewer) -> None:
    """Show the screen."""
    result = _asked(who)
    if result is None:
        put(html.empty(SAYS.none_title, SAYS.none))
        link_to("home", SAYS.home)
        return
    rounds = site().project.calibration.rounds(result.name, who.name)
    text = st.session_state.get(TOLD)
    waiting = site().project.calibration.is_due(result.name, who.name)
    if text is not None or not rounds or not rounds[-1].finished:
        put(html.note(SAYS.about.format(campaign=result.name)))
        _round(who, result, text)
    else:
        _result(who, result, rounds[-1], waiting=waiting)


def _asked(who: Viewer) -> ExpertProgress | None:
    """The campaign of the address, if this expert is asked to calibrate for it or has done so."""
    handle = st.query_params.get("campaign") or st.session_state.get("calibration_campaign", "")
    name = site().project.campaigns.find(handle)
    result = site().project.campaigns.of_expert(name, who.name) if name is not None else None
    if result is None or not result.member or result.closed:
        return None
    st.session_state["calibration_campaign"] = handle
    known = site().project.calibration.is_due(result.name, who.name) or site().project.calibration.rounds(
        result.name, who.name
    )
    return result if known else None


def _guideline(found: ExpertProgress) -> None:
    guideline = site().project.guidelines.in_force(found.name)
    if guideline is not None:
        with st.expander(f"{SAYS.guideline} {escape_markdown(guideline.version)}"):
            put(guideline_html(guideline.content))


def _round(who: Viewer, found: ExpertProgress, told: tuple[int, Feedback] | None) -> None:
    """The next pair with its three buttons; or, right after an answer, that pair with its feedback."""
    made = site().project.calibration.begin(found.name, who.name) if told is None else None
    task = site().project.calibration.next_task(made.round, who.name) if made is not None else None
    pictures = site().pictures
    sides = (told[1].query_id, told[1].candidate_id) if told else (task.query_id, task.candidate_id) if task else None
    if sides is None:
        st.rerun()
        return
    size = made.size if made else site().project.calibration.rounds(found.name, who.name)[-1].size
    text, count = st.columns([4, 1], vertical_alignment="center")
    with text:
        _guideline(found)
    count.markdown(f"**{SAYS.count.format(place=told[0] if told else task.place if task else 0, size=size)}**")
    query, candidate = (pictures.url(who.name, item, "large") for item in sides)
    put(html.pair(query, candidate, (COMMON.query, COMMON.candidate), large=True))
    if told is not None:
        _feedback(told, size)
        return
    st.write(SAYS.question)
    since = st.session_state.setdefault(SINCE, time.monotonic())
    for column, (value, word) in zip(st.columns(3), SAID.items(), strict=True):
        if task is not None and column.button(word, key=f"{task.task}-{word}", width="stretch", shortcut=KEYS[value]):
            seconds = time.monotonic() - since
            values = site().project.calibration.answer(
                who.name, task.task, value, secrets.token_hex(16), seconds=seconds
            )
            st.session_state[TOLD] = (task.place, values)
            st.session_state.pop(SINCE, None)
            st.rerun()


def _feedback(feedback: tuple[int, Feedback], size: int) -> None:
    number, answer = feedback
    words, button = st.columns([4, 1], vertical_alignment="center")
    with words:
        _verdict(answer)
    label = SAYS.go_on if number < size else SAYS.result
    if button.button(label, type="primary", width="stretch", shortcut="Enter"):
        st.session_state.pop(TOLD, None)
        st.rerun()


def _verdict(answer: Feedback) -> None:
    """What was expected, what the expert said, and the guideline's note; its colour says whether that is right."""
    yours = SAYS.yours.format(given=SAID[answer.value])
    note = f"  \n{escape_markdown(answer.note)}" if answer.note else ""
    if answer.right is None:
        st.info(f"{SAYS.either} {yours}{note}")
    elif answer.right:
        st.success(f"{SAYS.right} {yours}{note}")
    else:
        st.warning(f"{SAYS.wrong.format(expected=SAID[answer.expected])} {yours}{note}")


def _result(who: Viewer, found: ExpertProgress, last: Round, *, waiting: bool) -> None:
    st.subheader(SAYS.failed_title if waiting else SAYS.passed_title, anchor=False)
    needed = html.percent(last.needed, 0)
    counts = SAYS.share.format(right=last.right, counted=last.counted, needed=needed)
    put(html.figures(("", html.percent(last.share, 0), counts)))
    st.write(SAYS.failed if waiting else SAYS.passed)
    if waiting:
        if st.button(SAYS.again, type="primary"):
            site().project.calibration.begin(found.name, who.name)
            st.rerun()
    elif st.button(SAYS.begin, type="primary"):
        go_to(found.mode, campaign=found.handle)
    st.subheader(SAYS.looked, anchor=False)
    pictures = site().pictures
    answers = site().project.calibration.feedback(last.round, who.name)
    for start in range(0, len(answers), 3):
        for column, item in zip(st.columns(3), answers[start : start + 3], strict=False):
            sides = [pictures.url(who.name, side, "thumb") for side in (item.query_id, item.candidate_id)]
            with column, st.container(border=True):
                put(html.pair(sides[0], sides[1], (COMMON.query, COMMON.candidate)))
                _verdict(item)
