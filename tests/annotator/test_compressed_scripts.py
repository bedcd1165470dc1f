"""Streamlit's scripts go out compressed, and are the same scripts."""

import gzip
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.staticfiles import StaticFiles
from starlette.testclient import TestClient
from streamlit import file_util

from annotator_ui.compressed_scripts import CompressedScripts

FOLDER = Path(file_util.get_static_dir())
LARGEST = max((FOLDER / "static").rglob("*.js"), key=lambda path: path.stat().st_size if "index." in path.name else 0)


@pytest.fixture(scope="module", params=["", "/eds"])
def base(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def client(base: str) -> TestClient:
    app = Starlette(middleware=[Middleware(CompressedScripts, base=base)])
    app.mount(f"{base}/", StaticFiles(directory=FOLDER, html=True))
    return TestClient(app)


def test_a_script_comes_compressed_with_the_same_content(client: TestClient, base: str) -> None:
    path = f"{base}/{LARGEST.relative_to(FOLDER).as_posix()}"
    for _ in range(2):  # made, then kept
        with client.stream("GET", path, headers={"Accept-Encoding": "gzip, br"}) as response:
            sent = b"".join(response.iter_raw())
        assert response.headers["content-encoding"] == "gzip"
        assert response.headers["content-type"].startswith(("text/javascript", "application/javascript"))
        assert len(sent) < LARGEST.stat().st_size / 2
        assert gzip.decompress(sent) == LARGEST.read_bytes()


def test_clients_without_gzip_get_the_file_as_it_is(client: TestClient, base: str) -> None:
    response = client.get(f"{base}/{LARGEST.relative_to(FOLDER).as_posix()}", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in response.headers
    assert response.content == LARGEST.read_bytes()


@pytest.mark.parametrize("path", ["/static/js/no-such-script.js", "/static/../index.html", "/static/media", "/x.js"])
def test_other_paths_are_left_to_the_application(client: TestClient, base: str, path: str) -> None:
    response = client.get(base + path, headers={"Accept-Encoding": "gzip"})
    assert response.headers.get("content-encoding") is None
