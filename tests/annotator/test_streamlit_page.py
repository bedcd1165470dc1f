"""Streamlit's page as readers get it: its scripts named early, no font, the reader's language."""

import base64
import gzip
import hashlib
import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import FileResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit import file_util

from annotator_ui import language
from annotator_ui.auth.security_headers import streamlit_policy
from annotator_ui.compressed_scripts import ICONS, TEXTS, CompressedScripts
from annotator_ui.judging import assets
from annotator_ui.streamlit_page import BACKEND, FONT, StreamlitPage, late_scripts

FOLDER = Path(file_util.get_static_dir())
PAGE = FOLDER / "index.html"
BROWSER = {"Accept": "text/html,*/*", "Accept-Encoding": "gzip"}


@pytest.fixture(scope="module")
def client() -> TestClient:
    async def page(_: object) -> FileResponse:
        return FileResponse(PAGE)

    middleware = [Middleware(CompressedScripts, base="/eds"), Middleware(StreamlitPage, base="/eds")]
    return TestClient(Starlette(routes=[Route("/eds/{rest:path}", page)], middleware=middleware))


def test_a_page_says_where_its_server_is_and_the_policy_lets_it(client: TestClient) -> None:
    digest = base64.b64encode(hashlib.sha256(BACKEND.encode()).digest()).decode()
    for path in ("/eds/campaign", "/eds/pair"):
        assert f'<script data-base="/eds">{BACKEND}</script>' in client.get(path, headers=BROWSER).text
    assert f"'sha256-{digest}'" in streamlit_policy()


def test_a_judging_page_names_the_scripts_that_it_will_need(client: TestClient) -> None:
    body = client.get("/eds/pair", headers=BROWSER).text
    named = re.findall(r'modulepreload" crossorigin fetchpriority="low" href="/eds/([^"]+)"', body)
    assert [Path(path).name for path in named] == [*late_scripts(), *assets.modules("main.js")]
    assert set(assets.modules("main.js")) < set(assets.files()) - {"loader.js", "practice.js", "adjudicate.js"}
    assert {"practice.js", "session.js", "words.js"} < set(assets.modules("practice.js"))
    assert {Path(path).name.split(".")[0] for path in named} >= {"BidiComponent", "Html", "app", "main"}
    assert all((FOLDER / path).is_file() for path in named if path.startswith("static/"))
    assert "fetchpriority" not in client.get("/eds/campaigns", headers=BROWSER).text


def test_no_page_fetches_streamlit_s_font_of_texts(client: TestClient) -> None:
    assert FONT.search(PAGE.read_bytes())  # Streamlit still has it, as we know it
    for place in ("", "pair"):
        body = client.get(f"/eds/{place}", headers=BROWSER).text
        assert 'as="font"' not in body
        assert "</html>" in body
    (style,) = (FOLDER / "static" / "css").glob("index.*.css")
    assert ICONS in style.read_bytes()
    assert TEXTS.search(style.read_bytes())
    sent = client.get(f"/eds/static/css/{style.name}", headers={"Accept-Encoding": "gzip"}).content
    assert b"SourceSansVF" not in sent
    assert ICONS + b"font-style" in sent
    named = re.search(r"static/css/[^\"]+", client.get("/eds/pair", headers=BROWSER).text)
    assert named is not None
    sent = client.get(f"/eds/{named[0]}", headers={"Accept-Encoding": "gzip"}).content
    assert ICONS + b"unicode-range:" in sent  # no space, by which Streamlit would fetch it at once
    assert b"MaterialSymbols-Rounded" in sent


def test_the_page_is_compressed_and_is_not_taken_from_an_older_copy(client: TestClient) -> None:
    first = client.get("/eds/pair", headers=BROWSER)
    assert first.headers["content-encoding"] == "gzip"
    assert "etag" not in first.headers
    old = {"If-None-Match": '"anything"', "If-Modified-Since": "Fri, 01 Jan 2100 00:00:00 GMT"}
    assert client.get("/eds/pair", headers={**BROWSER, **old}).status_code == 200
    with client.stream("GET", "/eds/pair", headers=BROWSER) as response:
        sent = b"".join(response.iter_raw())
    assert int(response.headers["content-length"]) == len(sent)
    assert gzip.decompress(sent).decode() == first.text
    plain = client.get("/eds/pair", headers={"Accept": "text/html", "Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.text == first.text


def test_the_page_is_in_the_reader_s_language(client: TestClient) -> None:
    with language.speaking("de"):
        body = client.get("/eds/", headers=BROWSER).text
    assert '<html lang="de">' in body
    assert "streamlit-words.js" in body
    assert '<html lang="en">' in client.get("/eds/", headers=BROWSER).text
