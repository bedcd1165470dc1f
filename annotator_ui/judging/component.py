"""The judging component, as a Streamlit script mounts it. Everything else happens in the browser and in routes.py."""

from typing import Any

import streamlit as st

from annotator_ui.judging import assets, guideline
from annotator_ui.site import Viewer, site, url
from annotator_ui.texts_judging import ALL
from eds.labels.guidelines import guideline_of
from eds.labels.standing import Standing

PAGE = 30  # candidates of a grid page, at most

_mount = st.components.v2.component("eds_judging", css=assets.styles(), js=assets.loader())


def show(found: Standing, who: Viewer, view: str) -> None:
    """The judging page of this campaign in the view "pair" or "grid"."""
    _mount(key=f"judging-{view}-{found.handle}", data=data_for(found, who, view))


def data_for(found: Standing, who: Viewer, view: str) -> dict[str, Any]:
    """What the page is told; the same at every rerun as long as nothing has changed."""
    pictures = site().pictures
    return {
        "base": site().base,
        "version": assets.version(),
        "modules": [name for name in assets.files() if name != "loader.js"],
        "campaign": found.handle,
        "title": found.name,
        "expert": who.name,
        "view": view,
        "polarity": found.polarity or "similar",
        "size": PAGE,
        "guideline": guideline.shown(
            guideline_of(site().store, found.name), found.guideline, lambda image: pictures.name(who.name, image)
        ),
        "home": url("/"),
        "signIn": url("/sign-in"),
        "texts": ALL,
    }
