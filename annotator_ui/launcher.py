"""A listening socket, uvicorn on it, a line when it is ready, and an orderly end.

The socket is made with its protocol named (TCP): asyncio turns Nagle's algorithm off only then, and without that every
keep-alive answer waits some 44 ms for the client's delayed acknowledgement.
"""

import errno
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

import uvicorn
from starlette.types import ASGIApp

from annotator_ui.http_limits import LimitedProtocol
from eds.errors import InputError, ProjectError

BACKLOG = 512
LARGEST_MESSAGE = 1 << 20  # bytes of a websocket's message: what a page's inputs hold
OPEN_FILES = 8192  # a connection is one; many systems start with 1,024
GOODBYE = 5  # seconds that requests under way get when the server ends


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 lets the system choose."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE
        )[0]
    except (socket.gaierror, OverflowError, UnicodeError) as error:
        raise InputError(
            f"{host} is not an address of this machine", where="--host", hint="Write 127.0.0.1."
        ) from error
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        made.bind(address)
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        raise _told(error, host, port) from error
    made.setblocking(False)
    return made


@dataclass(frozen=True)
class PublicUrl:
    """The address that browsers use, where it is not the one that the server listens on."""

    url: str = ""  # with a slash at its end
    base: str = ""
    https: bool = False
    hosts: frozenset[str] = frozenset()


def parse_public_url(text: str) -> PublicUrl:
    """Return the parts of an address as https://labels.example/eds; of an empty one, nothing."""
    if not text:
        return PublicUrl()
    try:
        parts = urlsplit(text)
        host = parts.hostname
        _ = parts.port  # which raises where it is not a number
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https") or parts.query or parts.fragment or "@" in parts.netloc:
        raise InputError(f"{text!r} is not an address", where="--public-url", hint="Write https://labels.example/eds.")
    base = parts.path.rstrip("/")
    return PublicUrl(f"{parts.scheme}://{parts.netloc}{base}/", base, parts.scheme == "https", frozenset({host}))


def own_names() -> frozenset[str]:
    """The names of this machine, by which a browser in the same network may know it."""
    return frozenset(name.lower() for name in (socket.gethostname(), socket.getfqdn()))


def refuse_plain_http(host: str, *, safe: bool) -> None:
    """Refuse to listen on a network without encryption: passwords and cookies would pass there as plain text."""
    try:
        loopback = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not (loopback or safe):
        raise InputError(
            f"{host} can be reached by others, and nothing encrypts what they send",
            where="--host",
            hint="Put a TLS proxy before it (--proxy ADDRESS, --https), or accept the risk with --insecure-http.",
        )


def address_of(listener: socket.socket, base: str = "") -> str:
    """The address to type into a browser."""
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{host}:{port}{base}/"


def serve(app: ASGIApp, listener: socket.socket, on_ready: Callable[[], None]) -> None:
    """Serve until SIGINT or SIGTERM; `on_ready` is called once requests are answered."""
    _allow_connections()
    with suppress(KeyboardInterrupt):
        _Server(_settings(app), on_ready).run([listener])


def _allow_connections() -> None:
    """Raise the number of open files, so that strangers' connections leave room for others."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))


def _settings(app: ASGIApp) -> uvicorn.Config:
    """How uvicorn runs: httptools reads requests in compiled code, h11 would in Python; with our limits."""
    return uvicorn.Config(
        app,
        lifespan="on",
        http=LimitedProtocol,
        ws="websockets-sansio",
        ws_max_size=LARGEST_MESSAGE,
        log_level="warning",
        access_log=False,
        proxy_headers=False,  # auth/middleware.py applies them
        server_header=False,
        date_header=True,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=GOODBYE,
    )


class _Server(uvicorn.Server):
    """uvicorn with a callback when it is ready."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()


def _told(error: OSError, host: str, port: int) -> InputError | ProjectError:
    if error.errno == errno.EADDRINUSE:
        return ProjectError(
            f"port {port} is taken by another program (perhaps an annotator that runs already)",
            where="--port",
            hint="End that one, or choose another: --port 0 lets the system choose.",
        )
    if error.errno == errno.EACCES:
        return InputError(f"port {port} is for administrators only", where="--port", hint="Choose one above 1023.")
    return InputError(f"cannot listen on {host} ({error.strerror})", where="--host", hint="Write 127.0.0.1.")
