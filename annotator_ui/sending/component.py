"""The part of the page that runs in the browser: choosing a folder, and sending its pictures."""

from pathlib import Path

import streamlit as st

from annotator_ui.app_state import url
from annotator_ui.http_limits import CATALOGUE_UPLOAD, UPLOAD_BYTES
from annotator_ui.texts_leads import SENDING as SAYS
from eds.project.received_pictures import suffixes

_FOLDER = Path(__file__).parent / "static"
_CSS, _JS = ((_FOLDER / f"folder.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
_TEXTS = ("choose", "about", "looking", "sending", "arrived", "large", "refused", "failed", "nothing")

_mount = st.components.v2.component("eds_catalogue_folder", css=_CSS, js=_JS)


def choose_folder() -> None:
    """Let the viewer choose a folder of pictures; the script reruns when they have arrived."""
    texts = {name: str(getattr(SAYS, name)) for name in _TEXTS}
    data = {"address": url(CATALOGUE_UPLOAD), "most": UPLOAD_BYTES, "suffixes": sorted(suffixes()), "texts": texts}
    _mount(key="catalogue-folder", data=data, on_sent_change=lambda: None)
