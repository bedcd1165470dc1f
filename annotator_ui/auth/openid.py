"""Signing in with OpenID Connect: off unless a file of settings is named. The identity must belong to an account.

    issuer = "https://id.example"             client_id = "eds"        client_secret = "..."
    address = "https://labels.example/eds"    what browsers type; the provider must know ADDRESS/sign-in/openid/back
    claim = "email"                           which claim is the account's name (email: only a verified one)
    label = "Example ID"                      what the button says
    prompt = "login"                          passed on to the provider

Nobody gets an account by signing in: an identity without one is sent to the lead. What follows is a session like any
other, so that signing out, expiry and disabling work as always, whatever the provider's own session does.
"""

import tomllib
from dataclasses import dataclass, fields
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from annotator_ui.app_state import site
from annotator_ui.lanes import in_lane
from annotator_ui.texts import ACCOUNTS as SAYS
from eds.distribution import install
from eds.errors import ConfigError, MissingExtraError
from eds.project.experts import SignInError

START, BACK = "/sign-in/openid", "/sign-in/openid/back"


@dataclass(frozen=True)
class OpenId:
    """The settings of a provider."""

    issuer: str
    client_id: str
    client_secret: str
    address: str
    claim: str = "email"
    label: str = "OpenID"
    prompt: str = ""


def read_openid(path: Path) -> OpenId:
    """The settings in a file that only its owner may read; all faults at once."""
    for package in ("authlib", "httpx"):
        if find_spec(package) is None:
            raise MissingExtraError(f"OpenID Connect needs {package}", hint=f"Run: {install('annotator')}.")
    try:
        readable = path.stat().st_mode & 0o077
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot be read ({error.strerror})", where=str(path), hint="Name another file.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"is not valid TOML ({error})", where=str(path), hint="Correct that line.") from error
    known = [item.name for item in fields(OpenId)]
    faults = [f"unknown key {name}; known are {', '.join(known)}" for name in values if name not in known]
    faults += [f"{name} must be text" for name in known if not isinstance(values.get(name, ""), str)]
    faults += [f"{name} is missing" for name in known[:4] if not values.get(name)]
    for name in ("issuer", "address"):
        if not str(values.get(name, "http://")).startswith(("https://", "http://")):
            faults.append(f"{name} must begin with https://")
    if readable:
        faults.append(f"others may read it, and it holds a secret: chmod 600 {path}")
    if faults:
        raise ConfigError("OpenID Connect cannot be set up", where=str(path), hint="Correct the file.", faults=faults)
    return OpenId(**values)


def routes(base: str) -> list[Route]:
    """There and back."""
    return [Route(f"{base}{START}", begin), Route(f"{base}{BACK}", come_back)]


async def begin(request: Request) -> Response:
    """Send the browser to the provider."""
    from annotator_ui.auth.accounts import refused

    settings = _settings()
    further = {"prompt": settings.prompt} if settings.prompt else {}
    try:
        answer: Response = await _client(settings).authorize_redirect(
            request, f"{settings.address.rstrip('/')}{BACK}", **further
        )
    except _failures():
        return refused(request, SAYS.failed)
    return answer


async def come_back(request: Request) -> Response:
    """Take what the provider says, and open a session of the account it belongs to."""
    from annotator_ui.auth.accounts import refused, signed_in

    settings = _settings()
    try:
        text = await _client(settings).authorize_access_token(request)  # checks state, nonce, signature and times
    except _failures():
        return refused(request, SAYS.failed)
    request.session.clear()
    name = identity(settings, text.get("userinfo") or {})
    if name is None:
        return refused(request, SAYS.unknown)
    try:
        token = await in_lane(
            "accounts", site().project.experts.sign_in_vouched, name, by=f"OpenID {settings.issuer}", way="OpenID"
        )
    except SignInError:
        return refused(request, SAYS.unknown)
    return signed_in(request, token, "/")


def identity(settings: OpenId, claims: dict[str, Any]) -> str | None:
    """The account's name that the claims prove; None if they prove none.

    >>> settings = OpenId("https://id", "eds", "secret", "https://labels")
    >>> identity(settings, {"email": "one@d.org", "email_verified": True}), identity(settings, {"email": "one@d.org"})
    ('one@d.org', None)
    """
    result = claims.get(settings.claim)
    if not isinstance(result, str) or not result:
        return None
    return result if settings.claim != "email" or claims.get("email_verified") is True else None


def _settings() -> OpenId:
    result = site().options.openid
    if result is None:
        raise ConfigError("OpenID Connect is off", hint="Name its settings: --openid FILE.")
    return result


@cache
def _client(settings: OpenId) -> Any:
    from authlib.integrations.starlette_client import OAuth  # type: ignore[import-untyped]

    return OAuth().register(
        "openid",
        client_id=settings.client_id,
        client_secret=settings.client_secret,
        server_metadata_url=f"{settings.issuer.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs={"scope": "openid email profile", "code_challenge_method": "S256"},
    )


def _failures() -> tuple[type[Exception], ...]:
    """Whatever can go wrong between us and the provider: refused, forged, away, or talking nonsense."""
    import httpx
    from authlib.common.errors import AuthlibBaseError  # type: ignore[import-untyped]
    from joserfc.errors import JoseError

    return (AuthlibBaseError, JoseError, httpx.HTTPError, KeyError, RuntimeError, ValueError)
