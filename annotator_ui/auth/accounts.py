"""Signing in and out, and the page behind an invitation link: plain pages that need no script.

GET, POST /sign-in              name and password, or a passkey; more ways where they are turned on
GET, POST /invitation/TOKEN     what is asked; its button signs in, once (GET changes nothing: mail programs look ahead)
GET, POST /password             a first password, for who was signed in by an invitation
GET, POST /sign-out             here, or everywhere
"""

import math
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from annotator_ui import language
from annotator_ui.app_state import acting, site
from annotator_ui.auth import own_language, passkeys
from annotator_ui.auth.cookies import (
    FORM,
    cookie_of,
    device_of,
    form_is_ours,
    form_token,
    form_value,
    session_cookie,
    set_device_cookie,
    set_form_cookie,
)
from annotator_ui.auth.security_headers import PLAIN
from annotator_ui.guideline_html import guideline_html
from annotator_ui.lanes import in_lane, waiting_in
from annotator_ui.texts import ACCOUNTS as SAYS
from annotator_ui.texts import PRODUCT
from annotator_ui.texts_judging import PAGE
from annotator_ui.theme import STYLE
from eds.errors import InputError
from eds.html import render
from eds.project.campaigns import ExpertProgress
from eds.project.experts import INVITED, SHORTEST_PASSWORD, HashingBusyError, Origin, SignInError

MOST_WAITING = 20  # people who sign in at the same moment; more are asked to come back


def routes(base: str) -> list[Route]:
    """The pages, and OpenID Connect's two addresses where it is turned on."""
    result = [
        Route(f"{base}/sign-in", ask_sign_in, methods=["GET"]),
        Route(f"{base}/sign-in", do_sign_in, methods=["POST"]),
        Route(f"{base}/invitation/{{token}}", welcome, methods=["GET"]),
        Route(f"{base}/invitation/{{token}}", begin, methods=["POST"]),
        Route(f"{base}/password", ask_password, methods=["GET"]),
        Route(f"{base}/password", do_password, methods=["POST"]),
        Route(f"{base}/sign-out", ask_sign_out, methods=["GET"]),
        Route(f"{base}/sign-out", do_sign_out, methods=["POST"]),
        *passkeys.routes(base),
        *own_language.routes(base),
    ]
    if site().options.openid is not None:
        from annotator_ui.auth import openid

        result += openid.routes(base)
    return result


async def ask_sign_in(request: Request) -> Response:
    """Show the sign-in page; a viewer with a session is sent on."""
    target = _local(request.query_params.get("next", "/"))
    if "eds.viewer" in request.scope:
        return RedirectResponse(f"{site().base}{target}", 303)
    unknown = "unknown" in request.query_params
    return _sign_in_page(request, target, SAYS.unknown if unknown else "", status=403 if unknown else 200)


async def do_sign_in(request: Request) -> Response:
    """Try a name and a password, or a passkey."""
    values = await read_form(request)
    target, name = _local(values.get("next", "/")), values.get("name", "")
    if not _is_ours(request, values):
        return _sign_in_page(request, target, SAYS.stale, status=403)
    if waiting_in("accounts") >= MOST_WAITING:
        return _wait(_sign_in_page(request, target, SAYS.busy, name=name, status=429), 3)
    if "credential" in values:
        try:
            token = await in_lane("accounts", passkeys.sign_in, request, values["credential"])
        except SignInError:
            return _sign_in_page(request, target, SAYS.passkey_refused, status=401)
        return await _onward(request, token, target)
    try:
        token = await in_lane("accounts", _sign_in, request, name, values.get("password", ""))
    except SignInError as error:
        wait = math.ceil(error.wait)
        page = _sign_in_page(
            request, target, wait_text(wait) if wait else SAYS.refused, name=name, status=429 if wait else 401
        )
        return _wait(page, wait) if wait else page
    return await _onward(request, token, target, name)


async def _onward(request: Request, token: str, target: str, name: str = "") -> Response:
    """Go on to what was asked for; from the first page to the only campaign, if there is one to be judged."""
    if target == "/":
        found = await in_lane("gate", site().project.experts.session, token)
        target = await in_lane("accounts", _work_of, found.expert) if found else target
    return signed_in(request, token, target, name)


async def welcome(request: Request) -> Response:
    """The page behind an invitation: who is asked what, with a button. It shows no picture and changes nothing."""
    name = await in_lane("accounts", site().project.experts.invited, request.path_params["token"])
    return _link_used(request) if name is None else await in_lane("accounts", _welcome_page, request, name, "")


