"""The gate before every route and the websocket: who asks, whether they may, and with which headers they are answered.

    no session      a page asked for: 303 to sign-in; anything else: 401; the websocket: 403 at the handshake
    forged          a change (POST ...) that did not come from our own pages: 403
    else            scope["eds.viewer"] is the viewer, scope["eds.client"] the client

Open without a session are sign-in, invitation, health and ready. Tokens are renewed when a page is loaded. The API
(/api/v1/...) is for programs: a token in the header Authorization counts there, and no cookie.
"""

import logging
import re
from dataclasses import replace
from functools import partial
from urllib.parse import quote

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from annotator_ui import language
from annotator_ui.app_state import COOKIE, SESSION_HEADER, Site, as_viewer, may
from annotator_ui.auth import security_headers
from annotator_ui.auth.client import Client, is_address, is_known_host, vouched_account
from annotator_ui.auth.cookies import full_name, session_cookie
from annotator_ui.auth.socket_guard import guarded
from annotator_ui.http_limits import ADMITTED, UPLOAD_BYTES, UPLOADS
from annotator_ui.lanes import in_lane
from annotator_ui.texts import SIGNED_OUT
from eds.errors import EdsError
from eds.project.experts import Session, SignInError

LOG = logging.getLogger(__name__)
RENEW = 3600  # seconds: a token older than this is renewed when a page is loaded
LARGEST = 256 * 1024  # bytes of a request: many judgements at once
LARGEST_FORM = 20_000
LARGEST_UPLOAD = UPLOAD_BYTES  # a picture that a lead sends
OPEN = re.compile(r"/(sign-in(/passkey\.js)?|invitation/[^/]+|health|ready)")
OPEN_WITH_OPENID = re.compile(rf"{OPEN.pattern}|/sign-in/openid(/back)?")
# Pages whose forms carry a token of their own.
FORMS = re.compile(r"/(sign-in|sign-out|passkeys|password|language|invitation/[^/]+)")
API = "/api/v1"
API_DOCUMENT = (API, f"{API}/openapi.json")  # also for people who are signed in
PROXY = "proxy"  # the way of a session that a proxy's header opened
UNKNOWN_HOST = "Start the server with --public-url and the address that browsers use."
AWAY = "Nothing that was judged is lost. Try again in some seconds."
SHUT = (  # Streamlit would keep uploads in memory; a lead's picture has a route of its own (looking/routes.py)
    "/_stcore/agent",
    "/_stcore/metrics",
    "/_stcore/script-health-check",
    "/_stcore/upload_file",
    "/app/static",
)


