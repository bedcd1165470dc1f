"""The gate: nobody passes without a session, nothing forged passes, and headers that others set are not believed."""

import os
import re
import sqlite3
from contextlib import closing
from ipaddress import ip_network
from pathlib import Path

import anyio
import httpx
import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from streamlit.proto.BackMsg_pb2 import BackMsg

from annotator_ui.app_state import Options, Site
from annotator_ui.auth import middleware
from eds.errors import InputError
from eds.labels.experts import disable, set_role
from eds.labels.sessions import session_of, sign_out, sign_out_everywhere
from tests.annotator.sites import PAGE, client_for, fresh_site, store_of

PROXY = (ip_network("10.9.9.9"),)
PATHS = [
    "/",
    "/home",
    "/my-progress",
    "/experts",
    "/pictures/large/abc",
    "/api/campaigns/1-2/next",
    "/media/x.png",
    "/report/page",
    "/_stcore/health",
    "/_stcore/host-config",
    "/static/js/index.js",
    "/favicon.png",
    "/component/x",
    "/sign-out",
    "/sign-inx",
    "/healthx",
    "/sign-in/../home",
    "//home",
    "/sign-in/",
    "/sign-in/x",
    "/sign-in/openid",
    "/sign-in/openid/back",
    "/sign-in/static/x.js",
    "/invitation",
    "/invitation/a/b",
    "/health/x",
]


@pytest.mark.parametrize("path", PATHS)
def test_without_a_session_pages_lead_to_sign_in_and_everything_else_is_refused(site: Site, path: str) -> None:
    client = client_for(site)
    asked = client.get(path)
    assert asked.status_code == 401
    assert "signed out" in asked.text.lower()
    page = client.get(path, headers=PAGE)
    assert page.status_code == 303
    assert page.headers["location"].startswith("/sign-in")
    assert client.post(path, headers={"X-EDS": "1"}).status_code == 401


@pytest.mark.parametrize("path", ["/sign-in", "/health", "/ready"])
def test_sign_in_and_health_are_open(site: Site, path: str) -> None:
    assert client_for(site).get(path).status_code == 200


@pytest.mark.parametrize("journals", ["gone", "there"])
def test_a_database_that_cannot_be_read_answers_503_and_the_server_goes_on(site: Site, journals: str) -> None:
    client, path = client_for(site, "ann"), store_of(site.project).path
    assert client.get("/guide", headers=PAGE).status_code == 200
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = path.read_bytes()
    os.truncate(path, 5000)
    if journals == "gone":
        without_journals(path)
    for requested in ("/guide", "/pictures/large/x", "/ready"):
        answer = client.get(requested, headers=PAGE)
        assert (requested, answer.status_code) == (requested, 503)
        assert answer.headers["retry-after"]
    page = client_for(site).get("/sign-in")
    token = re.search(r'name="token" value="(\w+)"', page.text)
    assert token is not None
    form = {"token": token[1], "name": "ann", "password": "x"}
    stranger = client_for(site)
    stranger.cookies.update(page.cookies)
    assert stranger.post("/sign-in", data=form).status_code == 503
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/_stcore/stream"):
        pass
    assert client.get("/health").status_code in (200, 503)
    new = path.with_name("new.db")
    new.write_bytes(whole)
    without_journals(path)
    new.replace(path)
    assert client.get("/ready").status_code == 200


def without_journals(path: Path) -> None:
    for end in ("-wal", "-shm"):
        path.with_name(f"{path.name}{end}").unlink(missing_ok=True)


SHUT = (
    "_stcore/metrics",
    "_stcore/agent/mcp",
    "_stcore/script-health-check",
    "_stcore/upload_file/a/b",
    "app/static/x",
)


@pytest.mark.parametrize("path", [f"/{name}" for name in SHUT])
def test_what_nobody_needs_is_shut_even_to_administrators(site: Site, path: str) -> None:
    assert client_for(site, "ada").get(path).status_code == 404


def test_the_page_asked_for_is_remembered_and_only_ours_can_be(site: Site) -> None:
    asked = client_for(site).get("/guide?x=1", headers=PAGE)
    assert asked.headers["location"] == "/sign-in?next=/guide%3Fx%3D1"
    client = client_for(site, "ann")
    for evil in ("//evil.example", "https://evil.example", "/\\evil.example", "\\\\evil", "/\tx", "javascript:1"):
        assert client.get("/sign-in", params={"next": evil}).headers["location"] == "/"
    assert client.get("/sign-in", params={"next": "/guide?x=1"}).headers["location"] == "/guide?x=1"


