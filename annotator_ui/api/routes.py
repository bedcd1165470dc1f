"""The API's routes: {base}/api/v1/... with `Authorization: Bearer TOKEN`, and its document.

    GET {base}/api/v1                 the document as a page
    GET {base}/api/v1/openapi.json    the document (OpenAPI 3.1)

The gate lets only tokens through here, never a cookie, so a foreign page can do nothing with a signed-in browser. The
document is for people who are signed in, too.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from annotator_ui.api.endpoints import ENDPOINTS, Call, Endpoint, NotFoundError, PriceError
from annotator_ui.api.models import Fault
from annotator_ui.api.openapi import document, document_page
from annotator_ui.app_state import Viewer, may, site
from annotator_ui.auth.security_headers import PLAIN as PAGE_POLICY
from annotator_ui.judging.payload import parse_body, parse_query
from annotator_ui.lanes import in_lane
from eds.errors import EdsError, InputError

LOG = logging.getLogger(__name__)
ROOT = "/api/v1"
PLAIN = {"Cache-Control": "no-store", "Content-Security-Policy": "default-src 'none'"}


def routes(base: str = "") -> list[BaseRoute]:
    """The routes of the API below `base`."""
    return [
        Route(f"{base}{ROOT}", _page, methods=["GET"]),
        Route(f"{base}{ROOT}/openapi.json", _document, methods=["GET"]),
        *(Route(f"{base}{ROOT}{one.path}", _answering(one), methods=[one.method]) for one in ENDPOINTS),
        Route(f"{base}{ROOT}/{{rest:path}}", _unknown, methods=["GET", "POST", "PUT", "PATCH", "DELETE"]),
    ]


def _answering(endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint in a thread of its lane; every refusal is a Fault."""

    async def answer(request: Request) -> Response:
        who: Viewer = request.scope["eds.viewer"]
        if not may(who, endpoint.role):
            return _fault(403, f"{who.name} is {who.role}, and this is for leads")
        try:
            body = await request.body() if endpoint.body is not None else b""
            result = await in_lane("api", _run, endpoint, who, request, body)
        except ClientDisconnect:
            return _fault(400, "the request broke off")
        except PriceError as error:
            fault = Fault(error=str(error), hint="Send it again with agree: true.", price=error.price)
            return JSONResponse(fault.model_dump(), 409, PLAIN)
        except NotFoundError as error:
            return _fault(404, str(error))
        except InputError as error:
            return _fault(422, error.what, error.hint, list(error.faults))
        except EdsError as error:
            LOG.warning("%s", error)
            return _fault(503, error.what, error.hint)
        return JSONResponse(result, 201 if endpoint.method == "POST" else 200, PLAIN)

    return answer


def _run(endpoint: Endpoint, who: Viewer, request: Request, body: bytes) -> dict[str, Any]:
    query = parse_query(endpoint.query, request.query_params) if endpoint.query else None
    sent = parse_body(endpoint.body, body) if endpoint.body else None
    return endpoint.act(Call(who, dict(request.path_params), query, sent)).model_dump()


def _fault(status: int, error: str, hint: str = "", faults: list[str] | None = None) -> Response:
    return JSONResponse(Fault(error=error, hint=hint, faults=faults or []).model_dump(), status, PLAIN)


async def _unknown(request: Request) -> Response:
    where = f"{request.method} {request.url.path}"
    return _fault(404, f"there is no {where}", f"{site().base}{ROOT} lists what there is.")


async def _document(_: Request) -> Response:
    return JSONResponse(document(site().base + ROOT), headers=PLAIN)


async def _page(_: Request) -> Response:
    headers = {**PLAIN, "Content-Security-Policy": PAGE_POLICY}
    return Response(document_page(site().base + ROOT), media_type="text/html", headers=headers)