class Gate:
    """The middleware; it knows the site, not its routes."""

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self.app, self.site = app, site
        self._open = OPEN if site.options.openid is None else OPEN_WITH_OPENID
        # uvicorn's own option would rewrite the peer before we know whether it is a proxy that may vouch for accounts.
        proxies = [str(network) for network in site.options.proxies]
        self._behind_proxy = ProxyHeadersMiddleware(self._serve, proxies)  # type: ignore[arg-type]  # its own ASGI types

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Find out who asks, then let the request through or answer it here."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        peer, identity_header = scope["client"][0] if scope.get("client") else "", self.site.options.identity_header
        trusted = peer in self._behind_proxy.trusted_hosts
        vouched = vouched_account(scope["headers"], identity_header) if trusted and identity_header else None
        by_proxy = trusted and any(name == b"x-forwarded-for" for name, _ in scope["headers"])
        scope["eds.client"] = Client(peer, https=False, vouched=vouched, by_proxy=by_proxy)
        struck = {SESSION_HEADER.encode(), identity_header.lower().encode()}  # only we or a trusted proxy set these
        scope["headers"] = [(name, value) for name, value in scope["headers"] if name not in struck]
        await self._behind_proxy(scope, receive, send)  # type: ignore[arg-type]

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request whose scope holds the client instead of the proxy."""
        peer: Client = scope["eds.client"]
        address = scope["client"][0] if scope.get("client") else ""
        https = self.site.options.https or scope["scheme"] in ("https", "wss")
        client = replace(peer, address=address if is_address(address) else peer.address, https=https)
        scope["eds.client"] = client
        known = peer.by_proxy or is_known_host(_text(dict(scope["headers"]).get(b"host")), self.site.options.hosts)
        if scope["type"] == "websocket" and known:
            await self._websocket(scope, receive, send)
            return
        protected, begun = _protected(send, client), False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await protected(message)

        language.use(language.chosen("", _accepted(scope)))
        try:
            await self._pass(scope, receive, sending, client, known=known)
        except EdsError as error:  # the database is away, say: pages keep what they have, and ask again
            LOG.warning("%s", error)
            if begun:
                raise
            headers = {"Retry-After": "5", "Cache-Control": "no-store"}
            await JSONResponse({"error": error.what, "hint": AWAY}, 503, headers)(scope, receive, sending)

    async def _pass(self, scope: Scope, receive: Receive, sending: Send, client: Client, *, known: bool) -> None:
        """Let a request through that may pass, and answer any other."""
        path = self._path(scope)
        answer: Response | None
        if not known:
            answer = JSONResponse({"error": "unknown host", "hint": UNKNOWN_HOST}, 421)
        elif path is None:
            answer = _elsewhere(scope, self.site.base)
        elif _below(path, (API,)) and (_bearer(scope) is not None or path not in API_DOCUMENT):
            answer = _too_large(scope, path) or await self._admitted_program(scope)
        else:
            answer = _forged(scope, path) or _too_large(scope, path) or await self._admitted(scope, path, client)
        if answer is not None:
            await answer(scope, receive, sending)
            return
        renewed = scope.get("eds.renewed")
        await self.app(scope, receive, _with_cookie(sending, renewed, self.site, client) if renewed else sending)

    async def _admitted(self, scope: Scope, path: str, client: Client) -> Response | None:
        """Nothing if the request may pass, with the viewer in its scope; otherwise the answer."""
        if _below(path, SHUT):
            return JSONResponse({"error": "not found"}, 404)
        token = self._token(scope)
        result = await self._session(token, client) if token else None
        page = _is_page(scope)
        if client.vouched is not None and page and not self._open.fullmatch(path):
            if result is None or result.expert != client.vouched:
                try:
                    token = await in_lane("sessions", self._vouched, client.vouched)
                except SignInError:
                    return RedirectResponse(f"{self.site.base}/sign-in?unknown=1", 303)
                scope["eds.renewed"] = token
                result = await self._session(token, client)
        elif client.vouched is not None and result is not None and result.expert != client.vouched:
            result = None
        if result is not None:
            scope["eds.viewer"] = as_viewer(result)
            language.use(language.chosen(result.language, _accepted(scope)))
            scope["eds.token"] = token
            if path in UPLOADS and scope["method"] not in security_headers.SAFE:
                if not may(scope["eds.viewer"], "lead"):
                    return JSONResponse({"error": "for leads only"}, 403)
                scope[ADMITTED] = True
            if page and token and "eds.renewed" not in scope:
                renew = partial(self.site.project.experts.renew_session, token, after=RENEW)
                scope["eds.renewed"] = await in_lane("sessions", renew)
            return None
        if self._open.fullmatch(path):
            return None
        if page:
            requested = path + (f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else "")
            to = f"?next={quote(requested, safe='/')}" if path != "/" else ""
            return RedirectResponse(f"{self.site.base}/sign-in{to}", 303)
        if _below(path, ("/_stcore",)):  # Streamlit shows this text when its connection breaks off
            return JSONResponse({SIGNED_OUT.title: SIGNED_OUT.dialog}, 401)
        return JSONResponse({"error": "signed out"}, 401)

    async def _admitted_program(self, scope: Scope) -> Response | None:
        """Nothing if a program's token counts, with its account in the scope; otherwise the answer."""
        token = _bearer(scope)
        result = await in_lane("gate", self.site.project.experts.account_of_token, token) if token else None
        if result is None:
            fault = {"error": "no valid token", "hint": "Send the header Authorization: Bearer TOKEN.", "faults": []}
            return JSONResponse(fault, 401, {"WWW-Authenticate": "Bearer", "Cache-Control": "no-store"})
        scope["eds.viewer"] = as_viewer(result)
        return None

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Streamlit's websocket: with a session only, from our own pages only; checked at each message."""
        token = self._token(scope)
        try:
            result = await self._session(token, scope["eds.client"]) if token else None
        except EdsError as error:
            LOG.warning("%s", error)
            result = None
        headers = dict(scope["headers"])
        origin, host = _text(headers.get(b"origin")), _text(headers.get(b"host"))
        vouched = scope["eds.client"].vouched
        wrong = vouched is not None and result is not None and result.expert != vouched
        if result is None or wrong or self._path(scope) is None or not security_headers.same_origin(origin, None, host):
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": "signed out"})  # 403, as not yet accepted
            return
        scope["eds.viewer"] = as_viewer(result)
        scope["headers"] = [*scope["headers"], (SESSION_HEADER.encode(), str(result.number).encode())]
        await self.app(scope, guarded(receive, self.site.project, result), send)

    async def _session(self, token: str, client: Client) -> Session | None:
        """The session of a token; one that the proxy opened ends when the proxy names nobody any longer."""
        result = await in_lane("gate", self.site.project.experts.session, token)
        if result is not None and result.way == PROXY and client.vouched is None:
            await in_lane("sessions", self.site.project.experts.sign_out, token)
            return None
        return result

    def _vouched(self, name: str) -> str:
        return self.site.project.experts.sign_in_vouched(name, by="proxy header", way=PROXY)

    def _token(self, scope: Scope) -> str:
        """The session's token from the cookie; of several of the name (other paths) the first counts."""
        wanted = full_name(self.site, scope["eds.client"], COOKIE)
        for name, value in scope["headers"]:
            if name == b"cookie":
                for part in value.decode("latin-1").split(";"):
                    key, _, result = part.strip().partition("=")
                    if key == wanted:
                        return str(result)
        return ""

    def _path(self, scope: Scope) -> str | None:
        """The path below the base; None outside it."""
        path, base = scope["path"], self.site.base
        if not base:
            return str(path)
        return path[len(base) :] or "/" if path == base or path.startswith(f"{base}/") else None


