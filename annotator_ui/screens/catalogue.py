"""Lead's page: pictures, models and pairs; import, vectors, lists and pool are jobs with progress."""

from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from annotator_ui.app_state import Viewer, site
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.formats import number
from annotator_ui.jobs import Steps
from annotator_ui.lead.job_view import show_progress
from annotator_ui.screen import dataframe, empty, link_to, screen, shown_errors
from annotator_ui.sending.component import choose_folder
from annotator_ui.texts import MENU
from annotator_ui.texts_campaigns import CAMPAIGNS
from annotator_ui.texts_leads import CATALOGUE as SAYS
from annotator_ui.texts_leads import COMMON
from eds.errors import InputError
from eds.project.embed import presets

IMPORT, POOL, RUN = JOBS = ("catalogue-import", "catalogue-pool", "catalogue-run")


@screen(title=SAYS.title, about=SAYS.about, role="lead", section=MENU.project, position=205)
def show(who: Viewer) -> None:
    """Show the screen."""
    for name in JOBS:
        _outcome(name)
    _figures()
    left, right = st.columns(2, gap="medium")
    with left, st.container(border=True):
        _import(who)
    with left, st.container(border=True):
        _run(who)
    with right, st.container(border=True):
        _pool(who)
    _states()


def _outcome(name: str) -> None:
    """The progress of a job, or how it ended."""
    job = site().jobs.latest(name)
    if job is None:
        return
    if job.state == "running":
        show_progress(name, SAYS.steps)
        return
    with st.container(border=True):
        if job.state == "failed":
            st.error(escape_markdown(SAYS.failed.format(error=job.error)))
        else:
            st.success(SAYS.done[name])
        for message in job.messages[-5:]:
            st.caption(escape_markdown(message))
        with st.container(horizontal=True, vertical_alignment="center"):
            if name == POOL and job.state == "done":
                link_to("new_campaign", CAMPAIGNS.new_title, icon=":material/add:")
            if st.button(SAYS.dismiss, key=f"dismiss-{name}"):
                site().jobs.forget(name)
                st.rerun()


def _figures() -> None:
    """How many pictures, products, models and pairs there are."""
    project = site().project
    if not project.path("images").exists():
        empty(SAYS.no_images_title, SAYS.no_images)
        return
    images = project.read("images", columns=["product_id", "category"])
    origins = pd.Series(dtype="int64")
    if project.path("suspects").exists():
        origins = project.read("suspects", columns=["origin"])["origin"].value_counts()
    figures = (
        (SAYS.images, len(images)),
        (SAYS.products, images["product_id"].nunique()),
        (SAYS.categories, images["category"].nunique()),
        (SAYS.models, len(project.models("neighbors"))),
        (SAYS.pool, int(origins.get("pool", 0))),
        (SAYS.random, int(origins.get("random", 0))),
    )
    for place, (label, value) in zip(st.columns(len(figures)), figures, strict=True):
        place.metric(label, number(value), border=True)


def _start(who: Viewer, name: str, steps: Steps) -> None:
    with shown_errors():
        site().jobs.start(name, who.name, steps)
        st.rerun()


def _busy() -> bool:
    return site().jobs.running is not None


def _import(who: Viewer) -> None:
    st.subheader(SAYS.import_title, anchor=False)
    st.caption(SAYS.import_about)
    there = site().project.path("images").exists()
    source = st.segmented_control(
        SAYS.source, list(SAYS.sources), default=_source(), format_func=SAYS.sources.__getitem__, required=True
    )
    place = _sent() if source == "device" else _place(there=there)
    layout = st.selectbox(SAYS.layout, list(SAYS.layouts), format_func=SAYS.layouts.__getitem__)
    replace = there and st.checkbox(SAYS.replace, help=SAYS.replace_help)
    if not st.button(SAYS.start_import, type="primary", disabled=not place or _busy()):
        return
    with shown_errors():
        path = Path(place)
        if not path.is_absolute() or not path.exists():
            raise InputError(SAYS.no_place.format(place=place), where=SAYS.place, hint=SAYS.place_help)
        folder: tuple[str, dict[str, Any]] = ("scan", {"folder": place, "layout": layout, "replace": replace})
        listed: tuple[str, dict[str, Any]] = ("import_images", {"files": [place], "replace": replace})
        _start(who, IMPORT, [folder if path.is_dir() else listed])


def _source() -> str:
    """Where the pictures of today came from."""
    project = site().project
    elsewhere = project.path("images").exists() and str(project.pictures) != str(site().received.folder)
    return "server" if elsewhere else "device"


def _sent() -> str:
    """Let the viewer send a folder; where what has arrived lies, empty if nothing has."""
    choose_folder()
    count = len(site().received.sizes)
    if count:
        st.caption(SAYS.ready.format(n=count))
    return str(site().received.folder) if count else ""


def _place(*, there: bool) -> str:
    root = str(site().project.pictures) if there else ""
    return st.text_input(SAYS.place, root, help=SAYS.place_help).strip()


def _pool(who: Viewer) -> None:
    st.subheader(SAYS.pool_title, anchor=False)
    st.caption(SAYS.pool_about)
    project = site().project
    known = [*project.config.embeddings.models, *project.models("embeddings"), *project.models("neighbors")]
    offered = [str(row["preset"]) for row in presets().presets]
    names = list(dict.fromkeys([*known, *offered]))
    chosen = st.multiselect(
        SAYS.choose, names, list(dict.fromkeys(known)), accept_new_options=True, placeholder=COMMON.choose
    )
    k = int(st.number_input(SAYS.depth, 1, 1000, project.config.suspects.k))
    random = int(st.number_input(SAYS.random_pairs, 0, 1_000_000, 0, step=100))
    ready = project.path("images").exists() and bool(chosen)
    if st.button(SAYS.start_pool, type="primary", disabled=not ready or _busy()):
        listed = set(project.models("neighbors"))
        vectors = set(project.models("embeddings"))
        steps: list[tuple[str, dict[str, Any]]] = []
        if lacking := [name for name in chosen if name not in vectors | listed]:
            steps.append(("embed", {"models": lacking}))
        if any(name not in listed for name in chosen):
            steps.append(("mine", {}))
        steps.append(("pool", {"k": k}))
        if random:
            steps.append(("draw_random", {"n": random, "add": True}))
        _start(who, POOL, steps)


def _run(who: Viewer) -> None:
    st.subheader(SAYS.run_title, anchor=False)
    st.caption(SAYS.run_about)
    if st.button(SAYS.start_run, disabled=not site().project.path("images").exists() or _busy()):
        _start(who, RUN, [("run", {})])


def _states() -> None:
    """The condition of every table."""
    st.subheader(SAYS.states_title, anchor=False)
    config, titles = st.column_config, SAYS.state_columns
    rows = [
        [
            state.table,
            state.model,
            SAYS.conditions.get(state.condition, state.condition),
            state.rows,
            "; ".join(state.reasons) or None,
        ]
        for state in site().project.states()
    ]
    frame = pd.DataFrame(rows, columns=list(titles))
    columns: dict[str, Any] = {name: config.TextColumn(title) for name, title in titles.items()}
    columns["rows"] = config.NumberColumn(titles["rows"], format="localized")
    columns["reasons"] = config.TextColumn(titles["reasons"], width="large")
    dataframe(frame, SAYS.states_title, columns)
