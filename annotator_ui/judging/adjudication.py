"""Adjudication's requests, for leads: the pairs that need a decision, and decisions, stored before the answer.

GET  {base}/api/campaigns/{campaign}/disputes     pairs on which experts differ, were unsure, or that they flagged
POST {base}/api/campaigns/{campaign}/decisions    decisions and resolved flags, each with a token of its own
"""

from typing import Any

import pandas as pd
from pydantic import Field
from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from annotator_ui.app_state import Viewer, acting, may, site
from annotator_ui.judging.payload import Body, Name, parse_body
from annotator_ui.judging.routes import RefusalError, answering, pictures_about, same_expert
from annotator_ui.texts_judging import REFUSALS
from eds.project.labels import Task

KEY = ["query_id", "candidate_id"]
MOST = 1000  # pairs at once; the others come when some of these are decided


class Decision(Body):
    """A lead's decision on a pair, named by its pictures; no value takes an earlier one back."""

    token: Name
    query: str
    candidate: str
    value: int | None
    note: str = ""


class Resolved(Body):
    """A flag that is resolved, or whose expert is asked again."""

    token: Name
    flag: int
    again: bool


class Decided(Body):
    """One POST of the page."""

    expert: Name
    decisions: tuple[Decision, ...] = Field((), strict=False)
    flags: tuple[Resolved, ...] = Field((), strict=False)


def routes(base: str = "") -> list[BaseRoute]:
    """The routes of adjudication below `base`."""
    place = f"{base}/api/campaigns/{{campaign}}"
    return [
        Route(f"{place}/disputes", answering(_disputes), methods=["GET"]),
        Route(f"{place}/decisions", answering(_decisions, "judging"), methods=["POST"]),
    ]


def _disputes(_: Request, viewer: Viewer, campaign: str, __: bytes) -> dict[str, Any]:
    """The cases ordered by query, so that the eye stays with one; votes and flags as they stand."""
    _lead(viewer)
    project = site().project
    found = project.campaigns.disputes(campaign)
    flags, decided = project.labels.flags(campaign), project.labels.adjudications(campaign)
    kinds = {"votes": found.disputed, "flagged": flags, "unsure": found.unsure}
    of: dict[tuple[str, str], list[str]] = {}
    for kind, pairs in kinds.items():
        for query, candidate in pairs[KEY].drop_duplicates().itertuples(index=False, name=None):
            of.setdefault((query, candidate), []).append(kind)
    chosen = sorted(of)[:MOST]
    votes, raised, decisions = (_by_pair(frame) for frame in (found.votes, flags, decided))
    name = site().pictures.name
    cases = [
        {
            "query": name(viewer.name, pair[0]),
            "candidate": name(viewer.name, pair[1]),
            "kinds": of[pair],
            "votes": [_vote(row) for row in votes.get(pair, [])],
            "flags": [
                {"flag": int(row["flag"]), "expert": row["expert"], "reason": row["reason"]}
                for row in raised.get(pair, [])
            ],
            "decided": [
                {"value": int(row["value"]), "expert": row["expert"], "note": row["note"] or ""}
                for row in decisions.get(pair, [])
            ],
        }
        for pair in chosen
    ]
    shown = [Task(0, query, candidate, "pair", returned=False) for query, candidate in chosen]
    return {"cases": cases, "all": len(of), "pictures": pictures_about(viewer, shown)}


def _by_pair(frame: pd.DataFrame) -> dict[tuple[str, str], list[dict[str, Any]]]:
    result: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in frame.astype(object).where(frame.notna(), None).to_dict("records"):
        values = {str(name): value for name, value in row.items()}
        result.setdefault((values["query_id"], values["candidate_id"]), []).append(values)
    return result


def _vote(row: dict[str, Any]) -> dict[str, Any]:
    """One expert's vote, with what was said beside it."""
    numbers = {name: None if row[name] is None else int(row[name]) for name in ("value", "grade")}
    seconds = None if row["seconds"] is None else round(float(row["seconds"]), 1)
    texts = {name: row[name] or "" for name in ("mode", "aspects", "note")}
    return {"expert": row["expert_id"], "seconds": seconds, **numbers, **texts}


def _decisions(_: Request, viewer: Viewer, campaign: str, body: bytes) -> dict[str, Any]:
    asked = parse_body(Decided, body)
    same_expert(asked.expert, viewer)
    _lead(viewer)
    project, stored = acting(viewer), list[str]()
    for decision in asked.decisions:
        sides = [site().pictures.image_id(viewer.name, side) for side in (decision.query, decision.candidate)]
        if None in sides:
            raise RefusalError(422, REFUSALS.pictures)
        query, candidate = map(str, sides)
        project.labels.adjudicate(
            query, candidate, campaign, decision.value, by=viewer.name, note=decision.note, token=decision.token
        )
        stored.append(decision.token)
    for flag in asked.flags:
        project.labels.resolve_flag(flag.flag, again=flag.again)
        stored.append(flag.token)
    return {"stored": stored}


def _lead(viewer: Viewer) -> None:
    if not may(viewer, "lead"):
        raise RefusalError(403, REFUSALS.lead)
