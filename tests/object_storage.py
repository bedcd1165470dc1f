"""A real S3 server for the tests (moto's, on 127.0.0.1), and a proxy before it that misbehaves when asked to.

`storage()` gives both, and the AWS_* variables that point at the proxy. The proxy passes every request on, unless
a fault waits for it: then it throttles, denies, breaks the connection in the middle of the body, or never answers.
"""

import http.client
import importlib
import json
import logging
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from moto.moto_server.threaded_moto_server import ThreadedMotoServer
from moto.s3.models import s3_backends

KEY, SECRET = "AKIDTESTS", "sEcReT-of-the-tests"
ERROR = '<?xml version="1.0"?><Error><Code>{}</Code><Message>by the proxy</Message></Error>'
STATUS = {"SlowDown": 503, "InternalError": 500, "AccessDenied": 403, "InvalidAccessKeyId": 403}
DENY = {"Effect": "Deny", "Principal": "*", "Action": "s3:*"}


class Storage:
    """The server, the proxy before it, what went through, and what is to go wrong."""

    def __init__(self, server: tuple[str, int]) -> None:
        self.server = server
        self.seen: Counter[str] = Counter()  # method -> requests
        self.paths: list[tuple[str, str, str]] = []  # method, path, range
        self.fault: Callable[[str, str], str | int | None] = lambda method, path: None
        self.proxy = ThreadingHTTPServer(("127.0.0.1", 0), _Passing)
        self.proxy.daemon_threads = True
        self.proxy.storage = self  # type: ignore[attr-defined]

    @property
    def url(self) -> str:
        """Where clients are to go."""
        return f"http://127.0.0.1:{self.proxy.server_address[1]}"

    def environment(self, **more: str) -> dict[str, str]:
        """The variables by which every tool of AWS finds the storage."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            **more,
        }

    def client(self) -> Any:
        """The peer: Amazon's own library, which speaks to the server directly."""
        boto3: Any = importlib.import_module("boto3")  # it has no types
        return boto3.client(
            "s3",
            endpoint_url=f"http://{self.server[0]}:{self.server[1]}",
            aws_access_key_id=KEY,
            aws_secret_access_key=SECRET,
            region_name="us-east-1",
        )

    def bucket(self, name: str, **objects: bytes) -> None:
        """Make a bucket with objects."""
        self.client().create_bucket(Bucket=name)
        for key, data in objects.items():
            self.client().put_object(Bucket=name, Key=key, Body=data)

    def many(self, bucket: str, names: list[str]) -> None:
        """Make empty objects, quicker than by requests."""
        for name in names:
            s3_backends["123456789012"]["aws"].put_object(bucket, name, b"")

    def forbid(self, bucket: str) -> None:
        """Let a policy of the bucket deny everything."""
        told = {**DENY, "Resource": [f"arn:aws:s3:::{bucket}", f"arn:aws:s3:::{bucket}/*"]}
        self.client().put_bucket_policy(
            Bucket=bucket, Policy=json.dumps({"Version": "2012-10-17", "Statement": [told]})
        )

    def first(self, count: int, what: str | int, method: str = "GET") -> None:
        """Let the next `count` requests of that method meet a fault; later ones pass."""
        left = [count]

        def fault(asked: str, path: str) -> str | int | None:
            if asked != method or left[0] == 0:
                return None
            left[0] -= 1
            return what

        self.fault = fault

    def well(self) -> None:
        """Let nothing go wrong any more, and forget what went through."""
        self.fault = lambda method, path: None
        self.seen.clear()
        self.paths.clear()


class _Passing(BaseHTTPRequestHandler):
    """One connection through the proxy.

    A fault is a code of S3 ("SlowDown" with status 503, "AccessDenied" 403, "InternalError" 500), a number of bytes
    of the body after which the connection breaks, or "drop": it breaks before a word is said.
    """

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def _pass(self) -> None:
        storage: Storage = self.server.storage  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        storage.seen[self.command] += 1
        storage.paths.append((self.command, self.path, self.headers.get("Range", "")))
        fault = storage.fault(self.command, self.path)
        if fault == "drop":
            self.close_connection = True
            return
        if isinstance(fault, str):
            self._say(STATUS[fault], [], b"" if self.command == "HEAD" else ERROR.format(fault).encode())
            return
        upstream = http.client.HTTPConnection(*storage.server)
        upstream.request(self.command, self.path, body, dict(self.headers))
        answer = upstream.getresponse()
        data = answer.read()
        headers = [(name, value) for name, value in answer.getheaders() if name.lower() not in _OURS]
        length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(data))
        upstream.close()
        if isinstance(fault, int):
            self.close_connection = True
            data = data[:fault]
        self._say(answer.status, headers, data, length)

    def _say(self, status: int, headers: list[tuple[str, str]], data: bytes, length: str | None = None) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", length or str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _pass  # noqa: N815 - the names that http.server looks for

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that http.server gives it
        """Say nothing."""


_OURS = {"content-length", "transfer-encoding", "connection", "date", "server"}


@contextmanager
def storage() -> Iterator[Storage]:
    """A server and a proxy of our own, on ports that the system gives."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # it would tell every request
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    found = Storage(server.get_host_and_port())
    thread = threading.Thread(target=found.proxy.serve_forever, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        found.proxy.shutdown()
        found.proxy.server_close()
        thread.join()
        server.stop()
