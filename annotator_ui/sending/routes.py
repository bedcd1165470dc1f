"""Routes for a catalogue from a lead's device: each picture is one request of bounded size.

    GET  {base}/catalogue/upload    what has arrived, so that a broken upload goes on where it stopped
    POST {base}/catalogue/upload    one picture; X-EDS-Path says where it lies in the folder that was chosen

Nothing is opened here: the import reads what arrived, in a process of its own.
"""

from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from annotator_ui.app_state import may, site
from annotator_ui.http_limits import CATALOGUE_UPLOAD, UPLOAD_BYTES
from annotator_ui.lanes import in_lane
from eds.errors import InputError

NEVER = {"Cache-Control": "no-store"}


def routes(base: str) -> list[Route]:
    """The routes below `base`."""
    place = f"{base}{CATALOGUE_UPLOAD}"
    return [Route(place, arrived, methods=["GET"]), Route(place, arriving, methods=["POST"])]


async def arrived(request: Request) -> Response:
    """The size of each picture that is there, by its path."""
    if (refusal := _refused(request)) is not None:
        return refusal
    return JSONResponse({"files": await in_lane("background", lambda: dict(site().received.sizes))}, headers=NEVER)


async def arriving(request: Request) -> Response:
    """Keep one picture."""
    if (refusal := _refused(request)) is not None:
        return refusal
    data = await request.body()
    if len(data) > UPLOAD_BYTES:
        return JSONResponse({"error": "too large"}, 413, NEVER)
    try:
        path = unquote(request.headers.get("x-eds-path", ""), errors="strict")
        count = await in_lane("background", site().received.add, path, data)
    except UnicodeDecodeError:
        return JSONResponse({"error": "the path is not UTF-8"}, 422, NEVER)
    except InputError as error:
        return JSONResponse({"error": error.what}, 422, NEVER)
    return JSONResponse({"count": count}, headers=NEVER)


def _refused(request: Request) -> Response | None:
    viewer = request.scope.get("eds.viewer")
    if viewer is None or not may(viewer, "lead"):
        return JSONResponse({"error": "for leads only"}, 403, NEVER)
    return None
