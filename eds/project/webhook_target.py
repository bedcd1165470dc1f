"""Where a webhook may send to, and the request itself: never into the network that the server stands in.

An address must be https with a public host; those of eds.toml's `annotator.webhook_hosts` (HOST:PORT) may be anything.
The name is resolved once, every address it has is checked, and the connection goes to the checked one, so another
answer of the name server a moment later changes nothing. Redirects are not followed.
"""

import hashlib
import hmac
import ipaddress
import re
import socket
import time
from collections.abc import Collection
from urllib.parse import urlsplit

from eds.distribution import install
from eds.errors import EdsError, InputError, MissingExtraError

PATIENCE = 10.0  # seconds for each part of the answer
LONGEST = 20.0  # seconds for a delivery: others wait for it
CONFIRMED = range(200, 300)
TOLERANCE = 300.0  # seconds that a signature's time may differ
STAMP = re.compile("[0-9]{1,12}")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class DeliveryError(EdsError):
    """A webhook's receiver did not confirm a delivery."""


def check_url(url: str, allowed: Collection[str]) -> None:
    """InputError unless a webhook may have this address, by what it says; addresses are checked at each delivery."""
    host, port, scheme = _parts(url)
    if f"{host}:{port}" in allowed:
        return
    if scheme != "https":
        raise InputError(f"{url} is not https", where="webhook", hint=_hint(host, port))
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        if host == "localhost" or host.endswith((".localhost", ".local", ".internal")) or "." not in host:
            raise _private(host, port) from None
        return
    if not is_public(address):
        raise _private(host, port)


def send(url: str, body: bytes, secret: str, event: str, allowed: Collection[str] = ()) -> None:
    """Send a signed delivery; DeliveryError if it is not confirmed by a status 2xx."""
    try:
        import anyio  # comes with httpx
        import httpx  # comes with the annotator, whose server delivers
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"webhooks need the package {error.name}, which is not installed", hint=f"Run: {install('annotator')}."
        ) from error
    try:
        check_url(url, allowed)  # once more: eds.toml may have changed
        host, port, _ = _parts(url)
        address = resolve(host, port, checked=f"{host}:{port}" not in allowed)
    except InputError as error:
        raise DeliveryError(error.what) from error
    try:
        target = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise DeliveryError(f"not an address ({error})") from error
    headers = {
        "Host": target.netloc.decode("ascii"),
        "Content-Type": "application/json",
        "User-Agent": "eds-webhook",
        "EDS-Event": event,
        "EDS-Signature": sign(secret, body, time.time()),
    }

    async def post() -> int:
        with anyio.fail_after(LONGEST):  # a receiver may send its answer byte by byte
            async with (
                httpx.AsyncClient(timeout=PATIENCE, follow_redirects=False, trust_env=False) as client,
                client.stream(
                    "POST",
                    target.copy_with(host=address),
                    content=body,
                    headers=headers,
                    extensions={"sni_hostname": host},
                ) as answer,
            ):  # the answer's body is not read: it has no meaning, and may be endless
                return answer.status_code

    try:
        status = anyio.run(post)
    except TimeoutError as error:
        raise DeliveryError(f"no answer within {LONGEST:.0f} s") from error
    except httpx.HTTPError as error:
        raise DeliveryError(f"{type(error).__name__}: {error}"[:200]) from error
    if status not in CONFIRMED:
        raise DeliveryError(f"status {status}")


def resolve(host: str, port: int, *, checked: bool) -> str:
    """Return one of the host's addresses; with `checked` InputError if any of them is not public."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise InputError(f"{host} has no address", where="webhook") from error
    addresses = [str(item[4][0]).partition("%")[0] for item in found]
    if checked and not all(is_public(ipaddress.ip_address(address)) for address in addresses):
        raise _private(host, port)
    return addresses[0]


def is_public(address: "ipaddress.IPv4Address | ipaddress.IPv6Address") -> bool:
    """Whether an address is one of the public internet, also when IPv6 only wraps an address of IPv4."""
    if isinstance(address, ipaddress.IPv6Address):
        wrapped = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if address in _NAT64:
            wrapped = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if wrapped is not None and not is_public(wrapped):
            return False
        if address.ipv4_mapped:
            return True
    return address.is_global and not address.is_multicast


def sign(secret: str, body: bytes, moment: float) -> str:
    """Return the header EDS-Signature: t=SECONDS,v1=HMAC-SHA256 of "SECONDS.BODY" in hexadecimal digits."""
    stamp = f"{moment:.0f}"
    digest = hmac.new(secret.encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return f"t={stamp},v1={digest}"


def verify(secret: str, body: bytes, signature: str, *, now: float | None = None) -> bool:
    """Whether a delivery is signed with this secret and is at most five minutes old; for receivers."""
    stamp = dict(part.partition("=")[::2] for part in signature.split(",")).get("t", "")
    if not STAMP.fullmatch(stamp) or abs((time.time() if now is None else now) - int(stamp)) > TOLERANCE:
        return False
    return hmac.compare_digest(sign(secret, body, int(stamp)).encode(), signature.encode(errors="replace"))


def _parts(url: str) -> tuple[str, int, str]:
    """Host, port and scheme of an address without name and password."""
    try:
        found = urlsplit(url)
        port = found.port
    except ValueError as error:
        raise InputError(f"{url} is not an address", where="webhook", hint="Write it as https://host/path.") from error
    plain = url.isascii() and url.isprintable() and " " not in url
    if found.scheme not in ("http", "https") or not found.hostname or found.username is not None or not plain:
        raise InputError(f"{url} is not an address", where="webhook", hint="Write it as https://host/path.")
    return found.hostname, port or (443 if found.scheme == "https" else 80), found.scheme


def _private(host: str, port: int) -> InputError:
    return InputError(f"{host} is not a public host", where="webhook", hint=_hint(host, port))


def _hint(host: str, port: int) -> str:
    return f'To allow it, the owner of the project adds it to eds.toml: [annotator] webhook_hosts = ["{host}:{port}"]'
