"""Pairs as cards with both pictures, four in a row; on a phone below each other."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer, site
from annotator_ui.screen import put

KEY = ("query_id", "candidate_id")


def pair_cards(who: Viewer, pairs: pd.DataFrame, notes: Sequence[str], columns: int = 4) -> None:
    """Show pairs (query_id, candidate_id), each with a note below."""
    names = list(KEY)
    rows = list(zip(pairs[names].itertuples(index=False, name=None), notes, strict=True))
    for start in range(0, len(rows), columns):
        for place, (pair, note) in zip(st.columns(columns), rows[start : start + columns], strict=False):
            images = [site().pictures.url(who.name, str(image), "thumb") for image in pair]
            with place:
                put(html.example(images, "", note))
