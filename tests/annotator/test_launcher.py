"""The listening socket, what the terminal says, and texts of others in Markdown."""

import asyncio
import json
import re
import socket
import stat
import threading
import time
from http.client import HTTPConnection
from pathlib import Path

import pytest
from starlette.applications import Starlette

from annotator_ui import health, launcher
from annotator_ui.app_state import Options, Site, may
from annotator_ui.auth.client import parse_networks
from annotator_ui.auth.openid import OpenId, read_openid
from annotator_ui.auth.security_headers import streamlit_policy
from annotator_ui.startup_message import invitations, print_startup
from eds.errors import ConfigError, InputError, ProjectError
from eds.labels.experts import invited
from tests.annotator.sites import store_of


def test_the_listener_names_its_protocol_so_that_asyncio_turns_nagle_off() -> None:
    with launcher.listen("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP
        assert listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        accepted: list[int] = []

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            accepted.append(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        async def ask() -> None:
            async with await asyncio.start_server(answer, sock=listener):
                reader, writer = await asyncio.open_connection(*listener.getsockname())
                await reader.read()
                writer.close()

        asyncio.run(ask())
        assert accepted[0]


def test_keep_alive_answers_do_not_wait_for_acknowledgements() -> None:
    """Without TCP_NODELAY each but the first would take 40 ms and more; some of thirty no other program holds up."""
    ready = threading.Event()
    listener = launcher.listen("127.0.0.1", 0)
    app = Starlette(routes=health.routes(""))
    server = launcher._Server(launcher._settings(app), ready.set)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        assert ready.wait(10)
        connection = HTTPConnection(*listener.getsockname())
        times = []
        for _ in range(30):
            begun = time.perf_counter()
            connection.request("GET", "/health")
            assert connection.getresponse().read() == health.ALIVE
            times.append(time.perf_counter() - begun)
        connection.close()
        assert sorted(times)[5] < 0.02
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def test_a_taken_port_an_unknown_host_and_a_forbidden_port_are_told() -> None:
    with launcher.listen("127.0.0.1", 0) as first, pytest.raises(ProjectError, match="is taken"):
        launcher.listen("127.0.0.1", first.getsockname()[1])
    with pytest.raises(InputError, match="not an address"):
        launcher.listen("no host of ours", 0)
    with pytest.raises(InputError, match="cannot listen"):
        launcher.listen("192.0.2.1", 0)


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::1", "[::1]")])
def test_the_address_can_be_typed_into_a_browser(host: str, shown: str) -> None:
    with launcher.listen(host, 0) as listener:
        assert launcher.address_of(listener, "/eds") == f"http://{shown}:{listener.getsockname()[1]}/eds/"


@pytest.mark.parametrize(
    ("host", "is_local"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("labels.example", False),
        ("", False),
    ],
)
def test_others_reach_the_server_over_an_encrypted_way_or_an_explicit_word(host: str, is_local: bool) -> None:
    launcher.refuse_plain_http(host, safe=True)
    if is_local:
        launcher.refuse_plain_http(host, safe=False)
    else:
        with pytest.raises(InputError, match="nothing encrypts"):
            launcher.refuse_plain_http(host, safe=False)


def test_the_terminal_tells_the_address_and_fresh_links(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    links = invitations(site.owner, "http://127.0.0.1:1/", ["ann", "lea"])
    print_startup("http://127.0.0.1:1/", links)
    said = capsys.readouterr().out
    assert "ready: http://127.0.0.1:1/\n" in said
    found = re.findall(r"Sign in as (\w+) .*: http://127.0.0.1:1/invitation/([\w-]+)\n", said)
    assert [(name, invited(store_of(site.owner), token)) for name, token in found] == [("ann", "ann"), ("lea", "lea")]
    print_startup("http://127.0.0.1:1/", links, as_json=True)
    assert json.loads(capsys.readouterr().out) == {"address": "http://127.0.0.1:1/", "invitations": links}
    with pytest.raises(InputError, match="unknown expert"):
        invitations(site.owner, "http://127.0.0.1:1/", ["nobody"])


def test_no_route_of_ours_can_be_framed_or_scripted_from_elsewhere() -> None:
    assert "http:" not in streamlit_policy()
    assert "unsafe-eval" not in streamlit_policy()
    assert "'unsafe-inline'" not in streamlit_policy().split("script-src")[1].split(";")[0]


def test_networks_are_told_all_at_once() -> None:
    assert [str(one) for one in parse_networks(["10.0.0.1", "fd00::/8"])] == ["10.0.0.1/32", "fd00::/8"]
    with pytest.raises(InputError) as error:
        parse_networks(["x", "10.0.0.0/33", "10.0.0.1"])
    assert len(error.value.faults) == 2


def test_roles_include_those_below(site: Site) -> None:
    from annotator_ui.app_state import ROLES, Viewer

    table = [[may(Viewer("x", role, 1), wanted) for wanted in ROLES] for role in ROLES]
    assert table == [[True, False, False], [True, True, False], [True, True, True]]
    assert Options().base == site.base == ""


GOOD = 'issuer = "https://id"\nclient_id = "eds"\nclient_secret = "s"\naddress = "https://labels/eds"\n'


def _settings(folder: Path, text: str, mode: int = 0o600) -> Path:
    file = folder / "openid.toml"
    file.write_text(text)
    file.chmod(mode)
    return file


def test_the_settings_of_openid(tmp_path: Path) -> None:
    assert read_openid(_settings(tmp_path, GOOD)) == OpenId("https://id", "eds", "s", "https://labels/eds")
    bad = 'issuer = "ftp://id"\nclient_id = 3\nsecret = "x"\n'
    with pytest.raises(ConfigError) as error:
        read_openid(_settings(tmp_path, bad, 0o644))
    assert [fault.split(";")[0] for fault in error.value.faults] == [
        "unknown key secret",
        "client_id must be text",
        "client_secret is missing",
        "address is missing",
        "issuer must begin with https://",
        f"others may read it, and it holds a secret: chmod 600 {tmp_path / 'openid.toml'}",
    ]
    with pytest.raises(ConfigError, match="not valid TOML"):
        read_openid(_settings(tmp_path, "x ="))
    with pytest.raises(ConfigError, match="cannot be read"):
        read_openid(tmp_path / "none.toml")
    assert stat.S_IMODE((tmp_path / "openid.toml").stat().st_mode) == 0o600
