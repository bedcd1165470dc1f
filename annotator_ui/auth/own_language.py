"""GET, POST /language: the language of one's own pages.

A page of its own, loaded again, so that everything after it is in the language: Streamlit's page, too.
"""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from annotator_ui import language
from annotator_ui.app_state import site
from annotator_ui.auth.cookies import FORM, cookie_of, form_is_ours
from annotator_ui.lanes import in_lane
from annotator_ui.texts import ACCOUNTS as SAYS

PATH = "/language"


def routes(base: str) -> list[Route]:
    """The page."""
    return [Route(f"{base}{PATH}", show, methods=["GET"]), Route(f"{base}{PATH}", change, methods=["POST"])]


async def show(request: Request) -> Response:
    """The languages there are, the chosen one marked."""
    return _page(request, "")


async def change(request: Request) -> Response:
    """Keep the chosen language with the account; an empty one is the browser's."""
    from annotator_ui.auth.accounts import read_form

    values = await read_form(request)
    chosen = values.get("language", "")
    if not form_is_ours(site(), cookie_of(site(), request, FORM), values.get("token", "")):
        return _page(request, SAYS.stale, status=403)
    if chosen and chosen not in language.languages():
        return RedirectResponse(f"{site().base}{PATH}", 303)
    await in_lane("accounts", site().project.experts.set_language, request.scope["eds.viewer"].name, chosen)
    return RedirectResponse(f"{site().base}/account", 303)


def _page(request: Request, problem: str, *, status: int = 200) -> Response:
    from annotator_ui.auth.accounts import page

    own = request.scope["eds.viewer"].language
    values = {"problem": problem, "languages": language.languages(), "own": own}
    return page(request, "language", SAYS.language_title, SAYS.language_body, status=status, **values)
