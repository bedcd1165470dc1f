"""Routes of Look around, for leads only: the points of a map, and pictures to search by.

    GET  {base}/looking/points?model=&method=&colour=&clusters=&version=     the map, as maps.py packs it
    POST {base}/looking/upload                                               a picture; the answer is its token
    GET  {base}/looking/upload/{token}                                       the picture, to its viewer

An upload is limited in bytes (http_limits.py, before it is read) and in pixels, and is decoded in a child process.
"""

from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from annotator_ui.app_state import may, site
from annotator_ui.http_limits import UPLOAD, UPLOAD_BYTES
from annotator_ui.lanes import in_lane
from annotator_ui.looking.maps import COLOURS, METHODS, drawn
from annotator_ui.picture_queue import BusyError
from eds.errors import EdsError, ImageError

NEVER = {"Cache-Control": "no-store"}
KEEP = {"Cache-Control": "private, max-age=86400"}


def routes(base: str) -> list[Route]:
    """The routes below `base`."""
    return [
        Route(f"{base}/looking/points", points, methods=["GET"]),
        Route(f"{base}{UPLOAD}", upload, methods=["POST"]),
        Route(f"{base}{UPLOAD}/{{token}}", uploaded, methods=["GET"]),
    ]


async def points(request: Request) -> Response:
    """The points of a map."""
    if (refusal := _refused(request)) is not None:
        return refusal
    query = request.query_params
    colour, clusters = query.get("colour", "category"), query.get("clusters", "0")
    method = query.get("method", "pca")
    if method not in METHODS or colour not in COLOURS or not (clusters.isdecimal() and len(clusters) < 4):
        return JSONResponse({"error": "unknown map"}, 404, NEVER)
    try:
        found = await in_lane("background", drawn, query.get("model", ""), method, colour, int(clusters))
    except EdsError as error:
        return JSONResponse({"error": str(error)}, 422, NEVER)
    return Response(found.content, media_type="application/octet-stream", headers=KEEP)


async def upload(request: Request) -> Response:
    """Keep a picture that a lead searches by."""
    if (refusal := _refused(request)) is not None:
        return refusal
    data = await request.body()
    if len(data) > UPLOAD_BYTES:
        return JSONResponse({"reason": "large"}, 413, NEVER)
    name = unquote(request.headers.get("x-eds-name", ""))[:100]
    viewer = request.scope["eds.viewer"].name
    try:
        token = await site().uploads.add(viewer, name, data, site().pictures.queue)
    except BusyError:
        return JSONResponse({"reason": "busy"}, 503, NEVER)
    except ImageError:
        return JSONResponse({"reason": "unreadable"}, 422, NEVER)
    return JSONResponse({"token": token}, headers=NEVER)


async def uploaded(request: Request) -> Response:
    """A picture, to the lead who uploaded it."""
    if (refusal := _refused(request)) is not None:
        return refusal
    found = site().uploads.find(request.scope["eds.viewer"].name, request.path_params["token"])
    if found is None:
        return JSONResponse({"error": "no such picture"}, 404, NEVER)
    data = await in_lane("pictures", found.file.read_bytes)
    return Response(data, media_type="image/webp", headers=NEVER)


def _refused(request: Request) -> Response | None:
    viewer = request.scope.get("eds.viewer")
    if viewer is None or not may(viewer, "lead"):
        return JSONResponse({"error": "for leads only"}, 403, NEVER)
    return None
