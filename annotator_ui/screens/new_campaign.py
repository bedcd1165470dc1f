"""Lead's page: a new campaign in three steps, with its first page and what it costs before it is made."""

import math
from dataclasses import replace

import pandas as pd
import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer, acting, site
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.formats import number
from annotator_ui.guideline_html import guideline_html
from annotator_ui.lead import queries
from annotator_ui.lead.campaign import CHOSEN
from annotator_ui.lead.draws import show_draws
from annotator_ui.lead.form import form_of
from annotator_ui.lead.invite import keep_link
from annotator_ui.screen import MESSAGE, empty, go_to, link_to, put, screen, shown_errors
from annotator_ui.texts import MENU
from annotator_ui.texts_campaign import HEAD
from annotator_ui.texts_campaigns import CAMPAIGNS as SAYS
from annotator_ui.texts_judging import PAGE
from annotator_ui.texts_leads import COMMON
from annotator_ui.texts_standing import VOTES
from eds.choices import CampaignQuality
from eds.project.campaign_quality import Guards
from eds.project.campaign_statistics import ModesCompared
from eds.project.campaigns import CampaignPlan, Form, Mode, Polarity


@screen(title=SAYS.new_title, about=SAYS.new_about, role="lead", section=MENU.labels, position=120)
def show(who: Viewer) -> None:
    """Show the screen."""
    if not site().project.path("suspects").exists():
        empty(SAYS.no_suspects_title, SAYS.no_suspects)
        return
    people = site().project.experts.list()
    people = people[people["state"] != "disabled"]
    form, aside = st.columns([3, 2], gap="large")
    with form:
        with st.container(border=True):
            st.subheader(SAYS.step_pairs, anchor=False)
            name = st.text_input(SAYS.name, help=SAYS.name_help, max_chars=100)
            origins, limit = _origins()
            undecided, pairs = _undecided(origins, limit if origins else 0)
            st.caption(SAYS.pairs_chosen.format(pairs=len(pairs), queries=pairs["query_id"].nunique()))
            show_draws(who)
        with st.container(border=True):
            st.subheader(SAYS.step_people, anchor=False)
            there = people[(people["role"] == "expert") & people["state"].isin(["active", "invited"])]
            states = people.set_index("name")["state"]
            names, ready = people["name"].tolist(), there["name"].tolist()
            panel = st.multiselect(
                SAYS.panel,
                names,
                ready,
                format_func=lambda one: _person(one, states),
                accept_new_options=True,
                help=SAYS.panel_help,
                placeholder=COMMON.choose,
            )
            per_pair = _per_pair(len(panel))
        with st.container(border=True):
            st.subheader(SAYS.step_quality, anchor=False)
            plan = replace(_quality(pairs), experts_per_pair=per_pair)
    with aside:
        _cost(pairs, panel, plan)
        _preview(who, pairs, plan)
    with form:
        if st.button(SAYS.make, type="primary", disabled=pairs.empty or not panel or not _is_guarded(plan, pairs)):
            with shown_errors():
                experts, campaigns = acting(who).experts, acting(who).campaigns
                for person in panel:
                    if person not in states.index:
                        keep_link(experts.add(person))
                campaigns.create(name.strip(), panel, origins=origins, undecided=undecided, limit=limit, plan=plan)
                st.session_state[CHOSEN] = name.strip()
                made = site().project.campaigns.list().set_index("name")["items"][name.strip()]  # with gold and repeats
                said = SAYS.made.format(name=name.strip(), pairs=int(made), experts=len(panel))
                if plan.practice and site().project.calibration.planned(name.strip()) is None:
                    said = f"{said} {SAYS.made_without_practice}"
                st.session_state[MESSAGE] = said
                go_to("campaign", campaign=name.strip())


def _person(name: str, states: "pd.Series[str]") -> str:
    """A name, and whether the person can begin."""
    if name not in states.index:
        return SAYS.new_person.format(name=name)
    return name if states[name] in ("active", "invited") else SAYS.not_invited.format(name=name)


