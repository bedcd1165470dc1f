"""Signing in and out, and the page behind an invitation link: plain pages that need no script.

GET, POST /sign-in              name and password, or a passkey; more ways where they are turned on
GET, POST /invitation/TOKEN     choose a password or make a passkey, once; signed in after that
GET, POST /sign-out             here, or everywhere
"""

import math
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from annotator_ui import language
from annotator_ui.app_state import acting, site
from annotator_ui.auth import passkeys
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
from annotator_ui.lanes import in_lane, waiting_in
from annotator_ui.texts import ACCOUNTS as SAYS
from annotator_ui.texts import PRODUCT
from annotator_ui.theme import STYLE
from eds.errors import InputError
from eds.html import render
from eds.project.experts import SHORTEST_PASSWORD, HashingBusyError, Origin, SignInError

MOST_WAITING = 20  # people who sign in at the same moment; more are asked to come back


def routes(base: str) -> list[Route]:
    """The three pages, and OpenID Connect's two addresses where it is turned on."""
    result = [
        Route(f"{base}/sign-in", ask_sign_in, methods=["GET"]),
        Route(f"{base}/sign-in", do_sign_in, methods=["POST"]),
        Route(f"{base}/invitation/{{token}}", ask_password, methods=["GET"]),
        Route(f"{base}/invitation/{{token}}", do_password, methods=["POST"]),
        Route(f"{base}/sign-out", ask_sign_out, methods=["GET"]),
        Route(f"{base}/sign-out", do_sign_out, methods=["POST"]),
        *passkeys.routes(base),
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
        return signed_in(request, token, target)
    try:
        token = await in_lane("accounts", _sign_in, request, name, values.get("password", ""))
    except SignInError as error:
        wait = math.ceil(error.wait)
        page = _sign_in_page(
            request, target, wait_text(wait) if wait else SAYS.refused, name=name, status=429 if wait else 401
        )
        return _wait(page, wait) if wait else page
    return signed_in(request, token, target, name)


async def ask_password(request: Request) -> Response:
    """The page behind an invitation link."""
    name = await in_lane("accounts", site().project.experts.invited, request.path_params["token"])
    return _link_used(request) if name is None else _password_page(request, name, "")


async def do_password(request: Request) -> Response:
    """Take the password or the passkey that an invited person chose, and sign them in."""
    invitation, values = request.path_params["token"], await read_form(request)
    experts = site().project.experts
    name = await in_lane("accounts", experts.invited, invitation)
    if name is None:
        return _link_used(request)
    if not _is_ours(request, values):
        return _password_page(request, name, SAYS.stale, status=403)
    password = values.get("password", "")
    if "credential" not in values and password != values.get("again", ""):
        return _password_page(request, name, SAYS.differ, status=422)
    way = "passkey" if "credential" in values else "password"
    try:
        if way == "passkey":
            key = passkeys.made(request, values["credential"], "")
            await in_lane("accounts", experts.accept_with_passkey, invitation, key)
        else:
            await in_lane("accounts", experts.accept, invitation, password)
    except HashingBusyError:
        return _wait(_password_page(request, name, SAYS.busy, status=429), 3)
    except SignInError:
        return _password_page(request, name, SAYS.passkey_failed, status=422)
    except InputError as error:
        if error.where not in ("password", "passkey"):
            return _link_used(request)
        problem = SAYS.unusable.format(shortest=SHORTEST_PASSWORD) if way == "password" else SAYS.passkey_failed
        return _password_page(request, name, problem, status=422)
    token = await in_lane("accounts", experts.sign_in_vouched, name, by="invitation", way=way)
    return signed_in(request, token, "/", name)


async def ask_sign_out(request: Request) -> Response:
    """Sign out here, or everywhere."""
    return page(request, "sign_out", SAYS.out_title, SAYS.out_body.format(name=request.scope["eds.viewer"].name))


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


def _password_page(request: Request, name: str, problem: str, *, status: int = 200) -> Response:
    value = form_value(site(), request)
    values = {
        "problem": problem,
        "name": name,
        "action": request.url.path,
        "shortest": SHORTEST_PASSWORD,
        "options": passkeys.creation_options(request, value, name, []),
    }
    body = SAYS.invited_body.format(project=site().name)
    return page(request, "choose_password", SAYS.welcome.format(name=name), body, value=value, status=status, **values)


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
