"""A stand-in of a model hub's HTTP API for data sets: repositories in memory, and two tokens.

What the client huggingface_hub asks for: make a repository, say how each file is to be sent, take small files in the
commit and large ones (here: Parquet) as LFS objects, list and download the files of a commit.
"""

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

WRITER, READER = "hf_writer", "hf_reader"


@dataclass
class Repository:
    """A data set: its files by name, and the commits so far."""

    private: bool
    files: dict[str, bytes] = field(default_factory=dict)
    commits: list[str] = field(default_factory=list)

    @property
    def sha(self) -> str:
        """The last commit."""
        return hashlib.sha1(f"{len(self.commits)}".encode()).hexdigest()


class Hub(ThreadingHTTPServer):
    """The server and what it holds."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.repositories: dict[str, Repository] = {}
        self.objects: dict[str, bytes] = {}
        self.tokens: list[str] = []  # that came
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def _answer(self, content: Any, status: int = 200, **headers: str) -> None:
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _allowed(self, *tokens: str) -> bool:
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        self.server.tokens.append(token)
        if token in tokens:
            return True
        known = token in (WRITER, READER)
        self._answer({"error": "forbidden" if known else "invalid token"}, 403 if known else 401)
        return False

    def do_POST(self) -> None:
        path, body = unquote(urlsplit(self.path).path), self._body()
        if path == "/api/validate-yaml":
            self._answer({"errors": [], "warnings": []})
            return
        if not self._allowed(WRITER):
            return
        if path == "/api/repos/create":
            asked = json.loads(body)
            name = f"{asked['organization']}/{asked['name']}"
            if name in self.server.repositories:
                self._answer({"error": "there already", "url": f"{self.server.url}/datasets/{name}"}, 409)
                return
            self.server.repositories[name] = Repository(
                asked.get("visibility") == "private" or bool(asked.get("private"))
            )
            self._answer({"url": f"{self.server.url}/datasets/{name}", "id": name})
        elif found := re.fullmatch(r"/api/datasets/([^/]+/[^/]+)/preupload/main", path):
            files = json.loads(body)["files"]
            modes = [("lfs" if one["path"].endswith(".parquet") else "regular") for one in files]
            self._answer(
                {
                    "files": [
                        {"path": one["path"], "uploadMode": mode, "shouldIgnore": False, "oid": None}
                        for one, mode in zip(files, modes, strict=True)
                    ]
                }
            )
        elif re.fullmatch(r"/datasets/[^/]+/[^/]+\.git/info/lfs/objects/batch", path):
            objects = [
                {**one, "actions": {"upload": {"href": f"{self.server.url}/lfs/{one['oid']}"}}}
                for one in json.loads(body)["objects"]
            ]
            self._answer({"transfer": "basic", "objects": objects})
        elif found := re.fullmatch(r"/api/datasets/([^/]+/[^/]+)/commit/main", path):
            self._commit(self.server.repositories[found[1]], found[1], body)
        else:
            self._answer({"error": path}, 404)

    def _commit(self, repository: Repository, name: str, body: bytes) -> None:
        for line in body.splitlines():
            one = json.loads(line)
            value = one["value"]
            if one["key"] == "header":
                repository.commits.append(value["summary"])
            elif one["key"] == "file":
                repository.files[value["path"]] = base64.b64decode(value["content"])
            elif one["key"] == "lfsFile":
                repository.files[value["path"]] = self.server.objects[value["oid"]]
            elif one["key"] == "deletedFile":
                repository.files.pop(value["path"], None)
        sha = repository.sha
        self._answer(
            {"commitUrl": f"{self.server.url}/datasets/{name}/commit/{sha}", "commitOid": sha, "success": True}
        )

    def do_PUT(self) -> None:
        oid, data = self.path.rpartition("/")[2], self._body()
        assert hashlib.sha256(data).hexdigest() == oid
        self.server.objects[oid] = data
        self._answer(b"")

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        found = re.fullmatch(r"(?:/api)?/datasets/([^/]+/[^/]+)(?:/(revision|resolve|tree)/([^/]+)(?:/(.*))?)?", path)
        repository = self.server.repositories.get(found[1]) if found else None
        if found is None or repository is None:
            self._answer({"error": "Repository not found"}, 404, X_Error_Code="RepoNotFound")
            return
        if repository.private and not self._allowed(WRITER, READER):
            return
        _, what, revision, file = found.groups()
        if what is not None and revision not in ("main", repository.sha):
            self._answer({"error": "Invalid rev id"}, 404, X_Error_Code="RevisionNotFound")
        elif what == "resolve":
            self._send_file(repository, file)
        elif what == "tree":
            entries = [
                {"type": "file", "path": one, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
                for one, data in repository.files.items()
            ]
            self._answer(entries)
        else:
            siblings = [{"rfilename": one} for one in repository.files]
            self._answer({"id": found[1], "sha": repository.sha, "private": repository.private, "siblings": siblings})

    def do_HEAD(self) -> None:
        self.do_GET()

    def _send_file(self, repository: Repository, file: str) -> None:
        data = repository.files.get(file)
        if data is None:
            self._answer({"error": "Entry not found"}, 404, X_Error_Code="EntryNotFound")
            return
        etag = f'"{hashlib.sha256(data).hexdigest()}"'
        self._answer(data, ETag=etag, X_Repo_Commit=repository.sha, Accept_Ranges="bytes")


@contextmanager
def running_hub() -> Iterator[Hub]:
    """A hub that listens on this machine, until the block ends."""
    hub = Hub()
    thread = threading.Thread(target=hub.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.shutdown()
        hub.server_close()
        thread.join()