def _quality(pairs: pd.DataFrame) -> CampaignPlan:
    """How carefully it asks: a quality, the mode, the guideline; everything else is in the details."""
    names: list[CampaignQuality] = ["light", "standard", "strict"]
    quality = st.segmented_control(
        SAYS.quality,
        names,
        default="standard",
        format_func=SAYS.qualities.__getitem__,
        required=True,
    )
    quality = quality or "standard"
    st.caption(SAYS.quality_abouts[quality])
    mode, polarity = _mode(pairs)
    guideline = _guideline()
    plan = CampaignPlan(mode, polarity, guideline)
    guards = site().project.campaigns.guards(quality, pairs, plan)
    warnings = st.container()
    if quality != "light" and not guards.gold_share and not guards.practice:
        warnings.caption(SAYS.none_known)
    with st.expander(SAYS.details):
        plan = _mixed(pairs, plan, guards, warnings)
        left, right = st.columns(2)
        key = f"{quality}-{guards.practice}"
        practice = int(left.number_input(SAYS.calibration, 0, 200, guards.practice, key=f"practice-{key}"))
        needed = right.number_input(
            SAYS.needed, 0, 100, round(100 * guards.practice_needed), step=5, disabled=not practice, key=f"needed-{key}"
        )
        form = form_of(Form(), mode)
        seed = int(st.number_input(SAYS.seed, 0, 2**31, site().project.config.project.seed))
    return replace(plan, form=form, seed=seed, practice=practice, practice_needed=needed / 100)


def _is_guarded(plan: CampaignPlan, pairs: pd.DataFrame) -> bool:
    """Whether skimming would be noticed: a grid needs repeats, and gold if there is some to hide."""
    if plan.mode != "grid":
        return True
    if plan.polarity is None:
        return False  # what an untouched candidate means must be said
    return bool(plan.repeat_share) and bool(
        plan.gold_share or not site().project.campaigns.usable_gold(pairs, plan.polarity)
    )


def _origins() -> tuple[list[str], int | None]:
    """The chosen origins of suspects, and how many of their first ones."""
    suspects = site().project.campaigns.suspects(["pool", "random", "negative"])
    counts = suspects["origin"].value_counts()
    origins = [origin for origin in ("pool", "random", "negative") if origin in counts.index]
    chosen = st.multiselect(
        SAYS.origins,
        origins,
        origins[:1],
        placeholder=COMMON.choose,
        format_func=lambda origin: SAYS.origin_label.format(origin=SAYS.origin_names[origin], count=counts[origin]),
    )
    most = int(st.number_input(SAYS.limit, 0, max(len(suspects), 1), 0, step=100))
    return chosen, most or None


def _undecided(origins: list[str], limit: int | None) -> tuple[bool, pd.DataFrame]:
    """Whether only pairs without a label are asked, and the pairs; says how many have a label already."""
    campaigns = site().project.campaigns
    pairs = campaigns.suspects(origins, limit=limit)
    labelled = campaigns.labelled(pairs)
    if judged := queries.judged(pairs):
        st.caption(SAYS.judged.format(judged=judged, pairs=len(pairs)))
        link_to("campaign", HEAD.decide, icon=":material/gavel:")
    if not labelled:
        return False, pairs
    st.caption(SAYS.labelled.format(labelled=labelled, pairs=len(pairs)))
    rest = campaigns.suspects(origins, undecided=True, limit=limit)
    words = SAYS.undecided.format(pairs=len(rest))
    if st.checkbox(words, help=SAYS.undecided_help, disabled=rest.empty, key=f"undecided-{len(rest)}"):
        return True, rest
    return False, pairs


def _per_pair(experts: int) -> int | None:
    """How many experts of the panel judge each pair; None: all."""
    if experts < 2:
        return None
    count = int(
        st.number_input(SAYS.per_pair, 1, experts, experts, help=SAYS.per_pair_help, key=f"per-pair-{experts}")
    )  # of another panel, again all
    if count == experts:
        st.caption(SAYS.per_pair_all)
        return None
    st.caption(SAYS.per_pair_some.format(share=html.percent(count / experts, 0)))
    if count == 1:
        st.warning(SAYS.per_pair_one)
    return count


