"""The guidelines of one's campaigns, with their examples, and the keys."""

from collections.abc import Iterator

import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer, may, site
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.guideline_html import guideline_html
from annotator_ui.judging.component import show_keys
from annotator_ui.screen import screen
from annotator_ui.texts import GUIDE as SAYS
from eds.project.guidelines import Example, Guideline


@screen(title=SAYS.title, position=30)
def show(who: Viewer) -> None:
    """Show the guidelines, then the keys."""
    result = dict(_guidelines(who.name, all_of_them=may(who, "lead")))
    if not result:
        st.subheader(SAYS.none_title, anchor=False)
        st.write(SAYS.none)
    else:
        names = list(result)
        chosen = names[0]
        if names[1:]:
            chosen = st.segmented_control(SAYS.choose, names, default=chosen, format_func=escape_markdown) or chosen
        _guideline(result[chosen], who.name)
    _keys(who)


def _guidelines(name: str, *, all_of_them: bool) -> Iterator[tuple[str, Guideline]]:
    """The guideline in force of each open campaign that this person is on (a lead: of all)."""
    project = site().project
    for campaign in project.campaigns.list()["name"]:
        item = project.campaigns.of_expert(campaign, name)
        if all_of_them or (item.member and not item.closed):
            guideline = project.guidelines.in_force(campaign)
            if guideline is not None:
                yield campaign, guideline


def _guideline(one: Guideline, name: str) -> None:
    st.caption(SAYS.version.format(version=escape_markdown(one.version)))
    st.html(guideline_html(one.content, one.language))
    for kind, title in (("positive", SAYS.positive), ("negative", SAYS.negative), ("border", SAYS.border)):
        examples = [example for example in one.examples if example.kind == kind]
        if examples:
            st.subheader(title, anchor=False)
            places = st.columns(3)
            for number, example in enumerate(examples):
                places[number % 3].html(_card(example, name, title))


def _card(example: Example, name: str, title: str) -> str:
    images = [site().pictures.url(name, image, "large") for image in (example.query_id, example.candidate_id)]
    return html.example(images, title, example.note)


def _keys(who: Viewer) -> None:
    """The keys as this person has them in this browser."""
    st.subheader(SAYS.keys_title, anchor=False)
    show_keys(who)