def _elsewhere(scope: Scope, base: str) -> Response:
    if scope["path"] == "/" and _is_page(scope):
        return RedirectResponse(f"{base}/", 303)
    return JSONResponse({"error": "not found"}, 404)


def _forged(scope: Scope, path: str) -> Response | None:
    """A change must come from our own pages: same origin, and the header X-EDS that no foreign form can set."""
    if scope["method"] in security_headers.SAFE:
        return None
    headers = dict(scope["headers"])
    origin, host = _text(headers.get(b"origin")), _text(headers.get(b"host"))
    ours = security_headers.same_origin(origin, _text(headers.get(b"sec-fetch-site")), host)
    marked = headers.get(b"x-eds") == b"1" or FORMS.fullmatch(path)
    return None if ours and marked else JSONResponse({"error": "forged request"}, 403)


def _too_large(scope: Scope, path: str) -> Response | None:
    """Refused by what it says of its length, so that nothing of it is read; strangers may send forms only."""
    headers = dict(scope["headers"])
    length = headers.get(b"content-length")
    if scope["method"] in security_headers.SAFE:
        bare = length in (None, b"0") and b"transfer-encoding" not in headers
        return None if bare else JSONResponse({"error": "too large"}, 413)
    if scope["method"] == "DELETE" and length is None and b"transfer-encoding" not in headers:
        return None  # it has no body
    if length is None or not length.isdigit():
        return JSONResponse({"error": "length required"}, 411)
    most = LARGEST_FORM if FORMS.fullmatch(path) else LARGEST_UPLOAD if path in UPLOADS else LARGEST
    return JSONResponse({"error": "too large"}, 413) if int(length) > most else None


def _protected(send: Send, client: Client) -> Send:
    """Answers with the security headers; a route's own policy stays."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("Content-Security-Policy", security_headers.streamlit_policy())
            for name, value in security_headers.HEADERS.items():
                headers.setdefault(name, value)
            if headers.get("Content-Type") != "application/json":
                headers.setdefault(*security_headers.PERMISSIONS)
            if client.https:
                headers.setdefault("Strict-Transport-Security", security_headers.HTTPS)
        await send(message)

    return sending


def _with_cookie(send: Send, token: str, site: Site, client: Client) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).append("Set-Cookie", session_cookie(site, client, token))
        await send(message)

    return sending


def _is_page(scope: Scope) -> bool:
    """Whether the browser wants a page to show, as opposed to something that a script asked for."""
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
        return False
    headers = dict(scope["headers"])
    mode = headers.get(b"sec-fetch-mode")
    return mode == b"navigate" if mode else b"text/html" in headers.get(b"accept", b"")


def _accepted(scope: Scope) -> str:
    return _text(dict(scope["headers"]).get(b"accept-language")) or ""


def _bearer(scope: Scope) -> str | None:
    """The token of the header Authorization, None without such a header."""
    scheme, _, token = (_text(dict(scope["headers"]).get(b"authorization")) or "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _below(path: str, roots: tuple[str, ...]) -> bool:
    return any(path == root or path.startswith(f"{root}/") for root in roots)


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("latin-1")
