"""The form of a new campaign, with what it costs before it is made."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer, acting, site
from annotator_ui.guideline_html import guideline_html
from annotator_ui.lead import queries
from annotator_ui.lead.campaign import CHOSEN
from annotator_ui.lead.form import form_of
from annotator_ui.screen import MESSAGE, empty, go_to, put, screen, shown_errors
from annotator_ui.texts import MENU
from annotator_ui.texts_campaigns import CAMPAIGNS as SAYS
from eds.project.campaign_statistics import ModesCompared
from eds.project.campaigns import USUAL, CampaignPlan, Form, Mode, Polarity


@screen(title=SAYS.new_title, about=SAYS.new_about, role="lead", section=MENU.labels, position=120)
def show(who: Viewer) -> None:
    """Show the screen."""
    if not site().project.path("suspects").exists():
        empty(SAYS.no_suspects_title, SAYS.no_suspects)
        return
    people = site().project.experts.list()
    people = people[people["state"] != "disabled"]
    if people.empty:
        empty(SAYS.no_experts_title, SAYS.no_experts)
        return
    form, aside = st.columns([3, 2], gap="large")
    with form:
        name = st.text_input(SAYS.name, help=SAYS.name_help, max_chars=100)
        origins, limit = _origins()
        undecided, pairs = _undecided(origins, limit if origins else 0)
        panel = st.multiselect(
            SAYS.panel, people["name"].tolist(), people.loc[people["role"] == "expert", "name"].tolist()
        )
        per_pair = _per_pair(len(panel))
        plan = _mixed(pairs, *_mode(pairs), _guideline())
        plan = replace(plan, experts_per_pair=per_pair, form=form_of(Form(), plan.mode))
        calibration = _calibration()
        seed = int(st.number_input(SAYS.seed, 0, 2**31, site().project.config.project.seed))
    with aside:
        _cost(len(pairs), len(panel), plan)
    with form:
        if st.button(SAYS.make, type="primary", disabled=pairs.empty or not _is_guarded(plan, pairs)):
            with shown_errors():
                project = acting(who)
                plan = replace(plan, seed=seed)
                project.campaigns.create(
                    name.strip(), panel, origins=origins, undecided=undecided, limit=limit, plan=plan
                )
                if calibration[0]:
                    project.calibration.plan(name.strip(), *calibration)
                st.session_state[CHOSEN] = name.strip()
                st.session_state[MESSAGE] = SAYS.made.format(name=name.strip(), pairs=len(pairs), experts=len(panel))
                go_to("campaign", campaign=name.strip())


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
        format_func=lambda origin: SAYS.origin_label.format(origin=origin, count=counts[origin]),
    )
    most = int(st.number_input(SAYS.limit, 0, max(len(suspects), 1), 0, step=100))
    return chosen, most or None


def _undecided(origins: list[str], limit: int | None) -> tuple[bool, pd.DataFrame]:
    """Whether only pairs without a label are asked, and the pairs; says how many have a label already."""
    campaigns = site().project.campaigns
    pairs = campaigns.suspects(origins, limit=limit)
    labelled = campaigns.labelled(pairs)
    if not labelled:
        return False, pairs
    put(html.note(SAYS.labelled.format(labelled=labelled, pairs=len(pairs))))
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
        put(html.note(SAYS.per_pair_all))
        return None
    put(html.note(SAYS.per_pair_some.format(share=html.percent(count / experts, 0))))
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
    put(html.note(_compared(compared)))
    if mode != "grid":
        return "pair", None
    put(html.note(SAYS.mode_help))
    origins = sorted(pairs["origin"].unique())
    rate = site().project.campaigns.measured_rate(origins) if origins else None
    likely = rate.polarity if rate else None
    names: list[Polarity] = ["similar", "different"]
    measured = SAYS.polarity_unknown
    if rate:
        measured = SAYS.polarity_measured.format(share=html.percent(rate.rate), count=rate.decided)
    put(html.note(measured))
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
            put(guideline_html(site().project.guidelines.read(chosen).content))
    return str(chosen)


def _mixed(pairs: pd.DataFrame, mode: Mode, polarity: Polarity | None, guideline: str) -> CampaignPlan:
    """The plan with its shares of gold, repeats and control, and whether asking stops early."""
    st.markdown(f"**{SAYS.mixed}**")
    known = site().project.campaigns.usable_gold(pairs, polarity) if len(pairs) else 0
    left, right = st.columns(2)
    usual = 100 * site().project.campaigns.usual_gold_share(pairs, polarity) if len(pairs) else 0.0
    gold = left.number_input(
        SAYS.gold_share, 0.0, 100.0, usual, step=5.0, format="%.3g", key=f"gold-{usual}", help=SAYS.gold_help
    )  # other pairs, another suggestion
    again = right.number_input(SAYS.repeat_share, 0, 100, round(100 * USUAL), step=5, help=SAYS.repeat_help)
    wanted = round(gold / 100 * len(pairs))
    usable = SAYS.gold_usable[polarity].format(known=known)
    if wanted > known:
        st.warning(SAYS.gold_short.format(wanted=wanted, usable=usable))
    else:
        put(html.note(usable))
    guarded = again > 0 and (gold > 0 or not known)
    if mode == "grid" and not again:
        st.warning(SAYS.grid_guard)
    elif polarity is not None and not guarded:
        st.warning(SAYS.grid_gold_needed)
    elif polarity is not None and not gold:
        put(html.note(SAYS.grid_gold[polarity]))
    stop = st.checkbox(SAYS.stop)
    control = st.number_input(SAYS.control, 1, 100, 10) if stop else 10
    return CampaignPlan(mode, polarity, guideline, gold / 100, again / 100, stop, control / 100)


def _calibration() -> tuple[int, float]:
    left, right = st.columns(2)
    size = int(left.number_input(SAYS.calibration, 0, 200, 0))
    needed = right.number_input(SAYS.needed, 0, 100, 80, step=5, disabled=size == 0)
    return size, needed / 100


def _cost(pairs: int, experts: int, plan: CampaignPlan) -> None:
    settings = site().project.config.budget
    st.subheader(SAYS.cost, anchor=False)
    if not experts or not pairs:
        put(html.note("–"))
        return
    rate = st.number_input(SAYS.rate, 0, 100, 80, step=5) / 100 if plan.early_stop else None
    cost = site().project.campaigns.cost(pairs, experts, plan, positive_rate=rate)
    per_pair = plan.experts_per_pair
    about = SAYS.cost_judgements_about.format(experts=experts)
    if per_pair:
        about = SAYS.cost_judgements_some.format(per_pair=per_pair, experts=experts)
    if cost.saved:
        about += f"; {SAYS.cost_saved_about.format(saved=html.percent(cost.saved, 0))}"
    hours = SAYS.cost_hours_about.format(each=cost.hours_each, seconds=3600 * cost.hours / cost.judgements)
    money = [(SAYS.cost_money, f"{cost.money:,.0f} {settings.currency}".strip(), "")] if cost.money is not None else []
    put(
        html.figures(
            (SAYS.cost_pairs, cost.items, SAYS.cost_pairs_about.format(extra=cost.items - pairs)),
            (SAYS.cost_judgements, round(cost.judgements), about),
            (SAYS.cost_hours, f"{cost.hours:,.1f}", hours),
            *money,
        )
    )