async def begin(request: Request) -> Response:
    """Use an invitation: sign in, and go on to the first pair."""
    invitation, values = request.path_params["token"], await read_form(request)
    experts = site().project.experts
    name = await in_lane("accounts", experts.invited, invitation)
    if name is None:
        return _link_used(request)
    if not _is_ours(request, values):
        return await in_lane("accounts", _welcome_page, request, name, SAYS.stale, 403)
    try:
        account, token = await in_lane("accounts", experts.sign_in_invited, invitation)
    except InputError:  # somebody was quicker
        return _link_used(request)
    target = await in_lane("accounts", _work_of, account)
    return signed_in(request, token, target if target == "/" else f"{target}&first=1", account)


async def ask_password(request: Request) -> Response:
    """Choose a first password."""
    return await _password_page(request, "")


async def do_password(request: Request) -> Response:
    """Take a first password, or a passkey instead, from somebody whom an invitation signed in."""
    values, name = await read_form(request), request.scope["eds.viewer"].name
    if not await _may_choose(request):
        return RedirectResponse(f"{site().base}/", 303)
    if not _is_ours(request, values):
        return await _password_page(request, SAYS.stale, status=403)
    experts, password = site().project.experts, values.get("password", "")
    if "credential" not in values and password != values.get("again", ""):
        return await _password_page(request, SAYS.differ, status=422)
    try:
        if "credential" in values:
            key = passkeys.made(request, values["credential"], "")
            await in_lane("accounts", experts.add_passkey, name, key)
        else:
            await in_lane("accounts", experts.set_password, name, password)
    except HashingBusyError:
        return _wait(await _password_page(request, SAYS.busy, status=429), 3)
    except (InputError, SignInError):
        problem = SAYS.passkey_failed if "credential" in values else SAYS.unusable.format(shortest=SHORTEST_PASSWORD)
        return await _password_page(request, problem, status=422)
    return RedirectResponse(f"{site().base}{_local(values.get('next', '/'))}", 303)


async def ask_sign_out(request: Request) -> Response:
    """Sign out here, or everywhere."""
    name = request.scope["eds.viewer"].name
    lost = not await in_lane("accounts", site().project.experts.can_return, name) and await _may_choose(request)
    return page(
        request, "sign_out", SAYS.out_title, SAYS.out_body.format(name=name), problem=SAYS.out_lost if lost else ""
    )


async def do_sign_out(request: Request) -> Response:
    """End this session, or all of this person's."""
    values = await read_form(request)
    if not _is_ours(request, values):
        return RedirectResponse(f"{site().base}/sign-out", 303)
    if values.get("act") == "everywhere":
        name = request.scope["eds.viewer"].name
        await in_lane("accounts", acting(request.scope["eds.viewer"]).experts.sign_out_everywhere, name)
    await in_lane("accounts", site().project.experts.sign_out, request.scope["eds.token"])
    answer = RedirectResponse(f"{site().base}/sign-in", 303)
    answer.headers.append("Set-Cookie", session_cookie(site(), request.scope["eds.client"], ""))
    return answer


def signed_in(request: Request, token: str, target: str, name: str = "") -> Response:
    """Go on with a new session; after a password the browser counts as known for this account."""
    answer = RedirectResponse(f"{site().base}{target}", 303)
    answer.headers.append("Set-Cookie", session_cookie(site(), request.scope["eds.client"], token))
    if name:
        set_device_cookie(answer, site(), request.scope["eds.client"], name)
    return answer


def refused(request: Request, why: str) -> Response:
    """The sign-in page again, saying why another way of signing in did not work."""
    return _sign_in_page(request, "/", why, status=403)


def _sign_in(request: Request, name: str, password: str) -> str:
    origin = Origin(request.scope["eds.client"].address, device_of(site(), request, name))
    return site().project.experts.sign_in(name, password, origin)


def _is_ours(request: Request, values: dict[str, str]) -> bool:
    return form_is_ours(site(), cookie_of(site(), request, FORM), values.get("token", ""))


