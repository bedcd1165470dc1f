"""Behind a real nginx with a base path: pages, the websocket, the client's address, secure cookies, large requests."""

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser, expect

from annotator_ui.auth.middleware import LARGEST
from eds.labels.experts import accept, invite
from tests.browser.annotator import PAIRS, PASSWORD, Annotator, foreign_requests, prepare, running

# What stands in annotator_ui/README.md, so that it is true.
README = Path(__file__).parents[2] / "annotator_ui" / "README.md"


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Annotator, str]]:
    """An annotator at /eds, and the address of an nginx before it."""
    folder = tmp_path_factory.mktemp("nginx")
    project = prepare(folder / "shop")
    with running(project, "--base-path", "/eds", "--proxy", "127.0.0.1") as found:
        port = free_port()
        described = re.search(r"```nginx\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
        assert described is not None
        location = described[1].replace("127.0.0.1:8501", f"127.0.0.1:{found.port}").replace("$scheme", "$told_scheme")
        scheme = "map $http_x_test_scheme $told_scheme { default http; https https; }"
        temporary = "".join(
            f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (folder / "nginx.conf").write_text(
            f"daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;"
            f"events {{}} http {{ access_log off; {temporary} {scheme} server {{ listen 127.0.0.1:{port};"
            f"{location} location / {{ return 404; }} }} }}"
        )
        words = [_nginx(), "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")]
        process = subprocess.Popen(words)
        try:
            _wait_for(port)
            yield found, f"http://127.0.0.1:{port}/eds"
        finally:
            process.terminate()
            process.wait(10)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _nginx() -> str:
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if found is None:
        pytest.fail("this test needs nginx: apt-get install nginx-light")
    return found


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail("nginx did not start")


def test_pages_and_the_websocket_work_below_the_base_path(browser: Browser, behind: tuple[Annotator, str]) -> None:
    annotator, address = behind
    accept(annotator.store, invite(annotator.store, "ann"), PASSWORD)
    with annotator.page(browser) as page:
        foreign = foreign_requests(page, address)
        page.goto(f"{address}/guide")
        expect(page).to_have_url(f"{address}/sign-in?next=/guide")
        page.get_by_label("Name").fill("ann")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name="Guide", exact=True)).to_be_visible()
        page.get_by_role("link", name="Home").click()
        expect(page.get_by_text(PAIRS)).to_be_visible()
        (cookie,) = [one for one in page.context.cookies() if one["name"] == "eds_session"]
        assert (cookie["path"], cookie["secure"]) == ("/eds", False)
        page.goto(address.removesuffix("/eds"))
        assert "404" in page.title()  # nginx' own: the rest of the host is somebody else's
        assert foreign == []


def test_over_https_cookies_are_secure(behind: tuple[Annotator, str]) -> None:
    asked = Request(f"{behind[1]}/sign-in", headers={"X-Test-Scheme": "https"})
    with urlopen(asked) as answer:
        assert "Secure" in answer.headers["set-cookie"]
        assert answer.headers["strict-transport-security"]


def test_guessing_counts_by_the_clients_address_and_nobody_can_make_one_up(behind: tuple[Annotator, str]) -> None:
    """Everybody comes from the proxy; a client's own X-Forwarded-For changes nothing, so guesses add up."""
    _, address = behind
    statuses = []
    name = f"stranger-{time.monotonic_ns()}"
    for number in range(9):  # on a slow machine the first waits are over before the next guess
        with urlopen(f"{address}/sign-in") as page:
            cookie = page.headers["set-cookie"].split(";")[0]
            token = re.search(r'name="token" value="(\w+)"', page.read().decode())
        assert token is not None
        body = f"token={token[1]}&name={name}&password=guess{number}".encode()
        headers = {"Cookie": cookie, "X-Forwarded-For": f"10.0.0.{number}"}
        statuses.append(_status(Request(f"{address}/sign-in", data=body, headers=headers)))
    assert statuses[:4] == [401] * 4
    assert 429 in statuses


def test_many_judgements_at_once_pass_and_more_is_refused(behind: tuple[Annotator, str]) -> None:
    annotator, address = behind
    headers = {"Cookie": f"eds_session={annotator.token('lea')}", "X-EDS": "1"}
    for size, status in ((LARGEST, 405), (LARGEST + 1, 413), (2 * 2**20, 413)):  # 405: nothing takes it there
        asked = Request(f"{address}/nowhere", data=bytes(size), headers=headers)
        assert _status(asked) == status


def _status(asked: Request) -> int:
    try:
        with urlopen(asked) as answer:
            return int(answer.status)
    except HTTPError as error:
        with error:
            return error.code