def test_a_session_makes_the_viewer(site: Site) -> None:
    assert client_for(site, "lea").get("/x").json()["viewer"] == ["lea", "lead"]


@pytest.mark.parametrize("token", ["", "x", "a" * 5000, "%00", '"', "é"])
def test_a_token_that_opens_nothing_is_no_session(site: Site, token: str) -> None:
    client = client_for(site)
    assert client.get("/x", headers=[(b"Cookie", f"eds_session={token}".encode())]).status_code == 401


def test_who_is_disabled_signed_out_or_given_another_role_is_so_at_once(site: Site) -> None:
    ann, bob, lea = (client_for(site, name) for name in ("ann", "bob", "lea"))
    assert [one.get("/x").status_code for one in (ann, bob, lea)] == [200, 200, 200]
    disable(store_of(site.owner), "ann")
    sign_out_everywhere(store_of(site.owner), "bob", by="bob")
    set_role(store_of(site.owner), "lea", "expert")
    assert [one.get("/x").status_code for one in (ann, bob, lea)] == [401, 401, 200]
    assert lea.get("/x").json()["viewer"] == ["lea", "expert"]


FORGED = [
    {},
    {"Origin": "http://evil.example", "X-EDS": "1"},
    {"Origin": "null", "X-EDS": "1"},
    {"Origin": "http://testserver"},
    {"Sec-Fetch-Site": "cross-site", "X-EDS": "1"},
    {"Sec-Fetch-Site": "same-site", "X-EDS": "1"},
    {"Origin": "http://testserver.evil.example", "X-EDS": "1"},
    {"Origin": "http://testserver:81", "X-EDS": "1"},
    {"X-EDS": "0"},
]


@pytest.mark.parametrize("headers", FORGED)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_a_forged_change_is_refused(site: Site, headers: dict[str, str], method: str) -> None:
    found = client_for(site, "ann").request(method, "/api/x", headers=headers, content=b"{}")
    assert found.status_code == 403