def wait_text(seconds: int) -> str:
    """Return what a sign-in page says that must wait."""
    return SAYS.wait_seconds.format(n=seconds) if seconds < 90 else SAYS.wait_minutes.format(n=-(-seconds // 60))


def _wait(answer: Response, seconds: int) -> Response:
    answer.headers["Retry-After"] = str(seconds)
    return answer


def _sign_in_page(request: Request, target: str, problem: str, *, name: str = "", status: int = 200) -> Response:
    openid, value = site().options.openid, form_value(site(), request)
    values = {
        "problem": problem,
        "target": target,
        "name": name,
        "provider": openid.label if openid else "",
        "options": passkeys.request_options(request, value),
    }
    return page(
        request,
        "sign_in",
        SAYS.in_title,
        SAYS.in_body.format(project=site().name),
        value=value,
        status=status,
        **values,
    )


def _welcome_page(request: Request, name: str, problem: str, status: int = 200) -> Response:
    """Question and guideline of the only campaign; of several only their number."""
    project = site().project
    waiting = _waiting(name)
    one = waiting[0] if len(waiting) == 1 else None
    guideline = project.guidelines.in_force(one.name) if one else None
    values: dict[str, object] = {
        "problem": problem,
        "action": request.url.path,
        "question": one.form.question or PAGE["questions"][one.mode] if one else "",
        "guideline": guideline_html(guideline.content, guideline.language) if guideline else "",
        "replaces": project.experts.can_return(name),
    }
    body = SAYS.invited_body.format(project=site().name)
    if len(waiting) > 1:
        body = f"{body} {SAYS.invited_campaigns.format(n=len(waiting))}"
    return page(
        request,
        "welcome",
        SAYS.welcome.format(name=name),
        body,
        value=form_value(site(), request),
        status=status,
        **values,
    )


def _waiting(name: str) -> list[ExpertProgress]:
    """The campaigns in which somebody has pairs to judge."""
    return [one for one in site().project.campaigns.all_of_expert(name) if one.left and not one.closed]


def _work_of(name: str) -> str:
    """Where an expert goes on: to the judging page of the only campaign, otherwise to the first page."""
    account = site().project.experts.list().set_index("name").loc[name]
    waiting = _waiting(name)
    if account["role"] != "expert" or len(waiting) != 1:
        return "/"
    one = waiting[0]
    view = "practice" if site().project.calibration.is_due(one.name, name) else one.mode
    return f"/{view}?campaign={one.handle}"


async def _may_choose(request: Request) -> bool:
    """Whether this session was opened by an invitation: other ways (a proxy, a provider) vouch for the person."""
    found = await in_lane("gate", site().project.experts.session, request.scope["eds.token"])
    return found is not None and found.way == INVITED


async def _password_page(request: Request, problem: str, *, status: int = 200) -> Response:
    name, value = request.scope["eds.viewer"].name, form_value(site(), request)
    if not await _may_choose(request) or await in_lane("accounts", site().project.experts.can_return, name):
        return RedirectResponse(f"{site().base}/account", 303)
    values = {
        "problem": problem,
        "name": name,
        "action": request.url.path,
        "target": _local(request.query_params.get("next", "/")),
        "shortest": SHORTEST_PASSWORD,
        "options": passkeys.creation_options(request, value, name, []),
    }
    return page(request, "choose_password", SAYS.new_password, SAYS.return_body, value=value, status=status, **values)


def _link_used(request: Request) -> Response:
    return page(request, "link_used", SAYS.gone_title, SAYS.gone_body, status=404)


def page(
    request: Request, kind: str, title: str, body: str, *, value: str = "", status: int = 200, **values: object
) -> Response:
    """Return a page from its template, with the token and the cookie that its form is held against."""
    here = site()
    value = value or form_value(here, request)
    html = render(
        f"annotator_ui/{kind}.html.j2",
        **{"problem": "", **values},
        kind=kind,
        title=title,
        body=body,
        token=form_token(here, value),
        script=passkeys.script_digest() if "options" in values else "",
        base=here.base,
        project=here.name,
        product=PRODUCT,
        style=STYLE,
        lang=language.current(),
        texts=SAYS,
    )
    headers = {"Content-Security-Policy": PLAIN, "Cache-Control": "no-store", "Referrer-Policy": "same-origin"}
    answer = HTMLResponse(html, status, headers)
    set_form_cookie(answer, here, request.scope["eds.client"], value)
    return answer


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form (the gate limits its length); of a field given twice the first."""
    body = await request.body()
    result = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
    return {name: values[0] for name, values in result.items()}


def _local(target: str) -> str:
    """Where to go on: a path of ours, never another host."""
    plain = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if plain and "\\" not in target else "/"
