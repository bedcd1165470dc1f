"""Passkeys: signing in by the device's own lock (WebAuthn) instead of a password.

GET, POST /passkeys             one's own: shown, added, removed
GET /sign-in/passkey.js         the one script of our plain pages: it asks the browser and sends the page's form

Pages carry the browser's options, with a challenge that nobody has to remember: a random number and a time, signed
together with this browser's form cookie, and good for one answer. A passkey belongs to the host that it was made for.
"""

import base64
import hmac
import json
import secrets
import threading
import time
from functools import cache
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from webauthn import (
    base64url_to_bytes,
    generate_authentication_options,
    generate_registration_options,
    options_to_json,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import bytes_to_base64url
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from annotator_ui.app_state import site
from annotator_ui.auth.cookies import FORM, cookie_of, form_is_ours, form_value
from annotator_ui.auth.secret import derived
from annotator_ui.lanes import in_lane
from annotator_ui.texts import ACCOUNTS as SAYS
from annotator_ui.texts import PRODUCT
from eds.errors import InputError
from eds.project.experts import NewPasskey, Passkey, SignInError

SCRIPT = "/sign-in/passkey.js"
GOOD_FOR = 600  # seconds
NONCE, MAC = 16, 16
LONGEST_LABEL = 60
_lock = threading.Lock()
_used: dict[bytes, float] = {}  # challenges that were answered, and when they end


def routes(base: str) -> list[Route]:
    """The page and the script."""
    return [
        Route(f"{base}{SCRIPT}", script, methods=["GET"]),
        Route(f"{base}/passkeys", show, methods=["GET"]),
        Route(f"{base}/passkeys", change, methods=["POST"]),
    ]


async def script(request: Request) -> Response:
    """The script."""
    headers = {"Cache-Control": "no-cache", "Content-Security-Policy": "default-src 'none'"}
    return Response(_script(), media_type="text/javascript", headers=headers)


async def show(request: Request) -> Response:
    """The viewer's passkeys."""
    return await _page(request, "")


async def change(request: Request) -> Response:
    """Add a passkey, or remove one."""
    from annotator_ui.auth.accounts import read_form

    values, name = await read_form(request), request.scope["eds.viewer"].name
    if not form_is_ours(site(), cookie_of(site(), request, FORM), values.get("token", "")):
        return await _page(request, SAYS.stale, status=403)
    experts = site().project.experts
    try:
        if values.get("remove", "").isdecimal():
            await in_lane("accounts", experts.remove_passkey, name, int(values["remove"][:18]))
        else:
            key = made(request, values.get("credential", ""), values.get("label", ""))
            await in_lane("accounts", experts.add_passkey, name, key)
    except (InputError, SignInError):
        return await _page(request, SAYS.passkey_failed, status=422)
    return RedirectResponse(f"{site().base}/passkeys", 303)


async def _page(request: Request, problem: str, *, status: int = 200) -> Response:
    from annotator_ui.auth.accounts import page

    name = request.scope["eds.viewer"].name
    keys = await in_lane("accounts", site().project.experts.passkeys, name)
    value = form_value(site(), request)
    values = {"problem": problem, "keys": keys, "options": creation_options(request, value, name, keys)}
    return page(
        request,
        "passkeys",
        SAYS.passkeys_title,
        SAYS.passkeys_body.format(name=name),
        value=value,
        status=status,
        **values,
    )


def creation_options(request: Request, form: str, name: str, known: list[Passkey]) -> str:
    """What the browser needs to make a passkey for this account, as JSON."""
    user = hmac.digest(derived(site().secret, "passkey users"), name.encode(errors="surrogatepass"), "sha256")
    return options_to_json(
        generate_registration_options(
            rp_id=_host(request),
            rp_name=f"{PRODUCT} {site().name}",
            user_name=name,
            user_id=user,
            challenge=_challenge(form),
            authenticator_selection=AuthenticatorSelectionCriteria(
                resident_key=ResidentKeyRequirement.REQUIRED, user_verification=UserVerificationRequirement.REQUIRED
            ),
            exclude_credentials=[PublicKeyCredentialDescriptor(base64url_to_bytes(key.credential)) for key in known],
        )
    )


def request_options(request: Request, form: str) -> str:
    """What the browser needs to sign in with any passkey of this host, as JSON."""
    required = UserVerificationRequirement.REQUIRED
    challenge = _challenge(form)
    return options_to_json(
        generate_authentication_options(rp_id=_host(request), challenge=challenge, user_verification=required)
    )


def made(request: Request, credential: str, label: str) -> NewPasskey:
    """The passkey that the browser made; SignInError if it does not answer our options."""
    try:
        verified = verify_registration_response(
            credential=credential,
            expected_challenge=_answered(request, credential),
            expected_rp_id=_host(request),
            expected_origin=_origin(request),
            require_user_verification=True,
        )
    except (WebAuthnException, ValueError, KeyError, TypeError) as error:
        raise SignInError("this is not a passkey of this page") from error
    return NewPasskey(
        bytes_to_base64url(verified.credential_id),
        bytes_to_base64url(verified.credential_public_key),
        verified.sign_count,
        label.strip()[:LONGEST_LABEL] or SAYS.passkey_unnamed,
    )


def sign_in(request: Request, credential: str) -> str:
    """The token of a new session for the owner of the passkey that answered; SignInError otherwise."""
    refusal = SignInError("the passkey cannot be used", hint="Try again, or ask your lead for a new link.")
    experts = site().project.experts
    try:
        key = experts.find_passkey(str(json.loads(credential)["id"])[:1500])
        if key is None:
            raise refusal
        verified = verify_authentication_response(
            credential=credential,
            expected_challenge=_answered(request, credential),
            expected_rp_id=_host(request),
            expected_origin=_origin(request),
            credential_public_key=base64url_to_bytes(key.public_key),
            credential_current_sign_count=key.sign_count,
            require_user_verification=True,
        )
    except (WebAuthnException, ValueError, KeyError, TypeError) as error:
        raise refusal from error
    return experts.sign_in_with_passkey(key, verified.new_sign_count)


def _challenge(form: str) -> bytes:
    body = secrets.token_bytes(NONCE) + int(time.time() + GOOD_FOR).to_bytes(8)
    return body + _signed(body, form)


def _answered(request: Request, credential: str) -> bytes:
    """The challenge that the browser's answer names, if it is one of ours for this browser and was not used yet."""
    data = json.loads(base64url_to_bytes(str(json.loads(credential)["response"]["clientDataJSON"])))
    challenge = base64url_to_bytes(str(data["challenge"]))
    body, form = challenge[:-MAC], cookie_of(site(), request, FORM)
    now, end = time.time(), int.from_bytes(body[NONCE:])
    if len(challenge) != NONCE + 8 + MAC or not hmac.compare_digest(_signed(body, form), challenge[-MAC:]):
        raise ValueError("a foreign challenge")
    with _lock:
        for old in [one for one, until in _used.items() if until < now]:
            del _used[old]
        if not now < end <= now + GOOD_FOR or body in _used:
            raise ValueError("an old challenge")
        _used[body] = end
    return challenge


def _signed(body: bytes, form: str) -> bytes:
    return hmac.digest(derived(site().secret, "passkeys"), sha256(form.encode()).digest() + body, "sha256")[:MAC]


def _origin(request: Request) -> str:
    scheme = "https" if request.scope["eds.client"].https else "http"
    return f"{scheme}://{request.headers.get('host', '')}"


def _host(request: Request) -> str:
    return urlsplit(f"//{request.headers.get('host', '')}").hostname or "localhost"


@cache
def _script() -> bytes:
    return Path(__file__).with_name("passkey.js").read_bytes()


def script_digest() -> str:
    """The digest of the script, for the address that pages load it by."""
    return base64.urlsafe_b64encode(sha256(_script()).digest()).decode()[:12]
