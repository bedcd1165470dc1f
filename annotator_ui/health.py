"""/health: the process answers. /ready: it can do its work, too. Open to everybody; they reveal nothing else."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from annotator_ui.app_state import site
from annotator_ui.lanes import in_lane
from eds.errors import EdsError

ALIVE = b'{"status":"ok"}'


async def health(request: Request) -> Response:
    """Answer at once, without asking the database."""
    return Response(ALIVE, media_type="application/json", headers={"Cache-Control": "no-store"})


async def ready(request: Request) -> Response:
    """Ready: the database answers and the pictures' table can be read."""
    try:
        await in_lane("health", _check)
    except EdsError:
        return JSONResponse({"status": "not ready"}, 503, {"Retry-After": "5", "Cache-Control": "no-store"})
    return JSONResponse({"status": "ok"}, headers={"Cache-Control": "no-store"})


def _check() -> None:
    site().project.experts.session_numbered(0)  # does not exist: the cheapest query
    site().pictures.refresh()


def routes(base: str) -> list[Route]:
    """Both routes."""
    return [Route(f"{base}/health", health), Route(f"{base}/ready", ready)]
