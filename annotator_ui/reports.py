"""The project's report as a page of its own, for leads; it may run its own scripts, but reach nothing of ours."""

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from annotator_ui.app_state import may, site

POLICY = (
    "sandbox allow-scripts allow-popups; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:; frame-ancestors 'self'"
)


def routes(base: str) -> list[Route]:
    """The one route."""
    return [Route(f"{base}/report/page", show)]


def show(request: Request) -> Response:
    """report.html of the project."""
    if not may(request.scope["eds.viewer"], "lead"):
        return JSONResponse({"error": "for leads"}, 403)
    file = site().project.root / "report.html"
    if not file.is_file():
        return JSONResponse({"error": "no report yet"}, 404)
    headers = {"Content-Security-Policy": POLICY, "X-Frame-Options": "SAMEORIGIN", "Cache-Control": "no-store"}
    return FileResponse(file, media_type="text/html; charset=utf-8", headers=headers)
