"""Practice's requests: the open round with its pairs, and answers, which tell what was expected.

    POST {base}/api/campaigns/{campaign}/practice           the round; `begin` makes another one
    POST {base}/api/campaigns/{campaign}/practice/answers   store one answer; returns what was expected, and why

What is expected of a pair leaves the server only after the expert's own answer to it is stored.
"""

from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from annotator_ui.app_state import Viewer, site
from annotator_ui.judging.payload import Body, Name, parse_body
from annotator_ui.judging.routes import RefusalError, answering, pictures_about, same_expert
from annotator_ui.texts_judging import REFUSALS
from eds.project.calibration import Feedback, Round


class Asked(Body):
    """Whose round, and whether another one begins."""

    expert: Name
    begin: bool = False


class PracticeAnswer(Body):
    """An answer to a pair of the round."""

    expert: Name
    task: int
    value: int | None
    token: Name
    seconds: float | None = None


def routes(base: str = "") -> list[BaseRoute]:
    """The routes of practice below `base`."""
    place = f"{base}/api/campaigns/{{campaign}}/practice"
    return [
        Route(place, answering(_round, "judging"), methods=["POST"]),
        Route(f"{place}/answers", answering(_answer, "judging"), methods=["POST"]),
    ]


def _round(_: Request, viewer: Viewer, campaign: str, body: bytes) -> dict[str, Any]:
    asked = parse_body(Asked, body)
    same_expert(asked.expert, viewer)
    calibration = site().project.calibration
    _member(viewer, campaign)
    rounds = calibration.rounds(campaign, viewer.name)
    due = calibration.is_due(campaign, viewer.name)
    if due and (asked.begin or not rounds):
        calibration.begin(campaign, viewer.name)
        rounds = calibration.rounds(campaign, viewer.name)
    if not rounds:
        raise RefusalError(404, REFUSALS.practice)
    return _told(viewer, rounds[-1], due=due)


def _told(viewer: Viewer, found: Round, *, due: bool) -> dict[str, Any]:
    """The pairs that are left, without what is expected; those answered with it."""
    calibration, name = site().project.calibration, site().pictures.name
    tasks = calibration.tasks(found.round, viewer.name)
    answers = calibration.feedback(found.round, viewer.name)
    sides = ("query", "candidate")
    return {
        "number": found.number,
        "size": found.size,
        "right": found.right,
        "counted": found.counted,
        "needed": found.needed,
        "due": due,
        "tasks": [
            {"task": task.task, **{side: name(viewer.name, getattr(task, f"{side}_id")) for side in sides}}
            for task in tasks
        ],
        "answers": [
            {**_feedback(answer), **{side: name(viewer.name, getattr(answer, f"{side}_id")) for side in sides}}
            for answer in answers
        ],
        "pictures": pictures_about(viewer, [*tasks, *answers]),
    }


def _answer(_: Request, viewer: Viewer, __: str, body: bytes) -> dict[str, Any]:
    """One question to the store and no more: the expert looks at the pair until this is answered."""
    asked = parse_body(PracticeAnswer, body)
    same_expert(asked.expert, viewer)
    answer = site().project.calibration.answer(viewer.name, asked.task, asked.value, asked.token, seconds=asked.seconds)
    return _feedback(answer)


def _feedback(answer: Feedback) -> dict[str, Any]:
    return {"value": answer.value, "expected": answer.expected, "right": answer.right, "note": answer.note}


def _member(viewer: Viewer, campaign: str) -> None:
    if not site().project.campaigns.of_expert(campaign, viewer.name).member:
        raise RefusalError(403, REFUSALS.panel)
