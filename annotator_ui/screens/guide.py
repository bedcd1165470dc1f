"""The guidelines of one's campaigns, with their examples, and the keys."""

from collections.abc import Iterator
from html import escape

import streamlit as st

from annotator_ui.app_state import may, site, viewer
from annotator_ui.escape_markdown import as_typed
from annotator_ui.guideline_html import guideline_html
from annotator_ui.texts import GUIDE as SAYS
from eds.labels.guidelines import Example, Guideline, guideline_of
from eds.labels.progress import standing
from eds.labels.queue import list_campaigns

KINDS = (("positive", SAYS.positive), ("negative", SAYS.negative), ("border", SAYS.border))
CARD = (
    "<figure style='margin:0;display:grid;grid-template-columns:1fr 1fr;gap:4px;background:#fff;padding:6px;"
    "border:1px solid #8886;border-radius:6px'>{pictures}</figure>{note}"
)
PICTURE = "<img src='{url}' alt='{alt}' loading='lazy' style='width:100%;aspect-ratio:1;object-fit:contain'>"


def main() -> None:
    """Show the guidelines, then the keys."""
    who = viewer()
    st.header(SAYS.title, anchor=False)
    found = dict(_guidelines(who.name, all_of_them=may(who, "lead")))
    if not found:
        st.subheader(SAYS.none_title, anchor=False)
        st.write(SAYS.none)
    else:
        names = list(found)
        asked = st.segmented_control(SAYS.choose, names, default=names[0], format_func=as_typed) if names[1:] else None
        _guideline(found[asked or names[0]], who.name)
    _keys()


def _guidelines(name: str, *, all_of_them: bool) -> Iterator[tuple[str, Guideline]]:
    """The guideline in force of each open campaign that this person is on (a lead: of all)."""
    store = site().store
    for campaign in list_campaigns(store)["name"]:
        one = standing(store, campaign, name)
        if all_of_them or (one.member and not one.closed):
            guideline = guideline_of(store, campaign)
            if guideline is not None:
                yield campaign, guideline


def _guideline(one: Guideline, name: str) -> None:
    st.caption(SAYS.version(as_typed(one.version)))
    st.html(guideline_html(one.content))
    for kind, title in KINDS:
        examples = [example for example in one.examples if example.kind == kind]
        if examples:
            st.subheader(title, anchor=False)
            places = st.columns(3)
            for number, example in enumerate(examples):
                places[number % 3].html(_card(example, name, title))


def _card(example: Example, name: str, title: str) -> str:
    pictures = site().pictures
    shown = "".join(
        PICTURE.format(url=escape(pictures.url(name, image, "large")), alt=escape(title))
        for image in (example.query_id, example.candidate_id)
    )
    note = f"<p style='margin:4px 0 12px'>{escape(example.note)}</p>" if example.note else ""
    return CARD.format(pictures=shown, note=note)


def _keys() -> None:
    st.subheader(SAYS.keys_title, anchor=False)
    for place, title, keys in zip(
        st.columns(2), (SAYS.pair_mode, SAYS.grid_mode), (SAYS.keys_pair, SAYS.keys_grid), strict=True
    ):
        rows = "".join(
            f"<tr><th scope='row' style='text-align:left;padding:3px 16px 3px 0;white-space:nowrap'>{escape(key)}</th>"
            f"<td style='padding:3px 0'>{escape(meaning)}</td></tr>"
            for key, meaning in keys
        )
        place.markdown(f"**{title}**")
        place.html(f"<table style='border-collapse:collapse'>{rows}</table>")


main()
