"""Signing in and out, and the page behind an invitation link: plain pages that need no script.

GET, POST /sign-in              name and password; more ways where they are turned on
GET, POST /invitation/TOKEN     choose a password, once; signed in after that
GET, POST /sign-out             here, or everywhere
"""

import math
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar
from urllib.parse import parse_qs

import anyio
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from annotator_ui.app_state import acting, site
from annotator_ui.auth.cookies import FORM, form_is_ours, form_token, session_cookie, set_form_cookie
from annotator_ui.auth.security_headers import PLAIN
from annotator_ui.texts import ACCOUNTS as SAYS
from annotator_ui.texts import PRODUCT
from annotator_ui.theme import STYLE
from eds.errors import InputError
from eds.html import render
from eds.project.experts import SHORTEST_PASSWORD, SignInError

THREADS = 6
P = ParamSpec("P")
T = TypeVar("T")
_slots: list[anyio.CapacityLimiter] = []


def routes(base: str) -> list[Route]:
    """The three pages, and OpenID Connect's two addresses where it is turned on."""
    result = [
        Route(f"{base}/sign-in", ask_sign_in, methods=["GET"]),
        Route(f"{base}/sign-in", do_sign_in, methods=["POST"]),
        Route(f"{base}/invitation/{{token}}", ask_password, methods=["GET"]),
        Route(f"{base}/invitation/{{token}}", do_password, methods=["POST"]),
        Route(f"{base}/sign-out", ask_sign_out, methods=["GET"]),
        Route(f"{base}/sign-out", do_sign_out, methods=["POST"]),
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
    """Try a name and a password."""
    values = await _form(request)
    target = _local(values.get("next", "/"))
    if not form_is_ours(site(), request.cookies.get(FORM), values.get("token", "")):
        return _sign_in_page(request, target, SAYS.stale, status=403)
    name, address = values.get("name", ""), request.scope["eds.client"].address
    try:
        token = await _in_thread(site().project.experts.sign_in, name, values.get("password", ""), address)
    except SignInError as error:
        wait = math.ceil(error.wait)
        page = _sign_in_page(
            request, target, SAYS.wait(wait) if wait else SAYS.refused, name=name, status=429 if wait else 401
        )
        if wait:
            page.headers["Retry-After"] = str(wait)
        return page
    return signed_in(request, token, target)


async def ask_password(request: Request) -> Response:
    """The page behind an invitation link."""
    name = await _in_thread(site().project.experts.invited, request.path_params["token"])
    return _link_used(request) if name is None else _password_page(request, name, "")


async def do_password(request: Request) -> Response:
    """Take the password that an invited person chose, and sign them in."""
    invitation, values = request.path_params["token"], await _form(request)
    name = await _in_thread(site().project.experts.invited, invitation)
    if name is None:
        return _link_used(request)
    if not form_is_ours(site(), request.cookies.get(FORM), values.get("token", "")):
        return _password_page(request, name, SAYS.stale, status=403)
    password = values.get("password", "")
    if password != values.get("again", ""):
        return _password_page(request, name, SAYS.differ, status=422)
    try:
        await _in_thread(site().project.experts.accept, invitation, password)
        token = await _in_thread(site().project.experts.sign_in, name, password, request.scope["eds.client"].address)
    except InputError as error:
        if error.where != "password":
            return _link_used(request)
        return _password_page(request, name, SAYS.unusable(SHORTEST_PASSWORD), status=422)
    except SignInError:  # many wrong tries before: the password is set, the wait goes on
        return RedirectResponse(f"{site().base}/sign-in", 303)
    return signed_in(request, token, "/")


async def ask_sign_out(request: Request) -> Response:
    """Sign out here, or everywhere."""
    return _page(request, "sign_out", SAYS.out_title, SAYS.out_body(request.scope["eds.viewer"].name))


async def do_sign_out(request: Request) -> Response:
    """End this session, or all of this person's."""
    values = await _form(request)
    if not form_is_ours(site(), request.cookies.get(FORM), values.get("token", "")):
        return RedirectResponse(f"{site().base}/sign-out", 303)
    if values.get("act") == "everywhere":
        name = request.scope["eds.viewer"].name
        await _in_thread(acting(request.scope["eds.viewer"]).experts.sign_out_everywhere, name)
    await _in_thread(site().project.experts.sign_out, request.scope["eds.token"])
    answer = RedirectResponse(f"{site().base}/sign-in", 303)
    answer.headers.append("Set-Cookie", session_cookie(site(), request.scope["eds.client"], ""))
    return answer


def signed_in(request: Request, token: str, target: str) -> Response:
    """Go on with a new session."""
    answer = RedirectResponse(f"{site().base}{target}", 303)
    answer.headers.append("Set-Cookie", session_cookie(site(), request.scope["eds.client"], token))
    return answer


def refused(request: Request, why: str) -> Response:
    """The sign-in page again, saying why another way of signing in did not work."""
    return _sign_in_page(request, "/", why, status=403)


def _sign_in_page(request: Request, target: str, problem: str, *, name: str = "", status: int = 200) -> Response:
    openid = site().options.openid
    values = {"problem": problem, "target": target, "name": name, "provider": openid.label if openid else ""}
    return _page(request, "sign_in", SAYS.in_title, SAYS.in_body(site().name), status=status, **values)


def _password_page(request: Request, name: str, problem: str, *, status: int = 200) -> Response:
    values = {"problem": problem, "name": name, "action": request.url.path, "shortest": SHORTEST_PASSWORD}
    body = SAYS.invited_body(site().name)
    return _page(request, "choose_password", SAYS.welcome(name), body, status=status, **values)


def _link_used(request: Request) -> Response:
    return _page(request, "link_used", SAYS.gone_title, SAYS.gone_body, status=404)


def _page(request: Request, kind: str, title: str, body: str, *, status: int = 200, **values: object) -> Response:
    """Return a page from its template, with the token and the cookie that its form is held against."""
    here = site()
    token, cookie = form_token(here, request.cookies.get(FORM))
    html = render(
        f"annotator_ui/{kind}.html.j2",
        **{"problem": "", **values},
        kind=kind,
        title=title,
        body=body,
        token=token,
        base=here.base,
        project=here.name,
        product=PRODUCT,
        style=STYLE,
        texts=SAYS,
    )
    headers = {"Content-Security-Policy": PLAIN, "Cache-Control": "no-store", "Referrer-Policy": "same-origin"}
    page = HTMLResponse(html, status, headers)
    set_form_cookie(page, here, request.scope["eds.client"], cookie)
    return page


async def _in_thread(act: "Callable[P, T]", *given: "P.args", **named: "P.kwargs") -> T:
    """Run an account's function in one of a few threads of their own: strangers who guess never hold judging up."""
    if not _slots:
        _slots.append(anyio.CapacityLimiter(THREADS))
    return await to_thread.run_sync(partial(act, *given, **named), limiter=_slots[0])


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form (the gate limits its length); of a field given twice the first."""
    body = await request.body()
    result = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
    return {name: values[0] for name, values in result.items()}


def _local(target: str) -> str:
    """Where to go on: a path of ours, never another host."""
    plain = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if plain and "\\" not in target else "/"
