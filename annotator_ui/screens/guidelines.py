"""Lead's page: guidelines, the versions so far, and a new one with example pairs, seen as experts will see it."""

import re
from typing import Any

import pandas as pd
import streamlit as st

from annotator_ui import html, language
from annotator_ui.app_state import Viewer, acting, site
from annotator_ui.guideline_html import guideline_html
from annotator_ui.lead.campaign import check_images
from annotator_ui.lead.pair_picker import pick_pairs
from annotator_ui.screen import dataframe, empty, put, report_after_rerun, screen, shown_errors
from annotator_ui.texts import MENU
from annotator_ui.texts_campaigns import CAMPAIGNS as SAYS
from annotator_ui.texts_leads import COMMON
from eds.project.guidelines import Example, Guideline

ANSWERS = {"similar": 1, "different": 0}
LAST_NUMBER = re.compile(r"\d{0,5}$")
PICKED = "picked_examples"  # of the session
PLACES = ("query_id", "candidate_id", "kind", "answer", "note")


@screen(title=SAYS.guideline_title, about=SAYS.guideline_about, role="lead", section=MENU.labels, position=130)
def show(who: Viewer) -> None:
    """Show the screen."""
    versions = site().project.guidelines.list()
    st.subheader(SAYS.versions, anchor=False)
    if versions.empty:
        empty(SAYS.no_versions_title, SAYS.no_versions)
    else:
        config, titles = st.column_config, SAYS.version_columns
        columns = dict[str, Any]({name: config.TextColumn(title) for name, title in titles.items()})
        for name in ("examples", "campaigns", "labels"):
            columns[name] = config.NumberColumn(titles[name], format="localized", width="small")
        columns["created_at"] = config.DatetimeColumn(titles["created_at"], format="D MMM YYYY", width="small")
        dataframe(versions.iloc[::-1], SAYS.versions, columns)
    names = versions["version"].tolist()[::-1]
    start = st.selectbox(SAYS.start_from, [*names, ""], format_func=lambda item: item or SAYS.blank)
    before = site().project.guidelines.read(start) if start else Guideline("", "")
    version = st.text_input(SAYS.version, value=_following(names), max_chars=100)
    content = st.text_area(SAYS.content, value=before.content, height=240, key=f"content-{start}")
    known = language.languages()
    place = list(known).index(before.language or language.current())
    of = st.selectbox(SAYS.language, list(known), index=place, format_func=known.__getitem__, key=f"language-{start}")
    _pick(who)
    rows_now = _examples(before, f"examples-{start}-{len(_picked())}")
    with st.expander(SAYS.preview, expanded=bool(content)):
        put(guideline_html(content, str(of)))
        _pictures(who, rows_now)
    if st.button(SAYS.save, type="primary"):
        with shown_errors():
            examples = [_example(row) for row in rows_now]
            check_images((name for item in examples for name in (item.query_id, item.candidate_id)), "examples")
            acting(who).guidelines.save_text(version.strip(), content, examples, language=str(of))
            st.session_state.pop(PICKED, None)
            report_after_rerun(SAYS.saved.format(version=version.strip()))


def _picked() -> list[tuple[str, str, str, str, str]]:
    """The examples that were chosen by their pictures, for the version that is being written."""
    found: list[tuple[str, str, str, str, str]] = st.session_state.setdefault(PICKED, [])
    return found


def _pick(who: Viewer) -> None:
    with st.expander(SAYS.pick_title):
        picked = pick_pairs(who, "examples", borderline=True)
        if st.button(SAYS.pick_examples.format(count=len(picked)), disabled=picked.empty):
            for row in picked.to_dict("records"):
                _picked().append((row["query_id"], row["candidate_id"], row["kind"], "", row["note"]))
            report_after_rerun(SAYS.pick_added.format(count=len(picked)))


def _following(names: list[str]) -> str:
    """A name that is free: the newest one with the next number behind it."""
    newest = names[0] if names else ""
    number = LAST_NUMBER.findall(newest)[0]
    words = newest.removesuffix(number)
    words += " " if words and not number else ""
    following = int(number or bool(words)) + 1
    while f"{words}{following}" in names:
        following += 1
    return f"{words}{following}"


def _examples(before: Guideline, key: str) -> list[dict[str, str]]:
    """The editable table of example pairs; rows without any image are left out."""
    text: dict[int | None, str] = {value: name for name, value in ANSWERS.items()}
    rows = []
    for item in before.examples:
        answer = text.get(item.value, "") if item.kind == "border" else ""
        rows.append((item.query_id, item.candidate_id, item.kind, answer, item.note))
    there = {row[:2] for row in rows}
    rows += [row for row in _picked() if row[:2] not in there]
    st.markdown(f"**{SAYS.examples}**")
    st.caption(SAYS.examples_help)
    config = st.column_config
    frame = st.data_editor(
        pd.DataFrame(rows, columns=list(PLACES), dtype=object),
        num_rows="dynamic",
        key=key,
        column_config={
            "query_id": config.TextColumn(SAYS.columns[0]),
            "candidate_id": config.TextColumn(SAYS.columns[1]),
            "kind": config.SelectboxColumn(
                SAYS.columns[2], options=list(SAYS.kinds), default="positive", format_func=_kind
            ),
            "answer": config.SelectboxColumn(SAYS.columns[3], options=["", *ANSWERS], format_func=_answer),
            "note": config.TextColumn(SAYS.columns[4], width="large"),
        },
    )
    clean = frame.astype(object).where(frame.notna(), "")
    result = [{name: str(row[name]).strip() for name in PLACES} for row in clean.to_dict("records")]
    return [row for row in result if row["query_id"] or row["candidate_id"]]


def _answer(name: object) -> str:
    return {"similar": COMMON.similar, "different": COMMON.different}.get(str(name), "")


def _kind(name: object) -> str:
    return SAYS.kinds[str(name)]


def _example(row: dict[str, str]) -> Example:
    value = ANSWERS.get(row["answer"]) if row["kind"] == "border" else None
    return Example(row["query_id"], row["candidate_id"], row["kind"], row["note"], value)


def _pictures(who: Viewer, rows: list[dict[str, str]]) -> None:
    """The examples as experts see them, three in a row."""
    pictures = site().pictures
    complete = [row for row in rows if row["query_id"] and row["candidate_id"]]
    for start in range(0, len(complete), 3):
        for column, row in zip(st.columns(3), complete[start : start + 3], strict=False):
            sides = [pictures.url(who.name, row[name], "thumb") for name in PLACES[:2]]
            word = SAYS.kinds.get(row["kind"], row["kind"])
            with column:
                put(html.example(sides, word, f"{word}. {row['note']}"))
