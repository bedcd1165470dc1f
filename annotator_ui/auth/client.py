"""Who really asks, and over what: the peer itself, or what a trusted proxy says of the client."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from eds.errors import InputError

Network = IPv4Network | IPv6Network
Headers = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Client:
    """The client of a request: its address, whether it came over https, and who a trusted proxy says it is."""

    address: str
    https: bool
    vouched: str | None = None


def networks(texts: Sequence[str]) -> tuple[Network, ...]:
    """Networks or single addresses as typed; all that are none at once."""
    found, faults = [], []
    for text in texts:
        try:
            found.append(ip_network(text, strict=False))
        except ValueError:
            faults.append(f"{text!r} is no address or network")
    if faults:
        raise InputError(
            "a proxy is not an address", where="--proxy", do="Write 127.0.0.1 or 10.0.0.0/8.", faults=faults
        )
    return tuple(found)


def client_of(
    peer: str, scheme: str, headers: Headers, proxies: Sequence[Network], identity_header: str = ""
) -> Client:
    """The client, believing headers only where the peer is one of `proxies`.

    Of X-Forwarded-For the last address counts that is no proxy itself: everything before it a client may have made up.

    >>> asked = [(b"x-forwarded-for", b"6.6.6.6, 9.9.9.9"), (b"x-forwarded-proto", b"https")]
    >>> client_of("127.0.0.1", "http", asked, networks(["127.0.0.1"]))
    Client(address='9.9.9.9', https=True, vouched=None)
    >>> client_of("8.8.8.8", "http", asked, networks(["127.0.0.1"]))
    Client(address='8.8.8.8', https=False, vouched=None)
    """
    secure = scheme in ("https", "wss")
    if not _among(peer, proxies):
        return Client(peer, secure)
    address = peer
    for hop in reversed(_all(headers, b"x-forwarded-for")):
        if _parsed(hop) is None:
            break
        address = hop
        if not _among(hop, proxies):
            break
    told = _all(headers, b"x-forwarded-proto")
    vouched = None
    if identity_header:
        values = [value for name, value in headers if name == identity_header.lower().encode()]
        if len(values) == 1 and values[0].strip():
            vouched = values[0].decode("utf-8", "replace").strip()
    return Client(address, told[-1].lower() == "https" if told else secure, vouched)


def _all(headers: Headers, wanted: bytes) -> list[str]:
    return [
        part.strip()
        for name, value in headers
        if name == wanted
        for part in value.decode("latin-1").split(",")
        if part.strip()
    ]


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None


def _among(text: str, proxies: Sequence[Network]) -> bool:
    found = _parsed(text)
    return found is not None and any(found in network for network in proxies)
