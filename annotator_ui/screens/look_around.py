"""Lead's page: search, the map, near duplicates, and who proposed a pair."""

import streamlit as st

from annotator_ui.app_state import Viewer, site
from annotator_ui.looking import duplicates_view, map_view, pair_view, search_view
from annotator_ui.screen import empty, link_to, screen
from annotator_ui.texts import MENU
from annotator_ui.texts_looking import LOOKING as SAYS

VIEWS = {
    "search": search_view.show,
    "map": map_view.show,
    "duplicates": duplicates_view.show,
    "pair": pair_view.show,
}
NEED_VECTORS = ("search", "map")


@screen(title=SAYS.title, about=SAYS.about, role="lead", section=MENU.project, position=207)
def show(who: Viewer) -> None:
    """Show the screen."""
    project = site().project
    if not project.path("images").exists():
        _nothing(SAYS.no_images_title, SAYS.no_images)
        return
    names = list(VIEWS)
    asked = st.query_params.get("view", names[0])
    view = st.segmented_control(
        SAYS.view,
        names,
        default=asked if asked in names else names[0],
        format_func=SAYS.views.__getitem__,
        required=True,
        label_visibility="collapsed",
        key="looking-view",
    )
    if view != asked:
        st.query_params.clear()
        st.query_params["view"] = str(view)
    if view in NEED_VECTORS and not project.models("embeddings"):
        _nothing(SAYS.no_models_title, SAYS.no_models)
        return
    VIEWS[str(view)](who)


def _nothing(title: str, body: str) -> None:
    empty(title, body)
    link_to("catalogue", SAYS.to_catalogue)
