"""The judging page's requests: tasks and history to read, and judgements, which are stored before the answer.

    GET  {base}/api/campaigns/{campaign}/next?count=20&skip=1,2      tasks, and how many are left
    GET  {base}/api/campaigns/{campaign}/pages?pages=3&size=24&skip= the same in pages of one query
    GET  {base}/api/campaigns/{campaign}/history?count=50            what was judged last, for undo after a reload
    POST {base}/api/campaigns/{campaign}/judgements                  judgements and flags
    POST {base}/api/campaigns/{campaign}/tab                         take the claim; other tabs pause
    GET  {base}/judging/{version}/{name}                             the page's own scripts

Everything is asked as the gate's Viewer: an expert reaches their own queue and labels only. Answers hold
opaque names of pictures and numbers of tasks, nothing of models, ranks, origins or others' votes.
"""

import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from annotator_ui.app_state import Viewer, site
from annotator_ui.judging import assets
from annotator_ui.judging.claims import Claims
from annotator_ui.judging.payload import (
    MOST_BYTES,
    Delivery,
    HistoryQuery,
    PagesQuery,
    TabClaim,
    TasksQuery,
    parse_body,
    parse_query,
)
from annotator_ui.lanes import Lane, in_lane
from annotator_ui.texts_judging import REFUSALS
from eds.errors import EdsError, InputError
from eds.project.labels import NotYoursError, Task

LOG = logging.getLogger(__name__)
PLAIN = {"cache-control": "no-store", "content-security-policy": "default-src 'none'"}  # shorter than a page's policy
CLAIMS = Claims()
_names: dict[str, str] = {}  # of campaigns by their handle, which never changes its meaning


class RefusalError(Exception):
    """A request that is answered with this status."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status = status


def routes(base: str = "") -> list[BaseRoute]:
    """The routes of the judging page below `base`."""
    campaign = f"{base}/api/campaigns/{{campaign}}"
    return [
        Route(f"{campaign}/next", answering(_next), methods=["GET"]),
        Route(f"{campaign}/pages", answering(_pages), methods=["GET"]),
        Route(f"{campaign}/history", answering(_history), methods=["GET"]),
        Route(f"{campaign}/judgements", answering(_judgements, "judging"), methods=["POST"]),
        Route(f"{campaign}/tab", answering(_tab), methods=["POST"]),
        Route(f"{base}/judging/{{version}}/{{name}}", _asset, methods=["GET"]),
    ]


Handler = Callable[[Request, Viewer, str, bytes], dict[str, Any]]


def answering(handler: Handler, lane: Lane = "tasks") -> Callable[[Request], Awaitable[Response]]:
    """The handler in a thread of this lane, with the viewer, the campaign's name and the body; its refusals as JSON."""

    async def endpoint(request: Request) -> Response:
        viewer = request.scope.get("eds.viewer")
        if viewer is None:
            return _json({"error": "signed out"}, 401)
        try:
            body = await _body(request) if request.method == "POST" else b""
            return _json(await in_lane(lane, _run, handler, request, viewer, body))
        except ClientDisconnect:  # the network broke off: the outbox sends again
            return _json({"error": "cut off"}, 400)
        except RefusalError as refusal:
            return _json({"error": str(refusal)}, refusal.status)
        except InputError as error:
            status = 403 if isinstance(error, NotYoursError) else 422
            return _json({"error": str(error.what), "faults": list(error.faults)}, status)
        except EdsError as error:  # the database is away or busy: the page keeps everything and tries again
            LOG.warning("%s", error)
            return _json({"error": str(error.what)}, 503)

    return endpoint


def _run(handler: Handler, request: Request, viewer: Viewer, body: bytes) -> dict[str, Any]:
    handle = request.path_params["campaign"]
    name = _names.get(handle)
    if name is None:
        name = site().project.campaigns.find(handle)
        if name is None:
            raise RefusalError(404, REFUSALS.unknown)
        _names[handle] = name
    return handler(request, viewer, name, body)


def _next(request: Request, viewer: Viewer, campaign: str, _: bytes) -> dict[str, Any]:
    query = parse_query(TasksQuery, request.query_params)
    head = _standing(viewer, campaign)
    tasks = site().project.labels.next_tasks(campaign, viewer.name, query.count, skip=query.skip)
    return {
        "tasks": [_shown(viewer, task) for task in tasks],
        **_about(viewer, campaign, head, tasks),
        **head,
        **_claim(request, viewer),
    }


def _pages(request: Request, viewer: Viewer, campaign: str, _: bytes) -> dict[str, Any]:
    query = parse_query(PagesQuery, request.query_params)
    head = _standing(viewer, campaign)
    pages = site().project.labels.next_pages(campaign, viewer.name, query.pages, query.size, skip=query.skip)
    tasks = [task for page in pages for task in page]
    return {
        "pages": [[_shown(viewer, task) for task in page] for page in pages],
        **_about(viewer, campaign, head, tasks),
        **head,
        **_claim(request, viewer),
    }


