"""uvicorn's HTTP protocol with limits: on the bytes of a header and a body, on the time for both, on connections.

Without them one connection that sends a header without end keeps the event loop busy, and hundreds that send nothing
stay for ever. When there are more than MOST_CONNECTIONS, the one that has waited longest for its client is closed.
"""

import asyncio
from http import HTTPStatus

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADER_BYTES = 64 * 1024
HEADER_SECONDS = 20.0
BODY_BYTES = 1 << 20  # the gate refuses far less by its length; this is for bodies that nobody reads
UPLOAD = "/looking/upload"
CATALOGUE_UPLOAD = "/catalogue/upload"
UPLOADS = (UPLOAD, CATALOGUE_UPLOAD)  # the routes that take more: the gate marks a lead's request by ADMITTED
UPLOAD_BYTES = 10 * 2**20
ADMITTED = "eds.upload"
BODY_SECONDS = 60.0
MOST_CONNECTIONS = 2000

_waiting: dict["LimitedProtocol", None] = {}  # for their clients' next request or the rest of its header; longest first


class LimitedProtocol(HttpToolsProtocol):
    """One connection."""

    _timer: asyncio.TimerHandle | None = None
    _in_header = True  # until the header of the request under way is complete
    _header_bytes = 0
    _body_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a header, but not for ever."""
        super().connection_made(transport)
        self._await_header()
        if len(self.connections) > MOST_CONNECTIONS:
            next(iter(_waiting))._refuse(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Pass on to the parser, of a header never more than its limit."""
        if self._timer is None:  # the next request on this connection has begun
            self._await_header()
        while data and self.parser is not None and not self.transport.is_closing():
            most = HEADER_BYTES - self._header_bytes if self._in_header else len(data)
            if most <= 0:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
                return
            part, data = data[:most], data[most:]
            if self._in_header:
                self._header_bytes += len(part)
            super().data_received(part)
            if self.transport.get_protocol() is not self:  # a websocket now
                return

    def on_message_begin(self) -> None:
        """A request has begun."""
        self._in_header = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The header is complete: now the body has its time."""
        self._in_header, self._header_bytes, self._body_bytes = False, 0, 0
        self._start_timer(BODY_SECONDS, HTTPStatus.REQUEST_TIMEOUT)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Count; a body that nobody reads must not come in without end.

        What is refused already is read on and dropped: a proxy whose connection is closed while it sends never reads
        the refusal, and answers 502 instead.
        """
        self._body_bytes += len(body)
        most = UPLOAD_BYTES if self.scope.get(ADMITTED) or self.cycle.response_complete else BODY_BYTES
        if self._body_bytes > most:
            self._refuse(None)
            return
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is here; what takes time now is ours."""
        self._stop_timer()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """The connection is kept for the client's next request, unless there is one already."""
        super().on_response_complete()
        if self.timeout_keep_alive_task is not None:
            _waiting[self] = None

    def handle_websocket_upgrade(self) -> None:
        """A websocket has limits of its own."""
        self._stop_timer()
        super().handle_websocket_upgrade()

    def _await_header(self) -> None:
        self._in_header, self._header_bytes = True, 0
        self._start_timer(HEADER_SECONDS, HTTPStatus.REQUEST_TIMEOUT)
        _waiting[self] = None

    def _start_timer(self, seconds: float, status: HTTPStatus) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, self._refuse, status)

    def _stop_timer(self) -> None:
        _waiting.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: HTTPStatus | None) -> None:
        """Close the connection, with an answer unless one is under way or there is no request."""
        begun = self._header_bytes > 0 and self._in_header
        self._stop_timer()
        if self.transport.is_closing():
            return
        if status is not None and begun:
            head = f"HTTP/1.1 {status.value} {status.phrase}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
            self.transport.write(head.encode())
        self.transport.close()
