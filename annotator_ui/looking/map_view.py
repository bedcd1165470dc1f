"""The map of the catalogue: coloured points, a lasso around some, and pairs or a campaign made of what it holds."""

from typing import Any

import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer, acting, site
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.lead.job_view import show_progress
from annotator_ui.looking.components import point_map
from annotator_ui.looking.maps import COLOURS, Colour, Drawn, drawn
from annotator_ui.looking.search_view import page_address
from annotator_ui.screen import go_to, put, report_after_rerun, shown_errors
from annotator_ui.texts_leads import COMMON
from annotator_ui.texts_looking import LOOKING
from annotator_ui.texts_looking import MAP as SAYS
from eds.choices import ImagePartners, MapMethod
from eds.project.campaigns import CampaignPlan
from eds.project.image_map import is_laid_out
from eds.project.image_pairs import ImagePairsResult

JOB, CHOSEN = "map", "looking-chosen"  # the job's name; in the session's state: the chosen images
SHOWN = 24


def show(who: Viewer) -> None:
    """Show the map, and what can be done with the chosen images."""
    models = site().project.models("embeddings")
    query = st.query_params
    with st.container(horizontal=True, vertical_alignment="bottom"):
        asked = query.get("model", "")
        place = models.index(asked) if asked in models else 0
        model = str(st.selectbox(LOOKING.model, models, place, width=260, key="looking-model"))
        method = _choice("layout", SAYS.method, ("pca", "umap"), SAYS.methods)
        colour = _choice("colour", SAYS.colour, COLOURS, SAYS.colours)
        clusters = 12
        if colour == "cluster":
            clusters = int(st.number_input(SAYS.clusters, 2, 100, 12, width=140, key="looking-clusters"))
    query.update({"model": model, "layout": method, "colour": colour})
    with shown_errors():
        if not _is_ready(who, model, method):
            return
        found = drawn(model, method, colour, clusters)
        share = found.result.explained
        images = len(found.result.table)
        text = SAYS.images.format(images=images)
        if share is not None:
            text = SAYS.explained.format(images=images, share=share)
        st.caption(f"{text} {SAYS.how}")
        names = [_name(colour, name) for name in found.names]
        if found.others > 1:
            names[-1] = SAYS.others.format(n=found.others)
        lasso, picked = point_map(found, method, colour, names)
        chosen = _chosen(found, colour, lasso, picked)
        if chosen:
            _show_chosen(who, chosen)
            _make_pairs(who, chosen)


def _choice(name: str, label: str, values: Any, texts: Any) -> Any:
    """One of some values, kept in the address."""
    asked = st.query_params.get(name, values[0])
    default = asked if asked in values else values[0]
    return st.segmented_control(
        label, list(values), default=default, format_func=texts.__getitem__, required=True, key=f"looking-{name}"
    )


def _is_ready(who: Viewer, model: str, method: MapMethod) -> bool:
    """Whether the layout is there; UMAP is computed by a job."""
    job = site().jobs.latest(JOB)
    if job is not None and job.state == "running":
        show_progress(JOB, SAYS.umap_steps)
        return False
    if is_laid_out(site().project, model, method):
        return True
    if job is not None and job.state == "failed":
        st.error(escape_markdown(job.error))
    st.caption(SAYS.umap_wait)
    if st.button(SAYS.umap_start, type="primary", disabled=site().jobs.running is not None):
        site().jobs.start(JOB, who.name, [("map_images", {"model": model, "method": method})])
        st.rerun()
    return False


def _name(colour: Colour, name: str) -> str:
    if colour == "label":
        return str(LOOKING.labels[name])
    return SAYS.cluster.format(n=name) if colour == "cluster" else name or SAYS.no_category


