"""The cookies that we set: the session's, the one that our forms are held against, and the one of a known device.

Over https their names begin with __Host- (__Secure- below a path), so that neither a page of a neighbouring host nor
one that came over plain http can set them.
"""

import hmac
import secrets

from starlette.requests import HTTPConnection
from starlette.responses import Response

from annotator_ui.app_state import COOKIE, Site
from annotator_ui.auth.client import Client
from annotator_ui.auth.secret import derived

FORM = "eds_form"
DEVICE = "eds_device"
DAY = 86400
SESSION_DAYS = 14  # as long as a session can last; the server ends it sooner
DEVICE_DAYS = 365


def cookie_of(site: Site, connection: HTTPConnection, name: str) -> str:
    """The value of one of our cookies that came with a request; empty if there is none."""
    return connection.cookies.get(full_name(site, connection.scope["eds.client"], name), "")


def full_name(site: Site, client: Client, name: str) -> str:
    """The cookie's name as browsers know it."""
    prefix = "" if not client.https else "__Secure-" if site.base else "__Host-"
    return prefix + name


def session_cookie(site: Site, client: Client, token: str) -> str:
    """The Set-Cookie header of a session; an empty token ends it."""
    return _cookie(site, client, COOKIE, token, SESSION_DAYS * DAY if token else 0, "Lax")


def form_value(site: Site, connection: HTTPConnection) -> str:
    """What this browser's forms are held against: what it sent if we made that, or a new value."""
    sent = cookie_of(site, connection, FORM)
    nonce, _, signature = sent.partition(".")
    return sent if signature and hmac.compare_digest(_signed(site, "form cookies", nonce), signature) else _fresh(site)


def form_token(site: Site, value: str) -> str:
    """What a form carries for the browser with this value."""
    return _signed(site, "forms", value)


def form_is_ours(site: Site, value: str, token: str) -> bool:
    """Whether a form was made for the browser with this value."""
    return bool(value) and hmac.compare_digest(form_token(site, value).encode(), token.encode())


def set_form_cookie(response: Response, site: Site, client: Client, value: str) -> None:
    """Let the browser keep what its forms are held against."""
    response.headers.append("Set-Cookie", _cookie(site, client, FORM, value, DAY, "Strict"))


def set_device_cookie(response: Response, site: Site, client: Client, name: str) -> None:
    """Let the browser show later that this account was signed in there before."""
    nonce = secrets.token_hex(12)
    value = f"{nonce}.{_signed(site, 'devices', f'{nonce} {name}')}"
    response.headers.append("Set-Cookie", _cookie(site, client, DEVICE, value, DEVICE_DAYS * DAY, "Strict"))


def device_of(site: Site, connection: HTTPConnection, name: str) -> str:
    """The device, if this account was signed in there before; otherwise empty."""
    nonce, _, signature = cookie_of(site, connection, DEVICE).partition(".")
    expected = _signed(site, "devices", f"{nonce} {name}")
    return nonce if hmac.compare_digest(expected.encode(), signature.encode()) else ""


def _fresh(site: Site) -> str:
    nonce = secrets.token_hex(16)
    return f"{nonce}.{_signed(site, 'form cookies', nonce)}"


def _signed(site: Site, purpose: str, text: str) -> str:
    key = derived(site.secret, purpose)
    return hmac.new(key, text.encode(errors="surrogatepass"), "sha256").hexdigest()


def _cookie(site: Site, client: Client, name: str, value: str, seconds: int, same_site: str) -> str:
    start = f"{full_name(site, client, name)}={value}"
    parts = [start, f"Path={site.base or '/'}", f"Max-Age={seconds}", "HttpOnly", f"SameSite={same_site}"]
    return "; ".join([*parts, "Secure"] if client.https else parts)
