"""Lead's page: the journal, and taking back what nobody has judged."""

from typing import Any

import pandas as pd
import streamlit as st

from annotator_ui.app_state import Viewer, acting, site
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.screen import dataframe, empty, report_after_rerun, screen, shown_errors
from annotator_ui.texts import MENU
from annotator_ui.texts_leads import JOURNAL as SAYS
from eds.project.undo import UndoResult


@screen(title=SAYS.title, about=SAYS.about, role="lead", section=MENU.project, position=215)
def show(who: Viewer) -> None:
    """Show the screen."""
    entries = site().project.journal().entries[::-1]
    if not entries:
        empty(SAYS.empty_title, SAYS.empty_body)
        return
    config, titles = st.column_config, SAYS.columns
    rows = [
        [one.what, one.actor, one.at[:19].replace("T", " "), one.pairs, SAYS.undone if one.undone else ""]
        for one in entries
    ]
    columns: dict[str, Any] = {name: config.TextColumn(title) for name, title in titles.items()}
    columns["pairs"] = config.NumberColumn(titles["pairs"], format="localized", width="small")
    dataframe(pd.DataFrame(rows, columns=list(titles)), SAYS.table, columns)
    texts = {one.name: f"{one.name}: {one.what}" for one in entries if not one.undone}
    if not texts:
        return
    with st.container(border=True):
        name = st.selectbox(SAYS.which, list(texts), format_func=texts.__getitem__)
        with shown_errors():
            plan = acting(who).undo(name, dry_run=True)
            st.caption(_sentence(plan))
            if st.button(
                f"{SAYS.undo} {escape_markdown(name)}"
            ):  # the entry is on the button, so that nobody undoes the wrong one
                done = acting(who).undo(name)
                report_after_rerun(f"{SAYS.done.format(name=name)} {_sentence(done)}")


def _sentence(result: UndoResult) -> str:
    """What is taken back, and what stays."""
    kind = result.entry.name.partition("-")[0]
    texts = {"votes": SAYS.votes, "duplicates": SAYS.duplicates}
    text = texts.get(kind, SAYS.taken).format(n=result.taken_back)
    judged = SAYS.judged.format(n=result.judged) if result.judged else ""
    return " ".join(filter(None, (text, judged)))
