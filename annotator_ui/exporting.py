"""The route that gives judgements as files, to leads only: {base}/export/{format}?campaign=NAME."""

import tempfile
from pathlib import Path

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from annotator_ui.app_state import may, site
from eds.errors import EdsError
from eds.project.labels import FORMATS

ENDINGS = {"crowdkit": "crowdkit.csv"}
TYPES = {
    "csv": "text/csv; charset=utf-8",
    "crowdkit": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}


def routes(base: str) -> list[Route]:
    """The one route."""
    return [Route(f"{base}/export/{{kind}}", give, methods=["GET"])]


def give(request: Request) -> Response:
    """A file made now, from one snapshot of the store; it is removed when it was sent."""
    kind = request.path_params["kind"]
    if not may(request.scope["eds.viewer"], "lead"):
        return JSONResponse({"error": "for leads only"}, 403)
    if kind not in FORMATS:
        return JSONResponse({"error": f"choose one of {', '.join(FORMATS)}"}, 404)
    campaign = request.query_params.get("campaign") or None
    folder = tempfile.TemporaryDirectory(prefix="eds-export-")
    path = Path(folder.name) / f"votes.{ENDINGS.get(kind, kind)}"
    try:
        site().project.labels.export_votes(path, kind=kind, campaign=campaign)
    except EdsError as error:
        folder.cleanup()
        return JSONResponse({"error": str(error)}, 422)
    headers = {"Cache-Control": "no-store"}
    gone = BackgroundTask(folder.cleanup)
    return FileResponse(path, media_type=TYPES[kind], filename=path.name, headers=headers, background=gone)
