"""The cookies that we set: the session's, and the one that our forms are held against."""

import hmac
import secrets

from starlette.responses import Response

from annotator_ui.app_state import COOKIE, Site
from annotator_ui.auth.client import Client
from annotator_ui.auth.secret import derived

FORM = "eds_form"
DAYS = 14  # as long as a session can last; the server ends it sooner


def session_cookie(site: Site, client: Client, token: str) -> str:
    """The Set-Cookie header of a session; an empty token ends it."""
    return _cookie(COOKIE, token, site.base, client.https, DAYS * 86400 if token else 0, "Lax")


def form_token(site: Site, asked: str | None) -> tuple[str, str]:
    """What a form carries, and the cookie's value it is held against (the one that came, or a new one)."""
    value = asked if asked and len(asked) <= 64 else secrets.token_urlsafe(24)
    return hmac.new(derived(site.secret, "forms"), value.encode(), "sha256").hexdigest(), value


def form_is_ours(site: Site, cookie: str | None, token: str) -> bool:
    """Whether a form was made for this browser."""
    return bool(cookie) and hmac.compare_digest(form_token(site, cookie)[0], token)


def set_form_cookie(response: Response, site: Site, client: Client, value: str) -> None:
    """Let the browser keep what its forms are held against."""
    response.headers.append("Set-Cookie", _cookie(FORM, value, site.base, client.https, 86400, "Strict"))


def _cookie(name: str, value: str, base: str, secure: bool, seconds: int, same_site: str) -> str:
    parts = [f"{name}={value}", f"Path={base or '/'}", f"Max-Age={seconds}", "HttpOnly", f"SameSite={same_site}"]
    return "; ".join([*parts, "Secure"] if secure else parts)