def _mode(pairs: pd.DataFrame) -> tuple[Mode, Polarity | None]:
    """How pairs are shown, and in a grid what an untouched one is: as most pairs of these origins are."""
    compared = queries.modes()
    modes, agrees = list(SAYS.mode_labels), queries.grid_agrees(compared)
    mode = st.radio(
        SAYS.mode,
        modes,
        modes.index("grid" if agrees else "pair"),
        format_func=SAYS.mode_labels.__getitem__,
        key=f"mode-{agrees}",
        help=SAYS.mode_help,
    )
    st.caption(_compared(compared))
    if mode != "grid":
        return "pair", None
    origins = sorted(pairs["origin"].unique())
    rate = site().project.campaigns.measured_rate(origins) if origins else None
    likely = rate.polarity if rate else None
    names: list[Polarity] = ["similar", "different"]
    measured = SAYS.polarity_unknown
    if rate:
        measured = SAYS.polarity_measured.format(share=html.percent(rate.rate), count=rate.decided)
    st.caption(measured)
    polarity = st.radio(
        SAYS.polarity,
        names,
        None if likely is None else names.index(likely),
        format_func=SAYS.polarity_labels.__getitem__,
        key=f"polarity-{likely}",  # other pairs, another suggestion
        help=SAYS.polarity_help,
    )
    return "grid", polarity


def _compared(found: ModesCompared) -> str:
    """What was judged both ways so far, and what is preselected for it."""
    if not found.both:
        return SAYS.mode_unknown
    text = SAYS.mode_known.format(
        both=found.both,
        alike=html.percent(found.agreement, 0),
        limits=html.limits(found.low, found.high, 0, found.no_interval),
        pair=found.pair_seconds,
        grid=found.grid_seconds,
    )
    return f"{text} {SAYS.mode_agrees if queries.grid_agrees(found) else SAYS.mode_open}"


def _guideline() -> str:
    versions = site().project.guidelines.list()["version"].tolist()[::-1]
    chosen = st.selectbox(SAYS.guideline, [*versions, ""], format_func=lambda item: item or SAYS.guideline_none)
    if chosen:
        with st.expander(SAYS.guideline_preview):
            read = site().project.guidelines.read(chosen)
            put(guideline_html(read.content, read.language))
    return str(chosen)


def _mixed(
    pairs: pd.DataFrame, plan: CampaignPlan, guards: Guards, warnings: "st.delta_generator.DeltaGenerator"
) -> CampaignPlan:
    """The plan with its shares of gold, repeats and control, and whether asking stops early."""
    polarity = plan.polarity
    known = site().project.campaigns.usable_gold(pairs, polarity) if len(pairs) else 0
    left, right = st.columns(2)
    usual, repeats = 100 * guards.gold_share, round(100 * guards.repeat_share)
    gold = left.number_input(
        SAYS.gold_share, 0.0, 100.0, usual, step=5.0, format="%.3g", key=f"gold-{usual}", help=SAYS.gold_help
    )  # other pairs, another suggestion
    again = right.number_input(
        SAYS.repeat_share, 0, 100, repeats, step=5, key=f"again-{repeats}", help=SAYS.repeat_help
    )
    wanted = round(gold / 100 * len(pairs))
    usable = SAYS.gold_usable[polarity].format(known=known)
    if wanted > known:
        warnings.warning(SAYS.gold_short.format(wanted=wanted, usable=usable))
    else:
        st.caption(usable)
    guarded = again > 0 and (gold > 0 or not known)
    if plan.mode == "grid" and not again:
        warnings.warning(SAYS.grid_guard)
    elif polarity is not None and not guarded:
        warnings.warning(SAYS.grid_gold_needed)
    elif polarity is not None and not gold:
        st.caption(SAYS.grid_gold[polarity])
    adaptive = st.checkbox(VOTES.adaptive, help=VOTES.adaptive_help)
    early = guards.early_stop or adaptive
    stop = st.checkbox(SAYS.stop, early, key=f"stop-{early}", disabled=adaptive)
    control = st.number_input(SAYS.control, 1, 100, 10) if stop else 10
    plan = replace(plan, gold_share=gold / 100, repeat_share=again / 100, control_share=control / 100)
    return replace(plan, early_stop=stop, adaptive=adaptive)


