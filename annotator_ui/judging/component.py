"""The judging component, as Streamlit scripts mount it. Everything else happens in the browser and in routes.py.

It is one component with several starts: the page where pairs are judged, its keys as a list, and on pages without
pairs a line that says how much is saved and sends what closed tabs left behind in this browser.
"""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from annotator_ui import language
from annotator_ui.app_state import Viewer, site, url
from annotator_ui.guideline_html import guideline_blocks
from annotator_ui.judging import assets
from annotator_ui.texts_judging import ALL
from annotator_ui.texts_judging import PAGE as PAGE_TEXTS
from annotator_ui.translation import for_script
from eds.project.campaigns import ExpertProgress
from eds.project.experts import INVITED
from eds.project.guidelines import Guideline

PAGE = 30  # candidates of a grid page, at most

_mount = st.components.v2.component("eds_judging", css=assets.styles(), js=assets.loader())


def show(found: ExpertProgress, who: Viewer, view: str, opened: int | None = None) -> None:
    """The judging page of this campaign in the view "pair" or "grid"; `opened`: the assignment of an answer."""
    _mount(key=f"judging-{view}-{found.handle}", data=data_for(found, who, view, opened=opened))


def show_practice(found: ExpertProgress, who: Viewer) -> None:
    """Practice for this campaign."""
    data = {**data_for(found, who, "practice", "practice.js"), "judge": url(f"/{found.mode}?campaign={found.handle}")}
    _mount(key=f"practice-{found.handle}", data=data)


def show_adjudication(found: ExpertProgress, who: Viewer, others: Sequence[tuple[str, str]]) -> None:
    """The disputed pairs of this campaign; `others` are name and handle of those that may be chosen."""
    places = [{"title": name, "href": url(f"/adjudicate?campaign={handle}")} for name, handle in others]
    data = {
        **data_for(found, who, "adjudicate", "adjudicate.js"),
        "campaigns": places,
        "home": url(f"/campaign?{urlencode({'campaign': found.name, 'tab': 'disputes'})}"),
    }
    _mount(key=f"adjudicate-{found.handle}", data=data)


def show_saving(who: Viewer) -> None:
    """Show the saving status where no pair is shown; the script reruns when all is stored."""
    _mount(key="saving", data=_common(who, "saving.js", judging=False), on_stored_change=lambda: None)


def show_keys(who: Viewer) -> None:
    """Show what each key does, as this person has chosen them in this browser."""
    _mount(key="keys", data=_common(who, "key_list.js", judging=False))


def data_for(
    found: ExpertProgress, who: Viewer, view: str, start: str = "main.js", opened: int | None = None
) -> dict[str, Any]:
    """Return the page's data, the same at every rerun as long as nothing has changed; `opened`: an answer to show."""
    return {
        **_common(who, start, judging=True),
        "campaign": found.handle,
        "title": found.name,
        "view": view,
        "open": opened,
        "polarity": found.polarity or "similar",
        "size": PAGE,
        "begun": found.done > 0 or site().project.guidelines.judged_by(found.name, who.name) is not None,
        "welcomed": "first" in st.query_params,  # the page behind the invitation has shown question and guideline
        "password": _password_page(who),
        "question": found.form.question or PAGE_TEXTS["questions"]["grid" if view == "grid" else "pair"],
        "form": {
            "aspects": list(found.form.aspects),
            "similarFrom": found.form.similar_from,
            "notes": found.form.notes,
        },
        "names": {
            "query": found.form.query_name or PAGE_TEXTS["query"],
            "candidate": found.form.candidate_name or PAGE_TEXTS["candidate"],
        },
        "guideline": _guideline(site().project.guidelines.in_force(found.name), found.guideline, who, found.name),
        "home": url("/"),
        "signIn": url("/sign-in"),
    }


def _common(who: Viewer, start: str, *, judging: bool) -> dict[str, Any]:
    """Return the data of every start; `start` is the module that the loader mounts."""
    return {
        "base": site().base,
        "version": assets.version(),
        "modules": assets.modules(start),
        "start": start,
        "judging": judging,
        "expert": who.name,
        "texts": for_script(*ALL),
        "language": language.tag(language.current()),
    }


def _password_page(who: Viewer) -> str:
    """Where somebody without a way to come back chooses a password; empty for everybody else."""
    experts = site().project.experts
    session = experts.session_numbered(who.session)
    lacks = session is not None and session.way == INVITED and not experts.can_return(who.name)
    return url("/password") if lacks else ""


def _guideline(guideline: Guideline | None, version: str, who: Viewer, campaign: str) -> dict[str, Any]:
    """The guideline's version, blocks of text and examples with opaque picture names; and what is new in it.

    New is what the version did not have by which this expert judged last in this campaign.
    """
    if guideline is None:
        return {"version": version, "blocks": [], "examples": []}
    before = site().project.guidelines.judged_by(campaign, who.name)
    changed = before is not None and before.version != guideline.version
    old = before if before is not None and changed else guideline
    blocks, known = guideline_blocks(guideline.content), guideline_blocks(old.content)
    shown = set(old.examples)
    examples = [
        {
            "kind": example.kind,
            "query": site().pictures.name(who.name, example.query_id),
            "candidate": site().pictures.name(who.name, example.candidate_id),
            "note": example.note,
            "category": site().pictures.about(example.query_id).category,
            "fresh": example not in shown,
        }
        for example in guideline.examples
    ]
    return {
        "version": guideline.version,
        "language": guideline.language,
        "since": old.version if changed else "",
        "blocks": [{**block, "fresh": block not in known} for block in blocks],
        "gone": [block["text"] for block in known if block not in blocks],
        "examples": examples,
    }
