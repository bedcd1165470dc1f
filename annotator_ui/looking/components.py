"""The parts of the page that run in the browser: the map and the upload."""

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from annotator_ui.app_state import url
from annotator_ui.http_limits import UPLOAD, UPLOAD_BYTES
from annotator_ui.looking.maps import Colour, Drawn, version
from annotator_ui.texts_looking import MAP, SEARCH
from eds.choices import MapMethod

_FOLDER = Path(__file__).parent / "static"


def _component(name: str) -> Any:
    css, js = ((_FOLDER / f"{name}.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    return st.components.v2.component(f"eds_looking_{name}", css=css, js=js)


_map, _upload = _component("map"), _component("upload")


def upload() -> str | None:
    """Let the viewer choose a picture; its token once it has arrived."""
    texts = {
        "choose": SEARCH.upload,
        "about": SEARCH.upload_about,
        **{name: getattr(SEARCH, name) for name in ("sending", "large", "unreadable", "busy", "failed")},
    }
    data = {"address": url(UPLOAD), "most": UPLOAD_BYTES, "texts": {key: str(text) for key, text in texts.items()}}
    return _upload(key="looking-upload", data=data, on_uploaded_change=lambda: None).uploaded  # type: ignore[no-any-return]


def point_map(
    found: Drawn, method: MapMethod, colour: Colour, names: list[str]
) -> tuple[list[list[float]] | None, int | None]:
    """Show the map; a lasso that was just drawn around some points, and a point that was just clicked."""
    asked = {
        "model": found.result.model,
        "method": method,
        "colour": colour,
        "clusters": found.result.clusters,
        "version": version(found.result.model),
    }
    words = ("canvas", "loading", "failed", "move", "lasso", "closer", "away", "fit")
    data = {
        "address": f"{url('/looking/points')}?{urlencode(asked)}",
        "legend": [{"name": name, "colour": colour} for name, colour in zip(names, found.colours, strict=True)],
        "texts": {name: str(getattr(MAP, name)) for name in words},
    }
    state = _map(key="looking-map", data=data, on_lasso_change=lambda: None, on_picked_change=lambda: None)
    return state.lasso, state.picked
