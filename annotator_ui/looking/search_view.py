"""Search by a picture of the catalogue, one's own picture, or words: every model's images side by side."""

from urllib.parse import urlencode

import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer, site, url
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.formats import number
from annotator_ui.looking.components import upload
from annotator_ui.screen import put, shown_errors
from annotator_ui.texts_looking import LOOKING, SEARCH
from eds.project.search import SearchResult

SHOWN = 12  # images to choose from
LONGEST = 1000


def show(who: Viewer) -> None:
    """Show the form, and what the models find."""
    query = st.query_params
    ways = list(SEARCH.ways)
    way = query.get("by", "catalogue")
    chosen = st.segmented_control(
        SEARCH.by,
        ways,
        default=way if way in ways else ways[0],
        format_func=SEARCH.ways.__getitem__,
        required=True,
        key="looking-by",
    )
    if chosen != way:
        for name in ("image", "upload", "text"):
            query.pop(name, None)
        query["by"] = str(chosen)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        models = st.multiselect(
            LOOKING.models,
            site().project.models("embeddings"),
            placeholder=LOOKING.every,
            width=420,
            key="looking-models",
        )
        k = int(st.number_input(SEARCH.k, 1, 60, 8, width=170, key="looking-k"))
    with shown_errors():
        {"catalogue": _by_image, "upload": _by_upload, "text": _by_text}[str(chosen)](who, models, k)


def _by_image(who: Viewer, models: list[str], k: int) -> None:
    image = st.query_params.get("image")
    if image is not None:
        _results(who, site().project.search(image, models=models, k=k), site().pictures.url(who.name, image, "thumb"))
    words = st.text_input(SEARCH.find, help=SEARCH.find_help, key="looking-words", max_chars=200)
    images = site().project.find_images(words, count=SHOWN)
    if images.empty:
        st.caption(SEARCH.none_found)
        return
    cards = [
        (
            page_address(by="catalogue", image=str(name)),
            [site().pictures.url(who.name, str(name), "thumb")],
            SEARCH.choose,
            str(name),
        )
        for name in images["image_id"]
    ]
    put(html.picture_links(cards))


def _by_upload(who: Viewer, models: list[str], k: int) -> None:
    token = upload() or st.query_params.get("upload")
    if token is None:
        return
    found = site().uploads.find(who.name, token)
    if found is None:
        st.warning(SEARCH.gone)
        return
    st.query_params["upload"] = token
    with st.spinner(SEARCH.wait):
        result = site().asking.search(file=found.file, models=models, k=k)
    _results(who, result, url(f"/looking/upload/{token}"), found.name)


def _by_text(who: Viewer, models: list[str], k: int) -> None:
    with st.form("looking-text", border=False):
        given = st.query_params.get("text", "")
        text = st.text_input(SEARCH.text, given, max_chars=LONGEST, placeholder=SEARCH.text_example)
        sent = st.form_submit_button(SEARCH.go, type="primary")
    if not text.strip():
        return
    if sent:
        st.query_params["text"] = text.strip()
    with st.spinner(SEARCH.wait):
        result = site().asking.search(text=text, models=models, k=k)
    _results(who, result, None)


def _results(who: Viewer, result: SearchResult, query: str | None, name: str | None = None) -> None:
    """The query, then a strip of pictures for each model."""
    image = result.query if result.kind == "image" else None
    if query is not None:
        put(html.query_picture(query, name or result.query, SEARCH.query))
    for one in result.skipped:
        st.caption(escape_markdown(SEARCH.skipped.format(model=one.model, reason=one.reason)))
    models = result.table["model"].unique()
    if len(models) == 1 and not result.skipped:
        st.caption(LOOKING.one_model)
    for model in models:
        cards = []
        for row in result.table[result.table["model"] == model].to_dict("records"):
            found = str(row["candidate_id"])
            lines = [SEARCH.rank.format(rank=number(int(row["rank"])), score=number(float(row["score"]), 3))]
            if row["label"]:
                lines.append(LOOKING.labels[row["label"]])
            if len(models) > 1:
                count = int(row["found_by"])
                lines.append(SEARCH.only_here if count == 1 else SEARCH.found_by.format(n=count))
            why = page_address(view="pair", query=image, candidate=found) if image is not None else ""
            picture = site().pictures.url(who.name, found, "thumb")
            cards.append((page_address(by="catalogue", image=found), picture, found, lines, str(row["label"]), why))
        put(html.strip(str(model), SEARCH.strip.format(model=model), cards, SEARCH.why))


def page_address(**query: str) -> str:
    """The address of this page with other parts."""
    return f"{url('/look-around')}?{urlencode(query)}"
