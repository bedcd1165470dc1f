"""Who proposed a pair: both pictures, and where each model lists the candidate."""

from typing import Any

import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer, site
from annotator_ui.formats import listed
from annotator_ui.screen import dataframe, put, shown_errors
from annotator_ui.texts_looking import LOOKING
from annotator_ui.texts_looking import PAIR as SAYS


def show(who: Viewer) -> None:
    """Show the form, and the pair."""
    names = []
    for place, label, key in zip(st.columns(2), (SAYS.query, SAYS.candidate), ("query", "candidate"), strict=True):
        given = st.query_params.get(key, "")
        name = place.text_input(label, given, help=SAYS.help, key=f"looking-{key}-{given}").strip()
        if name != given:
            st.query_params[key] = name
        names.append(name)
    query, candidate = names
    if not (query and candidate):
        st.caption(SAYS.none)
        return
    with shown_errors():
        found = site().project.pair_origin(query, candidate)
        pictures = [site().pictures.url(who.name, name, "thumb") for name in names]
        put(html.pair(pictures[0], pictures[1], (query, candidate)))
        label = str(LOOKING.labels[found.label])
        if found.votes_for + found.votes_against:
            label = SAYS.state.format(label=label, votes_for=found.votes_for, votes_against=found.votes_against)
        st.write(label)
        origins = listed([SAYS.origins.get(name, name) for name in found.origins])
        st.write(SAYS.chosen.format(origins=origins) if found.origins else SAYS.not_chosen)
        if found.models.empty:
            st.caption(SAYS.no_lists)
            return
        rows = found.models.assign(proposed=found.models["proposed"].map({True: SAYS.yes, False: None}))
        config = st.column_config
        columns: dict[str, Any] = {name: config.TextColumn(title) for name, title in SAYS.heads.items()}
        columns["score"] = config.NumberColumn(SAYS.heads["score"], format="%.3f")
        columns["listed"] = config.NumberColumn(SAYS.heads["listed"], format="localized")
        dataframe(rows, SAYS.table, columns)
        if found.models["rank"].isna().any():
            st.caption(SAYS.not_listed)
