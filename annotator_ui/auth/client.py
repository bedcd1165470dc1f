"""Who sends a request: its address, whether it came over https, and the account that a trusted proxy vouches for.

uvicorn's ProxyHeadersMiddleware puts the client that a trusted proxy names (X-Forwarded-For, X-Forwarded-Proto) in the
place of the proxy itself; headers of anybody else are ignored.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from eds.errors import InputError

Network = IPv4Network | IPv6Network
Headers = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Client:
    """The client of a request."""

    address: str
    https: bool
    vouched: str | None = None  # the account's name, from the identity header of a trusted proxy
    by_proxy: bool = False  # a trusted proxy passed the request on


def parse_networks(texts: Sequence[str]) -> tuple[Network, ...]:
    """Return the networks or single addresses; InputError with all texts that are neither."""
    networks, faults = [], []
    for text in texts:
        try:
            networks.append(ip_network(text, strict=False))
        except ValueError:
            faults.append(f"{text!r} is not an address or network")
    if faults:
        raise InputError("invalid proxy address", where="--proxy", hint="Write 127.0.0.1 or 10.0.0.0/8.", faults=faults)
    return tuple(networks)


def vouched_account(headers: Headers, identity_header: str) -> str | None:
    """Return the account in the identity header, None if the header is missing, empty or repeated.

    >>> vouched_account([(b"x-remote-user", b"ann")], "X-Remote-User")
    'ann'
    """
    values = [value for name, value in headers if name == identity_header.lower().encode()]
    text = values[0].decode("utf-8", "replace").strip() if len(values) == 1 else ""
    return text or None


def is_known_host(header: str | None, hosts: frozenset[str]) -> bool:
    """Return whether a Host header names us: by a number, by localhost or by one of these names.

    A page of another site whose name was made to lead here (DNS rebinding) names its own host.

    >>> [is_known_host(text, frozenset()) for text in ("127.0.0.1:8501", "[::1]", "localhost", "evil.example", None)]
    [True, True, True, False, False]
    """
    try:
        name = urlsplit(f"//{header or ''}").hostname or ""
    except ValueError:
        return False
    return is_address(name) or name == "localhost" or name in hosts


def is_address(text: str) -> bool:
    """Return whether the text is an IP address (a proxy may pass on anything as X-Forwarded-For)."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