def _cost(asked: pd.DataFrame, panel: list[str], plan: CampaignPlan) -> None:
    """Judgements, hours, days and pay, by the seconds that were measured in this mode."""
    settings, experts, pairs = site().project.config.budget, len(panel), len(asked)
    st.subheader(SAYS.cost, anchor=False)
    if not experts or not pairs:
        st.caption("–")
        return
    guessed = plan.early_stop and not plan.adaptive
    rate = st.number_input(SAYS.rate, 0, 100, 80, step=5) / 100 if guessed else None
    votes = queries.votes_needed(asked, experts, plan) if plan.adaptive else None
    campaigns = site().project.campaigns
    cost, seconds = campaigns.cost(pairs, experts, plan, positive_rate=rate, votes=votes), campaigns.seconds(plan.mode)
    per_pair = plan.experts_per_pair
    about = SAYS.cost_judgements_about.format(experts=experts)
    if per_pair:
        about = SAYS.cost_judgements_some.format(per_pair=per_pair, experts=experts)
    if cost.saved:
        words = VOTES.saved if plan.adaptive else SAYS.cost_saved_about
        about += f"; {words.format(saved=html.percent(cost.saved, 0))}"
    hours = SAYS.cost_hours_about.format(each=cost.hours_each, seconds=seconds.value)
    days = campaigns.judgements_a_day(panel)
    figures = [
        (SAYS.cost_pairs, number(cost.items), SAYS.cost_pairs_about.format(extra=cost.items - pairs)),
        (SAYS.cost_judgements, number(cost.judgements), about),
        (SAYS.cost_hours, number(cost.hours, 1), hours),
    ]
    if days.notna().all():
        each = cost.judgements / experts
        figures.append((SAYS.cost_days, number(math.ceil((each / days).max())), SAYS.cost_days_about))
    if cost.money is not None:
        figures.append((SAYS.cost_money, f"{number(cost.money)} {settings.currency}".strip(), ""))
    for start in range(0, len(figures), 2):
        row = figures[start : start + 2]
        for place, (label, value, text) in zip(st.columns(len(row)), row, strict=True):
            place.metric(label, value, text, delta_color="off", delta_arrow="off", border=True, height="stretch")
    source = SAYS.cost_measured if seconds.measured else SAYS.cost_assumed
    st.caption(source.format(seconds=seconds.value))


def _preview(who: Viewer, pairs: pd.DataFrame, plan: CampaignPlan) -> None:
    """The first page as experts see it: the question, the sides, the first query with its candidates."""
    if pairs.empty:
        return
    st.subheader(SAYS.preview_page, anchor=False)
    first = pairs.sort_values("position").iloc[0]["query_id"]
    rows = pairs[pairs["query_id"] == first].sort_values("position")
    texts, form = PAGE["questions"], plan.form
    names = form.query_name or PAGE["query"], form.candidate_name or PAGE["candidate"]
    with st.container(border=True):
        st.markdown(f"**{escape_markdown(form.question or texts['grid' if plan.mode == 'grid' else 'pair'])}**")
        pictures = site().pictures
        query = pictures.url(who.name, str(first), "thumb")
        candidates = [pictures.url(who.name, str(image), "thumb") for image in rows["candidate_id"].head(12)]
        if plan.mode == "grid":
            put(html.grid_preview(query, candidates, names))
        else:
            put(html.pair(query, candidates[0], names))
        if form.aspects:
            st.pills(SAYS.form_aspects, form.aspects, disabled=True, label_visibility="collapsed")
