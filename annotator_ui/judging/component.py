"""The judging component, as Streamlit scripts mount it. Everything else happens in the browser and in routes.py.

It is one component with two starts: the page where pairs are judged, and on pages without pairs a line that says how
much is saved and sends what closed tabs left behind in this browser.
"""

from typing import Any

import streamlit as st

from annotator_ui.app_state import Viewer, site, url
from annotator_ui.guideline_html import guideline_blocks
from annotator_ui.judging import assets
from annotator_ui.texts_judging import ALL
from eds.project.campaigns import ExpertProgress
from eds.project.guidelines import Guideline

PAGE = 30  # candidates of a grid page, at most

_mount = st.components.v2.component("eds_judging", css=assets.styles(), js=assets.loader())


def show(found: ExpertProgress, who: Viewer, view: str) -> None:
    """The judging page of this campaign in the view "pair" or "grid"."""
    _mount(key=f"judging-{view}-{found.handle}", data=data_for(found, who, view))


def show_saving(who: Viewer) -> None:
    """Show the saving status where no pair is shown; the script reruns when all is stored."""
    _mount(key="saving", data=_common(who, "saving.js", judging=False), on_stored_change=lambda: None)


def data_for(found: ExpertProgress, who: Viewer, view: str) -> dict[str, Any]:
    """Return the page's data, the same at every rerun as long as nothing has changed."""
    return {
        **_common(who, "main.js", judging=True),
        "campaign": found.handle,
        "title": found.name,
        "view": view,
        "polarity": found.polarity or "similar",
        "size": PAGE,
        "guideline": _guideline(site().project.guidelines.in_force(found.name), found.guideline, who),
        "home": url("/"),
        "signIn": url("/sign-in"),
    }


def _common(who: Viewer, start: str, *, judging: bool) -> dict[str, Any]:
    """Return the data of both starts; `start` is the module that the loader mounts."""
    return {
        "base": site().base,
        "version": assets.version(),
        "modules": [name for name in assets.files() if name != "loader.js"],
        "start": start,
        "judging": judging,
        "expert": who.name,
        "texts": ALL,
    }


def _guideline(guideline: Guideline | None, version: str, who: Viewer) -> dict[str, Any]:
    """The guideline's version, blocks of text and examples, these with opaque picture names."""
    if guideline is None:
        return {"version": version, "blocks": [], "examples": []}
    examples = [
        {
            "kind": example.kind,
            "query": site().pictures.name(who.name, example.query_id),
            "candidate": site().pictures.name(who.name, example.candidate_id),
            "note": example.note,
        }
        for example in guideline.examples
    ]
    return {"version": guideline.version, "blocks": guideline_blocks(guideline.content), "examples": examples}