def test_a_change_from_our_pages_passes(site: Site) -> None:
    headers = {"X-EDS": "1", "Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
    assert client_for(site, "ann").post("/api/x", headers=headers, content=b"{}").status_code == 200


def test_nothing_is_uploaded(site: Site) -> None:
    client, headers = client_for(site, "lea"), {"Origin": "http://testserver"}
    assert client.put("/_stcore/upload_file/a/b", headers=headers, content=b"x").status_code == 403
    assert client.put("/_stcore/upload_file/a/b", headers={**headers, "X-EDS": "1"}, content=b"x").status_code == 404


def test_too_much_is_refused_before_it_is_read(site: Site) -> None:
    client, headers = client_for(site, "ann"), {"X-EDS": "1"}
    found = client.post("/api/x", headers={**headers, "Content-Length": str(middleware.LARGEST + 1)}, content=b"")
    assert found.status_code == 413
    assert client.post("/api/x", headers=headers, content=iter([b"a", b"b"])).status_code == 411
    assert client.request("GET", "/x", content=b"nobody reads this").status_code == 413
    assert client.request("GET", "/x", content=iter([b"a", b"b"])).status_code == 413


def test_every_answer_has_the_security_headers(site: Site) -> None:
    for client, path in ((client_for(site, "ann"), "/x"), (client_for(site), "/x"), (client_for(site), "/sign-in")):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert "strict-transport-security" not in headers
        assert ("permissions-policy" in headers) == ("json" not in headers["content-type"])
    policy = dict(
        part.strip().split(" ", 1)
        for part in client_for(site, "ann").get("/x").headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == policy["connect-src"] == "'self'"
    assert re.fullmatch(r"'self' blob:( 'sha256-[A-Za-z0-9+/=]{44}'){2}", policy["script-src"])
    assert policy["frame-ancestors"] == policy["object-src"] == policy["base-uri"] == "'none'"
    plain = client_for(site).get("/sign-in").headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self';" in plain


def _aged(site: Site, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let the store's clock go on."""
    now = store_of(site.project).now
    monkeypatch.setattr(store_of(site.project), "now", lambda: now() + int(seconds * 1e6))


def test_a_token_is_renewed_when_a_page_is_loaded_and_the_old_one_ends_soon(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_for(site, "ann")
    old = client.cookies["eds_session"]
    assert "set-cookie" not in client.get("/x", headers=PAGE).headers
    _aged(site, monkeypatch, 3700)
    assert "set-cookie" not in client.get("/api/x").headers  # not a page
    cookie = client.get("/x", headers=PAGE).headers["set-cookie"]
    new = re.match(r"eds_session=([\w-]{40,}); Path=/; Max-Age=1209600; HttpOnly; SameSite=Lax$", cookie)
    assert new is not None
    assert new[1] != old
    both = [client_for(site), client_for(site)]
    for one, token in zip(both, (old, new[1]), strict=True):
        one.cookies.set("eds_session", token)
    assert [one.get("/x").status_code for one in both] == [200, 200]  # requests under way still come with the old one
    _aged(site, monkeypatch, 61)
    assert [one.get("/x").status_code for one in both] == [401, 200]


def test_who_waits_for_a_renewal_holds_up_nobody_else(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "RENEW", 0)
    tokens = [site.owner.experts.sign_in_vouched(name, by="test") for name in ["bob"] * 12 + ["ann"]]
    app = client_for(site).app

    async def status(token: str, path: str) -> int:
        transport = httpx.ASGITransport(app, client=("10.1.1.1", 4000))
        cookies = {"eds_session": token}
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver", cookies=cookies) as client:
            return (await client.get(path, headers=PAGE if path == "/guide" else {})).status_code

    async def beside_pages() -> int:
        answer = 0
        async with anyio.create_task_group() as group:
            for token in tokens[:-1]:
                group.start_soon(status, token, "/guide")
            await anyio.sleep(0.3)
            try:
                with anyio.fail_after(10):
                    answer = await status(tokens[-1], "/pictures/large/x")
            finally:
                other.execute("ROLLBACK")
        return answer

    with closing(sqlite3.connect(store_of(site.project).path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")  # a long write of another program
        assert anyio.run(beside_pages) == 404


def test_a_session_nobody_used_ends(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    client = client_for(site, "ann")
    _aged(site, monkeypatch, 12 * 3600 + 1)
    assert client.get("/x").status_code == 401


def test_over_https_cookies_and_headers_say_so(tmp_path: Path) -> None:
    with fresh_site(tmp_path, Options(proxies=PROXY)) as site:
        told = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "1.2.3.4"}
        seen = client_for(site, "ann", address="10.9.9.9").get("/x", headers=told)
        assert seen.json()["https"]
        assert seen.headers["strict-transport-security"] == "max-age=31536000"
        assert "Secure" in client_for(site, address="10.9.9.9").get("/sign-in", headers=told).headers["set-cookie"]
        assert not client_for(site, "ann").get("/x", headers=told).json()["https"]
    with fresh_site(tmp_path / "always", Options(https=True)) as site:
        assert "Secure" in client_for(site).get("/sign-in").headers["set-cookie"]


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("10.1.1.1", "9.9.9.9", "10.1.1.1"),  # no proxy of ours
        ("10.9.9.9", "9.9.9.9", "9.9.9.9"),
        ("10.9.9.9", "6.6.6.6, 9.9.9.9", "9.9.9.9"),  # what stands before it the client may have made up
        ("10.9.9.9", "9.9.9.9, 10.9.9.9", "9.9.9.9"),  # two proxies of ours
        ("10.9.9.9", "nonsense", "10.9.9.9"),
        ("10.9.9.9", "::1", "::1"),
        ("10.9.9.9", "1.2.3.4:5555", "1.2.3.4"),  # some balancers write the port, too
        ("10.9.9.9", "[2001:db8::1]:443", "2001:db8::1"),
    ],
)
def test_the_clients_address(tmp_path: Path, peer: str, forwarded: str, address: str) -> None:
    with fresh_site(tmp_path, Options(proxies=PROXY)) as site:
        seen = client_for(site, "ann", address=peer).get("/x", headers={"X-Forwarded-For": forwarded})
        assert seen.json()["address"] == address


def test_a_proxy_vouches_for_accounts_and_nobody_else_does(tmp_path: Path) -> None:
    options = Options(proxies=PROXY, identity_header="X-Remote-User")
    with fresh_site(tmp_path, options) as site:
        inside, outside = client_for(site, address="10.9.9.9"), client_for(site)
        ann = {**PAGE, "X-Remote-User": "ann"}
        seen = inside.get("/x", headers=ann)
        assert seen.json()["viewer"] == ["ann", "expert"]
        assert "x-remote-user" not in seen.json()["headers"]
        told = {"X-Remote-User": "ann"}
        assert inside.get("/x", headers=told).json()["viewer"] == ["ann", "expert"]  # by the cookie that came with it
        assert inside.get("/x", headers={"X-Remote-User": "bob"}).status_code == 401  # ann's cookie is not bob's
        assert inside.get("/x", headers={**PAGE, "X-Remote-User": "bob"}).json()["viewer"] == ["bob", "expert"]
        assert outside.get("/x", headers=ann).status_code == 303
        assert outside.get("/x", headers={"X-Remote-User": "ann"}).status_code == 401
        for stranger in ("zoe", "ANN", "ann, bob", " "):
            fresh = client_for(site, address="10.9.9.9")
            assert fresh.get("/x", headers={**PAGE, "X-Remote-User": stranger}).status_code == 303
        twice = [("Accept", "text/html"), ("X-Remote-User", "ann"), ("X-Remote-User", "bob")]
        assert client_for(site, address="10.9.9.9").get("/x", headers=twice).status_code == 303
    with pytest.raises(InputError, match="--proxy"):
        Options(identity_header="X-Remote-User")


def _connected(client: TestClient, **headers: str) -> dict[str, object]:
    with client.websocket_connect("/_stcore/stream", headers=headers) as socket:
        found: dict[str, object] = socket.receive_json()
        return found


def test_the_websocket_needs_a_session_before_it_opens(site: Site) -> None:
    with pytest.raises(WebSocketDisconnect) as refused:
        _connected(client_for(site))
    assert refused.value.code == 1008
    ann = client_for(site, "ann")
    with pytest.raises(WebSocketDisconnect):
        _connected(ann, Origin="http://evil.example")
    number = session_of(store_of(site.owner), ann.cookies["eds_session"])
    assert number is not None
    forged = _connected(ann, **{"x-eds-session": "1"})
    assert forged == {"session": [str(number.number)], "name": "ann"}


def test_on_an_open_websocket_nothing_passes_after_the_session_has_ended(site: Site) -> None:
    asked = BackMsg()
    asked.rerun_script.fragment_id = "secret"
    client = client_for(site, "lea")
    with client.websocket_connect("/_stcore/stream") as socket:
        socket.receive_json()
        socket.send_bytes(asked.SerializeToString())
        assert socket.receive_bytes() == asked.SerializeToString()
        set_role(store_of(site.owner), "lea", "expert")
        socket.send_bytes(asked.SerializeToString())
        assert _fragment(socket.receive_bytes()) == ""  # a plain rerun, which shows what an expert may see
        socket.send_bytes(asked.SerializeToString())
        assert _fragment(socket.receive_bytes()) == "secret"
        sign_out(store_of(site.owner), client.cookies["eds_session"])
        for _ in range(2):
            socket.send_bytes(asked.SerializeToString())
            assert _fragment(socket.receive_bytes()) == ""


def _fragment(data: bytes) -> str:
    found = BackMsg.FromString(data)
    assert found.WhichOneof("type") == "rerun_script"
    return str(found.rerun_script.fragment_id)


def test_under_a_base_path_nothing_else_is_served(tmp_path: Path) -> None:
    with fresh_site(tmp_path, Options(base="/eds")) as site:
        client = client_for(site)
        assert client.get("/eds/health").status_code == 200
        assert client.get("/health").status_code == 404
        assert client.get("/edsx/health").status_code == 404
        assert client.get("/", headers=PAGE).headers["location"] == "/eds/"
        assert client.get("/eds/guide", headers=PAGE).headers["location"] == "/eds/sign-in?next=/guide"
        assert "Path=/eds;" in client.get("/eds/sign-in").headers["set-cookie"]


@pytest.mark.parametrize("base", ["eds", "/", "/eds/", "/e ds", "/eds?x", "//evil.example"])
def test_a_base_path_that_is_none(base: str) -> None:
    with pytest.raises(InputError, match="base path"):
        Options(base=base)
