"""Who sends a request: its address, whether it came over https, and the account that a trusted proxy vouches for.

uvicorn's ProxyHeadersMiddleware puts the client that a trusted proxy names (X-Forwarded-For, X-Forwarded-Proto) in the
place of the proxy itself; headers of anybody else are ignored.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from eds.errors import InputError

Network = IPv4Network | IPv6Network
Headers = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Client:
    """The client of a request."""

    address: str
    https: bool
    vouched: str | None = None  # the account's name, from the identity header of a trusted proxy


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


def is_address(text: str) -> bool:
    """Return whether the text is an IP address (a proxy may pass on anything as X-Forwarded-For)."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