def _chosen(found: Drawn, colour: Colour, lasso: list[list[float]] | None, picked: int | None) -> list[str]:
    """The images of the last lasso, click or group; they stay until others are chosen."""
    groups = [None, *found.names[: len(found.names) - (found.others > 1)]]

    def choose_group() -> None:
        name = st.session_state["looking-group"]
        held = found.result.table[found.result.table[colour].astype("str") == name]
        st.session_state[CHOSEN] = held["image_id"].tolist()

    st.selectbox(
        SAYS.group,
        groups,
        format_func=lambda name: SAYS.group_none if name is None else _name(colour, name),
        on_change=choose_group,
        width=320,
        key="looking-group",
    )
    if lasso is not None:
        st.session_state.pop(CHOSEN, None)
        st.session_state[CHOSEN] = found.result.inside(found.corners(lasso))
    elif picked is not None and 0 <= picked < len(found.result.table):
        st.session_state[CHOSEN] = [str(found.result.table["image_id"].iloc[picked])]
    there: list[str] = st.session_state.get(CHOSEN, [])
    return there


def _show_chosen(who: Viewer, chosen: list[str]) -> None:
    st.subheader(SAYS.chosen.format(n=len(chosen)), anchor=False)
    if len(chosen) > SHOWN:
        st.caption(SAYS.chosen_some.format(shown=SHOWN))
    cards = [
        (
            page_address(view="search", by="catalogue", image=name),
            [site().pictures.url(who.name, name, "thumb")],
            SAYS.search,
            name,
        )
        for name in chosen[:SHOWN]
    ]
    put(html.picture_links(cards))


def _make_pairs(who: Viewer, chosen: list[str]) -> None:
    """The pairs of the chosen images, with their price before anything is added."""
    st.subheader(SAYS.pairs, anchor=False)
    names: list[ImagePartners] = ["lists", "each-other"]
    partners = st.radio(SAYS.partners, names, format_func=SAYS.partner_names.__getitem__, key="looking-partners")
    k = None
    if partners == "lists":
        k = int(st.number_input(SAYS.k, 1, 100, site().project.config.suspects.k, width=170, key="looking-depth"))
    project = acting(who)
    plan = project.add_image_pairs(chosen, partners=partners, k=k, dry_run=True)
    st.caption(SAYS.price.format(added=plan.added, pairs=len(plan.pairs), cost=plan.price.cost))
    if not plan.added:
        st.caption(SAYS.nothing_new)
    if st.button(SAYS.add.format(n=plan.added), type="primary", disabled=not plan.added):
        done = project.add_image_pairs(chosen, partners=partners, k=k)
        report_after_rerun(SAYS.added.format(n=done.added))
    with st.expander(SAYS.campaign):
        _make_campaign(who, plan, chosen, partners, k)


def _make_campaign(
    who: Viewer, plan: ImagePairsResult, chosen: list[str], partners: ImagePartners, k: int | None
) -> None:
    people = site().project.experts.list()
    ready = people[(people["role"] == "expert") & people["state"].isin(["active", "invited"])]["name"].tolist()
    if not ready:
        st.caption(SAYS.no_experts)
        return
    name = st.text_input(SAYS.campaign_name, max_chars=100, key="looking-campaign").strip()
    panel = st.multiselect(SAYS.panel, ready, ready, placeholder=COMMON.choose, key="looking-panel")
    pairs = len(plan.pairs)
    form = CampaignPlan(gold_share=0.0, repeat_share=0.0)
    cost = site().project.campaigns.cost(pairs, max(len(panel), 1), form)
    seconds = site().project.campaigns.seconds("pair").value
    st.caption(
        SAYS.campaign_price.format(
            judgements=round(cost.judgements), experts=len(panel), hours=float(cost.hours), seconds=float(seconds)
        )
    )
    if st.button(SAYS.create.format(n=pairs), disabled=not (name and panel and pairs)):
        project = acting(who)
        project.add_image_pairs(chosen, partners=partners, k=k)
        project.campaigns.create(name, panel, pairs=plan.pairs, plan=form)
        st.session_state["message"] = SAYS.created.format(name=name, pairs=pairs, experts=len(panel))
        go_to("campaign", campaign=name)
