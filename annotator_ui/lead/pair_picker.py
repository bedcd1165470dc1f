"""Choosing pairs by their pictures, each with what it shows and why: for known pairs and examples of a guideline."""

import math
from typing import Any

import pandas as pd
import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer, site
from annotator_ui.lead import queries
from annotator_ui.screen import put
from annotator_ui.texts_campaigns import CAMPAIGNS as SAYS

PAGE = 8
KEY = ["query_id", "candidate_id"]


def pick_pairs(who: Viewer, key: str, *, borderline: bool) -> pd.DataFrame:
    """Let a lead choose pairs; those chosen on this page: query_id, candidate_id, kind, note."""
    st.caption(SAYS.pick_about)
    pairs = _offered(key)
    if pairs.empty:
        st.caption(SAYS.pick_empty)
        return pd.DataFrame(columns=[*KEY, "kind", "note"])
    pages = math.ceil(len(pairs) / PAGE)
    page = 1
    if pages > 1:
        page = int(st.number_input(SAYS.pick_page.format(pages=pages), 1, pages, 1, width=140, key=f"{key}-page"))
    kinds = [kind for kind in SAYS.pick_answer if borderline or kind != "border"]
    rows: list[dict[str, Any]] = []
    shown = pairs.iloc[(page - 1) * PAGE : page * PAGE].to_dict("records")
    for start in range(0, len(shown), 4):
        for place, row in zip(st.columns(4), shown[start : start + 4], strict=False):
            with place, st.container(border=True):
                rows.append(_card(who, f"{key}-{row['query_id']}-{row['candidate_id']}", row, kinds, len(rows) + 1))
    chosen = [row for row in rows if row["kind"]]
    return pd.DataFrame(chosen, columns=[*KEY, "kind", "note"])


def _offered(key: str) -> pd.DataFrame:
    """The pairs of the chosen source, category and search."""
    categories = sorted({str(name) for name in queries.categories().dropna()})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        source: Any = st.selectbox(
            SAYS.pick_from,
            list(SAYS.pick_sources),
            index=_first_source(key),
            format_func=SAYS.pick_sources.__getitem__,
            width=200,
            key=f"{key}-source",
        )
        category = st.selectbox(
            SAYS.pick_category,
            [None, *categories],
            format_func=lambda item: item or SAYS.pick_every,
            width=180,
            key=f"{key}-category",
        )
        search = st.text_input(SAYS.pick_search, help=SAYS.pick_search_help, width=220, key=f"{key}-search")
        labels = site().project.labels
        found = labels.pairs_to_pick(source, category=category, search=search)
        pictures = list(dict.fromkeys(found["query_id"].astype(str)))[:500]
        like = st.selectbox(
            SAYS.pick_like,
            [None, *pictures],
            format_func=lambda item: item or SAYS.pick_none,
            width=240,
            key=f"{key}-like",
        )
    return labels.pairs_to_pick(source, category=category, search=search, like=like) if like else found


def _first_source(key: str) -> int:
    """The first source that has pairs; looked for once."""
    if f"{key}-source" in st.session_state:
        return 0
    pick: Any = site().project.labels.pairs_to_pick
    return next((place for place, source in enumerate(SAYS.pick_sources) if len(pick(source))), 0)


def _card(who: Viewer, key: str, row: dict[Any, Any], kinds: list[str], number: int) -> dict[str, Any]:
    """One pair: its pictures, what it shows, and why."""
    images = [site().pictures.url(who.name, str(row[name]), "thumb") for name in KEY]
    put(html.example(images, "", ""))
    label = SAYS.pick_answer_label.format(number=number)
    kind = st.selectbox(
        label, kinds, format_func=SAYS.pick_answer.__getitem__, key=f"{key}-kind", label_visibility="collapsed"
    )
    note = st.text_input(SAYS.pick_reason, max_chars=500, key=f"{key}-note") if kind else ""
    return {
        "query_id": str(row["query_id"]),
        "candidate_id": str(row["candidate_id"]),
        "kind": kind,
        "note": note.strip(),
    }
