"""What needs a lead, as cards with one action each."""

from typing import Any

import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import Viewer, acting, site
from annotator_ui.escape_markdown import escape_markdown
from annotator_ui.formats import day, listed, number
from annotator_ui.lead import queries
from annotator_ui.lead.campaign import Campaign
from annotator_ui.lead.conclude import conclude_dialog
from annotator_ui.lead.invite import link_dialog
from annotator_ui.screen import go_to, report_after_rerun, shown_errors
from annotator_ui.tab import open_tab
from annotator_ui.texts_campaign import NEEDS as SAYS
from eds.project.campaign_needs import Need

ICONS = {
    "gold": ("orange", "verified"),
    "speed": ("orange", "speed"),
    "drift": ("orange", "trending_up"),
    "uninvited": ("gray", "person_off"),
    "absent": ("gray", "schedule"),
    "flags": ("blue", "flag"),
    "split": ("blue", "balance"),
    "truth": ("green", "gavel"),
    "report": ("green", "description"),
}
LOOKS = {"speed": "fastest", "gold": "gold", "drift": "apart"}  # which answers of the expert are shown
QUICK = {"pair": 1.0, "grid": 0.1}


def show_needs(who: Viewer, campaign: Campaign) -> None:
    """Show every need, the gravest first."""
    st.subheader(SAYS.title, anchor=False)
    needs = queries.needs(campaign.name).needs
    if not needs:
        st.success(f"**{SAYS.none_title}.** {SAYS.none}", icon=":material/check_circle:")
    for place, need in enumerate(needs):
        with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small"):
            colour, icon = ICONS[need.kind]
            st.markdown(f":{colour}[:material/{icon}:]", width="content")
            words = f"**{_shown(head(need))}**  \n:small[{_shown(about(need, campaign))}]"
            st.markdown(words, width=260)
            st.space("stretch")
            _action(who, campaign, need, place)


def head(need: Need) -> str:
    """The heading of a need."""
    kind = need.kind
    text: Any  # a text or a plural
    if kind == "absent" and need.since is None:
        text = SAYS.heads["absent_never"]
    elif need.series == "absent":
        text = SAYS.heads[f"{kind}_absent"]
    else:
        text = SAYS.heads[kind]
    since = "" if need.since is None else day(need.since)
    share = html.percent(need.share, 0)
    return str(text.format(expert=need.expert, count=need.count, of=need.of, share=share, since=since))


def about(need: Need, campaign: Campaign) -> str:
    """The line below it: what it rests on."""
    absent = need.series == "absent"
    text = SAYS.abouts[f"{need.kind}_absent" if absent else need.kind]
    most = (
        SAYS.most.format(names=listed([f"{name} ({number(count)})" for name, count in need.most])) if need.most else ""
    )
    minutes = "" if need.minutes is None else SAYS.minutes.format(n=max(need.minutes, 1))
    known = need.low is not None and need.high is not None
    return text.format(
        count=need.count,
        of=need.of,
        share=html.percent(need.share, 0),
        limits=html.limits(need.low or 0.0, need.high or 0.0, 0) if known else "",
        line=html.percent(need.line, 0),
        series=SAYS.series.get(need.series, ""),
        since="" if need.since is None else day(need.since),
        seconds=QUICK[campaign.mode],
        most=most,
        minutes=minutes,
    )


def _shown(words: str) -> str:
    """The words as Markdown, with every percent sign on the line of its number."""
    return escape_markdown(words).replace(" %", "\N{NO-BREAK SPACE}%")


def _action(who: Viewer, campaign: Campaign, need: Need, place: int) -> None:
    label, key = SAYS.actions[need.action].format(n=len(need.pairs)), f"need-{place}-{need.kind}-{need.expert}"
    if need.action == "look":
        st.button(
            label,
            key=key,
            on_click=open_tab,
            args=("experts",),
            kwargs={"expert": need.expert, "answers": LOOKS[need.kind]},
        )
        return
    if not st.button(label, key=key):
        return
    with shown_errors():
        project = acting(who)
        if need.action == "practice":
            project.calibration.ask_again(campaign.name, need.expert)
            report_after_rerun(SAYS.asked_again.format(expert=need.expert))
        elif need.action == "hand over":
            before = project.campaigns.progress(campaign.name).set_index("expert")["left"]
            after = project.campaigns.remove_expert(campaign.name, need.expert).set_index("expert")["left"]
            left = int(before[need.expert])
            moved = int(after.drop(need.expert).sum() - before.drop(need.expert).sum())
            words = SAYS.handed_over.format(moved=moved, left=left, expert=need.expert)
            report_after_rerun(words if moved == left else f"{words} {SAYS.handed_some}")
        elif need.action in ("invite", "remind"):
            link_dialog(who, need.expert)
        elif need.action == "decide pairs":
            go_to("adjudicate", campaign=site().project.campaigns.of_expert(campaign.name, who.name).handle)
        else:
            conclude_dialog(who, campaign.name)
