"""One stranger's connections cost little and do not stay: header, body, time and number have limits."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from annotator_ui import health, http_limits, launcher


async def length(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


@contextmanager
def server() -> Iterator[tuple[str, int]]:
    """Our server over a small application; its address."""
    ready = threading.Event()
    listener = launcher.listen("127.0.0.1", 0)
    app = Starlette(routes=[*health.routes(""), Route("/length", length, methods=["POST"])])
    running = launcher._Server(launcher._settings(app), ready.set)
    thread = threading.Thread(target=running.run, args=([listener],))
    thread.start()
    try:
        assert ready.wait(10)
        yield listener.getsockname()
    finally:
        running.should_exit = True
        thread.join()
        listener.close()
        assert not http_limits._waiting


@pytest.fixture
def address() -> Iterator[tuple[str, int]]:
    with server() as found:
        yield found


def is_closed(connection: socket.socket, seconds: float = 10) -> bool:
    """Whether the server ends the connection within so many seconds."""
    connection.settimeout(seconds)
    try:
        while connection.recv(65536):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


def answered(connection: HTTPConnection, method: str = "GET", path: str = "/health", **more: object) -> str:
    connection.request(method, path, **more)  # type: ignore[arg-type]
    answer = connection.getresponse()
    return f"{answer.status} {answer.read().decode()}"


@pytest.mark.parametrize("start", [b"GET / HTTP/1.1\r\nX: ", b"GET /", b"\r\n", b"X-Many: 1\r\n"])
def test_a_header_without_end_is_cut_off(address: tuple[str, int], start: bytes) -> None:
    with socket.create_connection(address) as connection:
        if start == b"X-Many: 1\r\n":
            connection.sendall(b"GET / HTTP/1.1\r\n")
        else:
            connection.sendall(start)
        sent, begun = 0, time.process_time()
        piece = start * (65536 // len(start)) if start.endswith(b"\r\n") else b"a" * 65536
        with suppress(ConnectionError):
            while sent < 200_000_000:
                sent += connection.send(piece)
        assert sent < 20_000_000  # what the system's buffers hold
        assert time.process_time() - begun < 2  # of the server and of this test; it took 48 s without a limit


def test_a_large_header_is_refused_and_an_ordinary_one_is_not(address: tuple[str, int]) -> None:
    for size, status in ((60_000, b"200"), (70_000, b"431"), (2_000_000, b"")):
        with socket.create_connection(address) as connection:
            request = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX: " + b"a" * size + b"\r\n\r\n"
            try:
                connection.sendall(request)
                head = connection.recv(100)
            except ConnectionError:
                head = b"HTTP/1.1 "
            assert head.startswith(b"HTTP/1.1 " + status)
            assert size < 2_000_000 or b"200" not in head


def test_requests_on_one_connection_each_have_their_limit(address: tuple[str, int]) -> None:
    connection = HTTPConnection(*address)
    for _ in range(5):
        assert answered(connection, headers={"X": "a" * 30_000}) == '200 {"status":"ok"}'
        assert answered(connection, "POST", "/length", body=b"b" * 200_000) == "200 200000"
    connection.close()
    with socket.create_connection(address) as pipelined:
        pipelined.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
        pipelined.settimeout(10)
        got = b""
        while got.count(b"200 OK") < 20:
            got += pipelined.recv(65536)


def test_a_body_without_end_is_cut_off(address: tuple[str, int]) -> None:
    with socket.create_connection(address) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\nContent-Length: 900000000\r\n\r\n")
        sent = 0
        with suppress(ConnectionError):
            while sent < 200_000_000:
                sent += connection.send(b"a" * 65536)
        assert sent < 20_000_000


def test_half_open_connections_end_and_others_are_served_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_limits, "HEADER_SECONDS", 1.0)
    monkeypatch.setattr(http_limits, "BODY_SECONDS", 1.0)
    starts = (b"", b"GET / HTTP/1.1\r\nX:", b"POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc")
    with server() as address, ExitStack() as stack:
        lazy = [stack.enter_context(socket.create_connection(address)) for _ in range(60)]
        for number, connection in enumerate(lazy):
            connection.sendall(starts[number % 3])
        other = HTTPConnection(*address)
        assert answered(other) == '200 {"status":"ok"}'
        assert all(is_closed(connection) for connection in lazy)
        time.sleep(1.2)  # a connection that waits for its client's next request is not half open
        assert answered(other) == '200 {"status":"ok"}'
        other.close()


def test_among_too_many_connections_the_idle_ones_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_limits, "MOST_CONNECTIONS", 20)
    with server() as address, ExitStack() as stack:
        lazy = [stack.enter_context(socket.create_connection(address)) for _ in range(50)]
        for _ in range(5):
            other = HTTPConnection(*address)
            assert answered(other) == '200 {"status":"ok"}'
            other.close()
        assert all(is_closed(connection) for connection in lazy[:25])
        assert not is_closed(lazy[-1], 0.2)
