"""Lead's page: the journal, and taking back what nobody has judged."""

from typing import Any

import pandas as pd
import streamlit as st

from annotator_ui.app_state import Viewer, acting, site
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.screen import dataframe, empty, report_after_rerun, screen, shown_errors
from annotator_ui.texts import MENU
from annotator_ui.texts_leads import JOURNAL as SAYS
from eds.project.undo import JournalEntry, UndoResult


@screen(title=SAYS.title, about=SAYS.about, role="lead", section=MENU.project, position=215)
def show(who: Viewer) -> None:
    """Show the screen."""
    entries = site().project.journal().entries[::-1]
    if not entries:
        empty(SAYS.empty_title, SAYS.empty_body)
        return
    config, titles = st.column_config, SAYS.columns
    rows = [
        [_title(one), _command(one), one.actor or None, pd.Timestamp(one.at), one.pairs, _state(one)] for one in entries
    ]
    columns: dict[str, Any] = {name: config.TextColumn(title) for name, title in titles.items()}
    columns["at"] = config.DatetimeColumn(titles["at"], format="localized")
    columns["pairs"] = config.NumberColumn(titles["pairs"], format="localized", width="small")
    dataframe(pd.DataFrame(rows, columns=list(titles)), SAYS.table, columns)
    texts = {one.name: _title(one) for one in entries if not one.undone}
    if len(set(texts.values())) < len(texts):  # two draws of a kind
        texts = {name: f"{text} ({name})" for name, text in texts.items()}
    if not texts:
        return
    with st.container(border=True):
        name = st.selectbox(SAYS.which, list(texts), format_func=texts.__getitem__)
        with shown_errors():
            plan = acting(who).undo(name, dry_run=True)
            st.caption(_sentence(plan))
            if st.button(
                SAYS.undo.format(name=escape_markdown(texts[name]))
            ):  # the entry is on the button, so that nobody undoes the wrong one
                done = acting(who).undo(name)
                report_after_rerun(f"{SAYS.done.format(name=texts[name])} {_sentence(done)}")


def _title(one: JournalEntry) -> str:
    """What kind of operation it is, and of what."""
    kind = SAYS.kinds.get(one.kind, one.kind)
    return f"{kind}: {one.subject}" if one.subject else kind


def _command(one: JournalEntry) -> str | None:
    return one.what if one.what.startswith("eds ") else None


def _state(one: JournalEntry) -> str | None:
    return SAYS.undone if one.undone else None


def _sentence(result: UndoResult) -> str:
    """What is taken back, and what stays."""
    kind = result.entry.name.partition("-")[0]
    texts = {"votes": SAYS.votes, "duplicates": SAYS.duplicates}
    text = texts.get(kind, SAYS.taken).format(n=result.taken_back)
    judged = SAYS.judged.format(n=result.judged) if result.judged else ""
    return " ".join(filter(None, (text, judged)))