def _history(request: Request, viewer: Viewer, campaign: str, _: bytes) -> dict[str, Any]:
    query = parse_query(HistoryQuery, request.query_params)
    _standing(viewer, campaign)
    answers = site().project.labels.last_answers(campaign, viewer.name, query.count, only=query.only)
    return {
        "answers": [
            {**_shown(viewer, answer.task), "value": answer.value, "seconds": answer.seconds} for answer in answers
        ],
        "pictures": pictures_about(viewer, [answer.task for answer in answers]),
    }


def _judgements(request: Request, viewer: Viewer, campaign: str, body: bytes) -> dict[str, Any]:
    """Store what came, also from a tab that lost its claim: what was typed counts. Then say whether it may go on."""
    delivery = parse_body(Delivery, body)
    same_expert(delivery.expert, viewer)
    project, tokens = site().project, list[str]()
    if judgements := [answer.judgement() for answer in delivery.judgements]:
        receipts = project.labels.submit(viewer.name, judgements, session_id=str(viewer.session))
        tokens += [receipt.token for receipt in receipts]
    for flag in delivery.flags:
        tokens.append(project.labels.flag(viewer.name, flag.assignment, flag.reason, flag.token).token)
    for withdrawal in delivery.withdrawals:
        project.labels.withdraw_flag(viewer.name, withdrawal.assignment, withdrawal.flag)
        tokens.append(withdrawal.token)
    standby = delivery.tab is not None and not CLAIMS.holds(viewer.name, campaign, delivery.tab)
    return {"stored": tokens, "standby": standby}


def _tab(_: Request, viewer: Viewer, campaign: str, body: bytes) -> dict[str, Any]:
    """Take the claim, or only ask whether this tab holds it."""
    claim = parse_body(TabClaim, body)
    same_expert(claim.expert, viewer)
    if claim.take:
        CLAIMS.take(viewer.name, campaign, claim.tab)
    return {"standby": not CLAIMS.holds(viewer.name, campaign, claim.tab)}


def _standing(viewer: Viewer, campaign: str) -> dict[str, Any]:
    """Return left, done and total; refused for experts who are not on the panel."""
    result = site().project.campaigns.of_expert(campaign, viewer.name)
    if not result.member:
        raise RefusalError(403, REFUSALS.panel)
    return {
        "done": result.done,
        "left": result.left,
        "total": result.total,
        "closed": result.closed,
        "finished": result.left == 0,
        "guideline": result.guideline,
    }


def _claim(request: Request, viewer: Viewer) -> dict[str, Any]:
    tab = request.query_params.get("tab", "")[:200]
    return {"standby": not CLAIMS.holds(viewer.name, _names[request.path_params["campaign"]], tab)} if tab else {}


def _shown(viewer: Viewer, task: Task) -> dict[str, Any]:
    """A task as the page sees it: pictures by opaque names, which the page completes by the size it wants."""
    name = site().pictures.name
    return {
        "assignment": task.assignment,
        "query": name(viewer.name, task.query_id),
        "candidate": name(viewer.name, task.candidate_id),
        "mode": task.mode,
        "returned": task.returned,
    }


def _about(viewer: Viewer, campaign: str, head: dict[str, Any], tasks: Sequence[Task]) -> dict[str, Any]:
    """What the page says beside these tasks: the place of each query in the queue, and the products shown."""
    queries = {task.query_id for task in tasks}
    found = site().project.campaigns.query_places(campaign, viewer.name, queries, head["total"])
    name = site().pictures.name
    places = {name(viewer.name, query): [of.place, of.pairs, of.done] for query, of in found.of.items()}
    return {
        "queries": {"count": found.queries, "largest": found.largest, "places": places},
        "pictures": pictures_about(viewer, tasks),
    }


def pictures_about(viewer: Viewer, tasks: Sequence[Any]) -> dict[str, Any]:
    """By picture name: lines about its product, its other pictures, its category; pictures without any are left out."""
    pictures, result = site().pictures, {}
    for image in {side for task in tasks for side in (task.query_id, task.candidate_id)}:
        about = pictures.about(image)
        if about.lines or about.others or about.category:
            others = [pictures.name(viewer.name, other) for other in about.others]
            result[pictures.name(viewer.name, image)] = {"lines": about.lines, "others": others, "kind": about.category}
    return result


def same_expert(judged_by: str, viewer: Viewer) -> None:
    """Refuse what the page of another expert sends."""
    if judged_by != viewer.name:
        raise RefusalError(401, REFUSALS.other)


async def _body(request: Request) -> bytes:
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BYTES:
            raise RefusalError(413, REFUSALS.large)
        parts.append(part)
    return b"".join(parts)


def _json(content: dict[str, Any], status: int = 200) -> Response:
    body = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return Response(body, status, media_type="application/json", headers=PLAIN)


async def _asset(request: Request) -> Response:
    """A script of the page; only of the running version, so that an address never changes its meaning."""
    result = assets.files().get(request.path_params["name"])
    if result is None or request.path_params["version"] != assets.version():
        return Response("not found", 404, media_type="text/plain")
    headers = {"cache-control": "private, max-age=31536000, immutable", "x-content-type-options": "nosniff"}
    return Response(result, headers=headers, media_type=assets.TYPES[".js"].split(";")[0])
