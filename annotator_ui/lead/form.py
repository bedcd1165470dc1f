"""The part of a campaign's form that says what the judging page asks and shows."""

import streamlit as st

from annotator_ui.texts_campaigns import CAMPAIGNS as SAYS
from annotator_ui.texts_judging import PAGE
from annotator_ui.texts_leads import COMMON
from eds.project.campaigns import Form


def form_of(given: Form, mode: str, key: str = "form") -> Form:
    """Let the lead change the form of a campaign in this mode; what is chosen now."""
    with st.container():
        question = st.text_input(
            SAYS.form_question,
            given.question,
            help=SAYS.form_question_help,
            max_chars=200,
            key=f"{key}-question",
            placeholder=PAGE["questions"][mode],
        )
        sides = st.columns(2)
        names = [
            side.text_input(label, value, max_chars=60, key=f"{key}-{label}", placeholder=PAGE[usual])
            for side, label, value, usual in zip(
                sides, SAYS.form_sides, (given.query_name, given.candidate_name), ("query", "candidate"), strict=True
            )
        ]
        known = list(dict.fromkeys([*SAYS.form_suggested, *given.aspects]))
        aspects = st.multiselect(
            SAYS.form_aspects,
            known,
            list(given.aspects),
            accept_new_options=True,
            key=f"{key}-aspects",
            placeholder=COMMON.choose,
        )
        similar_from = None
        if mode == "pair" and st.checkbox(SAYS.form_grades, given.similar_from is not None, key=f"{key}-grades"):
            similar_from = int(
                st.number_input(SAYS.form_similar_from, 1, 3, given.similar_from or 2, key=f"{key}-similar")
            )
        notes = st.checkbox(SAYS.form_notes, given.notes, key=f"{key}-notes")
    return Form(question.strip(), names[0].strip(), names[1].strip(), tuple(aspects), similar_from, notes)
